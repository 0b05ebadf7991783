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
