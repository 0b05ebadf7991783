"""Winograd's filters are the plain convolution, up to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines import conv, winograd

FORMS = [winograd.minimal(size, taps) for size in winograd.SIZES for taps in (2, 3)]


@pytest.mark.parametrize("form", FORMS)
def test_one_direction_is_filtering(form):
    (products, inside), (size, taps) = form.inputs.shape, (len(form.outputs), form.taps.shape[1])
    assert products == inside == size + taps - 1
    dice = np.random.default_rng(0)
    x, kernel = dice.normal(size=inside), dice.normal(size=taps)
    got = form.outputs @ ((form.taps @ kernel) * (form.inputs @ x))
    np.testing.assert_allclose(got, np.correlate(x, kernel), rtol=1e-12)


def test_a_pair_between_zeros_takes_three_products():
    x, kernel = np.array([2.0, -5.0]), np.array([3.0, 7.0, 11.0])
    form = winograd.PAIR
    assert form.inputs.shape == (3, 2)
    got = form.outputs @ ((form.taps @ kernel) * (form.inputs @ x))
    np.testing.assert_allclose(got, np.correlate([0, *x, 0], kernel))


# images, side, taps, padding: the filter of four, of two, the pair; sides that no tile fits; a plain sum
CASES = [(40, 8, 3, 1), (100, 7, 2, 0), (60, 2, 3, 1), (60, 7, 3, 1), (2, 4, 3, 1)]
SIZES = [4, 2, 2, 4, None]


def test_the_cases_are_of_all_kinds():
    chosen = [
        winograd.fastest(n, *[side + 2 * pad - taps + 1] * 2, (taps, taps), between_zeros=pad == 1)
        for n, side, taps, pad in CASES
    ]
    assert [form and len(form.outputs) for form in chosen] == SIZES
    assert chosen[2] is winograd.PAIR


@pytest.mark.parametrize(("images", "side", "taps", "pad"), CASES)
def test_convolutions_and_their_gradients_are_those_of_lax(images, side, taps, pad):
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (images, side, side, 5))
    kernel = jax.random.normal(keys[1], (taps, taps, 5, 6)) / taps**2
    pads = ((pad, pad), (pad, pad))

    @jax.jit
    def both(x, kernel):
        out = []
        for form in (conv.matrix_conv, conv.lax_conv):
            y, pull = jax.vjp(lambda x, k, form=form: form(x, k, 1, pads), x, kernel)
            out.append((y, *pull(jax.random.normal(keys[2], y.shape) / images)))
        return out

    for a, b in zip(*both(x, kernel), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5)


@settings(max_examples=100)
@given(st.integers(1, 2000), st.integers(1, 40), st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_a_filter_is_taken_only_where_it_counts_less(images, rows, cols, taps, bordered):
    form = winograd.fastest(images, rows, cols, (taps, taps), between_zeros=bordered)
    if form is not None:
        assert (
            taps in (2, 3)
            and form.multiplications(images, rows, cols) < winograd.WORTH * taps**2 * images * rows * cols
        )
        assert form is not winograd.PAIR or ((rows, cols) == (2, 2) and bordered)


def test_seeds_side_by_side_give_the_same():
    x = jax.random.normal(jax.random.key(0), (2, 40, 8, 8, 3))
    kernel = jax.random.normal(jax.random.key(1), (2, 3, 3, 3, 4)) / 9
    pads = ((1, 1), (1, 1))
    together = jax.vmap(lambda x, k: conv.conv(x, k, 1, pads))(x, kernel)
    for i in range(2):
        np.testing.assert_allclose(together[i], conv.conv(x[i], kernel[i], 1, pads), atol=1e-5)
    assert together.dtype == jnp.float32
