"""What holds in every generated maze with key, door, ice and occlusion, whatever the agent does in it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import maze, scene
from jaxlab.generate import unique

NUM_MAZES, WALKERS, STEPS = 40, 9, 200
SETTINGS = jaxlab.Settings(key_and_lock=True, icy_floor=True, occlusion=True)


@pytest.fixture(scope="module")
def played():
    """(environment, params, states after each step ``[STEPS, N, WALKERS]``, rewards, falls).

    The first walker of each maze takes optimal actions, a random one of them; the others walk at random.
    """
    env = jaxlab.Labyrinth.from_settings((5, 5), SETTINGS)
    params = env.params(unique(11, NUM_MAZES, (5, 5), settings=SETTINGS).mazes)
    bits = jnp.arange(4, dtype=jnp.uint8)

    def walk(index, knows, key):
        def step(state, lot):
            best = params.optimal[state.maze, state.mode, state.cell] >> bits & 1
            action = jnp.argmax(jnp.where(knows & (best == 0), -1.0, lot))
            out = env.step(None, state, action, params)
            return out.state, (out.state, out.reward, out.info["fell"])

        return jax.lax.scan(step, env.reset_to(index, params)[1], jax.random.uniform(key, (STEPS, 4)))[1]

    index, walker = jnp.divmod(jnp.arange(NUM_MAZES * WALKERS, dtype=jnp.int32), WALKERS)
    keys = jax.random.split(jax.random.key(0), len(index))
    found = jax.device_get(jax.jit(jax.vmap(walk, out_axes=1))(index, walker == 0, keys))
    return env, params, *jax.tree.map(lambda leaf: leaf.reshape(STEPS, NUM_MAZES, WALKERS), found)


def test_the_key_lies_on_no_route_and_the_door_on_all(played):
    _, params, *_ = played
    nothing = {"key": np.int32(maze.NONE), "door": np.int32(maze.NONE), "ice": np.zeros((5, 5), bool)}
    for one in jax.device_get(params.mazes):
        routes = list(jaxlab.solve.iter_paths(one.replace(**nothing)))
        assert routes and all(int(one.key) not in route and int(one.door) in route for route in routes)


def test_a_door_is_never_passed_without_the_key(played):
    _, params, states, *_ = played
    key, door = (np.asarray(cell)[:, None] for cell in (params.mazes.key, params.mazes.door))
    at_door = states.cell == door
    assert at_door.any() and (states.mode[at_door] == 2).all()
    before = np.concatenate([np.zeros_like(states.mode[:1]), states.mode[:-1]])
    taken = (before == 0) & (states.mode == 1)
    assert taken.any() and (states.cell == key)[taken].all()
    assert not ((before == 0) & (states.mode == 2)).any() and (states.mode >= before).all()


def test_a_safe_solution_exists_and_every_optimal_play_returns_1(played):
    _, params, states, rewards, _ = played
    assert (np.asarray(params.shortest) > 0).all()
    assert (states.cell[-1, :, 0] == np.asarray(params.mazes.goal)).all() and states.terminated[-1, :, 0].all()
    np.testing.assert_allclose(rewards[..., 0].sum(0, dtype=np.float64), 1, atol=1e-5)


def test_every_fall_is_on_ice_and_returns_minus_4(played):
    _, params, states, rewards, falls = played
    fell = falls[-1]
    assert fell.sum() > 50 and not fell[:, 0].any()
    ice = np.asarray(params.mazes.ice).reshape(NUM_MAZES, -1)
    assert ice[np.nonzero(fell)[0], states.cell[-1][fell]].all()
    np.testing.assert_allclose(rewards.sum(0, dtype=np.float64)[fell], -4, rtol=2e-3)


def test_reset_restores_key_and_door(played):
    env, params, states, *_ = played
    assert (states.mode[-1, :, 0] == 2).all(), "every solution opened its door"
    for i in range(3):
        obs, state = env.reset_to(i, params)
        assert int(state.mode) == 0
        lying = scene.lattice_position(np.array([params.mazes.key[i], params.mazes.door[i]]), 5)
        np.testing.assert_array_equal(obs[3:5], lying)
