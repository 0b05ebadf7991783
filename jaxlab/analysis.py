"""What shortest solutions look like: cells, actions, and how far two sets of mazes are apart (host)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxlab import grid
from jaxlab.maze import Maze
from jaxlab.solve import graph

if TYPE_CHECKING:
    from jaxlab.env import Labyrinth

MAX_SHORTEST = 10_000
"""Most shortest paths of one maze that `shortest_paths` lists."""


@dataclasses.dataclass(frozen=True, eq=False)
class Visits:
    """Where shortest solutions go, each maze by itself, its shortest solutions equally likely.

    Attributes:
        cells: ``float64[N, H*W]``, expected visits of each cell, start and goal included.
        actions: ``float64[N, 4]``, expected number of times that each action is taken.
        number: ``float64[N]``, how many shortest solutions there are; 0 for an unsolvable maze.
    """

    cells: np.ndarray
    actions: np.ndarray
    number: np.ndarray

    def cell_distribution(self) -> np.ndarray:
        """``float64[H*W]``: share of each cell in all visits, every maze weighing as much as it has visits."""
        return _normalised(self.cells.sum(0))

    def action_distribution(self) -> np.ndarray:
        """``float64[4]``: share of each action."""
        return _normalised(self.actions.sum(0))


def visits(env: Labyrinth, mazes: Maze) -> Visits:
    """Cells and actions of the shortest solutions, computed without listing them.

    Args:
        env: the rules.
        mazes: a set with one leading axis.
    """
    steps = _ShortestSteps(env, mazes)
    num_mazes, num_states = steps.distance.shape
    rows = np.arange(num_mazes)[:, None]
    ways = (steps.distance == 0).astype(np.float64)  # shortest solutions from each state
    farthest = int(steps.distance[np.arange(num_mazes), steps.source].max(initial=0))
    for distance in range(1, farthest + 1):
        here = steps.distance == distance
        ahead = sum(np.where(steps.best[..., a], ways[rows, steps.to[..., a]], 0) for a in range(grid.NUM_ACTIONS))
        ways = np.where(here, ahead, ways)
    chance = np.zeros((num_mazes, num_states))
    number = ways[np.arange(num_mazes), steps.source]
    chance[np.arange(num_mazes), steps.source] = number > 0
    actions = np.zeros((num_mazes, grid.NUM_ACTIONS))
    for distance in range(farthest, 0, -1):
        leaving = np.where(steps.distance == distance, chance / np.maximum(ways, 1), 0)
        for a in range(grid.NUM_ACTIONS):
            share = np.where(steps.best[..., a], leaving * ways[rows, steps.to[..., a]], 0)
            actions[:, a] += share.sum(1)
            np.add.at(chance, (rows, steps.to[..., a]), share)
    cells = chance.reshape(num_mazes, -1, env.num_cells).sum(1)
    return Visits(cells, actions, number)


def shortest_paths(
    env: Labyrinth, mazes: Maze, limit: int = MAX_SHORTEST
) -> tuple[list[list[tuple[tuple[int, ...], tuple[int, ...]]]], np.ndarray]:
    """Every shortest solution of each maze as (cells, actions), and ``bool[N]``: are these all?

    Args:
        env: the rules.
        mazes: a set with one leading axis.
        limit: most solutions to list of each maze.
    """
    steps = _ShortestSteps(env, mazes)
    best, to, distance = steps.best.tolist(), steps.to.tolist(), steps.distance
    listed, complete = [], np.ones(len(distance), bool)
    for n, source in enumerate(steps.source.tolist()):
        found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((source,), ())] if distance[n, source] > 0 else []
        while waiting:
            states, taken = waiting.pop()
            if distance[n, states[-1]] == 0:
                if len(found) == limit:
                    complete[n] = False
                    break
                found.append((tuple(state % env.num_cells for state in states), taken))
                continue
            for a in range(grid.NUM_ACTIONS):
                if best[n][states[-1]][a]:
                    waiting.append(((*states, to[n][states[-1]][a]), (*taken, a)))
        listed.append(found)
    return listed, complete


class _ShortestSteps:
    """``to int32[N, S, 4]``, ``best bool[N, S, 4]``, ``distance int32[N, S]`` and ``source int32[N]``."""

    def __init__(self, env: Labyrinth, mazes: Maze) -> None:
        mazes = graph.as_set(mazes)
        states = graph.of_maze(mazes, env)
        params = env.params(mazes)
        if params.distance is None or params.optimal is None:
            raise ValueError("the mazes were not solved")
        bits = np.asarray(params.optimal).reshape(len(mazes), -1, 1)
        self.to = states.successors
        self.best = ((bits >> np.arange(grid.NUM_ACTIONS, dtype=np.uint8) & 1) == 1) & (self.to >= 0)
        self.distance = np.asarray(params.distance).reshape(len(mazes), -1)
        self.source = states.source


# -- distances between distributions --------------------------------------------------------------------


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    """Jensen-Shannon distance, the root of the divergence in bits: 0 for equal, 1 for disjoint distributions.

    ``p`` and ``q`` are weights over the same outcomes and are normalised here.
    """
    p, q = _two_distributions(p, q)
    middle = (p + q) / 2
    divergence = (_entropy_against(p, middle) + _entropy_against(q, middle)) / 2
    return float(np.sqrt(max(divergence, 0.0)))


def wasserstein(p: np.ndarray, q: np.ndarray, shape: tuple[int, int]) -> float:
    """Earth mover's distance between two distributions over the cells, in cells walked as the crow flies.

    The ground distance is Manhattan, walls left out of account: the least flow over the
    edges of the open grid that turns ``p`` into ``q`` (a linear programme).
    """
    from scipy import optimize, sparse

    pairs = grid.edges(shape)
    number = np.arange(len(pairs))
    ones = np.ones(len(pairs))
    leaves = sparse.coo_matrix((ones, (pairs[:, 0], number)), (shape[0] * shape[1], len(pairs)))
    enters = sparse.coo_matrix((ones, (pairs[:, 1], number)), (shape[0] * shape[1], len(pairs)))
    flow = sparse.hstack([leaves - enters, enters - leaves])
    p, q = _two_distributions(p, q)
    if p.shape != (shape[0] * shape[1],):
        raise ValueError(f"a distribution over the cells of {shape} has {shape[0] * shape[1]} weights, got {p.shape}")
    surplus = p - q
    solved = optimize.linprog(np.ones(2 * len(pairs)), A_eq=flow, b_eq=surplus, method="highs")
    if solved.status != 0:
        raise ValueError(f"the two distributions can't be turned into each other: {solved.message}")
    return float(solved.fun)


def permutation_test(
    statistic: Callable[[np.ndarray, np.ndarray], float], a: np.ndarray, b: np.ndarray, times: int = 1000, seed: int = 0
) -> float:
    """p-value: how often a random division of the rows of ``a`` and ``b`` gives at least the observed statistic."""
    if not callable(statistic):
        raise TypeError(f"statistic must be a function of two arrays, got {type(statistic).__name__}")
    if len(a) == 0 or len(b) == 0:
        raise ValueError(f"a permutation test needs at least one row on each side, got {len(a)} and {len(b)}")
    observed = statistic(a, b)
    both = np.concatenate([a, b])
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(times):
        order = rng.permutation(len(both))
        hits += statistic(both[order[: len(a)]], both[order[len(a) :]]) >= observed - 1e-12
    return (hits + 1) / (times + 1)


def _two_distributions(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if np.shape(p) != np.shape(q):
        raise ValueError(
            f"two distributions over the same outcomes have one shape, got {np.shape(p)} and {np.shape(q)}"
        )
    return _normalised(np.asarray(p, float)), _normalised(np.asarray(q, float))


def _normalised(weights: np.ndarray) -> np.ndarray:
    if weights.size == 0 or weights.min() < 0:
        raise ValueError(f"a distribution needs weights of at least 0, got {weights}")
    total = weights.sum()
    return weights / total if total > 0 else np.full(weights.shape, 1 / weights.size)


def _entropy_against(p: np.ndarray, q: np.ndarray) -> float:
    some = p > 0
    return float((p[some] * np.log2(p[some] / q[some])).sum())


# -- drawing ----------------------------------------------------------------------------------------------


def draw_cells(
    axes: Any, weights: np.ndarray, shape: tuple[int, int], title: str = "", top: float | None = None
) -> Any:
    """Draw a heat map of the cells on matplotlib axes, row 0 at the bottom. Returns the image."""
    image = axes.imshow(np.reshape(weights, shape), origin="lower", cmap="viridis", vmin=0, vmax=top)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=10)
    return image


def draw_actions(axes: Any, weights: np.ndarray, title: str = "") -> None:
    """Draw a bar for each action on matplotlib axes."""
    bars = axes.bar(grid.ACTION_NAMES, weights, color="#4878a8")
    axes.bar_label(bars, labels=[f"{weight:.2f}" for weight in weights], fontsize=8)
    axes.set_ylim(0, 0.75)
    axes.tick_params(labelsize=8)
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
