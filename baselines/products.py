"""Matrix products whose gradients are fast on CPU."""

from __future__ import annotations

import jax

MANY = 8
"""Rows for each column from which on the kernel's gradient is taken the other way round (`benchmarks.convolutions`)."""


@jax.custom_vjp
def product(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``x @ kernel`` of ``float[..., R, K]`` and ``float[..., K, O]``, with a kernel's gradient that is fast on CPU.

    That gradient is a sum over rows, ``x.mT @ slope``. Where they are many, XLA's CPU takes ``slope.mT @ x``, its
    transpose, faster. Reverse mode only.
    """
    return x @ kernel


def _forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return product(x, kernel), (x, kernel)


def _backward(kept: tuple[jax.Array, jax.Array], slope: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = kept
    if transposed(*x.shape[-2:]):
        # Without the barrier XLA sees a transposed product and computes it the slow way round.
        return slope @ kernel.mT, jax.lax.optimization_barrier(slope.mT @ x).mT
    return slope @ kernel.mT, x.mT @ slope


product.defvjp(_forward, _backward)


def transposed(rows: int, columns: int) -> bool:
    """Is the kernel's gradient of so many rows and columns computed the other way round?"""
    return rows >= MANY * columns
