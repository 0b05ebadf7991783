"""The environment's types, compilations, programs and imports, and what users complained about in others'."""

from __future__ import annotations

import dataclasses
import functools
import os
import subprocess
import sys
from pathlib import Path

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from plays import ALL_ON, CORRIDOR, FURNISHED, walk

import jaxlab
from jaxlab import DOWN, RIGHT, UP

ROOT = Path(__file__).resolve().parents[1]

OBSERVATIONS = [
    {},
    {"occlusion": True, **ALL_ON},
    {"observation": "grid", **ALL_ON},
    {"observation": "grid", "view": 3},
    {"observation": "pixels", "pixels": 16, "occlusion": True, **ALL_ON},
]


def maze_for(env):
    bare = {"key": np.int32(-1), "door": np.int32(-1), "ice": np.zeros((3, 3), bool)}
    return FURNISHED if env.key_and_door else FURNISHED.replace(**bare)


@pytest.mark.parametrize("choices", OBSERVATIONS, ids=str)
def test_complaint_07_state_and_reward_keep_their_types(choices):
    env = jaxlab.Labyrinth((3, 3), **choices)
    params = env.params(maze_for(env))
    obs, state = env.reset_to(0, params)
    for action in (0, np.int64(1), jnp.int8(2), jnp.uint8(3)):
        out = jax.eval_shape(functools.partial(env.step, None), state, action, params)
        for before, after in zip(jax.tree.leaves(state), jax.tree.leaves(out.state), strict=True):
            assert (before.shape, before.dtype, before.weak_type) == (after.shape, after.dtype, after.weak_type)
        chex.assert_trees_all_equal_shapes_and_dtypes(obs, jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), out.obs))
        assert (out.reward.dtype, out.reward.shape, out.reward.weak_type) == (jnp.float32, (), False)
        assert out.terminated.dtype == out.truncated.dtype == jnp.bool_
        assert {k: v.dtype for k, v in out.info.items()} == {
            "success": jnp.bool_, "fell": jnp.bool_, "is_optimal": jnp.bool_, "distance": jnp.int32
        }  # fmt: skip
    jax.eval_shape(lambda s: jax.lax.scan(lambda s, _: (env.step(None, s, 1, params).state, None), s, None, 3), state)


@pytest.mark.parametrize("choices", OBSERVATIONS, ids=str)
def test_observations_lie_in_their_space(choices):
    env = jaxlab.Labyrinth((3, 3), **choices)
    params = env.params(maze_for(env))
    assert env.action_space.n == 4
    for step in walk(env, params, [UP, UP, DOWN, RIGHT]):
        assert env.observation_space.contains(step.obs)


def test_complaint_05_nothing_is_generated_or_drawn_inside_step():
    env = jaxlab.Labyrinth((3, 3), **ALL_ON)
    params = env.params(FURNISHED)
    _, state = env.reset_to(0, params)
    names = primitives(jax.make_jaxpr(env.step)(jax.random.key(0), state, 1, params).jaxpr)
    assert not [name for name in names if name.startswith(("random", "threefry", "while", "scan", "sort"))]
    assert {"gather", "dynamic_slice"} & set(names)


def test_complaint_06_step_never_resets_by_itself():
    env = jaxlab.Labyrinth((1, 5))
    steps = walk(env, env.params(CORRIDOR), [RIGHT] * 6)
    assert [int(step.state.cell) for step in steps] == [1, 2, 3, 4, 4, 4]
    assert [int(step.state.t) for step in steps] == [1, 2, 3, 4, 4, 4]


TRACES = 0


def _count(entering, before, move):
    global TRACES
    TRACES += 1
    return move


def test_complaint_09_equal_environments_built_apart_share_one_compilation():
    """Other mazes, seeds, actions and step limits, called as a user calls them."""

    def build():
        return jaxlab.Labyrinth(shape=[3, 3], icy_floor=True, key_and_door=True, tiles=[jaxlab.Tile("counted", _count)])

    here = FURNISHED.replace(tiles={"counted": np.zeros((3, 3), bool)})
    there = here.replace(ice=np.zeros((3, 3), bool), walls=jaxlab.maze.walls_from_edges(np.ones(12, bool), (3, 3)))
    assert build() == build() and hash(build()) == hash(build()) and build() is not build()
    step = jax.jit(chex.assert_max_traces(jaxlab.Labyrinth._step.__wrapped__, n=1), static_argnums=0)
    traces = None
    for seed, maze, limit in ((0, here, None), (1, there, 7), (2, here, 100)):
        env = build()
        params = env.params(maze, max_steps=limit)
        _, state = env.reset(jax.random.key(seed), params)
        for action in range(4):
            state = env.step(jax.random.key(seed), state, action, params).state
            step(env, state, np.int32(action), params)
        traces = TRACES if traces is None else traces
    assert traces > 0 and traces == TRACES, "solver, reset and step were each traced once"


