"""Mazes as data: cells, passages, indexing, symmetry."""

import jax
import jax.numpy as jnp
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


def test_repr_of_what_has_no_values_names_its_fields():
    assert repr(jax.eval_shape(lambda: example())).startswith("Maze(walls=ShapeDtypeStruct(shape=(3, 3)")
    seen = []
    jax.jit(lambda maze: seen.append(repr(maze)))(example())
    assert seen[0].startswith("Maze(walls=") and "start=" in seen[0]


def test_sets_are_indexed_like_arrays():
    mazes = jaxlab.stack([example(), example().replace(start=np.int32(1))])
    assert len(mazes) == 2 and mazes.shape == (3, 3) and mazes.batch_shape == (2,)
    assert int(mazes[1].start) == 1 and [int(maze.start) for maze in mazes] == [0, 1]
    assert len(mazes[np.array([1, 1, 0])]) == 3
    with pytest.raises(IndexError, match="maze 2 of a set of 2"):
        mazes[2]
    with pytest.raises(TypeError, match="single maze, not a set: it has no leading axis"):
        example()[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"edges": [(0, 2)]}, "no two neighbouring cells"),
        ({"edges": [(0, 1, 2)]}, r"an edge is two neighbouring cells \(a, b\), got \(0, 1, 2\)"),
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
    with pytest.raises(TypeError, match="mazes must be a list, got 3"):
        jaxlab.stack(3)
    with pytest.raises(TypeError, match="stack takes a list of mazes, got a single maze"):
        jaxlab.stack(example())


def test_a_set_is_a_list_of_mazes_and_one_set_joined_is_itself():
    mazes = jaxlab.stack([example(), example().replace(start=np.int32(1))])
    assert equal(jaxlab.stack(mazes), mazes) and equal(mazes_.concatenate([mazes]), mazes)


def test_one_maze_is_asked_for_and_named():
    with pytest.raises(TypeError, match=r"takes a jaxlab\.Maze, got int"):
        jaxlab.to_edges(3)
    with pytest.raises(TypeError, match=r"takes one maze, got a set of \(2,\)"):
        jaxlab.to_edges(jaxlab.stack([example()] * 2))


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


# -- conversions and turns, by hand ---------------------------------------------------------------

FIELDS = ("walls", "start", "goal", "key", "door", "ice")


def equal(one: jaxlab.Maze, other: jaxlab.Maze) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in FIELDS)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_fine_grid_is_what_is_drawn_and_goes_back(shape):
    maze = random_maze(np.random.default_rng(2), shape)
    fine = mazes_.lattice(maze.walls)
    rows = repr(maze).splitlines()[-2:1:-1]
    assert fine.dtype == np.uint8
    assert fine.tolist() == [[int(sign in "|-+") for sign in row[2:-2:2]] for row in rows]
    assert np.array_equal(mazes_.walls_from_lattice(fine), maze.walls)
    assert np.array_equal(mazes_.walls_from_edges(mazes_.open_edges(maze.walls), shape), maze.walls)


def test_conversions_take_any_leading_axes():
    dice = np.random.default_rng(5)
    mazes = [random_maze(dice, (3, 4)) for _ in range(6)]
    walls = np.stack([maze.walls for maze in mazes]).reshape(2, 3, 3, 4)
    for lead in ((6,), (2, 3)):
        empty = mazes_.make(walls.reshape(*lead, 3, 4), np.zeros(lead), np.ones(lead))
        assert empty.key.shape == empty.door.shape == lead and empty.ice.shape == (*lead, 3, 4)
    for given in (walls, jnp.asarray(walls)):
        is_open, fine = mazes_.open_edges(given), mazes_.lattice(given)
        for one, there in enumerate(np.ndindex(2, 3)):
            assert np.array_equal(is_open[there], mazes_.open_edges(mazes[one].walls))
            assert np.array_equal(fine[there], mazes_.lattice(mazes[one].walls))
        for back in (
            mazes_.walls_from_open(*mazes_.open_passages(given)),
            mazes_.walls_from_edges(is_open, (3, 4)),
            mazes_.walls_from_lattice(fine),
        ):
            assert np.array_equal(back, walls) and type(back) is type(given)


def test_an_empty_set_stays_one():
    empty = jaxlab.stack([example()] * 2)[:0]
    mazes_.check(empty)
    assert mazes_.structure(empty.walls).shape == mazes_.canonical(empty.walls).shape == (0, 2)
    assert len(mazes_.transform(empty, 1)) == 0 and repr(empty) == "0 x Maze 3x3"


def turnable() -> jaxlab.Maze:
    """The path 0, 1, 2, 5 in two rows of three, with something on every cell."""
    mud = np.array([[False, False, False], [True, False, False]])
    maze = jaxlab.from_edges([(0, 1), (1, 2), (2, 5)], (2, 3), start=0, goal=5, key=1, door=2, ice=[4])
    return maze.replace(tiles={"mud": mud})


@pytest.mark.parametrize(
    ("symmetry", "edges", "cells"),
    [
        # Page:  3 4 5    turned anticlockwise:  5 2    mirrored:  5 4 3
        #        0 1 2                           4 1               2 1 0
        #                                        3 0
        (0, [(0, 1), (1, 2), (2, 5)], [0, 5, 1, 2, 4, 3]),
        (1, [(1, 3), (3, 5), (4, 5)], [1, 4, 3, 5, 2, 0]),
        (4, [(0, 1), (0, 3), (1, 2)], [2, 3, 1, 0, 4, 5]),
    ],
)
def test_a_turn_carries_everything_to_the_cell_that_the_page_shows(symmetry, edges, cells):
    turned = mazes_.transform(turnable(), symmetry)
    mazes_.check(turned)
    assert jaxlab.to_edges(turned) == edges
    places = [turned.start, turned.goal, turned.key, turned.door]
    layers = [np.flatnonzero(layer).tolist() for layer in (turned.ice, turned.tiles["mud"])]
    assert [*map(int, places), *layers[0], *layers[1]] == cells


