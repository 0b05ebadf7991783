"""What the paper reports: Tables 2, 5, 6, 7 and the two further runs of behavioural cloning (section 4.2).

Table 2 is the part of Table 7 without new starts and goals. The paper trained one seed; its limits
are said in docs/results.md.
"""

from __future__ import annotations

import csv
import functools
import io
from importlib import resources
from typing import NamedTuple

METHODS = ("BC", "DAgger", "GAIL", "BCO", "SQIL", "IUPE")
"""The paper's order."""
LONG, RESNET = "BC (10000 epochs)", "BC (ResNet-18)"
"""Its two further runs: 5x5 mazes, success only."""
TABLES = {3: "5", 4: "6", 5: "7"}
"""The table of each size."""
SPLITS = ("train", "valid", "test", "s0", "s0_g")


class Value(NamedTuple):
    """One cell of a table.

    Attributes:
        aer: average episodic reward; None where the paper gives none.
        aer_std: its standard deviation over mazes; None as well.
        success: share of mazes solved, 0..1.
    """

    aer: float | None
    aer_std: float | None
    success: float


@functools.cache
def values() -> dict[tuple[int, str, str], Value]:
    """Every cell: ``(size, split, row)`` to its value; rows are `METHODS`, `LONG` and `RESNET`."""
    text = resources.files("baselines").joinpath("data", "paper.csv").read_text("utf-8")
    return {
        (int(line["size"]), line["split"], line["method"]): Value(
            float(line["aer"]) if line["aer"] else None,
            float(line["aer_std"]) if line["aer_std"] else None,
            float(line["success_percent"]) / 100,
        )
        for line in csv.DictReader(io.StringIO(text))
    }


def value(size: int, split: str, row: str | None) -> Value | None:
    """One cell, None where the paper has none.

    >>> value(5, "train", "IUPE")
    Value(aer=0.27, aer_std=2.39, success=0.75)
    """
    return None if row is None else values().get((size, split, row))


def contradictions(success_worth: tuple[float, float] = (0.93, 1.04), failure: float = -4.0) -> list[str]:
    """Cells whose three figures can't all be right, in words.

    With a share p of successes worth about R and failures of exactly ``failure``, the mean return is
    ``p R + (1 - p) failure`` and the standard deviation over mazes ``(R - failure) sqrt(p (1 - p))``.

    Args:
        success_worth: the values of R that are believed: from the released reward to Eq. 1.
        failure: the return of a failure.
    """
    out = []
    for (size, split, row), found in values().items():
        if found.aer is None or found.aer_std is None:
            continue
        p, low, high = found.success, *success_worth
        spread = (p * (1 - p)) ** 0.5
        means = [p * worth + (1 - p) * failure for worth in (low, high)]
        stds = [(worth - failure) * spread for worth in (low, high)]
        faults = []
        if not means[0] - SLACK <= found.aer <= means[1] + SLACK:
            implied = (found.aer - failure) / (sum(success_worth) / 2 - failure)
            faults.append(f"return {found.aer:.2f}, not {means[0]:.2f} to {means[1]:.2f} (it fits {implied:.0%})")
        if not stds[0] - SLACK <= found.aer_std <= stds[1] + SLACK:
            what = f"standard deviation {found.aer_std:.2f}, not {stds[0]:.2f} to {stds[1]:.2f}"
            faults.append(what + (" (it is 2 sqrt(p(1-p)))" if abs(found.aer_std - 2 * spread) < 0.02 else ""))
        if faults:
            out.append(f"{size}x{size} {split} {row}, success {p:.0%}: {'; '.join(faults)}")
    return out


SLACK = 0.06
"""Figures this near agree: they are rounded, and so is the success."""

if __name__ == "__main__":
    print("\n".join(contradictions()))
