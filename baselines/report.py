"""A table of scores for people: policies down, splits across."""

from __future__ import annotations

from typing import Any

import numpy as np


class Report:
    """Scores by row and split; printing it draws the table.

    Attributes:
        scores: ``{row: {split: [score, ...]}}``, one score (as `evaluate.score` gives it) for each
            training seed; figures are means over them.
    """

    def __init__(self) -> None:
        self.scores: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def add(self, row: str, split: str, score: dict[str, Any]) -> None:
        """Add one score to a cell of the table."""
        self.scores.setdefault(row, {}).setdefault(split, []).append(score)

    def value(self, row: str, split: str, name: str = "success") -> float:
        """The mean of a figure over seeds; NaN for one that is None."""
        return float(np.mean(np.array([score[name] for score in self.scores[row][split]], float)))

    def __str__(self) -> str:
        splits = list(dict.fromkeys(split for cells in self.scores.values() for split in cells))
        order = sorted(self.scores, key=lambda row: row in _REFERENCES)
        lines = [["success %", *splits, "AER", *splits]]
        for row in order:
            cells = self.scores[row]
            rates = [self._rate(row, split) if split in cells else "" for split in splits]
            known = [split in cells and "aer" in cells[split][0] for split in splits]
            gains = [f"{self.value(row, s, 'aer'):.2f}" if k else "" for s, k in zip(splits, known, strict=True)]
            lines.append([row, *rates, "", *gains])
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        drawn = [
            "  ".join(
                cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        drawn.insert(1, "-" * len(drawn[0]))
        return "\n".join(line.rstrip() for line in drawn)

    def _rate(self, row: str, split: str) -> str:
        rates = [100 * score["success"] for score in self.scores[row][split]]
        mean = f"{np.mean(rates):.1f}"
        return mean if len(rates) == 1 or row in _REFERENCES else f"{mean} ({min(rates):.0f}-{max(rates):.0f})"

    __repr__ = __str__


_REFERENCES = ("random, within 4 L", "greedy (up, else right)", "optimal")
