"""Choices of the host from a seed: the same on every platform and with every numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from jaxlab.errors import whole

Item = TypeVar("Item")
MAX_SEED = 2**32 - 1


class Dice:
    """A stream of uniform choices, named by a few numbers (seed, purpose, index).

    Only the raw bits of PCG64 are used, which numpy promises to keep.
    """

    def __init__(self, *numbers: int) -> None:
        self._raw = np.random.PCG64(np.random.SeedSequence(numbers)).random_raw

    @classmethod
    def of(cls, seed: int | Dice, purpose: int) -> Dice:
        """The dice of a seed for one purpose; dice stay what they are."""
        return seed if isinstance(seed, Dice) else cls(check_seed(seed), purpose)

    def below(self, n: int) -> int:
        """A uniform number in ``0 .. n - 1`` (the bias of at most ``n / 2**64`` is never seen)."""
        return int(self._raw()) % n

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def order(self, n: int) -> np.ndarray:
        """A permutation of ``0 .. n - 1``."""
        return np.argsort(self._raw(n), kind="stable") if n else np.zeros(0, np.intp)


def check_seed(seed: int) -> int:
    """Return the seed as a Python int, or raise ``ValueError``."""
    return whole("seed", seed, 0, MAX_SEED)
