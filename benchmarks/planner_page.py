"""The tables of docs/planner.md, from benchmarks/results/planner.json: ``python -m benchmarks.planner_page``.

A table stands between ``<!-- PART -->`` and ``<!-- -->``, where PART is one of `benchmarks.planner`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jaxlab.files import write_atomic

PAGE = Path("docs/planner.md")
RESULTS = Path("benchmarks/results/planner.json")
SHOWN_ITERATIONS = (1, 2, 3, 5, 8, 10, 12, 15, 17, 19, 25)
Figures = Mapping[str, Mapping[str, Any]]


def rows(part: str, figures: Figures) -> str:
    """One row a figure."""
    lines = [("", "mazes", "mean", "95 %", "each seed")]
    for name, found in _of(part, figures).items():
        mean, low, high = (f"{100 * found[key]:.1f}" for key in ("mean", "low", "high"))
        each = " ".join(f"{100 * float(x):.0f}" for x in found["each"].split())
        lines.append((name, found["mazes"], mean, f"{low} to {high}", each))
    return _table(lines)


def crossed(part: str, figures: Figures) -> str:
    """What comes before the last comma down, what comes after it across: means, and of how many seeds."""
    cells: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, found in _of(part, figures).items():
        down, _, across = name.rpartition(", ")
        cells.setdefault(down, {})[across] = found
    columns = list(dict.fromkeys(across for row in cells.values() for across in row))
    lines = [("", *columns, "training seeds")]
    for down, row in cells.items():
        means = [f"{100 * row[across]['mean']:.1f}" if across in row else "" for across in columns]
        lines.append((down, *means, min(len(found["each"].split()) for found in row.values())))
    return _table(lines)


def iterations(part: str, figures: Figures) -> str:
    """Some numbers of iterations down, splits across."""
    found = _of(part, figures)
    columns = ("test", "s0_g")
    lines = [("iterations", *columns)]
    for number in (number for number in SHOWN_ITERATIONS if all(f"{split}, {number}" in found for split in columns)):
        lines.append((number, *(f"{100 * found[f'{split}, {number}']['mean']:.1f}" for split in columns)))
    return _table(lines)


LAYOUTS: dict[str, Callable[[str, Figures], str]] = {
    "iterations": iterations,
    **dict.fromkeys(("reasons", "settings", "demonstrations", "certainty"), crossed),
}


def page(text: str, figures: Figures) -> str:
    """The page with its tables made anew."""

    def fill(match: re.Match[str]) -> str:
        part = match[1]
        return f"<!-- {part} -->\n{LAYOUTS.get(part, rows)(part, figures)}<!-- -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- -->", fill, text, flags=re.DOTALL)


def _of(part: str, figures: Figures) -> dict[str, Mapping[str, Any]]:
    """Figures of a part, by the rest of their names."""
    return {name.removeprefix(f"{part}, "): found for name, found in figures.items() if name.startswith(f"{part}, ")}


def _table(lines: list[tuple[Any, ...]]) -> str:
    head, *body = lines
    marks = "|---" * len(head) + "|"
    return "\n".join([_row(head), marks, *map(_row, body)]) + "\n"


def _row(values: tuple[Any, ...]) -> str:
    return f"| {' | '.join(map(str, values))} |"


def main() -> None:
    figures = json.loads(RESULTS.read_text("utf-8"))["figures"]
    write_atomic(PAGE, page(PAGE.read_text("utf-8"), figures))


if __name__ == "__main__":
    main()
