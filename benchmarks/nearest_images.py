"""Which training image is nearest: ``python -m benchmarks.nearest_images RUNS [--out NAME]``.

The claim of the paper's section 4.2, tested (`baselines.nearest`) on the finished runs of
``scripts/six_methods.sh``: what images of test mazes share with their nearest training image in the
encoder's features, beside what they share with a random one; mean over folders, of the first
training seed of each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from baselines import nearest
from benchmarks import timing
from benchmarks.six_methods import ROWS, collect

SPLIT = "test"
TITLES = {
    "same_cell": "agent's cell",
    "same_walls": "walls of that cell",
    "alike_around": "wall bits in the 3x3 around it",
    "same_walls_elsewhere": "walls, where the agent is elsewhere",
}


def measure(runs: Path) -> dict[str, Any]:
    """Shares of each row: the mean over its runs, of the first training seed of each folder."""
    found = {}
    for row in collect(runs):
        folders = [file.parent for file in sorted((runs / row).glob("*/results.json"))]
        each = [shares for folder in folders if (shares := nearest.run(folder).get(SPLIT))]
        if each:
            kinds = ("nearest", "chance")
            found[row] = {"runs": len(each)} | {
                name: {
                    kind: float(np.mean([one[name][kind] for one in each if one[name][kind] is not None]))
                    for kind in kinds
                }
                for name in nearest.SHARED
            }
            print(row, found[row], flush=True)
    return found


def markdown(found: dict[str, Any]) -> str:
    """The table for people."""
    lines = [
        "# The nearest training image",
        "",
        f"5x5-v1, demonstrated states of the {SPLIT} mazes; nearest by Euclidean distance of the encoder's features.",
        "In per cent: shared with the nearest training image (with a random one).",
        "",
        f"| method | runs | {' | '.join(TITLES[name] for name in nearest.SHARED)} |",
        "|---" * (2 + len(nearest.SHARED)) + "|",
    ]
    for row in (name for name in ROWS if name in found):
        cells = [
            f"{100 * one['nearest']:.0f} ({100 * one['chance']:.0f})" for one in map(found[row].get, nearest.SHARED)
        ]
        lines.append(f"| {row} | {found[row]['runs']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder of METHOD/SEED")
    parser.add_argument("--out", type=Path, help="write NAME.json and NAME.md")
    args = parser.parse_args()
    found = measure(args.runs)
    text = markdown(found)
    print(text)
    if args.out:
        timing.keep(args.out, found, text)


if __name__ == "__main__":
    main()
