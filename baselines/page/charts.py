"""The report's charts, drawn by matplotlib as SVG that takes the page's fonts and colours.

SVG keeps the file small: an interactive library would bring some 4 MB of JavaScript for every report.
Colours are written as names of CSS variables, so the charts follow light and dark like everything else.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines.bench.tables import Table
from jaxlab.errors import needs_extra

INK, FAINT, GRID = "#010101", "#010102", "#010103"
SERIES = tuple(f"#0102{i:02x}" for i in range(1, 13))
"""Stand-ins: colours that no chart uses otherwise, replaced by variables of the style sheet."""
WIDE = 11.8
"""Inches across the page."""
FEW = 10
"""Groups of fewer states are not drawn."""
_VARIABLES = {INK: "var(--ink)", FAINT: "var(--muted)", GRID: "var(--rule)"} | {
    color: f"var(--series-{i})" for i, color in enumerate(SERIES)
}


def color(index: int) -> str:
    """The stand-in of a series."""
    return SERIES[index % len(SERIES)]


def figure(width: float, height: float) -> Any:
    """An empty figure; sizes in inches, 96 px each."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise needs_extra("matplotlib", "viz") from None
    return Figure(figsize=(width, height), layout="constrained")


def style(axes: Any) -> None:
    """Thin, quiet axes."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)
    axes.tick_params(colors=FAINT, labelsize=9, length=3, width=0.6)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.patch.set_alpha(0)


def svg(drawn: Any, name: str, label: str) -> str:
    """A figure as an SVG element for the page.

    Args:
        drawn: the figure.
        name: makes the identifiers in it differ from those of other figures.
        label: what it shows, for people who can't see it.
    """
    import matplotlib as mpl

    file = io.StringIO()
    drawn.patch.set_alpha(0)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        drawn.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r' id="(series-\d+)[^"]*"', r' class="\1"', text)
    text = re.sub(r' id="(?!p|m|C|D)[^"]*"', "", text)
    text = re.sub(r' id="(patch|path|matplotlib)[^"]*"', "", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, variable)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    assert size is not None
    text = re.sub(
        r"<svg[^>]*>",
        f'<svg viewBox="0 0 {size[1]} {size[2]}" role="img" aria-label="{label}" '
        f'style="max-width:{float(size[1]) * 4 / 3:.0f}px">',
        text,
        count=1,
    )
    return re.sub(r"\n\s*", "\n", text)


# -- the charts ------------------------------------------------------------------------------------


def splits_chart(table: Table, name: str) -> str:
    """Success on every split, with intervals; the paper's values as hollow diamonds."""
    rows = [row for row in table.rows if not row.is_reference]
    drawn = figure(WIDE, 3.4)
    axes = drawn.subplots()
    style(axes)
    spread = min(0.78, 0.14 * len(rows))
    offsets = np.linspace(-spread / 2, spread / 2, len(rows)) if len(rows) > 1 else np.zeros(1)
    for i, row in enumerate(rows):
        for k, split in enumerate(table.splits):
            if (score := row.scores.get((split, "success"))) is None:
                continue
            x, (mean, low, high) = k + offsets[i], score.interval
            axes.plot([x, x], [100 * low, 100 * high], color=color(i), linewidth=1.6, gid=f"series-{i}", alpha=0.55)
            axes.plot([x], [100 * mean], "o", color=color(i), markersize=5.5, gid=f"series-{i}")
            if score.paper is not None:
                axes.plot(
                    [x],
                    [100 * score.paper],
                    "D",
                    markerfacecolor="none",
                    markeredgecolor=color(i),
                    markersize=5,
                    gid=f"series-{i}",
                )
    for row in table.rows:
        if row.is_reference and row.label != "optimal":
            for k, split in enumerate(table.splits):
                if (score := row.scores.get((split, "success"))) is not None:
                    axes.plot(
                        [k - 0.45, k + 0.45],
                        [100 * score.interval.mean] * 2,
                        color=FAINT,
                        linewidth=0.9,
                        linestyle=(0, (1, 2)) if row.label.startswith("random") else (0, (4, 2)),
                    )
    axes.set_xticks(range(len(table.splits)), [SPLIT_NAMES.get(split, split) for split in table.splits], color=INK)
    axes.set_xlim(-0.55, len(table.splits) - 0.45)
    axes.set_ylim(-3, 103)
    axes.set_ylabel("success, %", color=FAINT, fontsize=9)
    return svg(drawn, f"splits-{name}", f"Success on each split, {table.title}")


