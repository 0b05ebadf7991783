"""Making and solving mazes: rates, beside the released generator's recorded ones."""

from __future__ import annotations

import time
from typing import Any

import jax

import jaxlab
from jaxlab.maze import structure

RELEASED_MAZES_PER_SECOND = {5: 2111.0, 10: 523.0, 25: 72.0}
"""Recorded on one core of another machine (reset with a new structure)."""


def _best_and_median(seconds: list[float], number: int) -> dict[str, float]:
    return {"best": number / min(seconds), "median": number / sorted(seconds)[len(seconds) // 2]}


def generation(repeats: int) -> dict[str, Any]:
    """Mazes carved a second, and unique mazes split into train, valid and test a second."""
    out: dict[str, Any] = {}
    for side, number in ((5, 100_000), (10, 20_000), (25, 4_000)):
        carved, split, tenth = [], [], number // 10
        for seed in range(repeats + 1):
            began = time.perf_counter()
            jax.block_until_ready(jaxlab.generate.mazes(jax.random.key(seed), number, (side, side)).walls)
            carved.append(time.perf_counter() - began)
            began = time.perf_counter()
            jaxlab.splits.make((side, side), number - 2 * tenth, tenth, tenth, seed=seed, variants=False)
            split.append(time.perf_counter() - began)
        rates = {"carved": _best_and_median(carved[1:], number), "unique_split": _best_and_median(split[1:], number)}
        released = RELEASED_MAZES_PER_SECOND[side]
        out[f"{side}x{side}"] = {**rates, "times_released": rates["unique_split"]["median"] / released}
    return out


def tables(repeats: int) -> dict[str, Any]:
    """Seconds to solve every state: 10,000 mazes of 10x10 (under 2), and one of 100x100."""
    out: dict[str, Any] = {}
    for side, number in ((5, 10_000), (10, 10_000), (100, 1)):
        env = jaxlab.Labyrinth((side, side))
        mazes = jaxlab.generate.mazes(jax.random.key(1), number, (side, side))
        seconds = []
        for _ in range(repeats + 1):
            began = time.perf_counter()
            jax.block_until_ready(env.params(mazes))
            seconds.append(time.perf_counter() - began)
        out[f"{number} of {side}x{side}"] = {"best": min(seconds[1:]), "median": sorted(seconds[1:])[repeats // 2]}
    return out


def settings(repeats: int) -> dict[str, Any]:
    """1,000 mazes for each non-empty set of settings at 5x5 and 8x8: seconds (together under 120), all solvable."""
    del repeats
    out: dict[str, Any] = {}
    names = ("key_and_door", "icy_floor", "occlusion")
    for side in (5, 8):
        for chosen in range(1, 2 ** len(names)):
            flags = {name: bool(chosen >> bit & 1) for bit, name in enumerate(names)}
            began = time.perf_counter()
            mazes = jaxlab.splits.make((side, side), 1000, 0, 0, seed=0, variants=False, **flags)["train"]
            seconds = time.perf_counter() - began
            params = jaxlab.Labyrinth((side, side), **flags).params(mazes)
            assert params.shortest is not None
            solvable = int((params.shortest > 0).sum())
            different = len(set(map(bytes, structure(mazes.walls))))
            label = f"{side}x{side} " + "+".join(name for name, on in flags.items() if on)
            out[label] = {"seconds": seconds, "solvable": solvable, "different": different}
    out["together"] = {"seconds": sum(row["seconds"] for row in out.values())}
    return out
