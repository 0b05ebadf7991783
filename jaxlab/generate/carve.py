"""Carving: thousands of mazes at once, with the distribution of the released generator.

A depth-first walk begins at the start and goes, at each step, to a neighbour drawn
uniformly among those not yet visited, or back where there is none. The goal is
visited but never left, so it is a leaf. Pairs of neighbours outside this tree stay
open with probability (26/101)^2, or 26/101 where one of them is the goal.

Each step updates bit sets: 32 cells a word, the axis of the mazes last, so that a step
is a few dozen vector instructions for eight mazes and the program does not grow with
the maze.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid
from jaxlab.errors import check_key, choose, whole
from jaxlab.maze import Maze, make, walls_from_open

KEEP = 26 / 101
"""The released generator looks at a pair outside the tree from either end, and at each keeps it with this chance."""
START_GOAL = ("biased", "unbiased")
_CHUNK_CELLS = 2**15
"""Cells carved at once: the state of a step stays in the cache, and XLA does not split a step over threads,
which at these sizes costs up to six times what it gains. Several calls run side by side instead."""
_CALL = 16  # chunks in one call
_MAX_BATCH = 2**18


def mazes(
    key: jax.Array,
    n: int,
    shape: tuple[int, int],
    start_goal: str | tuple[int, int] = "biased",
    min_distance: int | None = None,
) -> Maze:
    """Carve ``n`` mazes: a set with one leading axis. Works inside ``jit`` too.

    Maze ``i`` depends on the key and on ``i`` alone: a longer set begins with the shorter one.

    Args:
        key: of `jax.random.key`; it is consumed.
        n: how many; static.
        shape: (rows, columns); static.
        start_goal: ``"biased"`` (bottom left to top right), ``"unbiased"`` (start uniform among
            the cells that have a goal far enough, then goal uniform among those), or two cells.
        min_distance: least Manhattan distance from start to goal when unbiased; default ``(H + W) // 2``.

    Raises:
        ValueError: a shape, start, goal or distance that does not exist.

    >>> mazes(jax.random.key(0), 1000, (5, 5))
    1000 x Maze 5x5
    """
    shape = grid.check_shape(shape)
    n = whole("n", n, 1)
    check_key(key)
    choice = check_start_goal(shape, start_goal, min_distance)
    if isinstance(key, jax.core.Tracer):
        return _carve_many(key, jnp.uint32(0), n, shape, choice)
    return carve_range(key, 0, n, shape, choice)


def check_start_goal(
    shape: tuple[int, int], start_goal: str | tuple[int, int], min_distance: int | None
) -> tuple[int, int] | int:
    """What the carver is told: (start, goal), or the least distance when they are drawn."""
    rows, cols = shape
    if isinstance(start_goal, str):
        name = choose("start_goal", start_goal, START_GOAL)
        if name == "unbiased":
            least = (rows + cols) // 2 if min_distance is None else min_distance
            return whole(f"min_distance in a {rows}x{cols} maze", least, 1, rows + cols - 2)
        start_goal = (0, rows * cols - 1)
    if min_distance is not None:
        raise ValueError('min_distance goes with start_goal="unbiased" only')
    try:
        start, goal = start_goal
    except (TypeError, ValueError):
        raise ValueError(f"start_goal must be 'biased', 'unbiased' or two cells, got {start_goal!r}") from None
    start, goal = whole("start", start, 0, rows * cols - 1), whole("goal", goal, 0, rows * cols - 1)
    if start == goal:
        raise ValueError(f"start and goal must differ, both are cell {start}")
    return start, goal


def carve_range(key: jax.Array, first: int, n: int, shape: tuple[int, int], choice: tuple[int, int] | int) -> Maze:
    """Mazes ``first .. first + n - 1`` of a key (host).

    ``choice`` is what `check_start_goal` returned. Batch sizes are powers of two, so that few are ever compiled.
    """
    size = min(_CALL * _chunk(shape), max(16, 1 << (n - 1).bit_length()))
    parts = [_carve_jit(key, jnp.uint32(first + low), size, shape, choice) for low in range(0, n, size)]
    if len(parts) == 1:
        return parts[0] if size == n else jax.tree.map(lambda leaf: leaf[:n], parts[0])
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves)[:n], *parts)


def batch_for(lacking: int, n: int, shape: tuple[int, int]) -> int:
    """How many mazes to carve when ``lacking`` of ``n`` are still to be found: few sizes, each compiled once."""
    unit = min(_CALL * _chunk(shape), max(256, 1 << (n - 1).bit_length()))
    return unit * min(-(-lacking // unit), max(1, _MAX_BATCH // unit))


def _chunk(shape: tuple[int, int]) -> int:
    return max(16, 1 << int(_CHUNK_CELLS / (shape[0] * shape[1])).bit_length() - 1)


def _carve_many(key, first, n, shape, choice) -> Maze:
    """Mazes ``first .. first + n - 1`` in pieces that fit the cache, inside one traced program."""

    def carve(low, size):
        keys = jax.vmap(jax.random.fold_in, (None, 0))(key, low + jnp.arange(size, dtype=jnp.uint32))
        return _carve(keys, shape, choice)

    size = _chunk(shape)
    if n <= size:
        return carve(first, n)
    lows = first + size * jnp.arange(-(-n // size), dtype=jnp.uint32)
    parts = jax.lax.map(lambda low: carve(low, size), lows)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:n], parts)


_carve_jit = jax.jit(_carve_many, static_argnums=(2, 3, 4))


def _carve(keys: jax.Array, shape: tuple[int, int], choice: tuple[int, int] | int) -> Maze:
    """One maze for each key."""
    rows, cols = shape
    num_steps, num_edges = 2 * (rows * cols - 1), len(grid.edges(shape))
    n, num_words = keys.shape[0], num_steps + num_edges + 2
    words = jax.vmap(lambda key: jax.random.bits(key, (num_words,), jnp.uint32), out_axes=1)(keys)
    if isinstance(choice, tuple):
        start, goal = (jnp.full(n, cell, jnp.int32) for cell in choice)
    else:
        start, goal = far_apart(words[-2], words[-1], shape, choice)
    if min(shape) == 1:
        # A corridor has one structure; only here would a goal that is never left cut cells off.
        across, along = jnp.ones((rows, cols - 1, n), bool), jnp.ones((rows - 1, cols, n), bool)
    else:
        across, along = _tree(words[:num_steps], start, goal, shape)
        more_across, more_along = _loops(words[num_steps : num_steps + num_edges], goal, shape)
        across, along = across | more_across, along | more_along
    walls = walls_from_open(jnp.moveaxis(across, -1, 0), jnp.moveaxis(along, -1, 0))
    return make(walls, start, goal)


def _tree(words: jax.Array, start: jax.Array, goal: jax.Array, shape: tuple[int, int]) -> tuple[jax.Array, jax.Array]:
    """The passages of the depth-first tree, ``bool[H, W-1, N]`` and ``bool[H-1, W, N]``.

    Cells stand at ``(row + 1) * (W + 1) + col`` of a bit set: a column and two rows of visited
    cells around the maze stop every walk.
    """
    rows, cols = shape
    stride = cols + 1
    num_words = -(-(rows + 2) * stride // 32)
    offset = np.array([stride, 1, -stride, -1], np.int32)
    inside = np.zeros(num_words * 32, bool)
    inside[: (rows + 2) * stride].reshape(rows + 2, stride)[1:-1, :-1] = True
    packed = np.packbits(inside, bitorder="little").view("<u4").astype(np.uint32)
    which = jnp.arange(num_words, dtype=jnp.int32)[:, None]

    def position(cell):
        return (cell // cols + 1) * stride + cell % cols

    def bit(cell):
        return jnp.where(which == cell >> 5, jnp.uint32(1) << (cell & 31).astype(jnp.uint32), jnp.uint32(0))

    def lookup(words, cell):
        word = jnp.where(which == cell >> 5, words, jnp.uint32(0)).sum(0, dtype=jnp.uint32)
        return (word >> (cell & 31).astype(jnp.uint32) & 1).astype(jnp.int32)

    def along_side(action):
        sign = 1 - (action & 2)
        return sign * jnp.where(action & 1, 1, stride)

    start, goal = position(start), position(goal)

    def step(carry, word):
        free, low, high, cell = carry
        open0, open1, open2, open3 = (lookup(free, cell + int(o)) for o in offset)
        upto0, upto1, upto2 = open0, open0 + open1, open0 + open1 + open2
        count = upto2 + open3
        # 28 random bits times at most 4 fit the word: a uniform number below count.
        drawn = ((word >> 4) * count.astype(jnp.uint32) >> 28).astype(jnp.int32)
        action = sum((upto <= drawn).astype(jnp.int32) for upto in (upto0, upto1, upto2))
        ahead = cell + along_side(action)
        goes = count > 0
        mark = jnp.where(goes, bit(ahead), jnp.uint32(0))
        came = lookup(low, cell) + 2 * lookup(high, cell)
        back = jnp.where(cell == start, cell, cell - along_side(came))
        cell = jnp.where(goes, jnp.where(ahead == goal, cell, ahead), back)
        low = low | jnp.where(action & 1 > 0, mark, jnp.uint32(0))
        high = high | jnp.where(action & 2 > 0, mark, jnp.uint32(0))
        return (free & ~mark, low, high, cell), None

    n = start.shape[0]
    none = jnp.zeros((num_words, n), jnp.uint32)
    free = jnp.asarray(packed)[:, None] & ~bit(start)
    (_, low, high, _), _ = jax.lax.scan(step, (free, none, none, start), words)

    def unpack(words):
        bits = words[:, None, :] >> jnp.arange(32, dtype=jnp.uint32)[:, None] & 1
        bits = bits.reshape(num_words * 32, n)[: (rows + 2) * stride].reshape(rows + 2, stride, n)
        return bits[1:-1, :-1] > 0

    odd, backward, first = unpack(low), unpack(high), unpack(bit(start))
    came_up, came_right = ~odd & ~backward & ~first, odd & ~backward
    came_down, came_left = ~odd & backward, odd & backward
    return came_right[:, 1:] | came_left[:, :-1], came_up[1:] | came_down[:-1]


def _loops(words: jax.Array, goal: jax.Array, shape: tuple[int, int]) -> tuple[jax.Array, jax.Array]:
    """Which pairs are open besides the tree, ``bool[H, W-1, N]`` and ``bool[H-1, W, N]``."""
    rows, cols = shape
    cell = jnp.arange(rows * cols, dtype=jnp.int32).reshape(rows, cols, 1)
    at_goal = cell == goal
    often, seldom = jnp.uint32(round(KEEP * 2**32)), jnp.uint32(round(KEEP**2 * 2**32))

    def keep(words, beside_goal):
        return words < jnp.where(beside_goal, often, seldom)

    num_across = rows * (cols - 1)
    across = words[:num_across].reshape(rows, cols - 1, -1)
    along = words[num_across:].reshape(rows - 1, cols, -1)
    return keep(across, at_goal[:, 1:] | at_goal[:, :-1]), keep(along, at_goal[1:] | at_goal[:-1])


def far_apart(
    for_start: jax.Array, for_goal: jax.Array, shape: tuple[int, int], least: int
) -> tuple[jax.Array, jax.Array]:
    """A start uniform among the cells that have a goal far enough, then a goal uniform among those; a word for each."""
    starts = np.flatnonzero(has_far_goal(shape, least)).astype(np.int32)
    start = jnp.asarray(starts)[_below(for_start, jnp.uint32(len(starts)))]
    cell = jnp.arange(shape[0] * shape[1], dtype=jnp.int32)
    row, col = start[:, None] // shape[1], start[:, None] % shape[1]
    far = jnp.abs(cell // shape[1] - row) + jnp.abs(cell % shape[1] - col) >= least
    drawn = _below(for_goal, far.sum(-1).astype(jnp.uint32)).astype(jnp.int32)
    return start, jnp.argmax(jnp.cumsum(far, -1, jnp.int32) > drawn[:, None], -1).astype(jnp.int32)


def has_far_goal(shape: tuple[int, int], least: int) -> np.ndarray:
    """``bool[H*W]``: which cells have another at a Manhattan distance of at least ``least``."""
    rows, cols = shape
    row, col = np.divmod(np.arange(rows * cols), cols)
    return np.maximum(row, rows - 1 - row) + np.maximum(col, cols - 1 - col) >= least


def _below(words: jax.Array, count: jax.Array) -> jax.Array:
    """A uniform number below ``count`` from a word: the high half of their 64-bit product, by halves of 32 bits."""
    high, low = words >> 16, words & 0xFFFF
    middle = high * (count & 0xFFFF) + (low * (count & 0xFFFF) >> 16)
    return high * (count >> 16) + (middle >> 16) + (low * (count >> 16) + (middle & 0xFFFF) >> 16)
