"""The environment's contract: endings, rewards, types, compilations, and what users complained about."""

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

import jaxlab
from jaxlab import DOWN, LEFT, RIGHT, UP

ROOT = Path(__file__).resolve().parents[1]
CORRIDOR = jaxlab.from_edges([(i, i + 1) for i in range(4)], (1, 5), start=0, goal=4)
# E is 8; the key is in the corner 6, the door is 5, ice on 4.
#   6 K | 7   | 8 E
#   3     4 I   5 D
#   0 S   1     2
FURNISHED = jaxlab.from_edges(
    [(0, 1), (1, 2), (2, 5), (5, 8), (0, 3), (3, 6), (3, 4), (1, 4), (4, 5), (4, 7)],
    (3, 3),
    start=0,
    goal=8,
    key=6,
    door=5,
    ice=[4],
)
ALL_ON = {"key_and_door": True, "icy_floor": True}


def repeated(maze, axes):
    """A maze with leading axes."""
    return jax.tree.map(lambda leaf: np.broadcast_to(leaf, axes + leaf.shape), maze)


def walk(env, params, actions, maze=0):
    """All steps of a play, as a list."""
    _, state = env.reset_to(maze, params)
    out = []
    for action in actions:
        out.append(env.step(None, state, action, params))
        state = out[-1].state
    return out


def total(steps) -> float:
    return float(np.sum([step.reward for step in steps], dtype=np.float32))


# -- endings and rewards ----------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "terminated", "truncated"), [(5, True, False), (4, True, False), (3, False, True)])
def test_complaint_01_termination_and_time_limit_are_two_flags(limit, terminated, truncated):
    """The goal is reached at step 4: before the limit, at the limit, after it."""
    env = jaxlab.Labyrinth((1, 5))
    steps = walk(env, env.params(CORRIDOR, max_steps=limit), [RIGHT] * 4)
    assert [bool(step.terminated) for step in steps] == [False, False, False, terminated]
    assert [bool(step.truncated) for step in steps] == [False, False, limit == 3, truncated]
    assert bool(steps[-1].info["success"]) is terminated


def test_a_shortest_solution_returns_one_and_detours_cost():
    env = jaxlab.Labyrinth((1, 5))
    params = env.params(CORRIDOR)
    assert total(walk(env, params, [RIGHT] * 4)) == pytest.approx(1, abs=1e-5)
    bumped = walk(env, params, [LEFT, UP, RIGHT, RIGHT, RIGHT, RIGHT])
    assert [int(step.state.cell) for step in bumped] == [0, 0, 1, 2, 3, 4]
    assert total(bumped) == pytest.approx(1 - 2 * 0.1 / 5, abs=1e-5), "a bump costs a step"
    assert [bool(step.info["is_optimal"]) for step in bumped] == [False, False, True, True, True, True]
    assert not any(bool(step.info["fell"]) for step in bumped)


def test_a_failure_returns_minus_four_at_every_size():
    for shape in ((1, 5), (3, 3)):
        env = jaxlab.Labyrinth(shape)
        cells = shape[0] * shape[1]
        maze = jaxlab.from_edges([(0, 1), (cells - 2, cells - 1)], shape, start=0, goal=cells - 1)
        params = env.params(maze)
        assert int(params.max_steps) == 40 * cells

        def stay(state, _, env=env, params=params):
            out = env.step(None, state, LEFT, params)
            return out.state, (out.reward, out.truncated)

        last, (rewards, truncated) = jax.lax.scan(stay, env.reset_to(0, params)[1], None, 40 * cells + 5)
        assert float(rewards.sum()) == pytest.approx(-4, rel=2e-3)
        assert -int(last.t) * env.step_penalty == pytest.approx(-4, abs=1e-12), "exact from integers"
        assert int(np.argmax(truncated)) == 40 * cells - 1 and not bool(last.terminated)


@pytest.mark.parametrize("before", [0, 1, 30])
def test_a_fall_at_any_time_returns_what_running_out_of_time_does(before):
    env = jaxlab.Labyrinth((3, 3), **ALL_ON)
    steps = walk(env, env.params(FURNISHED), [LEFT] * before + [RIGHT, UP])
    assert bool(steps[-1].terminated) and bool(steps[-1].info["fell"]) and not bool(steps[-1].info["success"])
    assert total(steps) == pytest.approx(-4, rel=1e-5)
    assert float(steps[-1].reward) == pytest.approx(-0.1 / 9 * (360 - (before + 1)), rel=1e-5)


def test_fall_return_sets_the_return_of_a_fall():
    env = jaxlab.Labyrinth((3, 3), fall_return=-1.5, **ALL_ON)
    assert total(walk(env, env.params(FURNISHED), [LEFT, RIGHT, UP])) == pytest.approx(-1.5, abs=1e-5)


