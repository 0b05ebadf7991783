"""Tables as Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from baselines.bench.entries import Entry, groups
from baselines.bench.intervals import DRAWS
from baselines.bench.tables import Beside, Gap, Row, Score, Table

NAMES = {"success": "success, %", "aer": "average episodic return"}
HOW = (
    "Last weights, precise batch-norm statistics, argmax policy, exact evaluation: mean over training seeds and mazes, "
    f"with its 95 % interval (bootstrap over seeds and mazes, {DRAWS:,} resamples, percentiles; exact binomial over "
    "mazes at 0 and 100 %)."
)
BESIDE = "The paper's value, of one training seed, stands in brackets after it."


def number(value: float, metric: str) -> str:
    """A score as people read it: percent with one decimal, returns with two."""
    text = f"{100 * value:.1f}" if metric == "success" else f"{value:.2f}"
    return text.replace("-0.00", "0.00") if text == "-0.00" else text


def _percent(value: float, metric: str) -> str:
    """The paper's value, with no more decimals than it gives."""
    return f"{100 * value:.4g}" if metric == "success" else f"{value:.2f}"


def markdown(tables: Iterable[Table]) -> str:
    """All tables on one page."""
    parts = [f"# Results\n\n{HOW} {BESIDE}\n"]
    for table in tables:
        parts.append(f"## {table.title}\n")
        for metric in table.metrics:
            head = [NAMES[metric], *table.splits]
            lines = [head, *([row.label, *(_md(row, split, metric) for split in table.splits)] for row in table.rows)]
            lines = [line for i, line in enumerate(lines) if i == 0 or any(line[1:])]
            parts.append(grid(lines))
    return "\n".join(parts)


def agreement(cells: Iterable[Beside]) -> str:
    """Cell by cell, whether a success rate is the paper's."""
    lines = [["mazes", "row", "split", "ours, %", "the paper's, %", "its standard error", "ours"]]
    for cell in cells:
        mean, low, high = (number(value, "success") for value in cell.interval)
        beside = _percent(cell.paper, "success")
        row = [cell.mazes, cell.row, cell.split, f"{mean} [{low}, {high}]", beside, number(cell.error, "success")]
        lines.append([*row, cell.verdict])
    return f"# Beside the paper, cell by cell\n\n{AGREES}\n\n{grid(lines)}" if lines[1:] else ""


AGREES = (
    "A cell agrees unless the paper's value lies outside our interval by more than the standard error that one seed "
    "on its number of mazes has."
)


def grid(lines: list[list[str]]) -> str:
    """Rows of text as a Markdown table; the first row is its head."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    drawn = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    drawn.insert(
        1,
        "|"
        + "|".join((":" if i == 0 else "") + "-" * (w + 1) + (":" if i else "") for i, w in enumerate(widths))
        + "|",
    )
    return "\n".join(drawn) + "\n"


def _md(row: Row, split: str, metric: str) -> str:
    score = row.scores.get((split, metric))
    if score is None:
        return ""
    mean, low, high = (number(value, metric) for value in score.interval)
    beside = "" if score.paper is None else f" ({_percent(score.paper, metric)})"
    return f"{mean}{beside}" if row.is_reference else f"{mean} [{low}, {high}]{beside}"


def latex(table: Table) -> str:
    """One table, for booktabs."""
    parts = []
    for metric in table.metrics:
        rows = [row for row in table.rows if any((split, metric) in row.scores for split in table.splits)]
        body = []
        for i, row in enumerate(rows):
            if row.is_reference and (i == 0 or not rows[i - 1].is_reference):
                body.append(r"\midrule")
            cells = [_tex(row.scores.get((split, metric)), metric, row.is_reference) for split in table.splits]
            body.append(" & ".join([_escape(row.label), *cells]) + r" \\")
        parts.append(
            "\n".join(
                [
                    r"\begin{tabular}{l" + "r" * len(table.splits) + "}",
                    r"\toprule",
                    " & ".join([_escape(NAMES[metric]), *(_split(split) for split in table.splits)]) + r" \\",
                    r"\midrule",
                    *body,
                    r"\bottomrule",
                    r"\end{tabular}",
                ]
            )
        )
    head = f"% {table.title}\n% {HOW} {BESIDE}\n"
    return head + "\n\n".join(parts) + "\n"


def _tex(score: Score | None, metric: str, is_reference: bool) -> str:
    if score is None:
        return ""
    mean, low, high = (number(value, metric) for value in score.interval)
    beside = "" if score.paper is None else rf"\ ({_percent(score.paper, metric)})"
    return f"${mean}$" if is_reference else rf"${mean}_{{\,[{low},\,{high}]}}{beside}$"


def _split(name: str) -> str:
    return {"s0": "$s_0$", "s0_g": "$s_0$ and $g$"}.get(name, _escape(name))


def _escape(text: str) -> str:
    for sign in "&%_#$":
        text = text.replace(sign, "\\" + sign)
    return text


def _csv(head: list[str], rows: Iterable[Iterable[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return file.getvalue()


def scores_csv(tables: Iterable[Table]) -> str:
    """Every score on a line: for plots and for comparisons by machine."""
    head = ["table", "method", "split", "metric", "mean", "low", "high", "std_over_mazes", "seeds", "paper"]
    return _csv(
        head,
        (
            [
                table.key,
                row.label,
                split,
                metric,
                *(round(value, 6) for value in score.interval),
                "" if score.std is None else round(score.std, 6),
                "" if row.is_reference else row.seeds,
                "" if score.paper is None else score.paper,
            ]
            for table in tables
            for row in table.rows
            for (split, metric), score in row.scores.items()
            if split in table.splits and metric in table.metrics
        ),
    )


def gaps_csv(gaps: Iterable[Gap]) -> str:
    """Paired differences, one a line."""
    head = ["mazes", "split", "metric", "first", "second", "difference", "low", "high"]
    return _csv(head, ([*gap[:5], *(round(value, 6) for value in gap.interval)] for gap in gaps))


KINDS = {
    "argmax": "last weights",
    "best": "best on valid",
    "running_bn": "running statistics",
    "sampled": "sampled, within 4 L",
}
"""The headline and what stands beside it in results.json."""


def kinds_csv(found: Iterable[Entry]) -> str:
    """Success of the headline, and of what stands beside it, by seed."""
    return _csv(
        ["mazes", "method", "split", "figure", "seed", "success"],
        (
            [mazes, entry.label, split, kind, seed, round(float(value), 6)]
            for mazes, group in groups(found).items()
            for entry in group
            for split in entry.splits
            for kind in KINDS
            for seed, value in zip(entry.seeds, entry.figure(split, kind), strict=True)
        ),
    )
