"""What a policy sees in every state, drawn once: rows are gathered by (maze, mode, cell).

An observation depends on the maze, the agent's cell and the mode and on nothing else. So
data sets and replay buffers hold integers, and the loss gathers rows of this table. Where
the table would be too large, the same call draws the pictures on the fly.

The paper's picture is the 600 px picture resized to 64 px by antialiased bilinear
interpolation. Resizing is linear and works on rows and columns apart, and everything but the
agent is made of rectangles, so it is two small matrices around the small board of
`jaxlab.render.board_of`; the agent's diamond adds a difference in a window of its own.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from baselines import windows
from baselines.windows import Windows
from jaxlab import observe, scene
from jaxlab.env import Labyrinth, Params
from jaxlab.errors import choose
from jaxlab.maze import Array
from jaxlab.render import AGENT_GREEN, Axis, axis, board_of, diamond

RENDERS = ("paper", "direct")
SOURCE_RATIO = 600 / 64
"""The paper draws 600 px and resizes to 64; other sizes keep the ratio."""
MAX_BYTES = 512 * 2**20
"""A table beyond this is not made; rows are then drawn where they are used."""
_BATCH = 256


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """Observations of every state of a set of mazes.

    Attributes:
        env: static; its ``observation`` is what the rows hold.
        render: static; ``"paper"`` or ``"direct"``, how pixels are drawn.
        params: the mazes.
        rows: ``[N * num_modes * H*W, ...]``, or `Windows` of them, or None: draw on the fly.
    """

    env: Labyrinth = dataclasses.field(metadata={"static": True})
    render: str = dataclasses.field(metadata={"static": True})
    params: Params
    rows: Array | Windows | None

    def see(self, maze: Array, mode: Array, cell: Array) -> windows.Seen:
        """Observations of states: integers ``[...]`` to ``[..., *observation shape]``, or ``[B]`` to `Windows`."""
        if isinstance(self.rows, Windows):
            return self.rows.take(self.index(maze, mode, cell))
        if self.rows is not None:
            return jnp.asarray(self.rows)[self.index(maze, mode, cell)]
        lead = jnp.shape(maze)
        flat = [jnp.broadcast_to(jnp.asarray(part, jnp.int32), lead).ravel() for part in (maze, mode, cell)]
        drawn = jax.vmap(lambda *state: draw(self.env, self.render, self.params, *state))(*flat)
        return drawn.reshape(*lead, *drawn.shape[1:])

    def index(self, maze: Array, mode: Array, cell: Array) -> Array:
        """The row of a state."""
        return (maze * self.env.num_modes + mode) * self.env.num_cells + cell

    def cut(self, size: int, stride: int, pad: int) -> Table:
        """The same table with its pictures as the `Windows` of a first convolution (host).

        Pictures stay as they are where that would not be smaller, or where windows leave out pixels. With
        windows, `see` takes states of one axis.
        """
        if self.rows is None or isinstance(self.rows, Windows) or self.env.observation != "pixels":
            return self
        found = windows.cut(np.asarray(self.rows), size, stride, pad)
        return self if found is None else dataclasses.replace(self, rows=found)

    @property
    def num_states(self) -> int:
        """How many rows there are (or would be)."""
        return len(self.params.mazes) * self.env.num_modes * self.env.num_cells

    def state(self, index: Array) -> tuple[Array, Array, Array]:
        """(maze, mode, cell) of a row: the inverse of `index`."""
        rest, cell = jnp.divmod(index, self.env.num_cells)
        maze, mode = jnp.divmod(rest, self.env.num_modes)
        return maze, mode, cell

    @property
    def name(self) -> str:
        """``"vector"``, ``"grid"``, ``"pixels-paper"`` or ``"pixels-direct"``."""
        return f"pixels-{self.render}" if self.env.observation == "pixels" else self.env.observation


def make(
    env: Labyrinth,
    params: Params,
    observation: str = "pixels",
    render: str = "paper",
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Draw every state of a set of mazes (host; the drawing is jitted).

    Args:
        env: whose rules and settings count; its own observation is replaced.
        params: the mazes.
        observation: ``"pixels"``, ``"vector"`` or ``"grid"``.
        render: ``"paper"`` (600 px resized to 64) or ``"direct"`` (drawn at 64).
        max_bytes: a larger table is not made.
    """
    choose("render", render, RENDERS)
    choose("observation", observation, observe.OBSERVATIONS)
    env = dataclasses.replace(env, observation=observation, view=None)
    empty = Table(env, render, params, None)
    shape = jax.eval_shape(lambda: draw(env, render, params, 0, 0, 0))
    if empty.num_states * shape.size * shape.dtype.itemsize > max_bytes:
        return empty
    return dataclasses.replace(empty, rows=_draw_all(env, render, params))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _draw_all(env: Labyrinth, render: str, params: Params) -> jax.Array:
    states = Table(env, render, params, None)
    index = jnp.arange(states.num_states, dtype=jnp.int32)
    return jax.lax.map(lambda i: draw(env, render, params, *states.state(i)), index, batch_size=_BATCH)


def draw(env: Labyrinth, how: str, params: Params, maze: Array, mode: Array, cell: Array) -> Any:
    """The observation of one state."""
    one = jax.tree.map(lambda leaf: leaf[maze], params.mazes)
    seen = scene.make(env.active_tiles, one, jnp.asarray(cell), jnp.asarray(mode), occlusion=env.occlusion)
    if env.observation == "pixels" and how == "paper":
        return paper_picture(seen, env.pixels)
    return observe.OBSERVATIONS[env.observation].function(env, seen)


