"""The max pool of ResNet, with a gradient that is fast on CPU.

Left to itself, XLA fuses the gradients of nine maxima with what comes before them and computes it nine times over.
"""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp


@jax.custom_vjp
def max_pool(x: jax.Array) -> jax.Array:
    """The maximum of each 3 x 3 window, stride 2, padding 1: ``[B, H, W, C]`` to ``[B, ceil(H/2), ceil(W/2), C]``.

    Where several numbers of a window are the largest, they share its gradient (PyTorch gives it to the first). Reverse
    mode only.
    """
    return functools.reduce(jnp.maximum, _windows(_padded(x)))


def _forward(x: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    x = jax.lax.optimization_barrier(x)
    y = jax.lax.optimization_barrier(max_pool(x))
    return y, (x, y)


def _backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array]:
    x, y = kept
    padded = _padded(x)
    share = slope / functools.reduce(jnp.add, [_is_largest(window, y).astype(x.dtype) for window in _windows(padded)])
    # A row of even number (with the padding) is in two windows, one of odd number in one; columns are the same.
    edge = ((0, 0), (1, 1), (1, 1), (0, 0))
    y, share = jnp.pad(y, edge), jnp.pad(share, edge)
    images, height, width, channels = padded.shape
    blocks = padded.reshape(images, height // 2, 2, width // 2, 2, channels)

    def phase(row: int, col: int) -> jax.Array:
        own = blocks[:, :, row, :, col]
        at = itertools.product((0, 1)[row:], (0, 1)[col:])
        parts = [(slice(None), slice(r, r + height // 2), slice(c, c + width // 2)) for r, c in at]
        return functools.reduce(jnp.add, [jnp.where(_is_largest(own, y[part]), share[part], 0) for part in parts])

    rows = [jnp.stack([phase(row, 0), phase(row, 1)], 3) for row in (0, 1)]
    slopes = jnp.stack(rows, 2).reshape(padded.shape)[:, 1 : x.shape[1] + 1, 1 : x.shape[2] + 1]
    return (jax.lax.optimization_barrier(slopes),)


max_pool.defvjp(_forward, _backward)


def _is_largest(x: jax.Array, of_window: jax.Array) -> jax.Array:
    """No number is larger; a NaN, with which nothing compares, counts, so that it is not lost on the way back."""
    return ~(x < of_window)


def _padded(x: jax.Array) -> jax.Array:
    """One row and column before, and one or two after, so that both are of even number."""
    pads = [(1, 1 + length % 2) for length in x.shape[1:3]]
    return jnp.pad(x, ((0, 0), *pads, (0, 0)), constant_values=-jnp.inf)


def _windows(x: jax.Array) -> list[jax.Array]:
    """What stands at each of the nine places of all windows."""
    height, width = (length - 2 for length in x.shape[1:3])
    return [x[:, row : row + height : 2, col : col + width : 2] for row in range(3) for col in range(3)]
