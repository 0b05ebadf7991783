"""Mazes that are alike: how many walls differ, k walls changed, and other walls with the same solutions (host)."""

from __future__ import annotations

import itertools

import numpy as np

from jaxlab import grid, maze
from jaxlab.errors import PlacementError, whole
from jaxlab.generate import place, routes
from jaxlab.generate.dice import Dice
from jaxlab.maze import NONE, Maze, single
from jaxlab.solve import enumerate as enumeration

_CHANGE, _SAME = 33, 34  # purposes of `Dice`
_DRAWS = 200  # sets of walls drawn at random before one is drawn beside a solution
_CHUNK = 2**22  # bytes compared at a time


def edge_distances(walls: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How many walls differ: ``int32[A, B]`` between mazes ``uint8[A, H, W]`` and ``uint8[B, H, W]``."""
    if np.ndim(walls) != 3 or np.ndim(others) != 3 or np.shape(walls)[1:] != np.shape(others)[1:]:
        shapes = f"{np.shape(walls)} and {np.shape(others)}"
        raise ValueError(f"walls to compare must be [A, H, W] and [B, H, W], got {shapes}")
    a, b = maze.structure(walls), maze.structure(others)
    out = np.empty((len(a), len(b)), np.int32)
    rows = max(1, _CHUNK // max(1, b.size))
    for low in range(0, len(a), rows):
        differ = np.bitwise_count(a[low : low + rows, None] ^ b)
        out[low : low + rows] = differ.sum(-1, dtype=np.int32)
    return out


def nearest(one: Maze, mazes: Maze) -> tuple[int, int]:
    """The maze of a set that differs from ``one`` in the fewest walls: (index, how many); the first of equals."""
    distance = edge_distances(np.asarray(one.walls)[None], np.asarray(mazes.walls))[0]
    index = int(distance.argmin())
    return index, int(distance[index])


def farthest(one: Maze, mazes: Maze) -> tuple[int, int]:
    """The maze of a set that differs from ``one`` in the most walls: (index, how many); the first of equals."""
    distance = edge_distances(np.asarray(one.walls)[None], np.asarray(mazes.walls))[0]
    index = int(distance.argmax())
    return index, int(distance[index])


def images(one: Maze) -> list[Maze]:
    """The maze and its mirror images and rotations of the same shape, start, goal and tiles carried along."""
    return [maze.transform(one, symmetry) for symmetry in maze.symmetries(one.shape)]


def change_walls(one: Maze, k: int, seed: int | Dice = 0) -> Maze:
    """Change exactly ``k`` walls (put up or taken down) so that the goal can still be reached alive.

    Sets of ``k`` walls are drawn uniformly until one leaves the maze solvable; where that
    seldom happens, one is drawn among the walls beside a solution.

    Raises:
        ValueError: ``k`` is not in ``0 .. number of walls and passages``.
        PlacementError: no such change was found.
    """
    single(one)
    is_open = maze.open_edges(np.asarray(one.walls))
    k = whole("k, of all walls and passages,", k, 0, len(is_open))
    dice = Dice.of(seed, _CHANGE)
    for _ in range(_DRAWS):
        changed = _toggled(one, is_open, dice.order(len(is_open))[:k])
        if place.is_solvable(changed, routes.of(changed)):
            return changed
    for path in itertools.islice(enumeration.iter_paths(one), _DRAWS):
        passed = _edges_of(path, one.shape)
        free = np.flatnonzero(~passed)
        if len(free) >= k:
            return _toggled(one, is_open, free[dice.order(len(free))[:k]])
    raise PlacementError(f"no {k} walls were found whose change leaves the maze solvable")


def same_solutions(one: Maze, seed: int | Dice = 0, tries: int = 32) -> Maze:
    """Other walls, the same set of solutions: as many walls changed as a search finds.

    Passages that a solution uses stay, as do the walls between cells on solutions: opening
    one would make a new solution. The cells beside the solutions are divided anew among dead
    ends, each of which hangs on one cell only, so that no solution can pass through it. Cells
    off the solutions may become unreachable.

    Args:
        one: a maze with a solution; key, door and ice stay where they are.
        seed: names the result.
        tries: random beginnings of the search; the best is kept.

    Raises:
        PlacementError: the maze has no solution, or too many to list.
    """
    single(one)
    dice = Dice.of(seed, _SAME)
    found = enumeration.paths(one)
    if not found.complete or not len(found):
        raise PlacementError(
            "the maze has no solution" if found.complete else "the maze has too many solutions to list"
        )
    num_cells = one.shape[0] * one.shape[1]
    kept = np.zeros(num_cells, bool)
    kept[np.unique(found.cells[found.cells >= 0])] = True
    kept[[int(cell) for cell in (one.start, one.goal, one.key, one.door) if int(cell) != NONE]] = True
    frozen = np.asarray(one.ice).ravel()
    pairs = grid.edges(one.shape)
    is_open = maze.open_edges(np.asarray(one.walls))
    on_ice = frozen[pairs].any(1)  # nobody walks there alive: such walls are free
    fixed = kept[pairs].all(1) & ~on_ice
    # A wall counts when it is opened; passages are all closed, unless that would bring nothing.
    counts = ~is_open & ~fixed & ~on_ice
    beside = _beside(pairs[counts], num_cells)
    best: np.ndarray | None = None
    for _ in range(tries):
        owner = _divide(kept | frozen, beside, dice)
        opened = counts & (owner[pairs[:, 0]] == owner[pairs[:, 1]])
        if best is None or opened.sum() > best.sum():
            best = opened
    assert best is not None
    changed = np.where(fixed, is_open, np.where(on_ice, ~is_open, best))
    return one.replace(walls=maze.walls_from_edges(changed, one.shape))


def _divide(kept: np.ndarray, beside: list[list[int]], dice: Dice) -> np.ndarray:
    """Give every free cell to one of the kept cells, or to none, so that few walls part different owners.

    Begins with random owners that spread from cell to cell, then moves each cell to the owner
    that most of its neighbours have, until nothing gains.
    """
    owner = np.where(kept, np.arange(len(kept)), -1)
    free = [cell for cell in range(len(kept)) if not kept[cell]]
    waiting = [cell for cell in free if any(owner[other] >= 0 for other in beside[cell])]
    while waiting:
        cell = waiting.pop(dice.below(len(waiting)))
        if owner[cell] >= 0:
            continue
        owners = [int(owner[other]) for other in beside[cell] if owner[other] >= 0]
        owner[cell] = dice.pick(owners)
        waiting.extend(other for other in beside[cell] if owner[other] < 0)
    gained = True
    while gained:
        gained = False
        for i in dice.order(len(free)):
            around = [int(owner[other]) for other in beside[free[i]]]
            best = max(around, key=around.count, default=-1)
            if around.count(best) > around.count(int(owner[free[i]])):
                owner[free[i]] = best
                gained = True
    return owner


def _beside(pairs: np.ndarray, num_cells: int) -> list[list[int]]:
    beside: list[list[int]] = [[] for _ in range(num_cells)]
    for a, b in pairs.tolist():
        beside[a].append(b)
        beside[b].append(a)
    return beside


def _edges_of(path: list[int], shape: tuple[int, int]) -> np.ndarray:
    number = {tuple(pair): i for i, pair in enumerate(grid.edges(shape).tolist())}
    passed = np.zeros(len(number), bool)
    passed[[number[min(step), max(step)] for step in itertools.pairwise(path)]] = True
    return passed


def _toggled(one: Maze, is_open: np.ndarray, edges: np.ndarray) -> Maze:
    changed = is_open.copy()
    changed[edges] = ~changed[edges]
    return one.replace(walls=maze.walls_from_edges(changed, one.shape))
