"""Interaction by table: the same steps as the environment's, from training mazes only."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import world as worlds

SHAPE = (3, 3)
# 6-7-8
# |   |
# 3-4 5     the start is cell 0, the goal cell 8: eight moves through 1 4 3 6 7 by the long way
#   | |
# 0-1 2
EDGES = [(0, 1), (1, 4), (3, 4), (3, 6), (6, 7), (7, 8), (5, 8), (2, 5)]


@pytest.fixture(scope="module")
def played():
    maze = jaxlab.from_edges(EDGES, SHAPE, start=0, goal=8)
    other = jaxlab.from_edges([(0, 3), (3, 6), *EDGES[4:]], SHAPE, start=0, goal=8)
    env = jaxlab.Labyrinth(SHAPE)
    params = env.params(jaxlab.stack([maze, other]))
    return env, params, worlds.make(env, params)


def test_a_walk_is_what_the_environment_does(played):
    env, params, world = played
    walkers, steps = worlds.walk(world, worlds.at_random, worlds.begin(world), jax.random.key(0), 200, 50)
    states = jax.vmap(lambda i: env.reset_to(i, params)[1])(jnp.arange(2))
    step = jax.jit(jax.vmap(env.step, (None, 0, 0, None)))
    for t in range(60):
        assert np.array_equal(steps.state[t] % 9, states.cell)
        out = step(None, states, steps.action[t], params)
        assert np.array_equal(steps.following[t] % 9, out.state.cell)
        assert np.array_equal(steps.reached[t], out.info["success"])
        again = jax.vmap(lambda i: env.reset_to(i, params)[1])(jnp.arange(2))
        over = steps.ended[t] | steps.cut[t]
        states = jax.tree.map(lambda new, old, over=over: jnp.where(over, new, old), again, out.state)
    assert walkers.state.shape == (2,)
    assert (steps.state // 9 == jnp.arange(2)).all(), "a walker never leaves its maze"


def test_an_episode_is_cut_at_the_limit_and_begins_again(played):
    _, _, world = played
    bump = lambda key, state: jnp.full(state.shape, jaxlab.grid.DOWN)  # noqa: E731
    walkers, steps = worlds.walk(world, bump, worlds.begin(world), jax.random.key(0), 7, 3)
    assert steps.cut[:, 0].tolist() == [False, False, True, False, False, True, False]
    assert not steps.ended.any() and walkers.t.tolist() == [1, 1]


def test_a_sampled_walk_draws_from_softmax(played):
    _, _, world = played
    logits = jnp.zeros((world.num_states, 4)).at[0].set(jnp.log(jnp.array([0.1, 0.2, 0.3, 0.4])))
    keys = jax.random.split(jax.random.key(1), 4000)
    drawn = jax.vmap(lambda key: worlds.sampled(logits)(key, jnp.zeros(1, jnp.int32))[0])(keys)
    counts = np.bincount(np.asarray(drawn), minlength=4)
    expected = 4000 * np.array([0.1, 0.2, 0.3, 0.4])
    assert ((counts - expected) ** 2 / expected).sum() < 16.27, "chi-square, 3 degrees, p = 0.001"


def test_reachable_states_are_those_that_walks_visit(played):
    _, _, world = played
    _, steps = worlds.walk(world, worlds.at_random, worlds.begin(world), jax.random.key(2), 3000, 100)
    visited = jnp.zeros(world.num_states, bool).at[steps.state.ravel()].set(True)
    assert np.array_equal(visited, worlds.reachable(world))
    assert not visited[8] and not visited[17], "nobody acts in the goal"


def test_the_world_knows_no_reward_and_no_expert(played):
    assert [field.name for field in dataclasses.fields(worlds.World)] == ["following", "reached", "fell", "start"]


def test_ice_ends_an_episode():
    maze = jaxlab.from_edges([(0, 1), (1, 3), (0, 2), (2, 3)], (2, 2), start=0, goal=3, ice=[1])
    env = jaxlab.Labyrinth((2, 2), icy_floor=True)
    world = worlds.make(env, env.params(jaxlab.stack([maze])))
    assert world.fell[0].tolist() == [False, True, False, False]
    assert world.reached[2].tolist() == [False, True, False, False]
    right = lambda key, state: jnp.full(state.shape, jaxlab.grid.RIGHT)  # noqa: E731
    walkers, steps = worlds.walk(world, right, worlds.begin(world), jax.random.key(0), 2, 9)
    assert steps.fell[:, 0].tolist() == [True, True] and walkers.state.tolist() == [0]
