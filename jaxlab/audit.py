"""What a set of splits holds in common: ``python -m jaxlab.audit DIR``.

Disjoint structures do not make disjoint tasks: two different mazes can share their shortest
path. The audit counts duplicates, mirrored structures, unsolvable mazes, shared shortest
paths and action sequences, the number of walls to the nearest training maze, and how far the
distributions of cells and actions are apart.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxlab import analysis, maze, splits
from jaxlab.env import Labyrinth
from jaxlab.errors import needs_extra
from jaxlab.files import write_atomic
from jaxlab.generate import support
from jaxlab.generate.walls import edge_distances
from jaxlab.maze import Maze
from jaxlab.text import Settings

FORMAT = "jaxlab-audit-1"
REFERENCE = "train"


def audit(splits: Mapping[str, Maze], settings: Settings | None = None) -> dict[str, Any]:
    """Audit sets of mazes against each other.

    Args:
        splits: sets of mazes of one shape by name; the one called ``train`` is what the others are
            compared with (the first, where there is none of that name). `jaxlab.splits` makes such.
        settings: what the mazes are played with; by default ``splits.settings``, or plain navigation.

    Returns:
        A dictionary that JSON can hold: ``splits`` with a part for each set (counts of mazes,
        duplicates, unsolvable ones; moves; distributions, all 0 where nothing is solvable),
        ``against`` with a part for each set other than the reference (how many of its mazes share
        what with the reference), and ``possible`` (how many structures the generator can make, and
        how many are used).

    Raises:
        ValueError: no sets.
    """
    if not splits:
        raise ValueError("there are no splits to audit")
    settings = settings or getattr(splits, "settings", None) or Settings()
    reference = REFERENCE if REFERENCE in splits else next(iter(splits))
    shape = splits[reference].shape
    env = Labyrinth.from_settings(shape, settings)
    parts = {name: _Part(env, mazes) for name, mazes in splits.items()}
    return {
        "format": FORMAT,
        "shape": list(shape),
        "reference": reference,
        "possible": _possible(splits),
        "splits": {name: part.summary() for name, part in parts.items()},
        "against": {name: part.against(parts[reference]) for name, part in parts.items() if name != reference},
    }


class _Part:
    """What one set of mazes holds."""

    def __init__(self, env: Labyrinth, mazes: Maze) -> None:
        self.mazes = mazes
        self.structures = _names(maze.structure(mazes.walls))
        places = (np.asarray(cell).tolist() for cell in (mazes.start, mazes.goal))
        self.tasks = list(zip(self.structures, *places, strict=True))
        self.mirrored = _names(maze.canonical(mazes.walls))
        self.visits = analysis.visits(env, mazes)
        self.walked = bool(self.visits.actions.any())
        listed, complete = analysis.shortest_paths(env, mazes)
        self.paths = [{cells for cells, _ in one} for one in listed]
        self.actions = [{actions for _, actions in one} for one in listed]
        self.cut = int((~complete).sum())

    def summary(self) -> dict[str, Any]:
        """Counts and distributions of the set itself."""
        moves = [len(min(one, key=len)) for one in self.actions if one]
        return {
            "mazes": len(self.structures),
            "unsolvable": sum(not one for one in self.paths),
            "duplicates": len(self.structures) - len(set(self.structures)),
            "symmetric_duplicates": len(self.mirrored) - len(set(self.mirrored)),
            "more_than_one_shortest": sum(len(one) > 1 for one in self.paths),
            "lists_cut": self.cut,
            "shortest_moves": {str(n): moves.count(n) for n in sorted(set(moves))},
            "actions": (self.walked * self.visits.action_distribution()).tolist(),
            "cells": (self.walked * self.visits.cell_distribution()).tolist(),
        }

    def against(self, other: _Part) -> dict[str, Any]:
        """How many mazes of this set share what with any maze of the other."""
        paths, actions = set().union(*other.paths), set().union(*other.actions)
        nearest = edge_distances(self.mazes.walls, other.mazes.walls).min(1)
        return {
            "same_task": _shared(self.tasks, other.tasks),
            "same_structure": _shared(self.structures, other.structures),
            "mirrored_structure": _shared(self.mirrored, other.mirrored),
            "shared_shortest_path": sum(not one.isdisjoint(paths) for one in self.paths),
            "shared_action_sequence": sum(not one.isdisjoint(actions) for one in self.actions),
            "walls_to_nearest": {str(n): int((nearest == n).sum()) for n in np.unique(nearest).tolist()},
            "mean_walls_to_nearest": float(nearest.mean()),
            "action_distance": self._distance(other, analysis.Visits.action_distribution),
            "cell_distance": self._distance(other, analysis.Visits.cell_distribution),
        }

    def _distance(self, other: _Part, distribution: Callable[[analysis.Visits], np.ndarray]) -> float | None:
        """How far two distributions are apart; None where one set has no solution to be told apart by."""
        if not (self.walked and other.walked):
            return None
        return analysis.jensen_shannon(distribution(self.visits), distribution(other.visits))


def _shared(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many of one list are in the other."""
    known = set(other)
    return sum(name in known for name in one)


