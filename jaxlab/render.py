"""Pictures: one state as RGB, in pure ``jit``, pixel for pixel as the released renderer draws it.

Everything but the agent is made of rectangles whose edges depend only on the number of
cells and the size of the picture. So the picture is painted on a small board with one
square for each stretch of pixels between two such edges, and then stretched. Edges are
computed on the host in float64, which makes every size exact.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid, scene, tiles
from jaxlab.errors import whole
from jaxlab.maze import Array, Maze, single

WHITE, BLACK = (255, 255, 255), (0, 0, 0)
START_RED, GOAL_BLUE, AGENT_GREEN = (255, 0, 0), (0, 0, 255), (0, 255, 0)
KEY_GOLD, DOOR_BROWN, ICE_BLUE = (255, 215, 0), (137, 81, 41), (189, 222, 236)

_SPILL = 2  # a tile is drawn two pixels wider than its cell, over its right and upper neighbours
_LINE = 2  # walls are two pixels thick


class Axis(NamedTuple):
    """Where things lie along one axis of the picture (host).

    The first four are ``bool[segments, cells]``: does the thing cover the segment?
    """

    tile: np.ndarray
    line: np.ndarray  # the wall between a cell and the one before it
    span: np.ndarray  # the stretch of a wall that runs along a cell
    key: np.ndarray
    segment: np.ndarray  # int32[size], the segment of each pixel
    corners: np.ndarray  # int32[cells, 4]: near edge, middle seen from it, middle seen from the far edge, far edge


@functools.cache
def axis(cells: int, size: int) -> Axis:
    """Lay ``cells`` cells out over ``size`` pixels."""
    w = size / cells
    number = np.arange(cells)
    low = np.trunc(number * w).astype(int)
    stretches = {
        "tile": (low, low + int(w + _SPILL)),
        "line": (np.where(number > 0, low, 0), np.where(number > 0, low + _LINE, 0)),
        "span": (low, np.trunc((number + 1) * w).astype(int) + 1),
        "key": (
            np.trunc(number * w + 0.25 * w).astype(int),
            np.trunc(number * w + 0.25 * w).astype(int) + int(0.5 * w),
        ),
    }
    cuts = np.unique(np.clip(np.concatenate([edge for pair in stretches.values() for edge in pair] + [[0]]), 0, size))
    begins = cuts[cuts < size]
    covers = {name: (begins[:, None] >= a) & (begins[:, None] < b) for name, (a, b) in stretches.items()}
    segment = np.searchsorted(begins, np.arange(size), side="right") - 1
    near, far = number * w, (number + 1) * w
    corners = np.trunc(np.stack([near, near + w // 2, far - w // 2, far], 1))
    return Axis(**covers, segment=segment.astype(np.int32), corners=corners.astype(np.int32))


def render(
    maze: Maze,
    cell: Array | int,
    size: int,
    *,
    occlusion: bool = False,
    mode: Array | int = 0,
    own: tuple[tiles.Tile, ...] = (),
) -> jax.Array:
    """Draw one maze with the agent on a cell: ``uint8[size, size, 3]``.

    Args:
        maze: a single maze.
        cell: ``int32``, the agent's cell.
        size: side of the picture in pixels (static).
        occlusion: black out what the agent does not see (static).
        mode: 0 key not taken, 1 key held and door shut, 2 door opened; the memory of own tiles
            counts in units of 3 on top of it, with or without a key.
        own: own tiles to draw (static).

    >>> from jaxlab import from_edges
    >>> render(from_edges([(0, 1)], (1, 2), start=0, goal=1), 0, 64).shape
    (64, 64, 3)
    """
    single(maze)
    size = whole("size", size, 1)
    if not isinstance(cell, jax.Array):
        cell = whole("cell", cell, 0, maze.shape[0] * maze.shape[1] - 1)
    if not isinstance(mode, jax.Array):
        mode = whole("mode", mode, 0, tiles.num_modes((tiles.KEY_AND_DOOR, *own)) - 1)
    return _render(maze, jnp.asarray(cell, jnp.int32), jnp.asarray(mode, jnp.int32), size, bool(occlusion), own)


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _render(maze, cell, mode, size, occlusion, own):
    active = (tiles.KEY_AND_DOOR, tiles.ICE, *own)
    maze = jax.tree.map(jnp.asarray, maze)
    return picture(scene.make(active, maze, cell, mode, occlusion=occlusion), size)


def picture(seen: scene.Scene, size: int) -> jax.Array:
    """Draw a scene: ``uint8[size, size, 3]``, the top row first."""
    board, is_wall = board_of(seen, size)
    height, width = seen.walls.shape
    rows, cols = axis(height, size).segment, axis(width, size).segment
    stretched = board[:, cols][rows]
    walled = is_wall[:, cols][rows]
    agent = (diamond(seen.cell, (height, width), size) & ~walled)[..., None]
    return jnp.where(agent, jnp.array(AGENT_GREEN, jnp.uint8), stretched)[::-1]


def board_of(seen: scene.Scene, size: int) -> tuple[jax.Array, jax.Array]:
    """The picture without the agent, one square for each segment, the bottom row first.

    Returns:
        (``uint8[row segments, column segments, 3]``, ``bool[row segments, column segments]``:
        is it a wall? Walls are drawn over the agent.)
    """
    height, width = seen.walls.shape
    rows, cols = axis(height, size), axis(width, size)
    board = jnp.full((len(rows.tile), len(cols.tile), 3), 255, jnp.uint8)

    def paint(mask, color):
        return jnp.where(mask[..., None], jnp.asarray(color, jnp.uint8), board)

    def at(cell, kind="tile"):
        there = jnp.asarray(getattr(rows, kind))[:, cell // width][:, None]
        return there & jnp.asarray(getattr(cols, kind))[:, cell % width] & (cell >= 0)

    if seen.key is not None:
        board = paint(at(seen.key, "key"), KEY_GOLD)
        board = paint(at(seen.door), DOOR_BROWN)
    if seen.ice is not None:
        board = paint(_cover(rows.tile, seen.ice, cols.tile), ICE_BLUE)
    for drawn in seen.own:
        if drawn.tile.colors:
            color = jnp.asarray(drawn.tile.colors, jnp.uint8)[drawn.mode]
            board = paint(_cover(rows.tile, drawn.layer, cols.tile), color)
    if seen.visible is not None:
        board = paint(_cover(rows.tile, ~seen.visible, cols.tile), BLACK)
    board = paint(at(seen.start), START_RED)
    board = paint(at(seen.goal), GOAL_BLUE)
    across = _cover(rows.line, seen.walls >> grid.DOWN & 1, cols.span)
    along = _cover(rows.span, seen.walls >> grid.LEFT & 1, cols.line)
    is_wall = across | along
    return paint(is_wall, BLACK), is_wall


def _cover(rows: np.ndarray, layer: jax.Array, cols: np.ndarray) -> jax.Array:
    """Which squares of the board the cells of a layer ``[H, W]`` cover."""
    return jnp.asarray(rows, jnp.float32) @ layer.astype(jnp.float32) @ jnp.asarray(cols.T, jnp.float32) > 0


def diamond(cell: jax.Array, shape: tuple[int, int], size: int) -> jax.Array:
    """The agent, ``bool[size, size]``, the bottom row first.

    A quadrilateral with a corner near the middle of each side of the cell, filled scan line
    by scan line between its edges, both ends included, in integers.
    """
    x = jnp.asarray(axis(shape[1], size).corners)[cell % shape[1]]
    y = jnp.asarray(axis(shape[0], size).corners)[cell // shape[1]]
    corner_x = jnp.stack([x[1], x[0], x[2], x[3]])
    corner_y = jnp.stack([y[0], y[2], y[3], y[1]])
    next_x, next_y = jnp.roll(corner_x, -1), jnp.roll(corner_y, -1)
    swap = corner_y > next_y
    x1, x2 = jnp.where(swap, next_x, corner_x), jnp.where(swap, corner_x, next_x)
    y1, y2 = jnp.where(swap, next_y, corner_y), jnp.where(swap, corner_y, next_y)
    top = corner_y.max()
    line = jnp.arange(size, dtype=jnp.int32)[:, None]
    crosses = (y1 != y2) & (line >= y1) & ((line < y2) | ((line == top) & (y2 == top)))
    crossing = (line - y1) * (x2 - x1) // jnp.maximum(y2 - y1, 1) + x1
    left = jnp.where(crosses, crossing, size).min(1, keepdims=True)
    right = jnp.where(crosses, crossing, -1).max(1, keepdims=True)
    column = jnp.arange(size, dtype=jnp.int32)
    return (column >= left) & (column <= right)
