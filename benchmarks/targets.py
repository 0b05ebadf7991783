"""What the suite must show: each target as a ratio or a rate, taken from the results."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

RELEASED_PIXELS = 4_090.0
"""Steps a second of the released environment with pictures, recorded on one core of another machine."""

Results = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Target:
    """A figure that the results hold, and what it has to be.

    Attributes:
        name: what is measured.
        figure: takes it from the results; KeyError where it was not measured, or the peer is absent.
        bound: the limit.
        most: the figure must be at most the bound, and not at least.
    """

    name: str
    figure: Callable[[Results], float]
    bound: float
    most: bool = False

    def met(self, value: float) -> bool:
        """Does a figure meet the target?"""
        return value <= self.bound if self.most else value >= self.bound


def _rate(row: dict[str, Any], who: str = "jaxlab") -> float:
    return row[who]["median"]


def _numbers(part: dict[str, Any]) -> list[float]:
    return [value for value in part.values() if isinstance(value, (int, float))]


def _times(batch: str, peer: str) -> Callable[[Results], float]:
    return lambda results: _rate(results["stepping"][batch]) / _rate(results["stepping"][batch], peer)


def _best(results: Results, observation: str, who: str = "jaxlab") -> float:
    rows = [row for name, row in results["stepping"].items() if name.split()[0] == observation and who in row]
    if not rows:
        raise KeyError(who)
    return max(_rate(row, who) for row in rows)


def _beside_torch(row: str) -> Callable[[Results], float]:
    return lambda results: results["training"][row]["ratio"]["median"]


def _sides(results: Results) -> float:
    return _rate(results["sizes"], "5x5") / _rate(results["sizes"], "25x25")


def _linear_batch(results: Results) -> float:
    return _rate(results["stepping"]["none 8192"]) / _rate(results["stepping"]["none 1048576"])


def _linear_seeds(results: Results) -> float:
    return results["seeds"]["4 seeds"]["median"] / results["seeds"]["1 seeds"]["median"] / 4


def _memory(results: Results) -> float:
    return results["memory"]["10000 steps"]["bytes"] / results["memory"]["100 steps"]["bytes"]


TARGETS = (
    Target("states only, batch 8,192: times gymnax FourRooms", _times("none 8192", "gymnax"), 8),
    Target("states only, batch 8,192: times xminigrid", _times("none 8192", "xminigrid"), 50),
    Target("states only, batch 8,192: times jumanji Maze", _times("none 8192", "jumanji"), 500),
    Target(
        "states only: times gymnax, each at its best batch", lambda r: _best(r, "none") / _best(r, "none", "gymnax"), 10
    ),
    Target(
        "states only at the best batch: share of the C program on every core",
        lambda r: _best(r, "none") / (_best(r, "none", "c_one_core") * r["machine"]["cores"]),
        0.6,
    ),
    Target("vectors consumed, batch 8,192: times gymnax FourRooms", _times("vector 8192", "gymnax"), 3),
    Target(
        "pictures of 64 px consumed: times the released environment", lambda r: _best(r, "pixels") / RELEASED_PIXELS, 50
    ),
    Target(
        "automatic reset: times the bare step",
        lambda r: _rate(r["resets"], "bare") / _rate(r["resets"], "auto_reset"),
        1.25,
        True,
    ),
    Target("a step at 25x25: times that at 5x5", _sides, 1.3, True),
    Target("unique, split mazes a second at 5x5", lambda r: _rate(r["generation"]["5x5"], "unique_split"), 211_100),
    Target("unique, split mazes a second at 25x25", lambda r: _rate(r["generation"]["25x25"], "unique_split"), 7_200),
    Target("cloning, CNN, batch 100: share of PyTorch's time", _beside_torch("cnn, batch 100"), 0.75, True),
    Target("cloning, CNN, batch 256: share of PyTorch's time", _beside_torch("cnn, batch 256"), 0.75, True),
    Target("cloning, CNN, all 900 at once: share of PyTorch's time", _beside_torch("cnn, batch 900"), 0.75, True),
    Target("cloning, ResNet-18, batch 100: share of PyTorch's time", _beside_torch("resnet18, batch 100"), 1.0, True),
    Target("cloning, ResNet-18, batch 256: share of PyTorch's time", _beside_torch("resnet18, batch 256"), 1.0, True),
    Target(
        "cloning, ResNet-18, all 900 at once: share of PyTorch's time", _beside_torch("resnet18, batch 900"), 1.0, True
    ),
    Target("seconds to compile a step", lambda r: max(_numbers(r["compile"])), 1, True),
    Target(
        "seconds to compile a method's chunk with the CNN, the longest", lambda r: max(_numbers(r["chunks"])), 20, True
    ),
    Target("cost of a step at batch 1,048,576: times that at 8,192", _linear_batch, 1.5, True),
    Target("cost of four seeds: times four of one", _linear_seeds, 1.25, True),
    Target("memory of 10,000 steps: times that of 100", _memory, 1.01, True),
)


def judged(results: Results) -> list[dict[str, Any]]:
    """Every target with its figure, None where it was not measured, and whether it is met."""
    rows = []
    for target in TARGETS:
        try:
            value = target.figure(results)
        except (KeyError, ValueError):
            value = None
        bound = f"at {'most' if target.most else 'least'} {target.bound:,g}"
        rows.append(
            {"name": target.name, "value": value, "bound": bound, "met": None if value is None else target.met(value)}
        )
    return rows