def _names(forms: np.ndarray) -> list[bytes]:
    return [form.tobytes() for form in forms]


def _possible(splits: Mapping[str, Maze]) -> dict[str, int] | None:
    """How many structures the released generator can make, where they can be listed, and how many are used."""
    named = [mazes for name, mazes in splits.items() if name in ("train", "valid", "test")] or list(splits.values())
    everything = maze.concatenate(named)
    rows, cols = everything.shape
    ends = set(zip(everything.start.tolist(), everything.goal.tolist(), strict=True))
    if rows * cols > support.MAX_CELLS or len(ends) > 1:
        return None
    possible = set(_names(maze.structure(support.structures((rows, cols), *ends.pop()))))
    used = set(_names(maze.structure(everything.walls)))
    return {"structures": len(possible), "used": len(used & possible), "used_but_impossible": len(used - possible)}


# -- showing --------------------------------------------------------------------------------------------

_SETS = (
    ("mazes", "mazes"),
    ("unsolvable", "unsolvable"),
    ("duplicates", "of a structure that came before"),
    ("symmetric_duplicates", "... or of its mirror image or rotation"),
    ("more_than_one_shortest", "with several shortest paths"),
    ("lists_cut", "with more shortest paths than were listed"),
)
_AGAINST = (
    ("same_task", "structure, start and goal are those of one in {reference}"),
    ("same_structure", "structure is in {reference} too"),
    ("mirrored_structure", "... or its mirror image or rotation"),
    ("shared_shortest_path", "shares a shortest path with {reference}"),
    ("shared_action_sequence", "shares a shortest action sequence"),
)


def report(result: Mapping[str, Any]) -> str:
    """The result of `audit` as text to read."""
    reference = result["reference"]
    rows, cols = result["shape"]
    sets, against = result["splits"], result["against"]
    lines = [f"Audit of {', '.join(sets)}: mazes of {rows}x{cols}, compared with {reference}"]
    if result["possible"]:
        lines.append("{used} of {structures} possible mazes used".format(**result["possible"]))
        if result["possible"]["used_but_impossible"]:
            lines.append("{used_but_impossible} mazes the generator cannot make".format(**result["possible"]))
    lines += ["", *_table("number of mazes", list(sets), [(text, [sets[s][k] for s in sets]) for k, text in _SETS])]
    names = "up, right, down, left"
    rows_of = [(f"actions: {names}", ["/".join(f"{100 * share:.0f}" for share in sets[s]["actions"]) for s in sets])]
    rows_of += [("moves of a shortest path, mean", [_figure(_mean(sets[s]["shortest_moves"]), 2) for s in sets])]
    lines += ["", *_table("shortest paths (actions in %)", list(sets), rows_of)]
    if against:
        body = [(text.format(reference=reference), [against[s][k] for s in against]) for k, text in _AGAINST]
        body += [
            ("walls to the nearest of it, mean", [f"{against[s]['mean_walls_to_nearest']:.2f}" for s in against]),
            ("Jensen-Shannon distance of actions", [_figure(against[s]["action_distance"], 4) for s in against]),
            ("Jensen-Shannon distance of cells", [_figure(against[s]["cell_distance"], 4) for s in against]),
        ]
        lines += ["", *_table(f"compared with {reference}", list(against), body)]
        distances = sorted({int(n) for s in against for n in against[s]["walls_to_nearest"]})
        body = [(f"{n} walls", [against[s]["walls_to_nearest"].get(str(n), 0) for s in against]) for n in distances]
        lines += ["", *_table(f"walls to the nearest maze of {reference}", list(against), body)]
    return "\n".join(lines)