def test_environments_that_differ_only_in_what_they_show_or_pay_share_the_solver():
    rules = {
        jaxlab.Labyrinth((3, 3), **choices).rule for choices in ({}, {"reward": "released"}, {"observation": "grid"})
    }
    assert len(rules) == 1


@pytest.mark.parametrize("observation", ["vector", "grid", "pixels"])
@pytest.mark.parametrize("occlusion", [False, True])
def test_complaint_10_the_program_does_not_grow_with_the_maze(observation, occlusion):
    def equations(size):
        env = jaxlab.Labyrinth((size, size), observation, occlusion=occlusion, reward="released", **ALL_ON)
        params = env.bare_params(jaxlab.maze.make(np.full((1, size, size), 15, np.uint8), np.array([0]), np.array([1])))
        state = jax.eval_shape(env.reset_to, 0, params)[1]
        return len(primitives(jax.make_jaxpr(env.step)(None, state, 1, params).jaxpr))

    assert equations(5) == equations(25)


def test_complaint_16_no_key_is_used_twice():
    env = jaxlab.Labyrinth((1, 5))
    params = env.params(jaxlab.stack([CORRIDOR] * 3))
    with jax.debug_key_reuse(True):

        @jax.jit
        def episode(key):
            key_reset, key_step = jax.random.split(key)
            _, state = env.reset(key_reset, params)
            return env.step(key_step, state, RIGHT, params).state

        assert int(episode(jax.random.key(0)).cell) == 1
        key = jax.random.key(1)
        env.reset(key, params)
        with pytest.raises(jax.errors.KeyReuseError):
            env.reset(key, params)


def primitives(jaxpr) -> list[str]:
    """The primitives of a program and of all programs within it."""
    out = []
    for equation in jaxpr.eqns:
        out.append(equation.primitive.name)
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    out += primitives(inner)
    return out


def run_apart(code: str, **environment: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_puts_nothing_on_a_device_and_needs_only_the_core_packages():
    code = (
        "import jaxlab, sys, jax; print(len(jax.live_arrays()), "
        "[m for m in ('flax', 'optax', 'gymnasium', 'numba', 'matplotlib', 'PIL', 'baselines') if m in sys.modules])"
    )
    assert run_apart(code) == "0 []"


def test_other_modules_are_imported_when_they_are_asked_for():
    code = (
        "import jaxlab, sys; before = 'jaxlab.wrappers' in sys.modules; "
        "print(before, jaxlab.wrappers.AutoReset.__name__, jaxlab.datasets.__name__)"
    )
    assert run_apart(code) == "False AutoReset jaxlab.datasets"
    with pytest.raises(AttributeError, match="module 'jaxlab' has no attribute 'wrapper'"):
        jaxlab.wrapper  # noqa: B018


def test_complaint_08_wide_types_and_strict_promotion_change_nothing():
    code = """
import jax, numpy as np, jaxlab
maze = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
env = jaxlab.Labyrinth((2, 2), occlusion=True)
params = env.params(maze)
_, state = env.reset(jax.random.key(0), params)
with jax.numpy_dtype_promotion("strict"):
    for observation in ("vector", "grid", "pixels"):
        seen = jaxlab.Labyrinth((2, 2), observation, occlusion=True)
        out = seen.step(None, state, np.int32(1), params)
        assert [a.dtype for a in jax.tree.leaves(out.state)] == [a.dtype for a in jax.tree.leaves(state)]
        assert out.reward.dtype == "float32" and out.obs.dtype == seen.observation_space.dtype
print(int(out.state.cell), params.distance.dtype, params.optimal.dtype)
"""
    assert run_apart(code, JAX_ENABLE_X64="1") == "1 int32 uint8"


def test_environments_are_frozen():
    env = jaxlab.Labyrinth((3, 3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        env.shape = (4, 4)
