"""The report's static parts: tables and lists as HTML. All text goes through `escape`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from baselines.bench import intervals
from baselines.bench.entries import Entry
from baselines.bench.formats import KINDS, number
from baselines.bench.tables import Gap, Row, Score, Table
from baselines.diagnosis import ENDS
from baselines.page.charts import SPLIT_NAMES


def shown(value: float, metric: str) -> str:
    """A score with a true minus sign."""
    return number(value, metric).replace("-", "\u2212")


METRICS = {"success": "Success, %", "aer": "Average episodic return"}


def split_name(split: str) -> str:
    """A split as people write it."""
    return escape(SPLIT_NAMES.get(split, split))


def head(cells: Sequence[str]) -> str:
    """The head of a table; the first cell names the rows."""
    first, *rest = cells
    return (
        f'<thead><tr><th scope="col">{first}</th>'
        + "".join(f'<th scope="col">{c}</th>' for c in rest)
        + "</tr></thead>"
    )


def swatch(series: int | None) -> str:
    """The colour of a method."""
    return "" if series is None else f'<i class="swatch" style="background:var(--series-{series % 12})"></i>'


def scores(table: Table, metric: str, series: Mapping[str, int]) -> str:
    """One metric of a table: mean, a bar for its interval, and the paper's value as a diamond."""
    rows = [row for row in table.rows if any((split, metric) in row.scores for split in table.splits)]
    body = []
    for row in rows:
        cells = "".join(f"<td>{_score(row, split, metric)}</td>" for split in table.splits)
        kind = ' class="reference"' if row.is_reference else ""
        name = f"{swatch(series.get(row.label))}{escape(row.label)}"
        body.append(f'<tr{kind}><th scope="row">{name}</th>{cells}</tr>')
    title = head([METRICS[metric], *(split_name(split) for split in table.splits)])
    return f'<div class="scroll"><table class="scores">{title}<tbody>{"".join(body)}</tbody></table></div>'


def _score(row: Row, split: str, metric: str) -> str:
    score = row.scores.get((split, metric))
    if score is None:
        return ""
    mean, low, high = (shown(value, metric) for value in score.interval)
    if row.is_reference:
        return f'<b class="n">{mean}</b>'
    beside = "" if score.paper is None else f'<span class="paper">paper {shown(score.paper, metric)}</span>'
    return f'<b class="n">{mean}</b><span class="ci">{low} &ndash; {high}</span>{_bar(score, metric)}{beside}'


def _bar(score: Score, metric: str) -> str:
    """A line of 0 to 100 % (returns: -4 to 1) with the interval, the mean and the paper's value on it."""
    least, most = (0.0, 1.0) if metric == "success" else (-4.0, 1.0)

    def at(value: float) -> float:
        return round(100 * min(max((value - least) / (most - least), 0), 1), 1)

    mean, low, high = (at(value) for value in score.interval)
    marks = [
        '<line x1="0" x2="100" y1="4" y2="4" class="rail"/>',
        f'<line x1="{low}" x2="{max(high, low + 0.5)}" y1="4" y2="4" class="span"/>',
        f'<circle cx="{mean}" cy="4" r="2.4" class="mean"/>',
    ]
    if score.paper is not None:
        x = at(score.paper)
        marks.append(f'<path d="M{x} .6 l3.2 3.4 l-3.2 3.4 l-3.2 -3.4z" class="theirs"/>')
    return f'<svg class="bar" viewBox="-4 0 108 8" aria-hidden="true">{"".join(marks)}</svg>'


def gap_to_train(group: Sequence[Entry], series: Mapping[str, int]) -> str:
    """How far success falls from train to each other split, in points, with intervals."""
    others = [split for split in group[0].splits if split != "train"]
    if "train" not in group[0].splits or not others:
        return ""
    body = []
    for entry in group:
        cells = []
        for split in others:
            if split not in entry.splits:
                cells.append("<td></td>")
                continue
            gap = intervals.of_gap(entry.matrix("train"), entry.matrix(split))
            mean, low, high = (shown(value, "success") for value in gap)
            cells.append(f'<td><b class="n">{mean}</b><span class="ci">{low} &ndash; {high}</span></td>')
        name = f"{swatch(series.get(entry.label))}{escape(entry.label)}"
        body.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    title = head(["Train minus …, points", *(split_name(split) for split in others)])
    return f'<div class="scroll"><table class="scores">{title}<tbody>{"".join(body)}</tbody></table></div>'


def beside(group: Sequence[Entry], series: Mapping[str, int]) -> str:
    """Success of the headline and of the other figures that results hold: means over seeds, and each seed."""
    body = []
    for entry in group:
        for kind, words in KINDS.items():
            cells = []
            for split in entry.splits:
                values = entry.figure(split, kind)
                each = ", ".join(f"{100 * value:.0f}" for value in values)
                cells.append(f'<td><b class="n">{100 * values.mean():.1f}</b><span class="ci">{each}</span></td>')
            name = f"{swatch(series.get(entry.label))}{escape(entry.label)}, {words}"
            body.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    title = head(["Success, %: mean, each seed", *(split_name(split) for split in group[0].splits)])
    return f'<div class="scroll"><table class="scores small">{title}<tbody>{"".join(body)}</tbody></table></div>'


