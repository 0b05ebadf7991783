"""Every structure that the generator can make, for small mazes."""

from __future__ import annotations

import functools

import numpy as np

from jaxlab import grid
from jaxlab.maze import walls_from_edges

MAX_CELLS = 16


@functools.cache
def structures(shape: tuple[int, int], start: int, goal: int) -> np.ndarray:
    """All structures with a non-zero chance: walls ``uint8[M, H, W]``, sorted by their open passages.

    These are the trees of a depth-first walk that never leaves the goal, each with any
    set of further passages. 3x3: 96; 4x4: 34,719 (from bottom left to top right).

    Raises:
        ValueError: more than 16 cells.
    """
    if shape[0] * shape[1] > MAX_CELLS:
        raise ValueError(f"structures are listed for at most {MAX_CELLS} cells, got shape {shape}")
    num_edges = len(grid.edges(shape))
    if min(shape) == 1:
        return walls_from_edges(np.ones((1, num_edges), bool), shape)
    every = np.unique(np.concatenate([_supersets(tree, num_edges) for tree in sorted(_trees(shape, start, goal))]))
    return walls_from_edges((every[:, None] >> np.arange(num_edges) & 1).astype(bool), shape)


def _trees(shape: tuple[int, int], start: int, goal: int) -> set[int]:
    """Edge sets (as bits) of all trees that the walk can leave behind."""
    number = {tuple(pair): i for i, pair in enumerate(grid.edges(shape).tolist())}
    beside = [[cell for cell in cells if cell >= 0] for cells in grid.neighbours(shape).tolist()]
    trees: set[int] = set()
    seen: set[tuple[int, int, tuple[int, ...]]] = set()
    waiting: list[tuple[int, int, tuple[int, ...]]] = [(0, 1 << start, (start,))]
    while waiting:
        tree, visited, trail = waiting.pop()
        while trail and all(visited >> cell & 1 for cell in beside[trail[-1]]):
            trail = trail[:-1]
        if not trail:
            trees.add(tree)
            continue
        here = trail[-1]
        for cell in beside[here]:
            if not visited >> cell & 1:
                edge = 1 << number[min(here, cell), max(here, cell)]
                state = (tree | edge, visited | 1 << cell, trail if cell == goal else (*trail, cell))
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return trees


def _supersets(tree: int, num_edges: int) -> np.ndarray:
    """``tree`` with every set of the other edges: ``int64[2**others]``."""
    sets = np.array([tree], np.int64)
    for edge in range(num_edges):
        if not tree >> edge & 1:
            sets = np.concatenate([sets, sets | 1 << edge])
    return sets
