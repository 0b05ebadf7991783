import jax
import jax.numpy as jnp
import pytest

import jaxlab
from baselines import networks

ENV = jaxlab.Labyrinth((3, 3))


def test_cnn_of_table_3a_has_exactly_865700_parameters():
    variables = jax.eval_shape(networks.policy("cnn", ENV).init, jax.random.key(0))
    assert networks.num_parameters(variables.weights) == 865_700


def test_same_arguments_give_the_same_network():
    assert networks.policy("cnn", ENV) is networks.policy("cnn", jaxlab.Labyrinth((3, 3)))


def test_unknown_encoder_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'cnn'"):
        networks.policy("cmn", ENV).init(jax.random.key(0))


def test_trunk_of_64_px_has_1024_features_and_small_pictures_are_refused():
    assert jax.eval_shape(networks.policy("cnn", ENV).init, jax.random.key(0)).weights["head"]["layers"][0][
        "kernel"
    ].shape == (1024, 512)
    with pytest.raises(ValueError, match="36 px"):
        networks.policy("cnn", jaxlab.Labyrinth((3, 3), pixels=20)).init(jax.random.key(0))


def test_precise_statistics_are_those_of_the_inputs():
    network = networks.policy("cnn", ENV)
    variables = network.init(jax.random.key(0))
    seen = jax.random.randint(jax.random.key(1), (8, 64, 64, 3), 0, 256).astype(jnp.uint8)
    precise = network.precise(variables, seen)
    in_training, moved = network.train(variables, None, seen)
    assert jnp.allclose(network.apply(precise, seen), in_training, atol=1e-5)
    assert not jnp.allclose(network.apply(variables, seen), in_training, atol=1e-3)
    old, new, exact = (s["trunk"]["norm2"]["mean"] for s in (variables.stats, moved, precise.stats))
    assert jnp.allclose(new, 0.9 * old + 0.1 * exact, atol=1e-5)


def test_dropout_only_in_training_and_with_a_key():
    network = networks.policy("mlp", ENV)
    variables = network.init(jax.random.key(0))
    seen = jnp.ones((4, 28))
    assert jnp.array_equal(network.apply(variables, seen), network.train(variables, None, seen)[0])
    dropped = network.train(variables, jax.random.key(1), seen)[0]
    assert not jnp.allclose(dropped[0], dropped[1])


def test_vector_becomes_one_hots():
    env = jaxlab.Labyrinth((3, 3), key_and_door=True, icy_floor=True)
    policy = networks.policy("mlp", env)
    variables = policy.init(jax.random.key(0))
    assert variables.weights["head"]["layers"][0]["kernel"].shape == (25 * (5 + 2), 512)
    trunk = networks.OneHotTrunk(env, rngs=None)
    vector = jnp.concatenate([jnp.array([0.0, 2, 24, -1, 7]), jnp.zeros(25).at[3].set(1).at[4].set(2)])
    out = trunk(vector[None])[0]
    assert out.shape == (175,)
    assert out[:125].sum() == 4 and out[0] == out[25 + 2] == out[50 + 24] == out[100 + 7] == 1
    assert out[125:].sum() == 2 and out[125 + 3 * 2] == out[125 + 4 * 2 + 1] == 1
