"""Convolutions of 2 x 2 and 3 x 3 kernels with fewer multiplications: Winograd's minimal filtering.

``r`` taps over a row of ``m + r - 1`` numbers give ``m`` outputs. That takes ``m r`` multiplications as it is
written, and ``m + r - 1`` where sums of the numbers are multiplied by sums of the taps (Winograd 1980; for networks
Lavin & Gray 2016). In two directions, and summed over channels, each multiplication becomes a matrix product, so
that 4 x 4 outputs of a 3 x 3 kernel take 36 of them instead of 144. The result differs by rounding, a few times
more than a plain sum's, and what is infinite or NaN reaches a whole tile.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from baselines.products import product

POINTS = (0.0, 1.0, -1.0, 2.0, -0.5)
"""Where polynomials are evaluated; small numbers and their inverses keep the rounding small."""
SIZES = (2, 4)
"""Outputs of a tile along an axis; of three taps the larger one needs all points."""
KERNEL_TILES = 100
"""What the sums of a kernel's taps cost, in tiles (`python -m benchmarks.convolutions`)."""
WORTH = 0.7
"""A filter is taken where it counts less than this part of the plain sum: reading and writing is not counted."""


class Filter(NamedTuple):
    """One direction: ``outputs @ ((taps @ kernel) * (inputs @ x))`` are ``m`` filtered numbers, by ``n`` products.

    Attributes:
        inputs: ``float[n, i]`` for the ``i`` numbers that a tile reads.
        taps: ``float[n, r]``.
        outputs: ``float[m, n]``.
    """

    inputs: np.ndarray
    taps: np.ndarray
    outputs: np.ndarray

    def multiplications(self, images: int, rows: int, cols: int) -> int:
        """Multiplications for each pair of channels, with those that the sums of the taps are worth."""
        size, products = self.outputs.shape
        return products**2 * (images * math.ceil(rows / size) * math.ceil(cols / size) + KERNEL_TILES)


PAIR = Filter(
    np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
    np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 1.0], [1.0, -1.0, 0.0]]),
    np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]),
)
"""Three taps over two numbers between zeros, which are not read (Karatsuba's three products)."""


@functools.cache
def minimal(outputs: int, taps: int) -> Filter:
    """The filter of so many taps that gives so many outputs at a time (Toom and Cook's, transposed).

    Two polynomials of ``outputs`` and ``taps`` coefficients are multiplied through their values at points and at
    infinity; filtering is the transposed map. What Lagrange's polynomials are divided by is put into the taps.
    """
    points = POINTS[: outputs + taps - 2]
    others = [points[:i] + points[i + 1 :] for i in range(len(points))]
    through = [[*np.poly(rest)[::-1], 0.0] for rest in others] + [np.poly(points)[::-1]]
    scale = [np.prod(np.subtract(point, rest)) for point, rest in zip(points, others, strict=True)]
    weights = _values(points, taps) / np.array([*scale, 1.0])[:, None]
    return Filter(np.array(through), weights, _values(points, outputs).T)


def _values(points: Sequence[float], coefficients: int) -> np.ndarray:
    """What takes a polynomial to its values at the points and at infinity, where that is its last coefficient."""
    return np.vstack([np.vander(points, coefficients, increasing=True), np.eye(coefficients)[-1]])


def fastest(images: int, rows: int, cols: int, taps: tuple[int, ...], *, between_zeros: bool) -> Filter | None:
    """The filter that counts the fewest multiplications; None unless they are less than `WORTH` of the plain sum's.

    So few images are summed as written, and what is found for one depends up to rounding on how many there are.

    Args:
        images, rows, cols: of the outputs.
        taps: the kernel's sides.
        between_zeros: are the pictures padded by a row and a column of zeros on each side?
    """
    if taps not in ((2, 2), (3, 3)):
        return None
    usable = [minimal(size, taps[0]) for size in SIZES]
    if between_zeros and (rows, cols) == (2, 2) and taps == (3, 3):
        usable.append(PAIR)
    best = min(usable, key=lambda form: form.multiplications(images, rows, cols))
    return best if best.multiplications(images, rows, cols) < WORTH * math.prod(taps) * images * rows * cols else None


def conv(x: jax.Array, kernel: jax.Array, form: Filter) -> jax.Array:
    """Convolve without padding, tile by tile.

    Args:
        x: ``float[B, H, W, C]``.
        kernel: ``float[r, r, C, O]``.
        form: of ``r`` taps. What it reads fewer of than ``m + r - 1`` numbers must be zeros at the edges of ``x``.

    Returns:
        ``float[B, H - r + 1, W - r + 1, O]``.
    """
    taps, outputs = kernel.shape[0], kernel.shape[-1]
    (products, inside), size = form.inputs.shape, len(form.outputs)
    rows, cols = (length - taps + 1 for length in x.shape[1:3])
    down, across = math.ceil(rows / size), math.ceil(cols / size)
    unread = (size + taps - 1 - inside) // 2
    x = x[:, unread : x.shape[1] - unread, unread : x.shape[2] - unread]
    need = [size * (tiles - 1) + inside for tiles in (down, across)]
    x = jnp.pad(x, ((0, 0), *((0, after - now) for after, now in zip(need, x.shape[1:3], strict=True)), (0, 0)))
    x = _sums(form.inputs, [x[:, i : i + size * (down - 1) + 1 : size] for i in range(inside)])
    x = _sums(form.inputs, [x[:, :, :, i : i + size * (across - 1) + 1 : size] for i in range(inside)])
    kernel = _sums(form.taps, list(kernel))
    kernel = _sums(form.taps, [kernel[:, i] for i in range(taps)])
    # The sums of columns stand first: [n^2, tiles, C] @ [n^2, C, O].
    y = product(x.reshape(products**2, -1, x.shape[-1]), kernel.reshape(products**2, -1, outputs))
    y = _sums(form.outputs, list(y.reshape(products, products, -1, down, across, outputs)))
    y = _sums(form.outputs, [y[:, i] for i in range(products)])
    y = y.transpose(2, 3, 0, 4, 1, 5).reshape(-1, size * down, size * across, outputs)
    return y[:, :rows, :cols]


def _sums(weights: np.ndarray, parts: Sequence[jax.Array]) -> jax.Array:
    """``weights @ parts`` along a new first axis, by additions: ``float[n, ...]``."""
    sums = [
        functools.reduce(jnp.add, [weight * part for weight, part in zip(row, parts, strict=True) if weight])
        for row in weights.tolist()  # numbers of Python leave the type as it is
    ]
    # Fused with what follows, each sum would be computed again for every place that reads it.
    return jax.lax.optimization_barrier(jnp.stack(sums))