def _table(title: str, columns: Sequence[str], body: Sequence[tuple[str, Sequence[Any]]]) -> list[str]:
    widths = [
        max(len(str(text)) for text in (column, *(row[1][i] for row in body))) for i, column in enumerate(columns)
    ]
    first = max(len(title), *(len(name) for name, _ in body))

    def line(name: str, values: Sequence[Any]) -> str:
        return "  ".join(
            [f"{name:{first}}", *(f"{value!s:>{width}}" for value, width in zip(values, widths, strict=True))]
        )

    return [line(title, columns), "-" * len(line(title, columns)), *(line(name, values) for name, values in body)]


def _mean(histogram: Mapping[str, int]) -> float | None:
    total = sum(histogram.values())
    return sum(int(n) * count for n, count in histogram.items()) / total if total else None


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def figure(result: Mapping[str, Any]) -> bytes:
    """Heat maps of the cells, bars of the actions, and the walls to the nearest training maze, as a PNG.

    Raises:
        ImportError: matplotlib (the extra ``viz``) is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs_extra("matplotlib", "viz") from error
    sets, against = result["splits"], result["against"]
    drawing = Figure(figsize=(2.6 * max(2, len(sets)), 7.2), layout="constrained", dpi=120)
    axes = drawing.subplots(3, len(sets), squeeze=False)
    top = max(max(sets[name]["cells"]) for name in sets)
    widest = max((int(n) for part in against.values() for n in part["walls_to_nearest"]), default=0)
    image: Any = None
    for column, name in enumerate(sets):
        title = f"{name}: {sets[name]['mazes']} mazes"
        image = analysis.draw_cells(axes[0, column], np.array(sets[name]["cells"]), tuple(result["shape"]), title, top)
        analysis.draw_actions(axes[1, column], np.array(sets[name]["actions"]))
        below = axes[2, column]
        if name in against:
            histogram = against[name]["walls_to_nearest"]
            below.bar([int(n) for n in histogram], list(histogram.values()), color="#4878a8")
            below.set_xlabel(f"walls to the nearest maze of {result['reference']}", fontsize=8)
            below.set_xlim(-0.5, widest + 0.5)
            below.xaxis.get_major_locator().set_params(integer=True)
            below.spines[["top", "right"]].set_visible(False)
        else:
            below.axis("off")
    axes[1, 0].set_ylabel("share of actions", fontsize=9)
    drawing.colorbar(image, ax=axes[0, :].tolist(), label="share of visits", shrink=0.9)
    raw = io.BytesIO()
    drawing.savefig(raw, format="png", metadata={"Software": None})
    return raw.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: print the report of a folder or of a frozen split."""
    parser = argparse.ArgumentParser(prog="jaxlab audit", description=__doc__.splitlines()[0])
    parser.add_argument(
        "splits", metavar="DIR", help="folder with train, eval and test, or a frozen split such as 5x5-v1"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--figure", metavar="FILE", help="write a figure as PNG")
    given = parser.parse_args(arguments)
    try:
        if given.figure and not given.figure.endswith(".png"):
            raise ValueError(f"--figure writes a PNG: {given.figure!r} must end in .png")
        result = audit(splits.find(given.splits))
        print(report(result))
        if given.json:
            write_atomic(given.json, json.dumps(result, indent=1) + "\n")
            print(f"\nwrote {given.json}")
        if given.figure:
            write_atomic(given.figure, figure(result))
            print(f"{'' if given.json else chr(10)}wrote {given.figure}")
    except BrokenPipeError:  # the reader, such as `head`, has enough
        raise
    except (OSError, ValueError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
