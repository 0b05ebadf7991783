"""One convolution that is fast on CPU inside ``lax.scan`` and plain ``lax.conv`` elsewhere.

XLA's CPU convolution is about thirty times slower inside a loop than outside. There the
same sum is a matrix product: blocks of ``stride x stride`` pixels become channels (space to
depth), which leaves a convolution of stride 1, whose shifted slices are laid side by side and
multiplied once by the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp

Padding = str | Sequence[tuple[int, int]]


def conv(x: jax.Array, kernel: jax.Array, stride: int = 1, padding: Padding = "VALID") -> jax.Array:
    """Convolve (cross-correlate, as networks do) images with a kernel.

    Args:
        x: ``float[B, H, W, C]``.
        kernel: ``float[KH, KW, C, O]``.
        stride: step along both axes, static.
        padding: ``"VALID"``, ``"SAME"`` or ``((top, bottom), (left, right))``, static.

    Returns:
        ``float[B, H', W', O]``.
    """
    pads = _pads(x.shape[1:3], kernel.shape[:2], stride, padding)
    return jax.lax.platform_dependent(
        x,
        kernel,
        cpu=lambda x, kernel: matrix_conv(x, kernel, stride, pads),
        default=lambda x, kernel: lax_conv(x, kernel, stride, pads),
    )


def lax_conv(x: jax.Array, kernel: jax.Array, stride: int, pads: tuple[tuple[int, int], ...]) -> jax.Array:
    """The convolution as XLA has it."""
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), pads, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def matrix_conv(x: jax.Array, kernel: jax.Array, stride: int, pads: tuple[tuple[int, int], ...]) -> jax.Array:
    """The convolution as slices and one matrix product."""
    k_rows, k_cols, channels, outputs = kernel.shape
    rows = (x.shape[1] + sum(pads[0]) - k_rows) // stride + 1
    cols = (x.shape[2] + sum(pads[1]) - k_cols) // stride + 1
    if (k_rows, k_cols) == x.shape[1:3] and not any(map(any, pads)):
        return product(x.reshape(len(x), 1, 1, -1), kernel.reshape(-1, outputs))
    if (k_rows, k_cols) == (1, 1):
        x = jnp.pad(x, ((0, 0), *pads, (0, 0)))[:, ::stride, ::stride]
        return product(x, kernel[0, 0])
    blocks_r, blocks_c = -(-k_rows // stride), -(-k_cols // stride)
    kernel = jnp.pad(kernel, ((0, blocks_r * stride - k_rows), (0, blocks_c * stride - k_cols), (0, 0), (0, 0)))
    # Grow (or cut) the image to what the windows of whole blocks cover.
    need = (rows + blocks_r - 1) * stride, (cols + blocks_c - 1) * stride
    low = pads[0][0], pads[1][0]
    high = need[0] - low[0] - x.shape[1], need[1] - low[1] - x.shape[2]
    zero = jnp.zeros((), x.dtype)
    x = jax.lax.pad(x, zero, ((0, 0, 0), (low[0], high[0], 0), (low[1], high[1], 0), (0, 0, 0)))
    x = space_to_depth(x, stride)
    kernel = kernel.reshape(blocks_r, stride, blocks_c, stride, channels, outputs)
    kernel = kernel.transpose(0, 2, 1, 3, 4, 5).reshape(-1, outputs)
    slices = [x[:, r : r + rows, c : c + cols] for r in range(blocks_r) for c in range(blocks_c)]
    return product(jnp.concatenate(slices, -1), kernel)


@jax.custom_vjp
def product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``x @ kernel`` of ``[..., K]`` and ``float[K, O]``, with a kernel's gradient that is fast on CPU.

    That gradient is a sum over many rows, ``x.T @ slope``. XLA's CPU takes ``slope.T @ x``, its
    transpose, up to three times faster.
    """
    return x @ kernel


def _product_forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return product(x, kernel), (x, kernel)


def _product_backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = kept
    wide, narrow = (each.reshape(-1, each.shape[-1]) for each in (x, slope))
    # Without the barrier XLA sees a transposed product and computes it the slow way round.
    of_kernel = jax.lax.optimization_barrier(narrow.T @ wide).T
    return slope @ kernel.T, of_kernel


product.defvjp(_product_forward, _product_backward)


def space_to_depth(x: jax.Array, block: int) -> jax.Array:
    """Turn blocks of pixels into channels: ``[B, H, W, C] -> [B, H/block, W/block, block^2 C]``."""
    if block == 1:
        return x
    images, rows, cols, channels = x.shape
    x = x.reshape(images, rows // block, block, cols // block, block, channels)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(images, rows // block, cols // block, block * block * channels)


def _pads(size: Sequence[int], kernel: Sequence[int], stride: int, padding: Padding) -> tuple[tuple[int, int], ...]:
    if isinstance(padding, str):
        return tuple(jax.lax.padtype_to_pads(size, kernel, (stride, stride), padding))
    (top, bottom), (left, right) = padding
    return (int(top), int(bottom)), (int(left), int(right))
