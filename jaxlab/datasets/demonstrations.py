"""Demonstrations as integers, from which every observation can be drawn."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from jaxlab import grid, solve
from jaxlab.env import Labyrinth, Params
from jaxlab.errors import whole
from jaxlab.maze import Array, Maze


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Demonstrations:
    """One shortest play in each maze, step by step; the state after the last step is not a row.

    Attributes:
        env: the environment they were played in (static).
        params: its mazes and their solutions.
        maze, mode, cell: ``int32[n]``, the state of each step; steps of a play follow each other.
        action: ``int32[n]``, what was done in it, always an optimal action.
        next_mode, next_cell: ``int32[n]``, the state that followed.
    """

    env: Labyrinth = dataclasses.field(metadata={"static": True})
    params: Params
    maze: Array
    mode: Array
    cell: Array
    action: Array
    next_mode: Array
    next_cell: Array

    def __len__(self) -> int:
        return self.maze.shape[0]

    def replace(self, **changes: Any) -> Demonstrations:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


def demonstrations(env: Labyrinth, mazes: Maze | Params, seed: int = 0) -> Demonstrations:
    """Play each maze once, along a shortest solution drawn uniformly among all of them (host).

    Args:
        env: whose rules count: key and door, ice and own tiles included.
        mazes: a set of mazes, or the params made of it.
        seed: which of the shortest solutions are taken.

    Raises:
        ValueError: a maze whose goal can't be reached from its start, or a negative seed.

    >>> from jaxlab import from_edges, stack
    >>> maze = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    >>> demonstrations(Labyrinth((2, 2)), stack([maze])).action.tolist()
    [1, 0]
    """
    whole("seed", seed, 0)
    params = mazes if isinstance(mazes, Params) else env.params(mazes)
    solutions = solve.optimal(env, params)
    distance, bits = np.asarray(solutions.distance), np.asarray(solutions.optimal)
    num_mazes, _num_modes, num_cells = distance.shape
    start = np.asarray(params.mazes.start)
    if (lost := np.flatnonzero(distance[np.arange(num_mazes), 0, start] < 0)).size:
        raise ValueError(f"maze {lost[0]} has no solution: its goal can't be reached from its start")
    move = solve.transitions(env, params)
    following = (np.asarray(move.mode) * num_cells + np.asarray(move.cell)).reshape(num_mazes, -1, grid.NUM_ACTIONS)
    distance = distance.reshape(num_mazes, -1)
    is_best = (bits.reshape(num_mazes, -1)[..., None] >> np.arange(grid.NUM_ACTIONS) & 1).astype(bool)

    counts = _count_solutions(distance, is_best, following)
    rng = np.random.default_rng(seed)
    every = np.arange(num_mazes)
    state = start.astype(np.int64)  # mode 0
    rows = []
    while (playing := distance[every, state] > 0).any():
        # Each optimal action in proportion to how many shortest solutions go through it.
        ways = np.where(is_best[every, state], counts[every[:, None], following[every, state]], 0.0)
        total = ways.sum(-1)
        drawn = rng.random(num_mazes) * total
        action = np.minimum((drawn[:, None] >= np.cumsum(ways, -1)).sum(-1), grid.NUM_ACTIONS - 1)
        after = following[every, state, action]
        rows.append((playing, state, action, after))
        state = np.where(playing, after, state)

    played = np.stack([row[0] for row in rows], 1)
    maze = np.broadcast_to(every[:, None], played.shape)[played]
    before, action, after = (np.stack([row[i] for row in rows], 1)[played] for i in (1, 2, 3))
    out = Demonstrations(
        env,
        params,
        maze=maze.astype(np.int32),
        mode=(before // num_cells).astype(np.int32),
        cell=(before % num_cells).astype(np.int32),
        action=action.astype(np.int32),
        next_mode=(after // num_cells).astype(np.int32),
        next_cell=(after % num_cells).astype(np.int32),
    )
    check_demonstrations(out)
    return out


def _count_solutions(distance: np.ndarray, is_best: np.ndarray, following: np.ndarray) -> np.ndarray:
    """How many shortest plays lead from each state to the goal: ``float64[N, S]``, nearest states first."""
    every = np.arange(len(distance))[:, None, None]
    counts = (distance == 0).astype(np.float64)
    for far in range(1, int(distance.max()) + 1):
        layer = distance == far
        if not layer.any():
            continue
        sums = np.where(is_best, counts[every, following], 0.0).sum(-1)
        counts = np.where(layer, sums, counts)
    return counts


def check_demonstrations(given: Demonstrations) -> None:
    """Raise ``ValueError`` unless every row is an optimal action in a state of these mazes (host)."""
    params = given.params
    if params.optimal is None:
        raise ValueError("demonstrations need solved mazes: make the params with params(), not bare_params()")
    num_mazes, num_modes, num_cells = params.optimal.shape
    limits = {
        "maze": num_mazes,
        "mode": num_modes,
        "cell": num_cells,
        "action": grid.NUM_ACTIONS,
        "next_mode": num_modes,
        "next_cell": num_cells,
    }
    length = len(given)
    if length == 0:
        raise ValueError("demonstrations are empty")
    for name, limit in limits.items():
        values = np.asarray(getattr(given, name))
        if values.shape != (length,) or values.dtype != np.int32:
            raise ValueError(f"{name} must be int32[{length}], got {values.dtype}{list(values.shape)}")
        if values.min() < 0 or values.max() >= limit:
            raise ValueError(f"{name} must lie in 0..{limit - 1}, got {values.min()}..{values.max()}")
    bits = np.asarray(params.optimal)[given.maze, given.mode, given.cell]
    if (wrong := np.flatnonzero((bits >> np.asarray(given.action) & 1) == 0)).size:
        raise ValueError(f"row {wrong[0]}: action {given.action[wrong[0]]} is not optimal in its state")
