"""Carving: the released distribution, bit for bit the same from a seed."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import grid, maze, splits
from jaxlab.generate import carve, mazes
from jaxlab.generate.__main__ import main
from jaxlab.generate.support import structures

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
    for n in (1, 16):
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


ARGUMENTS = ["--width", "3", "--height", "3", "--train", "5", "--eval", "4", "--test", "3", "--seed", "7", "--out"]


def test_command_writes_and_says_where(tmp_path, capsys):
    out = tmp_path / "a" / "b"
    assert main([*ARGUMENTS, str(out)]) == 0
    assert str(out / "train") in capsys.readouterr().out
    assert {d.name: len(list(d.glob("*.labyrinth"))) for d in out.iterdir()} == {"train": 5, "eval": 4, "test": 3}
    assert main([*ARGUMENTS, str(out)]) == 0  # the same again is fine
    made = splits.make((3, 3), 5, 4, 3, seed=7)
    assert splits.read(out).sha256["test"] == made.sha256["test"]
    with pytest.raises(SystemExit) as stop:
        main([*ARGUMENTS[:-3], "--seed", "8", "--out", str(out)])
    assert stop.value.code == 2
    assert "already holds other files" in capsys.readouterr().err
    assert [path.name for path in out.parent.iterdir()] == ["b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--width 3 --height 3 --train 100", "exactly 96"),
        ("--width 1 --height 1", "at least 1 row"),
        ("--width 9 --height 1 --icy-floor", "only one"),
        ("--seed -1", "seed must be"),
        ("--start 3", "go together"),
        ("--min-distance 3", "unbiased"),
        ("--train 0", "train must be"),
    ],
)
def test_command_errors_are_one_line(tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit) as stop:
        main([*arguments.split(), "--out", str(tmp_path / "x")])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())


# -- the released distribution ------------------------------------------------------------------------


def recorded(golden, size):
    record = json.loads((golden / "generator_stats.json").read_text())[str(size)]
    order = {tuple(pair): i for i, pair in enumerate(grid.edges((size, size)).tolist())}
    return record, [order[tuple(sorted(edge))] for edge in record["edge_list"]]


def agree(counts, others):
    """p of the chi-square test that two rows of counts have one distribution; rare classes are joined."""
    table = np.array([counts, others], float)
    rare = table.sum(0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(1)])
    table = table[:, table.sum(0) > 0]
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    statistic = ((table - expected) ** 2 / expected).sum()
    return float(jax.scipy.special.gammaincc((table.shape[1] - 1) / 2, statistic / 2))


def histograms(pairs, values):
    """The recorded histogram, and that of ``values``, over the same classes."""
    record = {value: count for value, count in pairs}
    classes = sorted(record.keys() | set(values.tolist()))
    return [record.get(c, 0) for c in classes], [int((values == c).sum()) for c in classes]


def test_200_000_draws_at_3x3_are_exactly_the_96_mazes(golden):
    record, order = recorded(golden, 3)
    drawn = mazes(jax.random.key(1), 200_000, (3, 3))
    masks = maze.open_edges(np.asarray(drawn.walls))[:, order] @ (1 << np.arange(12))
    assert set(masks.tolist()) == {mask for mask, _ in record["maze_bitmask_count"]}
    assert len(set(masks.tolist())) == 96 == len(structures((3, 3), 0, 8))
    assert agree(*histograms(record["maze_bitmask_count"], masks)) > 0.001


@pytest.mark.parametrize(("size", "n"), [(3, 20_000), (4, 20_000), (5, 20_000), (10, 2_000)])
def test_frequencies_are_the_released_ones(golden, size, n):
    record, order = recorded(golden, size)
    drawn = mazes(jax.random.key(2), n, (size, size))
    is_open = maze.open_edges(np.asarray(drawn.walls))[:, order]
    assert agree(*histograms(record["n_edges_hist"], is_open.sum(1))) > 0.001
    env = jaxlab.Labyrinth((size, size))
    shortest = np.asarray(env.params(drawn[:2000]).shortest)
    assert agree(*histograms(record["shortest_moves_hist"], shortest)) > 0.001
    # Each passage on its own: two rows, open and shut; the least p of many is held to that many.
    opened, total = np.array(record["edge_open_count"]), record["n"]
    least = min(
        agree([a, total - a], [b, n - b]) for a, b in zip(opened.tolist(), is_open.sum(0).tolist(), strict=True)
    )
    assert least > 0.001 / len(order)


def test_support_of_the_generator():
    assert [len(structures(shape, 0, shape[0] * shape[1] - 1)) for shape in ((2, 2), (3, 3), (4, 4))] == [3, 96, 34719]
    seen = {form.tobytes() for form in maze.structure(mazes(jax.random.key(1), 4096, (2, 3)).walls)}
    assert seen == {form.tobytes() for form in maze.structure(structures((2, 3), 0, 5))}
    with pytest.raises(ValueError, match="at most 16 cells"):
        structures((5, 5), 0, 24)


def test_numbers_below_any_count_are_the_high_half_of_the_product():
    words = np.random.default_rng(0).integers(0, 2**32, 1000, dtype=np.uint32)
    words[:2] = 0, 2**32 - 1
    for count in (1, 7, 2**16 - 1, 2**16, 90_000, 2**31 + 5, 2**32 - 1):
        expected = [word * count >> 32 for word in words.tolist()]
        assert carve._below(jnp.asarray(words), jnp.uint32(count)).tolist() == expected


def test_unbiased_start_is_uniform_then_the_goal():
    drawn = jax.tree.map(np.asarray, mazes(jax.random.key(6), 20_000, (3, 3), "unbiased"))
    far = grid.manhattan((3, 3)) >= 3
    starts = np.flatnonzero(far.any(1))
    chance = far / np.maximum(far.sum(1, keepdims=True), 1) * far.any(1, keepdims=True) / len(starts)
    counts = np.zeros((9, 9))
    np.add.at(counts, (drawn.start, drawn.goal), 1)
    assert not counts[~far].any()
    statistic = ((counts - 20_000 * chance) ** 2 / np.where(far, 20_000 * chance, 1)).sum()
    assert jax.scipy.special.gammaincc((far.sum() - 1) / 2, statistic / 2) > 0.001
