"""jaxlab: Labyrinth in JAX. Did the agent learn to navigate, or did it memorise?"""

import importlib
from typing import Any

from jaxlab import generate, solve, splits, text
from jaxlab.env import Labyrinth, Params, State, Step
from jaxlab.errors import LabyrinthFileError, PlacementError
from jaxlab.grid import ACTION_NAMES, DOWN, LEFT, RIGHT, UP
from jaxlab.maze import Maze, from_edges, stack, to_edges
from jaxlab.registration import register_when_imported
from jaxlab.render import render
from jaxlab.text import Settings, load, save
from jaxlab.tiles import Move, Tile

__version__ = "0.1.0"

__all__ = [
    "ACTION_NAMES",
    "DOWN",
    "LEFT",
    "RIGHT",
    "UP",
    "Labyrinth",
    "LabyrinthFileError",
    "Maze",
    "Move",
    "Params",
    "PlacementError",
    "Settings",
    "State",
    "Step",
    "Tile",
    "from_edges",
    "generate",
    "load",
    "render",
    "save",
    "solve",
    "splits",
    "stack",
    "text",
    "to_edges",
]

register_when_imported()

_LATER = ("analysis", "audit", "datasets", "devices", "gym", "gym_vector", "show", "wrappers")


def __getattr__(name: str) -> Any:
    """The other modules, as in ``jaxlab.wrappers``, are imported when they are first asked for."""
    if name in _LATER:
        return importlib.import_module(f"jaxlab.{name}")
    raise AttributeError(f"module 'jaxlab' has no attribute {name!r}")
