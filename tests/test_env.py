"""The environment's contract: endings, rewards, types, compilations, and what users complained about."""

from __future__ import annotations

import dataclasses

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from plays import ALL_ON, CORRIDOR, FURNISHED, repeated, total, walk

import jaxlab
from jaxlab import DOWN, LEFT, RIGHT, UP

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
