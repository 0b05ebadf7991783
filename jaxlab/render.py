"""Pictures: one state as RGB, in pure ``jit``, pixel for pixel as the released renderer draws it.

Everything but the agent is made of rectangles whose edges depend only on the number of
cells and the size of the picture. So what covers a row or a column of pixels is known before
the maze is, as a set of cells, and a picture is one pass of selects over whole colours. Edges
are computed on the host in float64, which makes every size exact.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

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


_THINGS = ("tile", "line", "span", "key")


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

    def of_pixels(self) -> Axis:
        """With a row for each pixel in place of each segment."""
        return self._replace(**{name: getattr(self, name)[self.segment] for name in _THINGS})


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
            counts in units of 3 on top of it, with or without a key. Where an environment's
            tiles have memory, `of_state` takes its mode as it is.
        own: own tiles to draw (static); key and door and ice may be listed among them.

    >>> from jaxlab import from_edges
    >>> render(from_edges([(0, 1)], (1, 2), start=0, goal=1), 0, 64).shape
    (64, 64, 3)
    """
    single(maze)
    size = whole("size", size, 1)
    if not isinstance(cell, jax.Array):
        cell = whole("cell", cell, 0, maze.shape[0] * maze.shape[1] - 1)
    active = (*(tile for tile in (tiles.KEY_AND_DOOR, tiles.ICE) if tile not in own), *own)
    if not isinstance(mode, jax.Array):
        mode = whole("mode", mode, 0, tiles.num_modes(active) - 1)
    return of_state(active, maze, cell, mode, size, bool(occlusion))


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def of_state(
    active: tuple[tiles.Tile, ...], maze: Maze, cell: Array | int, mode: Array | int, size: int, occlusion: bool
) -> jax.Array:
    """`render` for an environment: ``active`` are its tiles, and ``mode`` is the one of its states.

    Args:
        active: ``Labyrinth.active_tiles`` (static).
        maze: a single maze.
        cell, mode: ``int32``, of the state.
        size, occlusion: as for `render` (static).

    Returns:
        ``uint8[size, size, 3]``.
    """
    maze = jax.tree.map(jnp.asarray, maze)
    cell, mode = jnp.asarray(cell, jnp.int32), jnp.asarray(mode, jnp.int32)
    return picture(scene.make(active, maze, cell, mode, occlusion=occlusion), size)


def picture(seen: scene.Scene, size: int) -> jax.Array:
    """Draw a scene: ``uint8[size, size, 3]``, the top row first."""
    height, width = seen.walls.shape
    rows, cols = (line.of_pixels() for line in (axis(height, size), axis(width, size)))
    board, is_wall = _paint(seen, rows, cols)
    agent = diamond(seen.cell, (height, width), size) & ~is_wall
    return _rgb(jnp.where(agent, _packed(AGENT_GREEN), board)[::-1])


def board_of(seen: scene.Scene, size: int) -> tuple[jax.Array, jax.Array]:
    """The picture without the agent, one square for each segment, the bottom row first.

    Returns:
        (``uint8[row segments, column segments, 3]``, ``bool[row segments, column segments]``:
        is it a wall? Walls are drawn over the agent.)
    """
    height, width = seen.walls.shape
    board, is_wall = _paint(seen, axis(height, size), axis(width, size))
    return _rgb(board), is_wall


