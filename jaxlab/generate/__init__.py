"""Making mazes: carving, placing start, goal, key, door and ice, and variants for evaluation."""

from jaxlab.generate.carve import mazes
from jaxlab.generate.place import furnish, ice, key_and_door, new_start, new_start_and_goal
from jaxlab.generate.search import Drawn, unique
from jaxlab.generate.vary import ice_moved, ice_moves, key_moved, key_moves

__all__ = [
    "Drawn",
    "furnish",
    "ice",
    "ice_moved",
    "ice_moves",
    "key_and_door",
    "key_moved",
    "key_moves",
    "mazes",
    "new_start",
    "new_start_and_goal",
    "unique",
]