def test_released_rewards():
    env = jaxlab.Labyrinth((3, 3), reward="released", **ALL_ON)
    assert float(walk(env, env.params(FURNISHED), [RIGHT, UP])[-1].reward) == -100
    plain = jaxlab.Labyrinth((1, 5), reward="released")
    rewards = [float(step.reward) for step in walk(plain, plain.params(CORRIDOR), [RIGHT] * 4)]
    assert rewards == [pytest.approx(-0.02)] * 3 + [1.0]


def test_key_and_door_step_by_step():
    env = jaxlab.Labyrinth((3, 3), **ALL_ON)
    params = env.params(FURNISHED)
    assert int(params.shortest[0]) == 8, "fetch the key and go round the ice"
    at_door = walk(env, params, [RIGHT, RIGHT, UP])
    assert [int(step.state.cell) for step in at_door] == [1, 2, 2], "the door is shut"
    solution = walk(env, params, [UP, UP, DOWN, DOWN, RIGHT, RIGHT, UP, UP])
    assert [int(step.state.mode) for step in solution] == [0, 1, 1, 1, 1, 1, 2, 2]
    assert all(bool(step.info["is_optimal"]) for step in solution)
    assert [int(step.info["distance"]) for step in solution] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert total(solution) == pytest.approx(1, abs=1e-5)
    heads = [step.obs[3:5].tolist() for step in solution]
    assert heads[0] == [20, 14] and heads[1] == [-1, 14] and heads[6] == [-1, -1]
    obs, state = env.reset_to(0, params)
    assert obs[3:5].tolist() == [20, 14] and int(state.mode) == 0, "reset restores both"


@pytest.mark.parametrize("ending", ["success", "fall", "time"])
def test_a_step_after_the_end_changes_nothing_and_pays_zero(ending):
    env = jaxlab.Labyrinth((3, 3), **ALL_ON)
    params = env.params(FURNISHED, max_steps=8 if ending != "time" else 2)
    actions = {"success": [UP, UP, DOWN, DOWN, RIGHT, RIGHT, UP, UP], "fall": [RIGHT, UP], "time": [UP, UP]}[ending]
    end = walk(env, params, actions)[-1]
    assert bool(end.state.ended)
    for action in range(4):
        after = env.step(None, end.state, action, params)
        chex.assert_trees_all_equal(after.state, end.state)
        chex.assert_trees_all_equal(after.obs, end.obs)
        assert float(after.reward) == 0 and not bool(after.info["is_optimal"])
        assert (bool(after.terminated), bool(after.truncated)) == (ending != "time", ending == "time")
        for name in ("success", "fell", "distance"):
            assert after.info[name] == end.info[name]


def test_place_changes_the_cell_and_opens_the_episode_again():
    env = jaxlab.Labyrinth((1, 5))
    params = env.params(CORRIDOR)
    end = walk(env, params, [RIGHT] * 4)[-1].state
    state = env.place(end, 2)
    assert int(state.cell) == 2 and int(state.t) == 4 and not bool(state.ended)
    assert int(env.step(None, state, RIGHT, params).state.cell) == 3


def test_reset_draws_every_maze_and_reset_to_the_given_one():
    env = jaxlab.Labyrinth((1, 5))
    params = env.params(jaxlab.stack([CORRIDOR, CORRIDOR.replace(start=np.int32(1)), CORRIDOR]))
    drawn = jax.vmap(lambda key: env.reset(key, params)[1].maze)(jax.random.split(jax.random.key(0), 300))
    assert np.bincount(drawn, minlength=3).min() > 60
    _, state = env.reset_to(1, params)
    assert (int(state.maze), int(state.cell), int(state.t), int(state.mode)) == (1, 1, 0, 0)


def flip(entering, before, move):
    """The tile remembers whether it was entered once or twice."""
    return move.replace(mode=jnp.where(entering, 1 - move.mode, move.mode))


def test_a_tile_of_two_memories_changes_the_mode():
    env = jaxlab.Labyrinth((1, 5), tiles=(jaxlab.Tile("lever", flip, modes=2),))
    lever = np.array([[False, True, False, False, False]])
    steps = walk(env, env.params(CORRIDOR.replace(tiles={"lever": lever})), [RIGHT, RIGHT, LEFT])
    assert [int(step.state.mode) for step in steps] == [1, 1, 0]


def test_an_open_step_is_a_step():
    env = jaxlab.Labyrinth((3, 3), **ALL_ON)
    params = env.params(FURNISHED)
    _, state = env.reset_to(0, params)
    for action in [UP, UP, DOWN, DOWN, RIGHT, UP]:
        step = env.step(None, state, action, params)
        chex.assert_trees_all_equal(env._step_open(state, action, params), step)
        state = step.state
    assert bool(step.info["fell"])


