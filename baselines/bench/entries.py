"""Results as rows of a table: what they are called, what they may stand beside, their scores as matrices.

An entry is one results.json, of this package or of anybody (docs/results-format.md). Entries are
comparable when they were scored on the same mazes, which their SHA-256 says.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from baselines import paper, replay, results
from baselines.replay import Replay

TITLES = {"bc": "BC", "dagger": "DAgger", "gail": "GAIL", "bco": "BCO", "sqil": "SQIL", "iupe": "IUPE"}
ENCODERS = {"cnn": "CNN", "resnet18": "ResNet-18", "planner": "planner", "mlp": "vector, MLP"}
CONTROLS = {"shuffled": "actions shuffled", "constant": "-1 a step, nothing shown"}
FIGURES = {"success": "success", "aer": "return"}
"""Figures of an episode, and the field of results.json that holds each."""
PAPER_EPOCHS, LONG_EPOCHS = 1000, 10_000


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """One results.json.

    Attributes:
        results: its content, checked.
        folder: where it lies; None for results that were never written.
        label: its row's name.
    """

    results: dict[str, Any]
    folder: Path | None = None
    label: str = ""

    @property
    def method(self) -> str:
        """The method's name as given."""
        return self.results["method"]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        rows, columns = self.results["mazes"]["shape"]
        return rows, columns

    @property
    def seeds(self) -> list[int]:
        """The training seeds."""
        return [run["seed"] for run in self.results["seeds"]]

    @property
    def splits(self) -> list[str]:
        """The splits it was scored on."""
        return list(self.results["seeds"][0]["splits"])

    @property
    def mazes(self) -> tuple[Any, ...]:
        """What entries of one table share: shape, settings, and every maze."""
        settings = tuple((name, bool(self.results["settings"].get(name))) for name in SETTINGS)
        return self.shape, settings, tuple(sorted(self.results["mazes"]["sha256"].items()))

    @property
    def is_plain(self) -> bool:
        """Are these mazes without key, door, ice and occlusion, as in the paper's tables?"""
        return not any(self.results["settings"].get(name) for name in SETTINGS)

    @property
    def epochs(self) -> int | None:
        """Passes over the demonstrations, where the config says it."""
        return self.results["config"].get("epochs")

    @property
    def control(self) -> str:
        """Which control of GAIL this is; "" for a method as it is meant."""
        control = self.results["config"].get("control", "none")
        return "" if control == "none" else str(control)

    @property
    def paper_row(self) -> str | None:
        """The row of the paper's tables to stand beside."""
        title, encoder = TITLES.get(self.method), self.results["encoder"]
        if title is None or not self.is_plain or self.control:
            return None
        if encoder == "cnn":
            return paper.LONG if title == "BC" and self.epochs == LONG_EPOCHS else title
        return paper.RESNET if title == "BC" and encoder == "resnet18" else None

    def matrix(self, split: str, figure: str = "success") -> np.ndarray:
        """The headline scores (last weights, argmax) of every episode: ``float64[seeds, mazes]``."""
        field = FIGURES[figure]
        rows = [[one[field] for one in run["splits"][split]["argmax"]["episodes"]] for run in self.results["seeds"]]
        return np.array(rows, np.float64)

    def figure(self, split: str, kind: str, figure: str = "success") -> np.ndarray:
        """Another figure of every seed, such as ``("test", "best")``: ``float64[seeds]``."""
        return np.array([run["splits"][split][kind][figure] for run in self.results["seeds"]], np.float64)

    @functools.cached_property
    def replay(self) -> Replay | None:
        """Mazes and actions, where they were kept."""
        if self.folder is None or not (self.folder / replay.FILE).is_file():
            return None
        return replay.read(self.folder)


SETTINGS = ("key_and_door", "icy_floor", "occlusion")


def read(folders: Iterable[str | os.PathLike[str]]) -> list[Entry]:
    """Read results, in the paper's order, each with a label of its own (host).

    Args:
        folders: folders with results.json, or such files.
    """
    found = []
    for given in folders:
        path = Path(given)
        found.append(Entry(results.read(path), path if path.is_dir() else path.parent))
    return named(found)


def named(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries in the paper's order and give each a label that no other on the same mazes has."""
    order = list(TITLES)
    entries = sorted(entries, key=lambda e: (e.shape, order.index(e.method) if e.method in order else len(order)))
    labels = [_label(entry) for entry in entries]
    for parts in (_epochs, _folder):
        taken: dict[Any, int] = {}
        for entry, label in zip(entries, labels, strict=True):
            taken[entry.mazes, label] = taken.get((entry.mazes, label), 0) + 1
        labels = [
            f"{label}, {more}" if taken[entry.mazes, label] > 1 and (more := parts(entry)) else label
            for entry, label in zip(entries, labels, strict=True)
        ]
    return [dataclasses.replace(entry, label=label) for entry, label in zip(entries, labels, strict=True)]


def _label(entry: Entry) -> str:
    title, encoder = TITLES.get(entry.method), entry.results["encoder"]
    if title is None:
        return entry.method
    if entry.paper_row == paper.LONG:
        return f"{title}, {LONG_EPOCHS:,} epochs"
    if entry.control:
        title = f"{title}, {CONTROLS.get(entry.control, entry.control)}"
    return title if encoder == "cnn" else f"{title}, {ENCODERS.get(encoder, encoder)}"


def _epochs(entry: Entry) -> str:
    return f"{entry.epochs:,} epochs" if entry.epochs is not None and entry.paper_row != paper.LONG else ""


def _folder(entry: Entry) -> str:
    return entry.folder.name if entry.folder is not None else ""


def groups(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Entries by the mazes that they share, in order; the names are what the mazes are called, each once."""
    found: dict[Any, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.mazes, []).append(entry)
    named: dict[str, list[Entry]] = {}
    for group in found.values():
        name, digests = name_of(group), group[0].results["mazes"]["sha256"]
        # The first split's digest is one to be found in results.json, but other splits may go with it.
        whole = hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
        names = name, *(f"{name}, mazes {digest[:8]}" for digest in (next(iter(digests.values())), whole))
        named[next(name for name in names if name not in named)] = group
    return named


def name_of(group: list[Entry]) -> str:
    """What a group's mazes are called: ``"5x5"``, ``"5x5, key and door"``."""
    rows, columns = group[0].shape
    settings: Mapping[str, Any] = group[0].results["settings"]
    words = {"key_and_door": "key and door", "icy_floor": "ice", "occlusion": "occlusion"}
    return ", ".join([f"{rows}x{columns}", *(word for name, word in words.items() if settings.get(name))])