# -- the paper's picture ---------------------------------------------------------------------------


class _Lens(NamedTuple):
    """What turns a board at ``source`` px into a picture at ``size`` px (host, numpy).

    ``rows`` and ``cols`` shrink the whole board. The agent in a cell touches a few squares of
    the board and a few pixels of the picture only: ``weight[cell]`` says how much of each such
    square shows as agent in each such pixel.
    """

    source: int
    rows: np.ndarray  # float32[size, row segments], the top row of the picture first
    cols: np.ndarray  # float32[size, column segments]
    weight: np.ndarray  # float32[H*W, pixel rows, pixel columns, row segments, column segments]
    square: np.ndarray  # int32[H*W, 2], first row and column segment that the agent touches
    pixel: np.ndarray  # int32[H*W, 2], first row and column of the picture that it touches


@functools.cache
def _lens(shape: tuple[int, int], size: int) -> _Lens:
    source = round(size * SOURCE_RATIO)
    shrink = _shrink(source, size)
    shrinks = shrink[::-1], shrink  # the board has the bottom row first, the picture the top row
    cell = np.arange(shape[0] * shape[1])
    number = cell // shape[1], cell % shape[1]
    lines = tuple(axis(cells, source) for cells in shape)
    parts = [_split(matrix, line.segment) for matrix, line in zip(shrinks, lines, strict=True)]
    spans = [_reach(matrix, line) for matrix, line in zip(shrinks, lines, strict=True)]
    weight = []
    for i in cell.tolist():
        body = _body(shape, source, i)
        (left, right) = (
            part[span.square[k[i]] :, span.pixel[k[i]] :][: span.squares, : span.pixels]
            for part, span, k in zip(parts, spans, number, strict=True)
        )
        weight.append(np.einsum("rih,hw,cjw->ijrc", left, body, right, optimize=True))
    square, pixel = (
        np.stack([getattr(span, name)[k] for span, k in zip(spans, number, strict=True)], 1).astype(np.int32)
        for name in ("square", "pixel")
    )
    rows, cols = (part.sum(-1).T for part in parts)
    return _Lens(source, rows, cols, np.stack(weight), square, pixel)


class _Reach(NamedTuple):
    """What the agent touches along one axis, for each row (or column) of cells."""

    square: np.ndarray
    squares: int
    pixel: np.ndarray
    pixels: int


def _reach(shrink: np.ndarray, line: Axis) -> _Reach:
    first, last = line.corners[:, 0], np.minimum(line.corners[:, 3], len(line.segment) - 1)
    touched = [np.flatnonzero(shrink[:, a : b + 1].any(1)) for a, b in zip(first, last, strict=True)]
    low, high = line.segment[first], line.segment[last]
    squares, pixels = int((high - low).max()) + 1, max(int(np.ptp(t)) + 1 for t in touched)
    # Windows have one size; those at the end begin a little earlier.
    square = np.minimum(low, line.segment.max() + 1 - squares)
    return _Reach(square, squares, np.minimum([t.min() for t in touched], len(shrink) - pixels), pixels)


def _body(shape: tuple[int, int], source: int, cell: int) -> np.ndarray:
    """The agent in a cell: ``bool[source, source]``, the bottom row first."""
    with jax.ensure_compile_time_eval():
        return np.asarray(_drawn_body(shape, source, jnp.int32(cell)))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _drawn_body(shape: tuple[int, int], source: int, cell: jax.Array) -> jax.Array:
    return diamond(cell, shape, source)


def _shrink(source: int, size: int) -> np.ndarray:
    """Antialiased bilinear resizing of one axis as a matrix ``float32[size, source]``."""
    scale = source / size
    centre = (np.arange(size) + 0.5) * scale - 0.5
    weight = np.maximum(0, 1 - np.abs(np.arange(source) - centre[:, None]) / scale)
    return (weight / weight.sum(1, keepdims=True)).astype(np.float32)


def _split(matrix: np.ndarray, segment: np.ndarray) -> np.ndarray:
    """The part of a matrix ``[size, source]`` that reads each segment: ``[segments, size, source]``."""
    return np.where(segment == np.arange(segment.max() + 1)[:, None, None], matrix, 0)


def paper_picture(seen: scene.Scene, size: int) -> jax.Array:
    """The picture drawn at ``size * 600 / 64`` px, resized to ``size``: ``uint8[size, size, 3]``."""
    lens = _lens(seen.walls.shape, size)
    board, is_wall = board_of(seen, lens.source)
    ground = board.astype(jnp.float32)
    # Exact on every device: rounded to fewer bits, a pixel could differ.
    picture = jnp.einsum("ir,rcd,jc->ijd", lens.rows, ground, lens.cols, precision="highest")

    # The agent takes the place of what lies behind it, save walls.
    change = jnp.where(is_wall[..., None], 0, jnp.asarray(AGENT_GREEN, jnp.float32) - ground)
    weight = jnp.asarray(lens.weight)[seen.cell]
    square, pixel = (jnp.asarray(first)[seen.cell] for first in (lens.square, lens.pixel))
    change = jax.lax.dynamic_slice(change, (square[0], square[1], jnp.int32(0)), (*weight.shape[2:], 3))
    agent = jnp.einsum("ijrc,rcd->ijd", weight, change, precision="highest")
    begin = pixel[0], pixel[1], jnp.int32(0)
    under = jax.lax.dynamic_slice(picture, begin, agent.shape)
    picture = jax.lax.dynamic_update_slice(picture, under + agent, begin)
    return jnp.clip(jnp.round(picture), 0, 255).astype(jnp.uint8)
