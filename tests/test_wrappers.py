"""Auto-reset, exact statistics, and the gymnax adaptors."""

import jax
import jax.numpy as jnp
import marks
import numpy as np
import pytest

import jaxlab
from jaxlab import wrappers

# 3x3, row 0 at the bottom; the loop 3-4-7-6 gives a second way.
#   6-7-8
#   |   |
#   3-4-5     and 0-1-2, joined by 0-3
EDGES = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (7, 8), (6, 7), (3, 6)]
UP, RIGHT, DOWN, LEFT = range(4)


def mazes():
    one = jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8)
    two = jaxlab.from_edges(EDGES, (3, 3), start=2, goal=8)
    three = jaxlab.from_edges(EDGES, (3, 3), start=1, goal=6)
    return jaxlab.stack([one, two, three])


@pytest.fixture(scope="module")
def env():
    return jaxlab.Labyrinth((3, 3))


@pytest.fixture(scope="module")
def params(env):
    return env.params(mazes(), max_steps=7)


def walk(env, params, actions, index=0):
    state = env.reset_to(index, params)[1]
    outs = []
    for i, action in enumerate(actions):
        out = env.step(jax.random.key(i), state, action, params)
        outs.append(out)
        state = out.state
    return outs


def test_complaint_02_final_observation_is_that_of_the_bare_step(env, params):
    auto = wrappers.AutoReset(env)
    keys = jax.random.split(jax.random.key(0), 64)
    states = jax.vmap(lambda i: env.reset_to(i % 3, params)[1])(jnp.arange(64))
    step = jax.jit(jax.vmap(auto.step, (0, 0, 0, None)))
    step_bare = jax.jit(jax.vmap(env.step, (None, 0, 0, None)))
    reset = jax.jit(jax.vmap(env.reset_to, (0, None)))
    ended = 0
    for t in range(30):
        actions = jax.random.randint(jax.random.key(t), (64,), 0, 4)
        bare = step_bare(None, states, actions, params)
        out = step(keys, states, actions, params)
        np.testing.assert_array_equal(out.info["final_observation"], bare.obs)
        np.testing.assert_array_equal(out.terminated, bare.terminated)
        np.testing.assert_array_equal(out.truncated, bare.truncated)
        begun = reset(states.maze, params)[0]
        done = np.asarray(bare.terminated | bare.truncated)
        np.testing.assert_array_equal(out.obs, np.where(done[:, None], begun, bare.obs))
        ended += done.sum()
        states = out.state
    assert ended > 100


def test_auto_reset_replays_the_maze_or_draws_another(env, params):
    solution = [UP, RIGHT, RIGHT, UP]
    same = walk(wrappers.AutoReset(env), params, solution)[-1]
    assert bool(same.terminated) and int(same.state.maze) == 0 and int(same.state.cell) == 0 and int(same.state.t) == 0
    auto = wrappers.AutoReset(env, "another")
    last = walk(env, params, solution[:-1])[-1].state
    drawn = jax.vmap(lambda key: auto.step(key, last, UP, params).state)(jax.random.split(jax.random.key(0), 300))
    counts = np.bincount(drawn.maze, minlength=3)
    assert counts.min() > 60
    np.testing.assert_array_equal(drawn.cell, np.asarray(params.mazes.start)[drawn.maze])


def test_auto_reset_takes_only_known_choices(env, params):
    with pytest.raises(ValueError, match="did you mean 'another'"):
        wrappers.AutoReset(env, "anothr")
    with pytest.raises(ValueError, match="needs a key"):
        wrappers.AutoReset(env, "another").step(None, env.reset_to(0, params)[1], 0, params)


@pytest.mark.parametrize("wrapper", [wrappers.AutoReset, wrappers.EpisodeStatistics])
def test_wrappers_refuse_what_is_no_environment(env, wrapper):
    for wrong in (None, "Labyrinth-v0", wrappers.AutoReset):
        with pytest.raises(TypeError, match=f"{wrapper.__name__} wraps a Labyrinth or a wrapper of one, not"):
            wrapper(wrong)
    assert wrapper(wrapper(env)).unwrapped is env


def primitives(jaxpr):
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", None)
            if inner is not None:
                yield from primitives(inner)


