"""The max pool is the maximum of its windows, and its gradient goes to where the maximum is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines.pooling import max_pool


def reference(x):
    """XLA's own."""
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))


def test_by_hand():
    x = jnp.arange(16.0).reshape(1, 4, 4, 1)
    assert max_pool(x)[0, :, :, 0].tolist() == [[5, 7], [13, 15]]
    assert max_pool(-x)[0, :, :, 0].tolist() == [[0, -1], [-4, -5]]
    assert max_pool(x[:, :3, :3])[0, :, :, 0].tolist() == [[5, 6], [9, 10]]


@pytest.mark.parametrize("sides", [(8, 6), (7, 9), (1, 2)])
def test_values_and_gradient_are_those_of_a_reduced_window(sides):
    x = jax.random.normal(jax.random.key(0), (2, *sides, 3))
    y, pull = jax.vjp(max_pool, x)
    expected, pull_expected = jax.vjp(reference, x)
    assert np.array_equal(y, expected)
    slope = jax.random.normal(jax.random.key(1), y.shape)
    np.testing.assert_allclose(pull(slope)[0], pull_expected(slope)[0], atol=1e-6)


def test_equal_numbers_share_the_gradient():
    slopes = jax.grad(lambda x: max_pool(x).sum())(jnp.zeros((1, 4, 4, 1)))[0, :, :, 0]
    assert float(slopes.sum()) == pytest.approx(4)
    # The first window holds 4 cells, the ones beside it 6, the last 9; the cell (0, 0) is in the first alone.
    assert float(slopes[0, 0]) == pytest.approx(1 / 4)
    assert float(slopes[1, 1]) == pytest.approx(1 / 4 + 1 / 6 + 1 / 6 + 1 / 9)


def test_a_number_that_is_none_is_not_lost():
    x = jnp.zeros((1, 4, 4, 1)).at[0, 0, 0, 0].set(jnp.nan)
    y, pull = jax.vjp(max_pool, x)
    assert np.isnan(y[0, 0, 0, 0]) and not np.isnan(y[0, 1, 1, 0])
    assert float(pull(jnp.ones_like(y))[0][0, 0, 0, 0]) > 0


def test_equal_numbers_above_zero_lose_nothing_to_the_padding():
    slopes = jax.grad(lambda x: max_pool(x).sum())(jnp.full((3, 5, 4, 2), 7.0))
    np.testing.assert_allclose(slopes.sum((1, 2, 3)), 3 * 2 * 2, rtol=1e-6)


def test_seeds_side_by_side_have_the_same_gradient():
    x = jax.random.normal(jax.random.key(0), (2, 1, 6, 6, 1))
    slope = jax.grad(lambda x: jnp.square(max_pool(x)).sum())
    for a, b in zip(jax.vmap(slope)(x), x, strict=True):
        assert np.array_equal(a, slope(b))
