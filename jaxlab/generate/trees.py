"""More ways to carve: Wilson's, Kruskal's and Prim's spanning trees, each with a density of loops.

All three run on the device, thousands of mazes at once, and without a loop over cells in
Python. Unlike the depth-first walk of `jaxlab.generate.mazes` they know neither start nor
goal.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid
from jaxlab.errors import check_key, choose, whole
from jaxlab.generate.carve import check_start_goal, far_apart
from jaxlab.maze import Maze, make, walls_from_edges


def tree_mazes(
    key: jax.Array,
    n: int,
    shape: tuple[int, int],
    algorithm: str = "wilson",
    loops: float = 0.0,
    start_goal: str | tuple[int, int] = "biased",
    min_distance: int | None = None,
) -> Maze:
    """Carve ``n`` mazes from spanning trees: a set with one leading axis. Works inside ``jit`` too.

    Args:
        key: of `jax.random.key`; it is consumed.
        n: how many; static.
        shape: (rows, columns); static.
        algorithm: ``"wilson"`` (every spanning tree equally likely), ``"kruskal"`` (the least tree of
            random edge lengths) or ``"prim"`` (the tree grows from the start by a passage drawn
            uniformly among all that lead out of it).
        loops: chance of each passage outside the tree to be open too, 0 to 1.
        start_goal, min_distance: as in `jaxlab.generate.mazes`.

    Raises:
        ValueError: an algorithm, shape, density, start or goal that does not exist.

    >>> tree_mazes(jax.random.key(0), 3, (4, 6), "prim", loops=0.1)
    3 x Maze 4x6
    """
    shape = grid.check_shape(shape)
    choose("algorithm", algorithm, ALGORITHMS)
    n = whole("n", n, 1)
    check_key(key)
    if not isinstance(loops, jax.Array) and not 0 <= loops <= 1:
        raise ValueError(f"loops must lie in 0..1, got {loops!r}")
    choice = check_start_goal(shape, start_goal, min_distance)
    return _carve(key, jnp.float32(loops), n, shape, algorithm, choice)


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def _carve(key, loops, n, shape, algorithm, choice):
    def one(key, start):
        key_tree, key_loops = jax.random.split(key)
        tree = ALGORITHMS[algorithm](key_tree, shape, start)
        return tree | jax.random.bernoulli(key_loops, loops, tree.shape)

    key_ends, key_carve = jax.random.split(key)
    keys = jax.vmap(jax.random.fold_in, (None, 0))(key_carve, jnp.arange(n, dtype=jnp.uint32))
    if isinstance(choice, tuple):
        start, goal = (jnp.full(n, cell, jnp.int32) for cell in choice)
    else:
        for_start, for_goal = jax.random.bits(key_ends, (2, n), jnp.uint32)
        start, goal = far_apart(for_start, for_goal, shape, choice)
    return make(walls_from_edges(jax.vmap(one)(keys, start), shape), start, goal)


def wilson(key: jax.Array, shape: tuple[int, int], root: jax.Array) -> jax.Array:
    """A spanning tree uniform among all: ``bool[E]`` in the order of `grid.edges`.

    D. B. Wilson, "Generating random spanning trees more quickly than the cover time" (1996):
    every cell but the root holds an arrow to a random neighbour; while arrows form a ring, those
    of the ring are drawn again. The order does not matter, so all rings are popped at once. They
    are found by following every arrow for at least as many steps as there are cells.
    """
    num_cells = shape[0] * shape[1]
    beside = jnp.asarray(_packed_neighbours(shape))
    degree = jnp.asarray((grid.neighbours(shape) >= 0).sum(1), jnp.int32)
    is_root = jnp.arange(num_cells, dtype=jnp.int32) == root

    def draw(key):
        turn = jax.random.randint(key, (num_cells,), 0, degree, jnp.int32)  # wider draws are other mazes
        ahead = jnp.take_along_axis(beside, turn[:, None], 1)[:, 0]
        return jnp.where(is_root, root, ahead)

    def on_rings(arrow):
        far = arrow
        for _ in range(num_cells.bit_length()):
            far = far[far]
        return jnp.zeros(num_cells, bool).at[far].set(True) & ~is_root

    def pop(carry):
        key, arrow, ring = carry
        key, key_draw = jax.random.split(key)
        arrow = jnp.where(ring, draw(key_draw), arrow)
        return key, arrow, on_rings(arrow)

    begin = (key, jnp.full(num_cells, root, jnp.int32), ~is_root)
    _, arrow, _ = jax.lax.while_loop(lambda carry: carry[2].any(), pop, begin)
    pairs = jnp.asarray(grid.edges(shape))
    low, high = pairs[:, 0], pairs[:, 1]
    return ((arrow[low] == high) & ~is_root[low]) | ((arrow[high] == low) & ~is_root[high])


def kruskal(key: jax.Array, shape: tuple[int, int], root: jax.Array) -> jax.Array:
    """The spanning tree of least total length when every edge has a random length: ``bool[E]``.

    Edges are taken in a random order; one joins the tree where its ends lie in different parts.
    """
    del root
    pairs = jnp.asarray(grid.edges(shape))
    order = jax.random.permutation(key, len(pairs))

    def take(part, edge):
        a, b = part[pairs[edge, 0]], part[pairs[edge, 1]]
        return jnp.where(part == b, a, part), a != b

    _, joins = jax.lax.scan(take, jnp.arange(shape[0] * shape[1], dtype=jnp.int32), order)
    return jnp.zeros(len(pairs), bool).at[order].set(joins)


def prim(key: jax.Array, shape: tuple[int, int], root: jax.Array) -> jax.Array:
    """A tree grown from the root by a uniform choice among all edges that lead out of it: ``bool[E]``."""
    num_cells = shape[0] * shape[1]
    pairs = jnp.asarray(grid.edges(shape))
    low, high = pairs[:, 0], pairs[:, 1]

    def grow(carry, words):
        reached, tree = carry
        key = jax.random.wrap_key_data(words, impl=impl)
        leads_out = reached[low] != reached[high]
        drawn = jax.random.randint(key, (), 0, leads_out.sum(dtype=jnp.int32), jnp.int32)
        edge = jnp.argmax(jnp.cumsum(leads_out, dtype=jnp.int32) > drawn)
        return (reached.at[pairs[edge]].set(True), tree.at[edge].set(True)), None

    begin = (jnp.arange(num_cells, dtype=jnp.int32) == root, jnp.zeros(len(pairs), bool))
    # As words: vmap would transpose an axis of keys, and what does that loses sight of which of them were used.
    impl, words = jax.random.key_impl(key), jax.random.key_data(jax.random.split(key, num_cells - 1))
    (_, tree), _ = jax.lax.scan(grow, begin, words)
    return tree


ALGORITHMS = {"wilson": wilson, "kruskal": kruskal, "prim": prim}


def count_trees(shape: tuple[int, int]) -> int:
    """How many spanning trees the grid has, exactly: Kirchhoff's determinant in whole numbers (host).

    >>> count_trees((3, 3))
    192
    """
    num_cells = shape[0] * shape[1]
    laplace = [[0] * num_cells for _ in range(num_cells)]
    for a, b in grid.edges(grid.check_shape(shape)).tolist():
        laplace[a][a] += 1
        laplace[b][b] += 1
        laplace[a][b] = laplace[b][a] = -1
    rows = [row[1:] for row in laplace[1:]]
    before = 1
    for k in range(len(rows) - 1):  # Bareiss: fractions never arise; the pivots are minors, all positive
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    return rows[-1][-1]


@functools.cache
def _packed_neighbours(shape: tuple[int, int]) -> np.ndarray:
    """``int32[H*W, 4]``: the neighbours of each cell first, then -1."""
    return -np.sort(-grid.neighbours(shape), axis=1)