def test_complaint_05_a_reset_is_a_gather_and_a_select(env, params):
    state = env.reset_to(0, params)[1]

    def state_only(wrapped):
        return jax.make_jaxpr(lambda s, a: wrapped.step(None, s, a, params).state)(state, 0).jaxpr

    bare, auto = state_only(env), state_only(wrappers.AutoReset(env))
    names = list(primitives(auto))
    assert not [name for name in names if "random" in name or "threefry" in name or name in ("while", "scan", "sort")]
    compiled = [
        jax.jit(lambda s, a, w=w: w.step(None, s, a, params).state).lower(state, 0).compile().cost_analysis()
        for w in (env, wrappers.AutoReset(env))
    ]
    # Counted by the compiler, not timed: no observation is left, and the reset adds little.
    assert compiled[1]["bytes accessed"] <= compiled[0]["bytes accessed"] + 200
    assert len(list(primitives(bare))) < len(names)


def test_statistics_are_exact(env, params):
    counted = wrappers.EpisodeStatistics(env)
    shortest = walk(counted, params, [UP, RIGHT, RIGHT, UP])
    assert [float(o.info["episode_return"]) for o in shortest][-1] == 1.0
    assert [int(o.info["episode_length"]) for o in shortest] == [1, 2, 3, 4]
    summed = sum(float(o.reward) for o in shortest)
    assert summed == pytest.approx(1, abs=1e-5)
    lost = walk(counted, params, [DOWN] * 9)
    np.testing.assert_allclose(lost[-1].info["episode_return"], -0.1 * 7 / 9, rtol=1e-7)
    assert bool(lost[6].truncated) and int(lost[-1].info["episode_length"]) == 7
    assert float(wrappers.passing_cost(env, env.params(mazes()).max_steps)) == 4.0


def test_statistics_of_the_released_reward():
    env = jaxlab.Labyrinth((3, 3), reward="released", icy_floor=True)
    maze = jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8, ice=[4])
    params = env.params(maze)
    counted = wrappers.EpisodeStatistics(env)
    fallen = walk(counted, params, [UP, RIGHT, UP])
    assert [float(o.info["episode_return"]) for o in fallen] == pytest.approx(
        [-0.1 / 9, -100 - 0.1 / 9, -100 - 0.1 / 9]
    )
    home = walk(counted, params, [UP, UP, RIGHT, RIGHT])
    assert float(home[-1].info["episode_return"]) == pytest.approx(1 - 0.3 / 9)
    assert sum(float(o.reward) for o in home) == pytest.approx(float(home[-1].info["episode_return"]), abs=1e-6)


@pytest.mark.parametrize("adaptor", [wrappers.Gymnax, wrappers.FiveTuple])
def test_complaint_03_every_adaptor_tells_both_endings_apart(env, params, adaptor):
    adapted = adaptor(env, params)
    for actions, terminated, truncated in (([UP, RIGHT, RIGHT, UP], True, False), ([DOWN] * 7, False, True)):
        state = env.reset_to(0, params)[1]
        for t, action in enumerate(actions):
            out = adapted.step(jax.random.key(t), state, action)
            state = out[1]
        info = out[-1]
        assert (bool(info["terminated"]), bool(info["truncated"])) == (terminated, truncated)
        if adaptor is wrappers.FiveTuple:
            assert len(out) == 5 and bool(out[3])
            assert float(info["discount"]) == (0.0 if terminated else 1.0)
            assert bool(info["returned_episode"])
        else:
            assert len(out) == 6 and (bool(out[3]), bool(out[4])) == (terminated, truncated)


def test_complaint_01_goal_at_the_limit_is_a_termination(env):
    for limit, flags in ((5, (True, False)), (4, (True, False)), (3, (False, True))):
        params = env.params(mazes(), max_steps=limit)
        out = walk(wrappers.AutoReset(env), params, [UP, RIGHT, RIGHT, UP][: min(limit, 4)])[-1]
        assert (bool(out.terminated), bool(out.truncated)) == flags