def _paint(seen: scene.Scene, rows: Axis, cols: Axis) -> tuple[jax.Array, jax.Array]:
    """Everything but the agent: packed colours ``uint32[rows, columns]``, and where there is a wall.

    All is one pass of selects over whole colours, which compilers turn into vector code: a row
    and a column of the picture are sets of cells, as bits, and a square is covered by a cell of
    a layer where the two sets and the layer have one in common.
    """
    width = seen.walls.shape[1]
    board = jnp.full((len(rows.tile), len(cols.tile)), _packed(WHITE), jnp.uint32)

    def at(cell, kind="tile"):
        """Squares that a single cell covers."""
        there = jnp.asarray(getattr(rows, kind).T)[cell // width] & (cell >= 0)
        bits = _pack(jnp.arange(width, dtype=jnp.int32) == cell % width)
        return _any_common(jnp.where(there[:, None], bits, 0), getattr(cols, kind))

    def cover(layer, row_kind="tile", col_kind="tile"):
        """Squares that the cells of a layer ``[H, W]`` cover."""
        index, counts = _coverers(getattr(rows, row_kind))
        bits = jnp.where(counts[..., None], _pack(layer)[index], 0)
        return _any_common(jax.lax.reduce(bits, bits.dtype.type(0), jax.lax.bitwise_or, (1,)), getattr(cols, col_kind))

    if seen.key is not None:
        board = jnp.where(at(seen.key, "key"), _packed(KEY_GOLD), board)
        board = jnp.where(at(seen.door), _packed(DOOR_BROWN), board)
    if seen.ice is not None:
        board = jnp.where(cover(seen.ice), _packed(ICE_BLUE), board)
    for drawn in seen.own:
        if drawn.tile.colors:
            color = jnp.asarray([_packed(color) for color in drawn.tile.colors])[drawn.mode]
            board = jnp.where(cover(drawn.layer), color, board)
    if seen.visible is not None:
        board = jnp.where(cover(~seen.visible), _packed(BLACK), board)
    board = jnp.where(at(seen.start), _packed(START_RED), board)
    board = jnp.where(at(seen.goal), _packed(GOAL_BLUE), board)
    is_wall = cover(seen.walls >> grid.DOWN & 1 == 1, "line", "span")
    is_wall |= cover(seen.walls >> grid.LEFT & 1 == 1, "span", "line")
    return jnp.where(is_wall, _packed(BLACK), board), is_wall


def _packed(color: tiles.Color) -> np.uint32:
    """A colour as one number, red in its lowest byte."""
    return np.uint32(color[0] | color[1] << 8 | color[2] << 16)


def _rgb(packed: jax.Array) -> jax.Array:
    """``uint32[...] -> uint8[..., 3]``."""
    return (packed[..., None] >> jnp.asarray(np.array([0, 8, 16], np.uint32))).astype(jnp.uint8)


def _word(cells: int) -> Any:
    """The narrowest unsigned integer with a bit for each cell; many of the widest where none has."""
    return next((word for word in (np.uint8, np.uint16) if cells <= np.iinfo(word).bits), np.uint32)


def _pack(layer: Any) -> jax.Array:
    """``bool[..., W]`` as bits, ``unsigned[..., words]``: the cell of lowest number in the lowest bit."""
    word = _word(layer.shape[-1])
    size = np.iinfo(word).bits
    padded = jnp.pad(jnp.asarray(layer), [*[(0, 0)] * (layer.ndim - 1), (0, -layer.shape[-1] % size)])
    parts = padded.reshape(*padded.shape[:-1], -1, size).astype(word)
    return (parts << jnp.arange(size, dtype=word)).sum(-1, dtype=word)


def _any_common(row_bits: jax.Array, cols: np.ndarray) -> jax.Array:
    """Do a row ``[rows, words]`` and a column ``bool[columns, W]`` share a bit? ``bool[rows, columns]``."""
    return (row_bits[:, None] & _pack(cols) != 0).any(-1)


def _coverers(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cells that cover each row, filled up: ``int32[rows, most]``, and which of them count (host)."""
    most = max(int(rows.sum(1).max()), 1)
    index = np.argsort(~rows, axis=1, kind="stable")[:, :most].astype(np.int32)
    return index, np.take_along_axis(rows, index, 1)


def diamond(cell: jax.Array, shape: tuple[int, int], size: int) -> jax.Array:
    """The agent, ``bool[size, size]``, the bottom row first.

    A quadrilateral with a corner near the middle of each side of the cell, filled scan line
    by scan line between its edges, both ends included, in integers.
    """
    first, left, right = (jnp.asarray(table) for table in _scan_lines(shape, size))
    line = jnp.arange(size, dtype=jnp.int32) - first[cell]
    there = (line >= 0) & (line < left.shape[1])
    line = jnp.where(there, line, 0)
    begin, end = left[cell][line], jnp.where(there, right[cell][line], -1)
    column = jnp.arange(size, dtype=jnp.int32)
    return (column >= begin[:, None]) & (column <= end[:, None])


@functools.cache
def _scan_lines(shape: tuple[int, int], size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The agent's scan lines on every cell (host).

    Returns:
        ``int32[H*W]``, the lowest; ``int32[H*W, lines]`` twice, first and last column of each
        from there upwards. Where a line holds nothing the last lies before the first.
    """
    rows, cols = axis(shape[0], size).corners, axis(shape[1], size).corners
    first = rows.min(1)
    x1, y1 = cols[None, :, None, [1, 0, 2, 3]], rows[:, None, None, [0, 2, 3, 1]]  # [H, W, line, edge]
    x2, y2 = np.roll(x1, -1, -1), np.roll(y1, -1, -1)
    top = y1.max(-1, keepdims=True)
    line = first[:, None, None, None] + np.arange((rows.max(1) - first).max() + 1, dtype=np.int32)[:, None]
    swap = y1 > y2
    x1, x2, y1, y2 = np.where(swap, x2, x1), np.where(swap, x1, x2), np.where(swap, y2, y1), np.where(swap, y1, y2)
    crosses = (y1 != y2) & (line >= y1) & ((line < y2) | ((line == top) & (y2 == top)))
    crossing = (line - y1) * (x2 - x1) // np.maximum(y2 - y1, 1) + x1
    left, right = np.where(crosses, crossing, size).min(-1), np.where(crosses, crossing, -1).max(-1)
    flat = left.reshape(shape[0] * shape[1], -1), right.reshape(shape[0] * shape[1], -1)
    return np.repeat(first, shape[1]).astype(np.int32), flat[0].astype(np.int32), flat[1].astype(np.int32)
