import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines import conv, products

CASES = [
    (64, 3, 32, 8, 4, "VALID"),
    (15, 32, 64, 4, 2, "VALID"),
    (6, 64, 64, 3, 1, "VALID"),
    (32, 3, 8, 7, 2, ((3, 3), (3, 3))),
    (16, 8, 8, 3, 1, "SAME"),
    (16, 8, 16, 3, 2, ((1, 1), (1, 1))),
    (16, 8, 16, 1, 2, "VALID"),
    (13, 4, 5, 5, 3, "SAME"),
    (9, 2, 3, 2, 4, ((0, 1), (2, 0))),
]


@pytest.mark.parametrize(("side", "inputs", "outputs", "size", "stride", "padding"), CASES)
def test_matrix_form_equals_lax_forward_and_gradient(side, inputs, outputs, size, stride, padding):
    key_x, key_k, key_g = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(key_x, (2, side, side, inputs))
    kernel = jax.random.normal(key_k, (size, size, inputs, outputs)) / np.sqrt(size * size * inputs)

    @jax.jit
    def both(x, kernel):
        pads = conv._pads(x.shape[1:3], kernel.shape[:2], stride, padding)
        forms = [
            lambda x, k: conv.lax_conv(x, k, stride, pads),
            lambda x, k: conv.matrix_conv(x, k, stride, pads),
            lambda x, k: conv.conv(x, k, stride, padding),
        ]
        out = []
        for form in forms:
            y, pull = jax.vjp(form, x, kernel)
            out.append((y, pull(jax.random.normal(key_g, y.shape) / np.sqrt(y.size))))
        return out

    reference, *others = both(x, kernel)
    for other in others:
        for a, b in zip(jax.tree.leaves(reference), jax.tree.leaves(other), strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, atol=1e-5)


def test_rectangular_kernels_and_images():
    x = jax.random.normal(jax.random.key(0), (1, 9, 12, 2))
    kernel = jax.random.normal(jax.random.key(1), (3, 5, 2, 4)) / 5
    pads = ((1, 0), (2, 2))
    np.testing.assert_allclose(conv.matrix_conv(x, kernel, 2, pads), conv.lax_conv(x, kernel, 2, pads), atol=1e-5)


def test_space_to_depth_keeps_every_number():
    x = jnp.arange(2 * 4 * 4 * 3).reshape(2, 4, 4, 3)
    y = conv.space_to_depth(x, 2)
    assert y.shape == (2, 2, 2, 12)
    assert jnp.array_equal(y[1, 0, 1], x[1, 0:2, 2:4].ravel())


@pytest.mark.parametrize("shape", [(8, 5), (50, 5), (3, 8, 5), (3, 50, 5)])  # plain, the other way round; several
def test_products_gradients_are_those_of_a_plain_product(shape):
    keys = jax.random.split(jax.random.key(0), 3)
    x, kernel = jax.random.normal(keys[0], shape), jax.random.normal(keys[1], (*shape[:-2], 5, 3))
    assert products.transposed(*shape[-2:]) == (shape[-2] == 50)
    y, pull = jax.vjp(products.product, x, kernel)
    plain, pull_plain = jax.vjp(jnp.matmul, x, kernel)
    slope = jax.random.normal(keys[2], y.shape)
    for a, b in zip((y, *pull(slope)), (plain, *pull_plain(slope)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
