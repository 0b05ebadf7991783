"""Results as one page of tables (Markdown) and one figure (PNG)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from benchmarks.targets import RELEASED_PIXELS, judged
from jaxlab.files import write_atomic

MEANT = {True: "yes", False: "**no**", None: "not measured"}


def number(value: Any) -> str:
    """Four digits that count, with commas."""
    if value is None:
        return ""
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def markdown(results: dict[str, Any]) -> str:
    """Machine and peers, the targets, then every part."""
    lines = [
        "# The suite",
        "",
        "Written by `python -m benchmarks`; a part is from one run, but two parts may be from two. "
        + _facts(results["machine"]),
        "",
    ]
    peers = ", ".join(f"{name} {version}" for name, version in results["peers"].items())
    lines += [f"Peers: {peers}.", "", "| target | figure | must be | met |", "| --- | ---: | ---: | --- |"]
    for row in judged(results):
        lines.append(f"| {row['name']} | {number(row['value'])} | {row['bound']} | {MEANT[row['met']]} |")
    for name, part in results.items():
        if name in ("machine", "peers"):
            continue
        lines += ["", f"## {name}", "", str(part.get("about", "")), ""]
        rows = list(_rows({key: value for key, value in part.items() if key != "about"}))
        if not rows:
            continue
        columns = list(dict.fromkeys(key for _, row in rows for key in row))
        lines += [f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
        lines += [f"| {label} | {' | '.join(number(row.get(key)) for key in columns)} |" for label, row in rows]
    return "\n".join(lines) + "\n"


def _facts(machine: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in machine.items()) + "."


def _rows(part: dict[str, Any], above: str = ""):
    """(label, figures) of each innermost group; loose figures stand as ``value``."""
    for name, value in part.items():
        label = f"{above}{name}"
        if not isinstance(value, dict):
            yield label, {"value": value}
        elif any(isinstance(inner, dict) for inner in value.values()):
            yield from _rows(value, f"{label}: ")
        else:
            yield label, value


def figure(results: dict[str, Any], path: Path) -> None:
    """Steps a second by batch, ours and others', and each target's figure beside its bound."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    drawn, (left, right) = pyplot.subplots(1, 2, figsize=(13, 5.2), width_ratios=(1, 1.1), layout="constrained")
    _stepping(left, results.get("stepping", {}))
    _margins(right, [row for row in judged(results) if row["value"]])
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=110)
    pyplot.close(drawn)
    write_atomic(path, buffer.getvalue())


def _stepping(axes: Any, rows: dict[str, Any]) -> None:
    styles = {"none": "-", "vector": "--", "pixels": ":"}
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for name, row in rows.items():
        if name == "about":
            continue
        observation, batch = name.split()
        for who, rate in row.items():
            if isinstance(rate, dict):
                lines.setdefault((who, observation), []).append((int(batch), rate["median"]))
    people = list(dict.fromkeys(who for who, _ in lines))
    for (who, observation), points in lines.items():
        label = who.replace("c_one_core", "C, one core") + {"none": ""}.get(observation, f", {observation}")
        axes.plot(
            *zip(*sorted(points), strict=True),
            styles[observation],
            marker="o",
            ms=4,
            color=f"C{people.index(who)}",
            label=label,
        )
    axes.axhline(RELEASED_PIXELS, color="grey", lw=0.8)
    axes.annotate(
        "released, pictures", (1, RELEASED_PIXELS), (0, 3), textcoords="offset points", fontsize=8, color="grey"
    )
    axes.set(xscale="log", yscale="log", xlabel="environments in a batch", ylabel="steps a second (median)")
    axes.set_title("Stepping 5x5 mazes", loc="left")
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(fontsize=8, framealpha=1, edgecolor="none", loc="lower right")


def _margins(axes: Any, rows: list[dict[str, Any]]) -> None:
    """How far on the right side of its bound each target is: 1 is the bound itself."""
    margin = []
    for row in rows:
        words, bound = row["bound"].rsplit(" ", 1)
        limit = float(bound.replace(",", ""))
        margin.append(limit / row["value"] if words == "at most" else row["value"] / limit)
    colors = ["C2" if row["met"] else "C3" for row in rows]
    axes.barh(range(len(rows)), [value - 1 for value in margin], left=1, color=colors, height=0.65)
    axes.axvline(1, color="black", lw=0.8)
    axes.set(xscale="log", yticks=range(len(rows)), xlabel="times better than the target asks")
    axes.set_yticklabels([row["name"] for row in rows], fontsize=8)
    axes.invert_yaxis()
    for place, (value, row) in enumerate(zip(margin, rows, strict=True)):
        axes.annotate(
            number(row["value"]), (max(value, 1), place), (4, 0), textcoords="offset points", fontsize=8, va="center"
        )
    axes.margins(x=0.15)
    axes.set_title("Targets", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
