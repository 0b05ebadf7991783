"""Making mazes: carving, placing start, goal, key, door and ice, and similar mazes for evaluation."""

from jaxlab.generate.carve import mazes

__all__ = ["mazes"]
