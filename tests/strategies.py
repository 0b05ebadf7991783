"""Random mazes for the tests: arbitrary structures, not those of the generator."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import jaxlab
from jaxlab import grid

SHAPES = ((1, 2), (1, 7), (2, 2), (3, 3), (4, 6), (5, 5), (8, 3), (9, 9))
BATCH = 2
"""Mazes in one example: of one number, so that each shape is compiled once."""


def random_maze(dice: np.random.Generator, shape: tuple[int, int], *, lock: bool = False, ice: int = 0) -> jaxlab.Maze:
    """A random spanning tree with a random share of other passages, and everything on a random cell of its own."""
    edges = dice.permutation(grid.edges(shape))
    root = list(range(shape[0] * shape[1]))

    def find(cell: int) -> int:
        while root[cell] != cell:
            cell = root[cell]
        return cell

    loops = dice.choice([0.0, 0.1, 0.5, 1.0])
    kept = []
    for a, b in edges.tolist():
        joins = find(a) != find(b)
        root[find(a)] = find(b)
        if joins or dice.random() < loops:
            kept.append((a, b))
    start, goal, *rest = dice.permutation(shape[0] * shape[1]).tolist()
    key, door = (rest.pop(), rest.pop()) if lock else (None, None)
    return jaxlab.from_edges(kept, shape, start, goal, key, door, rest[:ice])


@st.composite
def batches(draw, shapes=SHAPES, *, lock=False, icy=False) -> jaxlab.Maze:
    """`BATCH` random mazes of one of the shapes."""
    shape = draw(st.sampled_from(shapes))
    dice = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    free = shape[0] * shape[1] - (4 if lock else 2)
    return jaxlab.stack(
        random_maze(dice, shape, lock=lock, ice=int(dice.integers(0, free // 3 + 1)) if icy else 0)
        for _ in range(BATCH)
    )
