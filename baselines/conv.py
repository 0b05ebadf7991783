"""One convolution that is fast on CPU inside ``lax.scan`` and plain ``lax.conv`` elsewhere.

XLA's CPU convolution is about thirty times slower inside a loop than outside. There the
same sum is a matrix product: shifted slices are laid side by side and multiplied once by the
kernel. Where the stride divides the kernel's size, blocks of ``stride x stride`` pixels become
channels first (space to depth), which leaves a convolution of stride 1. Small kernels of stride 1
are left to `baselines.winograd` where that takes fewer multiplications.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from baselines import winograd
from baselines.products import product

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
    """The convolution as slices and matrix products."""
    k_rows, k_cols, channels, outputs = kernel.shape
    if (k_rows, k_cols) == x.shape[1:3] and not any(map(any, pads)):
        return _dense(x.reshape(len(x), 1, 1, k_rows * k_cols * channels), kernel.reshape(-1, outputs))
    rows = (x.shape[1] + sum(pads[0]) - k_rows) // stride + 1
    cols = (x.shape[2] + sum(pads[1]) - k_cols) // stride + 1
    # Pad (or cut) the image to what the windows cover.
    need = (rows - 1) * stride + k_rows, (cols - 1) * stride + k_cols
    edges = [(low, length - low - have, 0) for (low, _), length, have in zip(pads, need, x.shape[1:3], strict=True)]
    x = jax.lax.pad(x, jnp.zeros((), x.dtype), ((0, 0, 0), *edges, (0, 0, 0)))
    between_zeros = stride == 1 and all(pad == (1, 1) for pad in pads)
    if k_rows % stride == 0 and k_cols % stride == 0:
        x = space_to_depth(x, stride)
        kernel = kernel.reshape(k_rows // stride, stride, k_cols // stride, stride, channels, outputs)
        kernel = kernel.transpose(0, 2, 1, 3, 4, 5).reshape(k_rows // stride, k_cols // stride, -1, outputs)
        stride = 1
    if stride == 1 and x.dtype.itemsize >= 4:  # its sums would be too coarse in half precision
        form = winograd.fastest(len(x), rows, cols, kernel.shape[:2], between_zeros=between_zeros)
        if form is not None:
            return winograd.conv(x, kernel, form)
    down, across = stride * (rows - 1) + 1, stride * (cols - 1) + 1
    places = np.ndindex(*kernel.shape[:2])
    slices = [x[:, r : r + down : stride, c : c + across : stride] for r, c in places]
    return _dense(jnp.concatenate(slices, -1), kernel.reshape(-1, outputs))


def _dense(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``x @ kernel`` of ``[B, H, W, K]`` and ``[K, O]``."""
    return product(x.reshape(-1, x.shape[-1]), kernel).reshape(*x.shape[:-1], kernel.shape[-1])


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
