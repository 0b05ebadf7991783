"""The figure of the README: ``python scripts/success_figure.py [--out docs/success.png]``.

Success by split with 95 % intervals, one panel for each grid of ``benchmarks/results`` (its
scores.csv, which ``baselines.benchmark`` writes).
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

import numpy as np

from jaxlab.errors import needs_extra
from jaxlab.files import write_atomic

SPLITS = {"train": "train", "valid": "valid", "test": "test", "s0": "another\nstart", "s0_g": "another start\nand goal"}
GRIDS = {"grid-5-cnn": "six methods, the paper's CNN", "grid-5-encoders": "other encoders"}
"""Folders under ``benchmarks/results``, and what is said above each."""
HIDDEN = ("optimal", "random", "GAIL,")
"""How the rows begin that the figure leaves out: two references and the controls."""


def read(grid: Path) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Of each row: success on each split as (mean, low, high), 0..1."""
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    with (grid / "scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (
                row["table"] == "table7"
                and row["metric"] == "success"
                and row["split"] in SPLITS
                and not row["method"].startswith(HIDDEN)
            ):
                mean = float(row["mean"])
                ends = (float(row[name]) if row[name] else mean for name in ("low", "high"))
                found.setdefault(row["method"], {})[row["split"]] = (mean, *ends)
    return found


def draw(grids: dict[Path, str]) -> bytes:
    """The figure as a PNG: a panel for each grid, with its title."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs_extra("matplotlib", "viz") from error
    drawn = Figure(figsize=(5.2 * len(grids), 3.6), layout="constrained", dpi=120)
    panels = np.atleast_1d(drawn.subplots(1, len(grids), sharey=True))
    for axes, (grid, title) in zip(panels, grids.items(), strict=True):
        axes.set_title(title, fontsize=9)
        rows = read(grid)
        places = np.linspace(-0.36, 0.36, len(rows))
        for place, (name, scores) in zip(places, rows.items(), strict=True):
            x = [list(SPLITS).index(split) + place for split in scores]
            mean, low, high = (100 * np.array(part) for part in zip(*scores.values(), strict=True))
            plain = {"color": "0.6"} if name.startswith("greedy") else {}
            axes.errorbar(x, mean, [mean - low, high - mean], fmt="o", markersize=4, elinewidth=1, label=name, **plain)
        axes.set_xticks(range(len(SPLITS)), SPLITS.values(), fontsize=8)
        axes.grid(axis="y", linewidth=0.4)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=7, frameon=False, loc="center right", bbox_to_anchor=(1, 0.68))
    drawn.axes[0].set_ylabel("success, %")
    raw = io.BytesIO()
    drawn.savefig(raw, format="png", metadata={"Software": None})
    return raw.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--out", type=Path, default=Path("docs/success.png"))
    args = parser.parse_args()
    write_atomic(args.out, draw({args.results / name: title for name, title in GRIDS.items()}))
    print(f"written: {args.out}")


if __name__ == "__main__":
    main()
