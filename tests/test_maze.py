"""Mazes as data: cells, passages, indexing, symmetry."""

import numpy as np
import pytest
from strategies import SHAPES, random_maze

import jaxlab
from jaxlab import grid
from jaxlab import maze as mazes_

#   6   7 | 8
#       -
#   3 | 4   5
#   -
#   0   1   2
EDGES = [(0, 1), (1, 2), (1, 4), (2, 5), (3, 6), (4, 5), (5, 8), (6, 7)]


def example() -> jaxlab.Maze:
    return jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8, key=6, door=5, ice=[7])


def test_walls_are_bits_up_right_down_left():
    maze = example()
    assert maze.walls.dtype == np.uint8
    assert maze.walls[0, 0] == 0b1101, "cell 0 is open to the right only"
    assert maze.walls[1, 1] == 0b1001, "cell 4 is walled up and left"
    assert jaxlab.to_edges(maze) == EDGES
    mazes_.check(maze)


def test_repr_draws_a_maze_and_counts_a_set():
    assert repr(example()).splitlines()[1:] == [
        "-------------",
        "| K   I | E |",
        "|   + - +   |",
        "|   |     D |",
        "| - +   +   |",
        "| S         |",
        "-------------",
    ]
    assert repr(jaxlab.stack([example()] * 3)) == "3 x Maze 3x3"


def test_sets_are_indexed_like_arrays():
    mazes = jaxlab.stack([example(), example().replace(start=np.int32(1))])
    assert len(mazes) == 2 and mazes.shape == (3, 3) and mazes.batch_shape == (2,)
    assert int(mazes[1].start) == 1 and [int(maze.start) for maze in mazes] == [0, 1]
    assert len(mazes[np.array([1, 1, 0])]) == 3
    with pytest.raises(IndexError, match="maze 2 of a set of 2"):
        mazes[2]
    with pytest.raises(TypeError, match="single maze"):
        example()[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"edges": [(0, 2)]}, "no two neighbouring cells"),
        ({"goal": 0}, "goal and start are both on cell 0"),
        ({"ice": [8]}, "ice and goal"),
        ({"key": 9}, r"whole number in 0\.\.8, got 9"),
        ({"shape": (3, 0)}, "at least 1 row"),
        ({"shape": (2.5, 3)}, "whole numbers"),
    ],
)
def test_from_edges_says_what_is_wrong(change, words):
    with pytest.raises(ValueError, match=words):
        jaxlab.from_edges(**{"edges": EDGES, "shape": (3, 3), "start": 0, "goal": 8, **change})


def test_stack_says_what_is_wrong():
    with pytest.raises(ValueError, match="empty"):
        jaxlab.stack([])
    with pytest.raises(ValueError, match="one shape"):
        jaxlab.stack([example(), jaxlab.from_edges([(0, 1)], (1, 2), 0, 1)])
    with pytest.raises(TypeError, match="item 0 is a int"):
        jaxlab.stack([3])


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_and_edges_agree(shape):
    pairs = grid.edges(shape)
    assert len(pairs) == shape[0] * (shape[1] - 1) + (shape[0] - 1) * shape[1]
    assert pairs.tolist() == sorted(pairs.tolist())
    to = grid.neighbours(shape)
    assert {(a, b) for a, b in pairs.tolist()} == {
        (min(a, b), max(a, b)) for a in range(len(to)) for b in to[a].tolist() if b >= 0
    }
    assert [grid.manhattan(shape)[a, b] for a, b in pairs] == [1] * len(pairs)


@pytest.mark.parametrize("shape", SHAPES)
def test_symmetries_keep_the_maze_and_share_a_canonical_form(shape):
    dice = np.random.default_rng(0)
    for _ in range(5):
        maze = random_maze(dice, shape)
        forms = set()
        for symmetry in mazes_.symmetries(shape):
            turned = mazes_.transform(maze, symmetry)
            mazes_.check(turned)
            assert len(jaxlab.to_edges(turned)) == len(jaxlab.to_edges(maze))
            forms.add(mazes_.canonical(turned.walls).tobytes())
        assert len(forms) == 1
        four = maze
        for _ in range(4):
            four = mazes_.transform(four, 1)
        assert np.array_equal(four.walls, maze.walls) and int(four.goal) == int(maze.goal)


def test_structure_is_exact():
    mazes = [random_maze(np.random.default_rng(i), (3, 3)) for i in range(50)]
    keys = {mazes_.structure(maze.walls).tobytes() for maze in mazes}
    assert len(keys) == len({tuple(jaxlab.to_edges(maze)) for maze in mazes})