def test_gymnax_adaptor_is_the_environment_itself(env, params):
    ours, key = wrappers.Gymnax(env, params), jax.random.key(3)
    assert (ours.name, ours.num_actions) == ("Labyrinth-v0", 4)
    assert ours.action_space() == env.action_space and ours.observation_space(params) == env.observation_space
    obs, state = ours.reset_env(jax.random.clone(key), params)
    jax.tree.map(np.testing.assert_array_equal, (obs, state), ours.reset(key))
    for seen in (ours.observe(key, state, UP, params), ours.get_obs(state), ours.get_obs(state, params)):
        np.testing.assert_array_equal(seen, obs)
    state = env.reset_to(0, params)[1]
    for action in (UP, RIGHT, RIGHT, UP):
        assert not ours.is_terminal(state) and ours.discount(state) == 1
        _, state, reward, done, info = ours.step_env(key, state, action, params)
    assert done and reward > 0 and info["is_optimal"]
    assert ours.is_terminated(state) and not ours.is_truncated(state) and ours.discount(state) == 0
    for _ in range(7):  # the time limit is no termination
        state = ours.step_env(key, env.reset_to(0, params)[1] if state.terminated else state, DOWN, params)[1]
    assert ours.is_truncated(state) and not ours.is_terminated(state) and ours.discount(state) == 1


def test_gymnax_contract_matches_gymnax_itself(env, params):
    base = pytest.importorskip("gymnax.environments.environment", reason="gymnax is not installed")
    ours = wrappers.Gymnax(env, params)
    public = [n for n in vars(base.Environment) if not n.startswith("_") and "gradient" not in n and n != "state_space"]
    assert [name for name in public if not hasattr(ours, name)] == []

    class Theirs(base.Environment):
        """Our bare rules under gymnax's own step."""

        default_params = params
        step_env = staticmethod(ours.step_env)
        reset_env = staticmethod(ours.reset_env)
        is_truncated = staticmethod(ours.is_truncated)

    single = env.params(mazes()[0], max_steps=7)
    theirs = Theirs()
    state_a = state_b = ours.reset(jax.random.key(0), single)[1]
    for t in range(40):
        action = jax.random.randint(jax.random.key(t), (), 0, 4)
        a = ours.step(jax.random.key(t), state_a, action, single)
        b = theirs.step(jax.random.key(t), state_b, action, single)
        shared = {k: a[-1][k] for k in b[-1]}
        jax.tree.map(np.testing.assert_array_equal, (*a[:5], shared), (*b[:5], b[-1]))
        state_a, state_b = a[1], b[1]


@marks.logs_with_gymnax
def test_gymnax_log_wrapper_runs_over_ours(env, params):
    purerl = pytest.importorskip("gymnax.wrappers.purerl", reason="gymnax is not installed")
    logged = purerl.LogWrapper(wrappers.Gymnax(env, params))
    _, state = logged.reset(jax.random.key(0))
    for t in range(9):
        _, state, _, _, _, info = logged.step(jax.random.key(t), state, DOWN)
    assert int(info["returned_episode_lengths"]) == 7
    np.testing.assert_allclose(info["returned_episode_returns"], -0.7 / 9, rtol=1e-5)


def test_adaptors_share_a_compilation(env, params):
    state = env.reset_to(0, params)[1]
    wrappers.Gymnax(env, params).step(jax.random.key(0), state, 0)
    before = wrappers.AutoReset.step._cache_size()  # all instances share the function's cache
    wrappers.Gymnax(jaxlab.Labyrinth((3, 3)), env.params(mazes(), max_steps=9)).step(jax.random.key(1), state, 1)
    assert wrappers.AutoReset.step._cache_size() == before


def test_state_types_do_not_drift(env, params):
    auto = wrappers.AutoReset(wrappers.EpisodeStatistics(env), "another")
    state = jax.eval_shape(lambda: env.reset_to(0, params)[1])
    after = jax.eval_shape(lambda s: auto.step(jax.random.key(0), s, 1, params).state, state)
    kinds = [[(x.dtype, x.weak_type, x.shape) for x in jax.tree.leaves(tree)] for tree in (state, after)]
    assert kinds[0] == kinds[1]


def test_an_open_step_is_a_step_until_the_end():
    env = jaxlab.Labyrinth((3, 3))
    params = env.params(jaxlab.generate.mazes(jax.random.key(0), 4, (3, 3)), max_steps=7)
    states = jax.vmap(lambda i: env.reset_to(i, params)[1])(jnp.arange(4))
    for key in jax.random.split(jax.random.key(1), 12):
        actions = jax.random.randint(key, (4,), 0, 4)
        step = jax.vmap(env.step, (None, 0, 0, None))(None, states, actions, params)
        opened = jax.vmap(env._step_open, (0, 0, None))(states, actions, params)
        going = ~np.asarray(states.ended)
        for a, b in zip(jax.tree.leaves(step), jax.tree.leaves(opened), strict=True):
            assert np.array_equal(np.asarray(a)[going], np.asarray(b)[going])
        states = step.state
    assert states.ended.all()
