"""Seconds of training until a target on the training mazes: ``python -m benchmarks.seconds_to_target RUNS``.

RUNS is a folder of scripts/six_methods.sh. Seconds are those of the jitted chunks, without compilation,
evaluation and checkpoints; success is looked at 20 times a run, so they are rounded up to the next look.
For GAIL also the steps in the environment for each of these seconds, all its updates included.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from baselines import metrics
from benchmarks.six_methods import ROWS

TARGETS = {"sqil": 0.95, "gail": 0.85}
"""Success on the training mazes; 1 for the others."""


def measure(folder: Path, target: float) -> list[dict[str, Any]]:
    """For each seed of a run: seconds to the target (None: not reached), last success, and steps a second."""
    lines = metrics.read(folder)
    return [
        _one([line for line in lines if line["seed"] == seed], target) for seed in sorted({x["seed"] for x in lines})
    ]


def _one(rows: list[dict[str, Any]], target: float) -> dict[str, Any]:
    looks = [row for row in rows if "train_success" in row]
    reached = [row["seconds"] for row in looks if row["train_success"] >= target]
    steps = sum(row.get("steps", 0) for row in rows[: rows.index(looks[-1]) + 1])
    return {
        "seconds_to_target": reached[0] if reached else None,
        "seconds": looks[-1]["seconds"],
        "last_success": looks[-1]["train_success"],
        "steps_per_second": steps / looks[-1]["seconds"] if steps else None,
    }


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    print(f"{'method':14s} {'target':>6s} {'reached':>8s} {'seconds to it':>14s} {'seconds':>8s} {'steps/s':>9s}")
    for row in ROWS:
        target = TARGETS.get(row.split("-")[0], 1.0)
        files = sorted(Path(arguments[0]).glob(f"{row}/*/{metrics.FILE}"))
        runs = [one for file in files for one in measure(file.parent, target)]
        if not runs:
            continue
        times = [run["seconds_to_target"] for run in runs if run["seconds_to_target"] is not None]
        speeds = [run["steps_per_second"] for run in runs if run["steps_per_second"]]
        to_target = f"{np.mean(times):.0f}" if times else "-"
        speed = f"{np.mean(speeds):,.0f}" if speeds else ""
        whole = np.mean([run["seconds"] for run in runs])
        print(f"{row:14s} {target:6.0%} {len(times):4d}/{len(runs):<3d} {to_target:>14s} {whole:8.0f} {speed:>9s}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
