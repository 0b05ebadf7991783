"""New starts with the start's marker moved and left: ``python -m benchmarks.start_marker RUNS [--out NAME]``.

On s0 the agent begins elsewhere, and the picture (or vector) says so: the start's marker stands in
a cell where no training picture has it. Here the finished runs of ``scripts/six_methods.sh``
begin in the same cells, once seeing that and once seeing the marker where the demonstrations had
it, so that what a method knows about the cells comes apart from what a moved marker does to its
eyes. Intervals are those of the benchmark; differences from BC are paired by maze.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import baselines
from baselines import evaluate, table
from baselines.bench import intervals
from benchmarks import timing
from benchmarks.six_methods import ROWS, collect
from jaxlab import splits

MAZES = "5x5-v1"
SEEN = {"moved": "s0", "left": "train"}
"""Where the marker is: the split whose observations are shown."""


def solved(run: Path, seed: int) -> dict[str, np.ndarray]:
    """Which mazes of s0 one seed solves, ``bool[N]``, by where the marker is."""
    given = splits.load(MAZES)
    policy = baselines.load(run, seed)
    observation, _, render = policy.observation.partition("-")
    env = evaluate.environment(given)
    new = env.params(given["s0"])
    found = {}
    for name, split in SEEN.items():
        seen = table.make(env, env.params(given[split]), observation, render or "paper")
        actions = evaluate.answers(policy, seen).argmax(-1)
        played = evaluate.episodes(env, new, jnp.asarray(actions, jnp.int32))
        found[name] = np.asarray(played.outcome) == evaluate.GOAL
    return found


def measure(runs: Path) -> dict[str, Any]:
    """Success of every finished run, and the intervals over seeds and mazes."""
    matrices: dict[str, dict[str, np.ndarray]] = {}
    for row, results in collect(runs).items():
        folders = sorted((runs / row).glob("*/results.json"), key=lambda path: int(path.parent.name))
        each = [
            solved(file.parent, run["seed"])
            for file, result in zip(folders, results, strict=True)
            for run in result["seeds"]
        ]
        matrices[row] = {name: np.stack([one[name] for one in each]) for name in SEEN}
        print(row, {name: matrix.mean(1).tolist() for name, matrix in matrices[row].items()}, flush=True)
    if "bc" not in matrices:
        raise FileNotFoundError(f"no finished run of bc below {runs}: the differences are from it")
    return {
        row: {
            name: {
                "success": intervals.of_rate(matrix)._asdict(),
                "each": matrix.mean(1).tolist(),
                "more than bc": intervals.of_difference(matrix, matrices["bc"][name])._asdict(),
            }
            for name, matrix in found.items()
        }
        for row, found in matrices.items()
    }


def markdown(found: dict[str, Any], runs: str) -> str:
    """The table for people."""
    lines = [
        f"# New starts on {MAZES}, {runs}",
        "",
        "Success on s0 in per cent, argmax, exact: mean [95 %], and points more than BC [95 %, paired by maze].",
        "*Moved*: what s0 shows. *Left*: the same starts, the start's marker where the demonstrations had it.",
        "",
        "| method | seeds | moved | left | moved, more than BC | left, more than BC |",
        "|---|---|---|---|---|---|",
    ]
    for row in (name for name in ROWS if name in found):
        success = [_points(found[row][name]["success"]) for name in SEEN]
        more = [_points(found[row][name]["more than bc"], "+") if row != "bc" else "" for name in SEEN]
        lines.append(f"| {row} | {len(found[row]['left']['each'])} | {' | '.join(success + more)} |")
    return "\n".join(lines) + "\n"


def _points(interval: dict[str, float], sign: str = "") -> str:
    mean, low, high = (f"{100 * interval[name]:{sign}.1f}" for name in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder of METHOD/SEED, bc among them")
    parser.add_argument("--title", default="cnn", help="what the runs are, for the heading")
    parser.add_argument("--out", type=Path, help="write NAME.json and NAME.md")
    args = parser.parse_args()
    found = measure(args.runs)
    text = markdown(found, args.title)
    print(text)
    if args.out:
        timing.keep(args.out, found, text)


if __name__ == "__main__":
    main()
