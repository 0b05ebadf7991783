"""95 % intervals by bootstrap over training seeds and mazes.

Scores form a matrix: training seeds down, mazes across. Both are draws from something larger, so
both are resampled, seeds and mazes independently of each other (the two-way bootstrap, also known
as the pigeonhole bootstrap), and the interval is from the 2.5th to the 97.5th percentile of the
mean over the resampled matrix. Where two methods are compared on the same mazes, a resample takes
the same mazes for both: what makes a maze hard for both then cancels.

A bootstrap of identical outcomes has no width. For success rates of exactly 0 or 1 the interval is
therefore the exact binomial one of Clopper and Pearson, with the mazes as the trials.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

DRAWS = 10_000
LEVEL = 0.95


class Interval(NamedTuple):
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


@functools.lru_cache(maxsize=64)
def _weights(count: int, draws: int, stream: int) -> np.ndarray:
    """How often each of ``count`` things is taken in each resample: ``float32[draws, count]``."""
    rng = np.random.default_rng([stream, count, draws])
    return rng.multinomial(count, np.full(count, 1 / count), size=draws).astype(np.float32)


_MAZES, _SEEDS, _OTHER_SEEDS, _OTHER_MAZES = range(4)  # streams of random numbers


def _resampled(values: np.ndarray, draws: int, of_seeds: int, of_mazes: int = _MAZES) -> np.ndarray:
    seeds, mazes = values.shape
    rows = _weights(seeds, draws, of_seeds) @ values.astype(np.float32)
    return (rows * _weights(mazes, draws, of_mazes)).sum(-1, dtype=np.float64) / (seeds * mazes)


def _ends(means: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _matrix(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} must be [seeds, mazes] with at least one of each, got shape {array.shape}")
    return array


def of_mean(values: Any, draws: int = DRAWS) -> Interval:
    """The interval of a mean.

    Args:
        values: ``[seeds, mazes]``.
        draws: how many resamples.

    >>> of_mean([[1.0, 1.0, 1.0]])
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    array = _matrix(values, "values")
    return Interval(float(array.mean()), *_ends(_resampled(array, draws, _SEEDS)))


def of_rate(successes: Any, draws: int = DRAWS) -> Interval:
    """The interval of a success rate; exact binomial where every episode ended alike.

    Args:
        successes: ``[seeds, mazes]``, 0 or 1 (or a chance, for policies that sample).

    >>> of_rate([[0] * 100])[2].__round__(4)
    0.0362
    """
    array = _matrix(successes, "successes")
    margin = 1 - ((1 - LEVEL) / 2) ** (1 / array.shape[1])
    if (array == 0).all():
        return Interval(0.0, 0.0, margin)
    if (array == 1).all():
        return Interval(1.0, 1.0 - margin, 1.0)
    return of_mean(array, draws)


def of_difference(first: Any, second: Any, draws: int = DRAWS) -> Interval:
    """The interval of ``mean(first) - mean(second)`` over the same mazes.

    Args:
        first: ``[seeds, mazes]``.
        second: ``[other seeds, mazes]``; the seeds of two methods have nothing to do with each other.
    """
    one, two = _matrix(first, "first"), _matrix(second, "second")
    if one.shape[1] != two.shape[1]:
        raise ValueError(f"paired scores need the same mazes, got {one.shape[1]} and {two.shape[1]} of them")
    gaps = _resampled(one, draws, _SEEDS) - _resampled(two, draws, _OTHER_SEEDS)
    return Interval(float(one.mean() - two.mean()), *_ends(gaps))


def of_gap(first: Any, second: Any, draws: int = DRAWS) -> Interval:
    """The interval of ``mean(first) - mean(second)`` of the same training seeds on different mazes.

    Args:
        first: ``[seeds, mazes]``, such as success on train.
        second: ``[seeds, other mazes]``, such as success on test.
    """
    one, two = _matrix(first, "first"), _matrix(second, "second")
    if one.shape[0] != two.shape[0]:
        raise ValueError(f"a gap is between scores of the same seeds, got {one.shape[0]} and {two.shape[0]} of them")
    gaps = _resampled(one, draws, _SEEDS) - _resampled(two, draws, _SEEDS, _OTHER_MAZES)
    return Interval(float(one.mean() - two.mean()), *_ends(gaps))
