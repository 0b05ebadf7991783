"""Carving: the released distribution, bit for bit the same from a seed."""

import jax
import numpy as np
import pytest

from jaxlab import grid, maze
from jaxlab.generate import mazes

SHAPES = [(1, 2), (1, 7), (2, 2), (3, 3), (4, 6), (8, 3)]


def connected(walls):
    shape = walls.shape[-2:]
    labels = np.arange(shape[0] * shape[1])
    for a, b in grid.edges(shape)[maze.open_edges(walls)].tolist():
        labels[labels == labels[b]] = labels[a]
    return len(set(labels.tolist())) == 1


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("start_goal", ["biased", "unbiased"])
def test_mazes_are_sound(shape, start_goal):
    drawn = jax.tree.map(np.asarray, mazes(jax.random.key(3), 64, shape, start_goal))
    maze.check(drawn)
    assert drawn.walls.dtype == np.uint8 and drawn.start.dtype == np.int32
    assert all(connected(walls) for walls in drawn.walls)
    distance = grid.manhattan(shape)[drawn.start, drawn.goal]
    if start_goal == "biased":
        assert (drawn.start == 0).all() and (drawn.goal == shape[0] * shape[1] - 1).all()
    else:
        assert (distance >= (shape[0] + shape[1]) // 2).all()


def test_a_longer_set_begins_with_the_shorter_one():
    key = jax.random.key(11)
    long = mazes(key, 3000, (3, 3), "unbiased")
    for n in (1, 16, 700):
        short = mazes(key, n, (3, 3), "unbiased")
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[: len(a)]), short, long)
    other = mazes(jax.random.key(12), 16, (3, 3), "unbiased")
    assert not np.array_equal(other.walls, long.walls[:16])


def test_inside_jit_the_same_mazes():
    traced = jax.jit(lambda key: mazes(key, 16, (3, 3), "unbiased"))(jax.random.key(11))
    jax.tree.map(np.testing.assert_array_equal, traced, mazes(jax.random.key(11), 16, (3, 3), "unbiased"))


def test_program_does_not_grow_with_the_maze():
    def equations(shape):
        return str(jax.make_jaxpr(lambda key: mazes(key, 2, shape))(jax.random.key(0))).count(" = ")

    assert equations((25, 25)) == equations((5, 5)) > 100
