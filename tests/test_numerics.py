"""64 bits, strict promotion, keys used twice, NaN: what `scripts/numerics.sh` found once, and its own bookkeeping."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from campaigns import numerics
from jaxlab import generate
from jaxlab.generate.trees import ALGORITHMS, tree_mazes

MAZE = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3, key=2, door=1)
VIEWS = [{}, {"observation": "grid"}, {"observation": "grid", "view": 3}, {"observation": "pixels", "pixels": 16}]


@pytest.mark.parametrize("choices", VIEWS, ids=str)
def test_64_bits_widen_nothing_in_the_environment(choices):
    """With a view it did not even run: the window's corner was of two widths."""

    def play():
        env = jaxlab.Labyrinth((2, 2), key_and_door=True, occlusion=True, **choices)
        params = env.params(MAZE)
        obs, state = env.reset(jax.random.key(0), params)
        out = env.step(None, state, jaxlab.RIGHT, params)
        return params, obs, state, out

    narrow = play()
    with jax.enable_x64(True):
        wide = play()
    for one, other in zip(jax.tree.leaves(narrow), jax.tree.leaves(wide), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_64_bits_carve_the_same_trees(algorithm):
    """Wilson's and Prim's draws were wider then, and so other mazes."""
    narrow = tree_mazes(jax.random.key(3), 8, (4, 4), algorithm, loops=0.2)
    with jax.enable_x64(True):
        wide = tree_mazes(jax.random.key(3), 8, (4, 4), algorithm, loops=0.2)
    np.testing.assert_array_equal(narrow.walls, wide.walls)
    assert jnp.asarray(wide.start).dtype == jnp.int32


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("start_goal", generate.carve.START_GOAL)
def test_strict_promotion_carves(start_goal, wide):
    """The walk added truth values to a whole number; with 64 bits the count of cells far enough was wider."""
    with jax.numpy_dtype_promotion("strict"), jax.enable_x64(wide):
        made = jax.eval_shape(lambda key: generate.mazes(key, 4, (4, 5), start_goal), jax.random.key(0))
    assert made.walls.dtype == jnp.uint8 and made.start.dtype == jnp.int32


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_key_of_a_tree_is_used_twice(algorithm):
    """Prim's scan went over keys, which the checker lost sight of when many mazes were carved at once."""
    with jax.debug_key_reuse(True):
        made = jax.eval_shape(lambda key: tree_mazes(key, 4, (3, 4), algorithm), jax.random.key(0))
    assert made.walls.shape == (4, 3, 4)


REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_env" name="test_one"/>
<testcase classname="tests.test_env" name="test_two"><failure message="TypeError:&#10; two types"/></testcase>
<testcase classname="tests.test_maze.TestSet" name="test_three"><skipped message="no such package"/></testcase>
<testcase classname="" name="tests.test_text"><error message="collection failure"/></testcase>
</testsuite></testsuites>"""


def test_a_report_counts_every_outcome_and_names_what_did_not_pass():
    rows = numerics.outcomes(REPORT)
    assert [(row["file"], row["outcome"]) for row in rows] == [
        ("test_env.py", "passed"), ("test_env.py", "failed"), ("test_maze.py", "skipped"), ("test_text.py", "failed")
    ]  # fmt: skip
    assert numerics.line("JAX_ENABLE_X64", rows) == "JAX_ENABLE_X64=1: 1 passed, 2 failed, 1 skipped"
    text = numerics.markdown({"JAX_ENABLE_X64": rows})
    assert "| 1 | 2 | 1 |\n" in text
    assert "- `JAX_ENABLE_X64`: failed test_env.py `test_two`: TypeError: two types\n" in text
    assert "- `JAX_ENABLE_X64`: skipped test_maze.py `test_three`: no such package\n" in text


def test_a_test_file_is_of_jaxlab_unless_it_is_named_as_another_s():
    chosen = {path.stem.removeprefix("test_") for path in numerics.files()}
    others = {name for names in numerics.OTHERS.values() for name in names.split()}
    present = {path.stem.removeprefix("test_") for path in (numerics.ROOT / "tests").glob("test_*.py")}
    assert chosen | others == present and not chosen & others
    assert {"env", "golden", "gym", "generate", "numerics", "determinism", "devices"} <= chosen
