"""Mazes as graphs of states: where every state leads, for the enumeration of paths (host)."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxlab import grid
from jaxlab.maze import NONE, Maze
from jaxlab.solve import table

if TYPE_CHECKING:
    from jaxlab.env import Labyrinth

NO_EDGE = -1


@dataclasses.dataclass(frozen=True, eq=False)
class StateGraph:
    """The simple directed graphs of a set of mazes. State = mode * H*W + cell.

    Attributes:
        successors: ``int32[N, S, 4]``, the state that each action leads to; -1 where the action
            changes nothing, ends in a fall, or does what an earlier action does.
        source: ``int32[N]``, the first state (start cell, mode 0).
        goal: ``int32[N]``, the goal cell; a path ends at the first state on it.
        num_cells: H * W.
    """

    successors: np.ndarray
    source: np.ndarray
    goal: np.ndarray
    num_cells: int


def as_set(maze: Maze) -> Maze:
    """One maze as a set of one; a set stays as it is. Arrays become numpy."""
    if not isinstance(maze, Maze):
        raise TypeError(f"this takes a jaxlab.Maze, got {type(maze).__name__}")
    maze = jax.tree.map(np.asarray, maze)
    if len(maze.batch_shape) > 1:
        raise ValueError(f"mazes need at most one leading axis, got {maze.batch_shape}")
    return maze if maze.batch_shape else jax.tree.map(lambda leaf: leaf[None], maze)


def bare(walls: np.ndarray, start: np.ndarray, goal: np.ndarray) -> StateGraph:
    """Graphs in which only walls matter: ``walls uint8[N, H, W]``, ``start`` and ``goal int[N]``."""
    walls = np.asarray(walls)
    shape = (int(walls.shape[-2]), int(walls.shape[-1]))
    flat = walls.reshape(len(walls), shape[0] * shape[1], 1)
    is_open = (flat >> np.arange(grid.NUM_ACTIONS, dtype=np.uint8) & 1) == 0
    successors = np.where(is_open, grid.neighbours(shape), NO_EDGE).astype(np.int32)
    return StateGraph(successors, np.asarray(start, np.int32), np.asarray(goal, np.int32), shape[0] * shape[1])


def of_rule(env: Labyrinth, mazes: Maze) -> StateGraph:
    """Graphs read from the environment's own rule, whatever its tiles."""
    num_cells = env.num_cells
    num_states = env.num_modes * num_cells
    move = _transitions(env, mazes)
    states = np.arange(num_states)[:, None]
    to = (np.asarray(move.mode) * num_cells + np.asarray(move.cell)).reshape(len(mazes), num_states, grid.NUM_ACTIONS)
    useless = np.asarray(move.fell).reshape(to.shape) | (to == states)
    for action in range(1, grid.NUM_ACTIONS):
        useless[..., action] |= (to[..., :action] == to[..., action : action + 1]).any(-1)
    successors = np.where(useless, NO_EDGE, to).astype(np.int32)
    return StateGraph(successors, np.asarray(mazes.start, np.int32), np.asarray(mazes.goal, np.int32), num_cells)


def of_maze(mazes: Maze, env: Labyrinth | None = None) -> StateGraph:
    """Graphs of a set of mazes: of ``env``'s rule, or of what the mazes hold (key and door, ice)."""
    from jaxlab.env import Labyrinth

    if env is None:
        if mazes.tiles:
            raise ValueError(f"the mazes hold tiles of your own ({sorted(mazes.tiles)}): say by env= what they do")
        has_key = bool((mazes.key != NONE).any() or (mazes.door != NONE).any())
        env = Labyrinth(mazes.shape, key_and_door=has_key, icy_floor=bool(mazes.ice.any()))
    elif env.shape != mazes.shape:
        raise ValueError(f"mazes of shape {mazes.shape} given with an environment of shape {env.shape}")
    if not env.active_tiles:
        return bare(mazes.walls, mazes.start, mazes.goal)
    return of_rule(env, mazes)


def _transitions(env: Labyrinth, mazes: Maze):
    """`table.transitions` with the number of mazes rounded up, so that few sizes are compiled."""
    padded = 1 << (len(mazes) - 1).bit_length()
    some = np.arange(padded) % len(mazes)
    move = _compiled(env, jax.tree.map(lambda leaf: leaf[some], mazes))
    return jax.tree.map(lambda leaf: leaf[: len(mazes)], move)


@functools.partial(jax.jit, static_argnums=0)
def _compiled(env, mazes):
    return table.transitions(env.rule, mazes, env.num_modes)
