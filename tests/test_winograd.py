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


def furthest(x, kernel, stride, pads):
    """How far a convolution and XLA's are apart at most: the answers, and the gradients of both arguments."""
    slope = jax.random.normal(jax.random.key(2), conv.lax_conv(x, kernel, stride, pads).shape, x.dtype) / len(x)

    @jax.jit
    def both(x, kernel):
        out = []
        for form in (conv.matrix_conv, conv.lax_conv):
            y, pull = jax.vjp(lambda x, k, form=form: form(x, k, stride, pads), x, kernel)
            out.append((y, *pull(slope)))
        return out

    ours, expected = both(x, kernel)
    assert all(a.dtype == b.dtype == x.dtype and a.shape == b.shape for a, b in zip(ours, expected, strict=True))
    return max(float(jnp.abs(a - b).max()) for a, b in zip(ours, expected, strict=True))


def drawn(images, rows, cols, taps, dtype=jnp.float32):
    keys = jax.random.split(jax.random.key(0), 2)
    x = jax.random.normal(keys[0], (images, rows, cols, 5), dtype)
    return x, jax.random.normal(keys[1], (taps, taps, 5, 6), dtype) / taps**2


@pytest.mark.parametrize(("images", "side", "taps", "pad"), CASES)
def test_convolutions_and_their_gradients_are_those_of_lax(images, side, taps, pad):
    assert furthest(*drawn(images, side, side, taps), 1, ((pad, pad), (pad, pad))) < 2e-5


def test_rows_and_columns_are_not_exchanged():
    assert winograd.fastest(60, 8, 9, (3, 3), between_zeros=False) is not None
    assert furthest(*drawn(60, 7, 10, 3), 1, ((1, 2), (1, 0))) < 2e-5


def test_a_strided_kernel_is_no_pair_between_zeros():
    """Blocks of 2 x 2 pixels that are half padding stood where a pair has zeros."""
    assert furthest(*drawn(100, 6, 6, 6), 2, ((1, 1), (1, 1))) < 2e-5


def test_types_stay_as_they_are():
    pads = ((1, 1), (1, 1))
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        assert furthest(*drawn(40, 8, 8, 3, jnp.float64), 1, pads) < 1e-12
    half = jax.jit(lambda x, k: conv.conv(x, k, 1, pads))(*drawn(40, 8, 8, 3, jnp.bfloat16))
    assert half.dtype == jnp.bfloat16


@pytest.mark.parametrize("shape", [(0, 8, 8, 3), (2, 2, 2, 3), (0, 3, 3, 3)])
def test_nothing_gives_nothing(shape):
    x, kernel = jnp.zeros(shape), jnp.zeros((3, 3, 3, 4))
    pads = ((0, 0), (0, 0))
    assert conv.conv(x, kernel).shape == conv.lax_conv(x, kernel, 1, pads).shape


@settings(max_examples=100)
@given(st.integers(1, 2000), st.integers(1, 40), st.integers(1, 40), st.integers(1, 4), st.booleans())
def test_a_filter_is_taken_only_where_it_counts_less(images, rows, cols, taps, bordered):
    form = winograd.fastest(images, rows, cols, (taps, taps), between_zeros=bordered)
    if form is not None:
        plain = taps**2 * images * rows * cols
        assert taps in (2, 3) and form.multiplications(images, rows, cols) < winograd.WORTH * plain
        assert form is not winograd.PAIR or ((rows, cols) == (2, 2) and bordered)


def test_multiplications_by_hand():
    assert winograd.minimal(4, 3).multiplications(10, 5, 8) == 36 * (10 * 2 * 2 + winograd.KERNEL_TILES)
    assert winograd.PAIR.multiplications(7, 2, 2) == 9 * (7 + winograd.KERNEL_TILES)


def test_seeds_side_by_side_have_the_same_gradients():
    x = jax.random.normal(jax.random.key(0), (2, 40, 8, 8, 3))
    kernel = jax.random.normal(jax.random.key(1), (2, 3, 3, 3, 4)) / 9
    slope = jax.grad(lambda x, k: jnp.square(conv.conv(x, k, 1, ((1, 1), (1, 1)))).sum(), (0, 1))
    together = jax.jit(jax.vmap(slope))(x, kernel)
    for i in range(2):
        for a, b in zip(together, slope(x[i], kernel[i]), strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-3, atol=1e-3)