# -- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"shape": (0, 3)}, ValueError, "at least 1 row"),
        ({"shape": (1, 1)}, ValueError, "2 cells"),
        ({"shape": 5}, ValueError, "two whole numbers"),
        ({"observation": "pixel"}, ValueError, "did you mean 'pixels'"),
        ({"reward": "papr"}, ValueError, "did you mean 'paper'"),
        ({"occlusion": 1}, TypeError, "True or False"),
        ({"pixels": 0}, ValueError, "at least 1"),
        ({"view": 4, "observation": "grid"}, ValueError, "odd"),
        ({"view": 3}, ValueError, "grid observation"),
        ({"tiles": ("mud",)}, TypeError, "jaxlab.Tile"),
        ({"tiles": (jaxlab.Tile("mud", flip), jaxlab.Tile("mud", flip))}, ValueError, "two tiles share a name"),
        ({"tiles": (jaxlab.Tile("mud", flip, modes=65),)}, ValueError, "65 modes together, at most 64"),
    ],
)
def test_choices_that_are_not_offered(choices, error, words):
    with pytest.raises(error, match=words):
        jaxlab.Labyrinth(**{"shape": (3, 3), **choices})


def test_the_least_window_and_the_most_memories_are_allowed():
    env = jaxlab.Labyrinth((3, 3), "grid", view=1, tiles=(jaxlab.Tile("lever", flip, modes=64),))
    assert env.view == 1 and env.num_modes == 64


def test_params_refuse_mazes_that_do_not_fit():
    env = jaxlab.Labyrinth((3, 3))
    for axes in ((2, 1), (0,)):
        with pytest.raises(ValueError, match=rf"one leading axis with at least one maze, got \({axes[0]},"):
            jaxlab.Labyrinth((1, 5)).params(repeated(CORRIDOR, axes))
    with pytest.raises(ValueError, match=r"no layer for the tiles \['lever'\]"):
        jaxlab.Labyrinth((1, 5), tiles=(jaxlab.Tile("lever", flip),)).params(CORRIDOR)
    with pytest.raises(ValueError, match="key_and_door=True"):
        env.params(FURNISHED)
    with pytest.raises(ValueError, match="icy_floor=True"):
        jaxlab.Labyrinth((3, 3), key_and_door=True).params(FURNISHED)
    with pytest.raises(ValueError, match="no key or no door"):
        jaxlab.Labyrinth((1, 5), key_and_door=True).params(CORRIDOR)
    with pytest.raises(ValueError, match=r"shape \(1, 5\)"):
        env.params(CORRIDOR)
    with pytest.raises(ValueError, match="do not agree"):
        jaxlab.Labyrinth((1, 5)).params(CORRIDOR.replace(walls=np.zeros((1, 5), np.uint8)))
    with pytest.raises(ValueError, match="max_steps"):
        jaxlab.Labyrinth((1, 5)).params(CORRIDOR, max_steps=0)
    with pytest.raises(TypeError, match=r"jaxlab\.Maze"):
        env.params("maze")
    with pytest.raises(ValueError, match="released"):
        jaxlab.Labyrinth((1, 5)).bare_params(CORRIDOR)


def test_params_name_the_maze_that_lacks_its_key_or_has_a_door_for_nothing():
    env, bare = jaxlab.Labyrinth((3, 3), **ALL_ON), jaxlab.Labyrinth((3, 3), icy_floor=True)
    doorless = FURNISHED.replace(door=np.int32(-1))
    keyless = FURNISHED.replace(key=np.int32(-1))
    for half in (doorless, keyless):
        with pytest.raises(ValueError, match="maze 1 has no key or no door"):
            env._check(jaxlab.stack([FURNISHED, half, FURNISHED]))
    for half in (doorless, keyless):
        with pytest.raises(ValueError, match="hold a key or a door"):
            bare._check(half)
    assert len(env._check(FURNISHED)) == 1


def test_what_needs_solutions_says_so_or_gives_none():
    env = jaxlab.Labyrinth((1, 5), view=np.int64(3), observation="grid")
    assert type(env.view) is int
    params = env.params(CORRIDOR)
    state = env.reset_to(0, params)[1]
    for lacking in ("distance", "optimal"):
        info = env.step(None, state, RIGHT, dataclasses.replace(params, **{lacking: None})).info
        assert int(info["distance"]) == -1 and not bool(info["is_optimal"])
    with pytest.raises(ValueError, match="needs solved mazes"):
        env.step(None, state, RIGHT, dataclasses.replace(params, shortest=None))


def test_bare_params_play_without_solutions_inside_jit():
    env = jaxlab.Labyrinth((1, 5), reward="released")

    @jax.jit
    def arrive(start):
        params = env.bare_params(jaxlab.maze.make(jnp.asarray(CORRIDOR.walls)[None], start[None], jnp.array([4])))
        return env.step(None, env.reset_to(0, params)[1], RIGHT, params)

    out = arrive(jnp.int32(3))
    assert bool(out.terminated) and float(out.reward) == 1 and int(out.info["distance"]) == -1


def test_from_settings_takes_the_words_of_a_file():
    env = jaxlab.Labyrinth.from_settings((3, 3), jaxlab.Settings(True, False, True), observation="grid")
    assert env == jaxlab.Labyrinth((3, 3), "grid", key_and_door=True, occlusion=True)
    assert env.num_modes == 3 and jaxlab.Labyrinth((3, 3)).num_modes == 1


# -- types, compilations, size ---------------------------------------------------------------------------

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
