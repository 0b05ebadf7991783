"""Making mazes: carving, placing start, goal, key, door and ice, and variants for evaluation."""

from jaxlab.generate.carve import mazes
from jaxlab.generate.place import furnish, ice, key_and_door, new_start, new_start_and_goal
from jaxlab.generate.search import Drawn, unique
from jaxlab.generate.trees import tree_mazes
from jaxlab.generate.vary import ice_moved, ice_moves, key_moved, key_moves
from jaxlab.generate.walls import change_walls, edge_distances, farthest, images, nearest, same_solutions

__all__ = [
    "Drawn",
    "change_walls",
    "edge_distances",
    "farthest",
    "furnish",
    "ice",
    "ice_moved",
    "ice_moves",
    "images",
    "key_and_door",
    "key_moved",
    "key_moves",
    "mazes",
    "nearest",
    "new_start",
    "new_start_and_goal",
    "same_solutions",
    "tree_mazes",
    "unique",
]
