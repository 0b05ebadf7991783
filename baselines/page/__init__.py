"""The report: one self-contained HTML file to look at, with no network, no server and nothing to install.

python -m baselines.page runs/bc runs/dagger --out report.html
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from baselines import diagnosis, metrics, nearest
from baselines.bench import formats
from baselines.bench.entries import Entry, groups
from baselines.bench.tables import Gap, Table
from baselines.page import charts, payload, sections
from jaxlab.files import write_atomic

PARTS = ("style.css", "maze.js", "heat.js", "player.js", "main.js")


def write(
    path: str | os.PathLike[str],
    found: Sequence[Entry],
    tables: Sequence[Table],
    gaps: Sequence[Gap] = (),
    *,
    title: str = "Labyrinth benchmark",
) -> Path:
    """Write the report of some results (host).

    Args:
        path: the HTML file.
        found: the results, as `bench.entries.read` gives them.
        tables: as `bench.tables.collect` gives them.
        gaps: as `bench.tables.gaps` gives them.
        title: its heading.
    """
    files = resources.files("baselines.page")
    parts = {name: files.joinpath(name).read_text("utf-8") for name in (*PARTS, "page.html")}
    data = json.dumps(payload.build(found), separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    seeds = max(len(entry.seeds) for entry in found)
    filled = {
        "title": escape(title),
        "style": parts["style.css"],
        "script": "\n".join(parts[name] for name in PARTS if name.endswith(".js")),
        "data": data,
        "how": escape(formats.HOW) + " The bar below: 0 to 100 % (returns: \u22124 to 1), the paper's value a diamond.",
        "count": f"{len(found)} runs, up to {seeds} training seeds each"
        if len(found) > 1
        else f"{seeds} training seeds",
        "groups": "".join(
            _group(i, name, group, tables, gaps) for i, (name, group) in enumerate(groups(found).items())
        ),
        "facts": sections.facts(found),
    }
    write_atomic(path, re.sub(r"\{\{(\w+)\}\}", lambda gap: filled[gap[1]], parts["page.html"]))
    return Path(path)


def _group(index: int, name: str, group: list[Entry], tables: Sequence[Table], gaps: Sequence[Gap]) -> str:
    """All that is drawn once for each set of mazes."""
    series = {entry.label: i for i, entry in enumerate(group)}
    own = [table for table in tables if table.mazes == name]
    whole = next((table for table in own if not table.key.startswith(("table2", "ablation"))), None)
    parts = []
    if whole is not None:
        parts.append(f"<h3>{escape(whole.title)}</h3>")
        parts.append(sections.scores(whole, "success", series))
        returns = sections.scores(whole, "aer", series)
        parts.append(f"<details><summary>Average episodic return</summary>{returns}</details>")
        legend = "".join(f"<li>{sections.swatch(i)}{escape(label)}</li>" for label, i in series.items())
        parts.append(
            f'<h3>Generalisation</h3><ul class="legend">{legend}</ul><div class="chart wide">'
            f"{charts.splits_chart(whole, str(index))}</div>"
            '<p class="note">Dots: mean over seeds and mazes, lines: 95 % interval, hollow diamonds: the paper. '
            "Dashed: greedy (up, else right), dotted: random within 4 L.</p>"
        )
    parts.append(sections.gap_to_train(group, series))
    title = "Beside the headline: best on valid, raw running statistics, sampled actions"
    parts.append(f"<details><summary>{title}</summary>{sections.beside(group, series)}</details>")
    for split in ("test", "s0_g"):
        if len(group) > 1 and split in group[0].splits:
            pairs = sections.differences(gaps, name, split)
            title = f"Methods against each other on {sections.split_name(split)}"
            parts.append(f"<details><summary>{title}</summary>{pairs}</details>")
    for table in own:
        if table is not whole and table.key == "ablation":
            parts.append(f"<h3>{escape(table.title)}</h3>{sections.scores(table, 'success', series)}")
    parts.append(_curves(group, series, index))
    parts.append(_diagnosis(group, series, index))
    return f'<section class="group" data-group="{index}">{"".join(parts)}</section>'


def _curves(group: Sequence[Entry], series: Mapping[str, int], index: int) -> str:
    drawn = []
    for entry in group:
        rows = [] if entry.folder is None else metrics.read(entry.folder)
        if rows:
            label, i = entry.label, series[entry.label]
            picture = charts.curves(rows, i, f"{index}-{i}", escape(label, quote=True))
            drawn.append(f"<figure><figcaption>{sections.swatch(i)}{escape(label)}</figcaption>{picture}</figure>")
    if not drawn:
        return ""
    note = (
        "Lines: mean over seeds, bands: least to most. Whole lines: train, dashed: valid (precise statistics, argmax)."
    )
    return f'<h3>Learning</h3><div class="charts">{"".join(drawn)}</div><p class="note">{note}</p>'


def _diagnosis(group: Sequence[Entry], series: Mapping[str, int], index: int) -> str:
    found = [
        (entry.label, series[entry.label], diagnosis.run(entry.replay)) for entry in group if entry.replay is not None
    ]
    if not found:
        return ""
    splits = [split for split in group[0].splits if any(split in one for _, _, one in found)]
    picture = charts.distance_chart([(i, one) for _, i, one in found], splits, str(index))
    tables = sections.diagnosis_tables(found, splits)
    near = [
        (entry.label, series[entry.label], nearest.run(entry.folder)) for entry in group if entry.folder is not None
    ]
    title = "<h3>Where actions are right</h3>"
    return f'{title}<div class="chart wide">{picture}</div>{tables}{sections.nearest_table(near)}'
