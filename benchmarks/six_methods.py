"""Sums up scripts/six_methods.sh: ``python -m benchmarks.six_methods RUNS NAME`` writes NAME.json and NAME.md.

Success is that of the last weights with the most likely action, exact; intervals are 95 %
bootstrap intervals of the mean over seeds. Differences between methods are paired by seed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from baselines import results
from benchmarks import timing

ROWS = ("bc", "dagger", "bco", "iupe", "sqil", "gail", "gail-shuffled", "gail-constant")
SPLITS = ("train", "valid", "test", "s0", "s0_g")
PAIRS = (("dagger", "bc"), ("bco", "bc"), ("iupe", "bc"), ("gail", "gail-shuffled"), ("gail", "gail-constant"))
DRAWS = 10_000


def collect(runs: Path) -> dict[str, list[dict[str, Any]]]:
    """The finished runs of each row, by seed."""
    found = {}
    for row in ROWS:
        files = sorted(runs.glob(f"{row}/*/{results.FILE}"), key=lambda path: int(path.parent.name))
        if files:
            found[row] = [results.read(path) for path in files]
    if not found:
        raise FileNotFoundError(f"no finished run below {runs}")
    return found


def figures(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What is kept of each row: its configuration, and per seed the figures without single episodes."""
    out: dict[str, Any] = {}
    for row, runs in found.items():
        first = runs[0]
        if any(run["config"] != first["config"] for run in runs):
            raise ValueError(f"{row}: these runs are of different configurations, which one row can't hold")
        kept = {name: first[name] for name in ("method", "encoder", "observation", "config", "versions", "machine")}
        seeds = []
        for run in runs:
            for seed in run["seeds"]:
                splits = {
                    split: {
                        kind: {name: value for name, value in scores.items() if name != "episodes"}
                        for kind, scores in kinds.items()
                    }
                    for split, kinds in seed["splits"].items()
                }
                seeds.append({"seed": seed["seed"], "train_seconds": seed["train_seconds"], "splits": splits})
        out[row] = kept | {"mazes": first["mazes"], "seeds": seeds}
    return out


def success(row: dict[str, Any], split: str, kind: str = "argmax") -> dict[int, float]:
    """Success in per cent by seed."""
    return {seed["seed"]: 100 * seed["splits"][split][kind]["success"] for seed in row["seeds"]}


def interval(values: list[float]) -> tuple[float, float]:
    """95 % bootstrap interval of the mean."""
    rng = np.random.default_rng(0)
    means = rng.choice(values, (DRAWS, len(values))).mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def cell(values: list[float], sign: str = "") -> str:
    """Mean and interval; one seed has none."""
    low, high = interval(values)
    mean = f"{np.mean(values):{sign}.1f}"
    return f"{mean} [{low:{sign}.1f}, {high:{sign}.1f}]" if len(values) > 1 else mean


def markdown(rows: dict[str, Any]) -> str:
    """The table for people."""
    first = next(iter(rows.values()))
    lines = [
        f"# Six methods on 5x5-v1, {first['encoder']} ({first['observation']})",
        "",
        "Success in per cent, last weights, most likely action, exact: mean over seeds [95 % interval of the mean].",
        "Written by `scripts/six_methods.sh`; configuration, versions and every seed are in the .json beside this.",
        "",
        "| method | seeds | " + " | ".join(SPLITS) + " | lowest train | seconds a seed |",
        "|---|---|" + "---|" * (len(SPLITS) + 2),
    ]
    for name, row in rows.items():
        cells = []
        for split in SPLITS:
            cells.append(cell(list(success(row, split).values())))
        lowest = min(success(row, "train").values())
        seconds = np.mean([seed["train_seconds"] for seed in row["seeds"]])
        lines.append(f"| {name} | {len(row['seeds'])} | " + " | ".join(cells) + f" | {lowest:.0f} | {seconds:.0f} |")
    lines += ["", "Differences, paired by seed, in points:", "", "| difference | " + " | ".join(SPLITS) + " |"]
    lines.append("|---|" + "---|" * len(SPLITS))
    for one, other in PAIRS:
        if one not in rows or other not in rows:
            continue
        cells = []
        for split in SPLITS:
            a, b = success(rows[one], split), success(rows[other], split)
            apart = [a[seed] - b[seed] for seed in a if seed in b]
            cells.append(cell(apart, "+") if apart else "")
        lines.append(f"| {one} - {other} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    runs, name = Path(arguments[0]), Path(arguments[1])
    rows = figures(collect(runs))
    text = markdown(rows)
    timing.keep(name, rows, text)
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