def differences(gaps: Sequence[Gap], mazes: str, split: str) -> str:
    """Every two methods on one split: row minus column, paired over mazes."""
    found = [gap for gap in gaps if (gap.mazes, gap.split, gap.metric) == (mazes, split, "success")]
    names = list(dict.fromkeys([gap.first for gap in found] + [gap.second for gap in found]))
    if not names:
        return ""
    known = {(gap.first, gap.second): gap.interval for gap in found}
    known |= {
        (second, first): intervals.Interval(-one.mean, -one.high, -one.low) for (first, second), one in known.items()
    }
    body = []
    for name in names:
        cells = []
        for other in names:
            one = known.get((name, other))
            if one is None:
                cells.append('<td class="none">·</td>')
                continue
            sure = "up" if one.low > 0 else "down" if one.high < 0 else ""
            mean, low, high = (shown(value, "success") for value in one)
            cells.append(f'<td class="{sure}"><b class="n">{mean}</b><span class="ci">{low} &ndash; {high}</span></td>')
        body.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    title = head([f"{split_name(split)}: row minus column, points", *(escape(name) for name in names)])
    return f'<div class="scroll"><table class="scores small">{title}<tbody>{"".join(body)}</tbody></table></div>'


# -- diagnosis -------------------------------------------------------------------------------------


def diagnosis_tables(found: Sequence[tuple[str, int, Mapping[str, Any]]], splits: Sequence[str]) -> str:
    """Optimal actions by open sides and by path, and what failures end in: one row a method and split."""
    sides = sorted({side for _, _, one in found for split in one.values() for side in split["open_sides"]})
    words = {1: "dead end", 2: "corridor", 3: "three ways", 4: "four ways"}
    columns = [
        "",
        *(words.get(side, str(side)) for side in sides),
        "on path",
        "off path",
        "failed",
        *ENDS,
        "first mistake",
    ]
    out = []
    for split in splits:
        body = []
        for label, series, one in found:
            if split not in one:
                continue
            part = one[split]
            rates = [part["open_sides"].get(side) for side in sides] + [part["path"].get(k) for k in ("on", "off")]
            cells = [f"<td>{100 * rate.optimal:.0f}</td>" if rate is not None else "<td></td>" for rate in rates]
            failed, episodes = sum(part["ends"].values()), part["episodes"]
            share = f"{100 * failed / episodes:.0f}" if episodes else ""  # no maze has a solution
            cells.append(f'<td class="gap">{share}</td>')
            cells += [f"<td>{100 * part['ends'][end] / failed:.0f}</td>" if failed else "<td></td>" for end in ENDS]
            steps = sorted(mistake.step for rows in part["mistakes"].values() for mistake in rows)
            cells.append(f"<td>{steps[len(steps) // 2] + 1}</td>" if steps else "<td></td>")
            body.append(f'<tr><th scope="row">{swatch(series)}{escape(label)}</th>{"".join(cells)}</tr>')
        title = head([split_name(split), *columns[1:]])
        table = f'<table class="plain">{title}<tbody>{"".join(body)}</tbody></table>'
        out.append(f'<div class="scroll" data-split="{escape(split)}">{table}</div>')
    note = (
        "Of the split chosen above. Optimal actions in % of the states, by the cell's open sides and on or off the "
        "path of a demonstration; failed episodes in %, and in % of those what they end in; at which move of "
        "the median failure the first mistake is made."
    )
    return f'<p class="note">{note}</p>{"".join(out)}'


def nearest_table(found: Sequence[tuple[str, int, Mapping[str, Any]]]) -> str:
    """What the nearest training image in the encoder's features shares with an image of another maze."""
    names = {
        "same_cell": "same cell, %",
        "same_walls": "same walls at the cell, %",
        "alike_around": "walls alike around it, %",
        "same_walls_elsewhere": "same walls, other cell, %",
    }
    rows = []
    for label, series, one in found:
        for split, part in one.items():
            cells = []
            for key in names:
                near, chance = part[key]["nearest"], part[key]["chance"]
                text = "" if near is None else f'<b class="n">{100 * near:.0f}</b>'
                cells.append(f'<td>{text}<span class="ci">at random {100 * chance:.0f}</span></td>')
            name = f"{swatch(series)}{escape(label)}, {split_name(split)}"
            rows.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    if not rows:
        return ""
    note = (
        "Does the training image nearest in the encoder's features share the agent's cell, or the walls around it? "
        "States of demonstrations, first seed; beside a random training image. The paper (section 4.2) says that the "
        "walls matter more than the cell."
    )
    table = f'<table class="scores">{head(["", *names.values()])}<tbody>{"".join(rows)}</tbody></table>'
    return f'<h3>Nearest training images</h3><p class="note">{note}</p><div class="scroll">{table}</div>'


def facts(found: Sequence[Entry]) -> str:
    """What ran where: one row an entry."""
    body = []
    for entry in found:
        results = entry.results
        mazes = results["mazes"]
        seconds = [run["train_seconds"] for run in results["seeds"]]
        machine, versions = results["machine"], results["versions"]
        cells = [
            mazes.get("name") or f"{mazes['shape'][0]}x{mazes['shape'][1]}, seed {mazes.get('seed')}",
            str(len(seconds)),
            f"{sum(seconds) / len(seconds):,.0f} s",
            str(results["observation"]),
            ", ".join(
                f"{name} {value}" for name, value in results["config"].items() if value is not None and value != ""
            ),
            f"{machine.get('device', '')}, {machine.get('cores', '?')} cores; jax {versions.get('jax', '?')}",
        ]
        body.append(
            f'<tr><th scope="row">{escape(entry.label)}</th>'
            + "".join(f"<td>{escape(c)}</td>" for c in cells)
            + "</tr>"
        )
    title = head(["Run", "Mazes", "Seeds", "Training, a seed", "Sees", "Choices", "Machine"])
    return f'<div class="scroll"><table class="facts">{title}<tbody>{"".join(body)}</tbody></table></div>'