SPLIT_NAMES = {"s0": "s₀", "s0_g": "s₀ and g", "key_moved": "key moved", "ice_moved": "ice moved"}


def curves(metrics: Sequence[dict[str, Any]], series: int, name: str, label: str) -> str:
    """One method's training: success on train and valid after each look, and the loss of every epoch."""
    drawn = figure(3.7, 3.3)
    upper, lower = drawn.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for axes in (upper, lower):
        style(axes)
    for key, dash in (("train_success", "-"), ("valid_success", (0, (4, 2)))):
        x, values = _over_seeds(metrics, key)
        if len(x):
            upper.fill_between(
                x, 100 * values.min(0), 100 * values.max(0), color=color(series), alpha=0.14, linewidth=0
            )
            upper.plot(x, 100 * values.mean(0), color=color(series), linewidth=1.6, linestyle=dash)
    upper.set_ylim(-3, 103)
    upper.set_ylabel("success, %", color=FAINT, fontsize=9)
    skipped = {"seed", "epoch", "seconds", "train_success", "valid_success"}
    keys = [key for key in metrics[-1] if key not in skipped]
    losses = sorted((key for key in keys if "loss" in key), key=lambda key: key != "loss")
    if losses:
        key = losses[0]
        x, values = _over_seeds(metrics, key)
        lower.fill_between(x, values.min(0), values.max(0), color=color(series), alpha=0.14, linewidth=0)
        lower.plot(x, values.mean(0), color=color(series), linewidth=1.2)
        lower.set_ylabel(key.replace("_", " "), color=FAINT, fontsize=9)
        if (values > 0).all() and values.max() > 20 * values.min():
            lower.set_yscale("log")
            lower.minorticks_off()
    lower.set_xlabel("epoch", color=FAINT, fontsize=9)
    return svg(drawn, f"curves-{name}", f"Training of {label}")


def _over_seeds(metrics: Sequence[dict[str, Any]], key: str, most: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """(epochs ``[T]``, values ``[seeds, T]``) at the epochs that every seed has, at most ``most`` of them."""
    seeds = sorted({row["seed"] for row in metrics})
    found = [{row["epoch"]: row[key] for row in metrics if row["seed"] == seed and key in row} for seed in seeds]
    shared = sorted(set.intersection(*(set(one) for one in found))) if found else []
    if not shared:
        return np.zeros(0), np.zeros((len(seeds), 0))
    if len(shared) > most:
        shared = [shared[i] for i in np.unique(np.linspace(0, len(shared) - 1, most).astype(int))]
    return np.array(shared), np.array([[one[epoch] for epoch in shared] for one in found], np.float64)


def distance_chart(found: Sequence[tuple[int, dict[str, Any]]], splits: Sequence[str], name: str) -> str:
    """The optimal-action rate by distance to the goal: one panel a split, one line a method.

    Args:
        found: (series, diagnosis) of each method.
        splits: the panels.
        name: as in `svg`.
    """
    drawn = figure(WIDE, 2.6)
    from matplotlib.ticker import MaxNLocator

    panels = np.atleast_1d(drawn.subplots(1, len(splits), sharey=True))
    for axes, split in zip(panels, splits, strict=True):
        style(axes)
        for series, one in found:
            if split in one:
                rates = sorted(one[split]["distance"].items())
                x = [distance for distance, rate in rates if rate.states >= FEW]
                y = [100 * rate.optimal for _, rate in rates if rate.states >= FEW]
                axes.plot(x, y, color=color(series), linewidth=1.4, gid=f"series-{series}")
        axes.set_title(SPLIT_NAMES.get(split, split), fontsize=10, color=INK)
        axes.set_xlabel("distance to goal", color=FAINT, fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    low = min(axes.dataLim.y0 for axes in panels if axes.lines)
    panels[0].set_ylim(min(90, 10 * np.floor(low / 10)) - 1, 101)
    panels[0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    panels[0].set_ylabel("optimal actions, %", color=FAINT, fontsize=9)
    return svg(drawn, f"distance-{name}", "Share of optimal actions by distance to the goal")
