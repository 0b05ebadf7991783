"""ResNet-18, its attention, and the parameter counts of the paper's networks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import jaxlab
from baselines import discriminator, inverse, networks, resnet

ENV = jaxlab.Labyrinth((5, 5), observation="pixels")


def shapes(network):
    return jax.eval_shape(lambda: network.init(jax.random.key(0)))


@pytest.mark.parametrize(
    ("network", "count"),
    [
        (networks.policy("cnn", ENV), 865_700),
        (networks.policy("resnet18", ENV), 11_703_876),
        (discriminator.network("cnn", ENV), 405_409),
        (inverse.network("cnn", ENV), 76_192 + (2048 * 512 + 512) + (512 * 512 + 512) + 4 * 513),
    ],
)
def test_parameter_counts(network, count):
    assert networks.num_parameters(shapes(network).weights) == count


def test_attention_begins_as_the_identity_and_then_looks_around():
    layer = resnet.SelfAttention(16, rngs=nnx.Rngs(0))
    x = jax.random.normal(jax.random.key(1), (2, 3, 3, 16))
    assert np.array_equal(layer(x), x)
    layer.gamma[...] = jnp.float32(1)
    one = layer(x) - x
    moved = layer(x.at[0, 0, 0].add(1.0)) - x.at[0, 0, 0].add(1.0)
    assert not np.allclose(one[0, 2, 2], moved[0, 2, 2]) and np.allclose(one[1], moved[1])


@pytest.mark.slow
def test_resnet_trains_and_uses_its_statistics():
    network = networks.policy("resnet18-attention", ENV)
    variables = network.init(jax.random.key(0))
    x = jax.random.randint(jax.random.key(1), (4, 64, 64, 3), 0, 256).astype(jnp.uint8)
    seen, stats = network.train(variables, None, x)
    assert seen.shape == (4, 4)
    assert not np.allclose(seen, network.apply(variables, x), atol=1e-3)
    precise = network.precise(variables, x)
    assert np.allclose(seen, network.apply(precise, x), atol=5e-2)
    assert jax.tree.structure(stats) == jax.tree.structure(precise.stats)