def test_symmetries_are_turns_after_a_mirror():
    maze = turnable()
    for symmetry in range(1, 8):
        before = mazes_.transform(maze, symmetry - 1) if symmetry != 4 else maze
        assert equal(mazes_.transform(before, 4 if symmetry == 4 else 1), mazes_.transform(maze, symmetry))
    for wrong in (-1, 8):
        with pytest.raises(ValueError, match=r"0\.\.7"):
            mazes_.transform(maze, wrong)
    assert mazes_.symmetries((2, 3)) == [0, 2, 4, 6] and mazes_.symmetries((2, 2)) == list(range(8))
    absent = mazes_.transform(maze.replace(key=np.int32(-1)), 1)
    assert int(absent.key) == -1


def test_sets_and_device_arrays_are_turned_alike():
    dice = np.random.default_rng(4)
    mazes = jaxlab.stack([random_maze(dice, (3, 3), lock=True, ice=2) for _ in range(4)])
    turned = mazes_.transform(jax.tree.map(jnp.asarray, mazes), 3)
    assert isinstance(turned.walls, jax.Array) and turned.walls.dtype == jnp.uint8 and turned.key.dtype == jnp.int32
    for one, whole in zip(mazes, turned, strict=True):
        assert equal(mazes_.transform(one, 3), whole)


def test_the_canonical_form_is_the_least_and_the_same_for_a_set():
    dice = np.random.default_rng(3)
    mazes = jaxlab.stack([random_maze(dice, (4, 4)) for _ in range(6)])
    forms = [[mazes_.structure(mazes_.transform(maze, k).walls).tobytes() for k in range(8)] for maze in mazes]
    assert [form.tobytes() for form in mazes_.canonical(mazes.walls)] == [min(of_one) for of_one in forms]
    assert np.array_equal(mazes_.canonical(mazes.walls.reshape(2, 3, 4, 4))[1, 2], mazes_.canonical(mazes[5].walls))


def test_sets_are_joined_and_what_does_not_fit_is_refused():
    one, other = jaxlab.stack([example()]), jaxlab.stack([example().replace(start=np.int32(1))] * 2)
    joined = mazes_.concatenate([one, other])
    assert len(joined) == 3 and joined.start.tolist() == [0, 1, 1]
    assert repr(joined.replace(walls=np.zeros((2, 3, 3, 3), np.uint8))) == "(2, 3) x Maze 3x3"
    muddy = one.replace(tiles={"mud": np.zeros((1, 3, 3), bool)})
    for wrong in ([one, muddy], [one, jaxlab.stack([jaxlab.from_edges([(0, 1)], (1, 2), 0, 1)])]):
        with pytest.raises(ValueError, match="one shape and the same tiles"):
            mazes_.concatenate(wrong)
    with pytest.raises(ValueError, match="the same tiles"):
        jaxlab.stack([muddy[0], one[0]])
    for wrong in ([], [example()]):
        with pytest.raises(TypeError, match="at least one set"):
            mazes_.concatenate(wrong)


def test_a_layer_is_no_list_of_mazes():
    assert len(list(jaxlab.stack([example()] * 3))) == 3
    with pytest.raises(TypeError, match="single maze"):
        len(example())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"walls": example().walls.astype(np.int32)}, "must be uint8, got int32"),
        ({"walls": example().walls[0]}, r"must be \[..., H, W\], got shape \(3,\)"),
        ({"walls": example().walls ^ np.uint8(1)}, "walls do not agree"),
        ({"start": np.int32(-1)}, r"start must lie in 0\.\.8, got -1\.\.-1"),
        ({"goal": np.int32(9)}, r"goal must lie in 0\.\.8, got 9\.\.9"),
        ({"key": np.int32(-2)}, r"key must lie in -1\.\.8, got -2\.\.-2"),
        ({"door": np.float32(5)}, "door must be integers"),
        ({"key": np.zeros(2, np.int32)}, "key must be integers of shape"),
        ({"ice": np.zeros((3, 2), bool)}, "layer 'ice' must be bool"),
        ({"tiles": {"mud": np.zeros((3, 3), int)}}, "layer 'mud' must be bool"),
        ({"key": np.int32(8)}, "goal and key share cell 8"),
        ({"start": np.int32(7)}, "ice and start share cell 7"),
    ],
)
def test_check_says_what_is_wrong(change, words):
    mazes_.check(example())
    mazes_.check(example().replace(key=np.int32(-1), door=np.int32(-1)))
    with pytest.raises(ValueError, match=words):
        mazes_.check(example().replace(**change))


def test_check_takes_sets_and_names_the_maze():
    mazes = jaxlab.stack([example()] * 3)
    mazes_.check(mazes)
    with pytest.raises(ValueError, match="goal and key share cell 8 in maze 1 of the set: each needs its own"):
        mazes_.check(mazes.replace(key=np.array([6, 8, 6], np.int32)))
    with pytest.raises(ValueError, match="goal and key share cell 8: each needs its own"):
        mazes_.check(example().replace(key=np.int32(8)))
    with pytest.raises(ValueError, match=r"start must be integers of shape \(3,\)"):
        mazes_.check(mazes.replace(start=np.int32(0)))
