"""Spaces: the shape, type and range of actions and observations, without Gymnasium."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Discrete:
    """The integers ``0 .. n - 1``."""

    n: int
    dtype: Any = jnp.int32

    @property
    def shape(self) -> tuple[()]:
        """A scalar."""
        return ()

    def sample(self, key: jax.Array) -> jax.Array:
        """One of them, uniformly; the key is consumed."""
        return jax.random.randint(key, (), 0, self.n, self.dtype)

    def contains(self, x: Any) -> bool:
        """Is ``x`` one integer in range?"""
        x = np.asarray(x)
        return x.shape == () and np.issubdtype(x.dtype, np.integer) and 0 <= int(x) < self.n


@dataclasses.dataclass(frozen=True)
class Box:
    """Arrays of one shape and type with values from ``low`` to ``high``, both included."""

    low: float
    high: float
    shape: tuple[int, ...]
    dtype: Any

    def sample(self, key: jax.Array) -> jax.Array:
        """Uniform over the box; the key is consumed."""
        if jnp.issubdtype(self.dtype, jnp.integer):
            drawn = jax.random.randint(key, self.shape, int(self.low), int(self.high) + 1, jnp.int32)
            return drawn.astype(self.dtype)
        return jax.random.uniform(key, self.shape, self.dtype, self.low, self.high)

    def contains(self, x: Any) -> bool:
        """Has ``x`` this shape and type, and values in range?"""
        x = np.asarray(x)
        return x.shape == self.shape and x.dtype == self.dtype and bool(np.all((x >= self.low) & (x <= self.high)))


@dataclasses.dataclass(frozen=True)
class Dict:
    """A dictionary of spaces, given as ``((name, space), ...)`` so that it can be hashed."""

    items: tuple[tuple[str, Box | Discrete], ...]

    def sample(self, key: jax.Array) -> dict[str, jax.Array]:
        """A sample of each; the key is consumed."""
        keys = jax.random.split(key, len(self.items))
        return {name: space.sample(k) for k, (name, space) in zip(keys, self.items, strict=True)}

    def contains(self, x: Any) -> bool:
        """Has ``x`` the same names, with a member of each space?"""
        names = dict(self.items)
        return isinstance(x, dict) and x.keys() == names.keys() and all(names[k].contains(v) for k, v in x.items())


Space = Discrete | Box | Dict
