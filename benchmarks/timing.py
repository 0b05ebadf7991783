"""Side-by-side timing: candidates take turns, so a machine whose speed drifts treats them alike."""

from __future__ import annotations

import dataclasses
import json
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from jaxlab.files import write_atomic


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds of one candidate: the first call (with compilation), and the runs after it."""

    first: float
    runs: tuple[float, ...]

    @property
    def best(self) -> float:
        """Least seconds."""
        return min(self.runs)

    @property
    def median(self) -> float:
        """Median seconds."""
        return statistics.median(self.runs)


def side_by_side(candidates: Mapping[str, Callable[[int], Any]], repeats: int = 5) -> dict[str, Timing]:
    """Time each candidate ``repeats`` times, in turn, after one call that compiles.

    A candidate takes the number of the run (a seed) and returns arrays that are waited for.
    """
    first = {name: _seconds(run, 0) for name, run in candidates.items()}
    runs: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(1, repeats + 1):
        for name, run in candidates.items():
            runs[name].append(_seconds(run, number))
    return {name: Timing(first[name], tuple(runs[name])) for name in candidates}


def _seconds(run: Callable[[int], Any], number: int) -> float:
    began = time.perf_counter()
    jax.block_until_ready(run(number))
    return time.perf_counter() - began


def version(package: str) -> str:
    """The installed version of a package, or 'absent'."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import os

    device = jax.devices()[0]
    return {
        "cpu": platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "device": f"{device.platform}: {device.device_kind}",
        "devices": jax.device_count(),
        "python": platform.python_version(),
        **{package: version(package) for package in ("jax", "jaxlib", "numpy", "jaxlab")},
    }


def keep(out: Path, found: Mapping[str, Any], table: str) -> None:
    """Write figures to ``OUT.json`` and their table to ``OUT.md``."""
    write_atomic(out.with_name(out.name + ".json"), json.dumps(found, indent=1) + "\n")
    write_atomic(out.with_name(out.name + ".md"), table)
