"""Cells, directions and wall bits: the geometry that every other module shares.

A maze has ``H`` rows and ``W`` columns. ``cell = row * W + col``; row 0 is the
bottom row, column 0 the left column. Bit ``a`` of a cell's wall byte is set when
there is a wall on side ``a``. Everything here is host arithmetic on numpy.
"""

from __future__ import annotations

import functools

import numpy as np

UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
NUM_ACTIONS = 4
ACTION_NAMES = ("up", "right", "down", "left")
ROW_STEP = (1, 0, -1, 0)
COL_STEP = (0, 1, 0, -1)
ALL_WALLS = 0b1111


def check_shape(shape) -> tuple[int, int]:
    """Return ``shape`` as two Python ints (rows, columns), or raise ``ValueError``."""
    try:
        rows, cols = shape
        if int(rows) != rows or int(cols) != cols:
            raise TypeError
        rows, cols = int(rows), int(cols)
    except (TypeError, ValueError):
        raise ValueError(f"shape must be two whole numbers (rows, columns), got {shape!r}") from None
    if rows < 1 or cols < 1 or rows * cols < 2:
        raise ValueError(f"a maze needs at least 1 row, 1 column and 2 cells, got shape {(rows, cols)}")
    return rows, cols


@functools.cache
def edges(shape: tuple[int, int]) -> np.ndarray:
    """Every pair of neighbouring cells: ``int32[E, 2]``, lower cell first, sorted.

    ``E = H * (W - 1) + (H - 1) * W``. This is the order of every edge vector in the
    package (`maze.open_edges`).
    """
    rows, cols = shape
    cell = np.arange(rows * cols, dtype=np.int32).reshape(rows, cols)
    across = np.stack([cell[:, :-1].ravel(), cell[:, 1:].ravel()], 1)
    along = np.stack([cell[:-1].ravel(), cell[1:].ravel()], 1)
    pairs = np.concatenate([across, along])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    pairs.setflags(write=False)
    return pairs


@functools.cache
def neighbours(shape: tuple[int, int]) -> np.ndarray:
    """``int32[H*W, 4]``: the cell on each side, -1 outside the maze."""
    rows, cols = shape
    row, col = np.divmod(np.arange(rows * cols), cols)
    to = np.full((rows * cols, NUM_ACTIONS), -1, np.int32)
    for action in range(NUM_ACTIONS):
        r, c = row + ROW_STEP[action], col + COL_STEP[action]
        inside = (r >= 0) & (r < rows) & (c >= 0) & (c < cols)
        to[inside, action] = (r * cols + c)[inside]
    to.setflags(write=False)
    return to


def manhattan(shape: tuple[int, int]) -> np.ndarray:
    """``int32[H*W, H*W]``: Manhattan distance between every two cells."""
    row, col = np.divmod(np.arange(shape[0] * shape[1], dtype=np.int32), shape[1])
    return np.abs(row[:, None] - row) + np.abs(col[:, None] - col)
