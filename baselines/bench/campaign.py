"""Running a grid of cells so that nothing is lost: not by a kill, not by a cell that fails.

A cell's folder holds what a run of `baselines.train` writes. It is done when its results.json, the
last file of a run, is there and is of the same config, seeds and mazes. A run that was killed goes on
from its checkpoints; one whose config has changed since begins again.
"""

from __future__ import annotations

import dataclasses
import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines import evaluate, folders, replay, results, runner, train
from baselines.bench.cells import Cell, method_of
from jaxlab.files import write_atomic
from jaxlab.maze import Maze

CELLS = "cells"
"""The folder of the runs."""
STATE = "grid.json"
"""What there was to do, and how far it is."""
ERROR = "error.txt"
"""In a cell's folder: why it failed."""
FAILED, DONE, KEPT, OPEN = "failed", "done", "kept", "open"

Watch = Callable[[int, str, int, int, int, Mapping[str, float]], None]
"""Called between chunks: (index of the cell, its name, seed, epochs done, epochs in all, newest figures)."""
Ended = Callable[[int, str, str, float], None]
"""Called after a cell: (its index, its name, "done", "kept" or "failed", seconds)."""


@dataclasses.dataclass
class Outcome:
    """How the cells ended.

    Attributes:
        states: name to "done", "kept" (from before), "failed" or "open".
        errors: name to the error's last line.
        seconds: name to the time it took now.
    """

    states: dict[str, str]
    errors: dict[str, str] = dataclasses.field(default_factory=dict)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)


def folder_of(out: Path, cell: Cell) -> Path:
    """Where a cell's run lies."""
    return out / CELLS / cell.name


def splits_of(cell: Cell, maze_seed: int | None = None) -> Mapping[str, Maze]:
    """The mazes of a cell: the frozen splits of its size, unless a seed is given (host)."""
    return train.load_splits(train.Run(size=cell.size, maze_seed=maze_seed))


def run(
    cells: Sequence[Cell],
    out: Path,
    *,
    maze_seed: int | None = None,
    watch: Watch | None = None,
    ended: Ended | None = None,
) -> Outcome:
    """Run every cell that is not done yet; a failing one is noted and the next begins (host).

    Raises:
        ValueError: two cells of one name, or a choice that a method does not have.
    """
    if len({cell.name for cell in cells}) < len(cells):
        raise ValueError(f"two cells of one name among {[cell.name for cell in cells]}")
    for cell in cells:
        cell.config()  # a misspelt choice is found before anything is trained
    outcome = Outcome({cell.name: OPEN for cell in cells})
    splits: dict[int, Mapping[str, Maze]] = {}
    for index, cell in enumerate(cells):
        begin = time.perf_counter()
        folder = folder_of(out, cell)
        try:
            if cell.size not in splits:
                splits[cell.size] = splits_of(cell, maze_seed)
            if is_done(cell, folder, splits[cell.size]):
                outcome.states[cell.name] = KEPT
            else:
                _run(cell, folder, splits[cell.size], index, watch)
                outcome.states[cell.name] = DONE
            (folder / ERROR).unlink(missing_ok=True)
        except Exception as error:
            write_atomic(folder / ERROR, traceback.format_exc())
            outcome.states[cell.name] = FAILED
            outcome.errors[cell.name] = f"{type(error).__name__}: {error}".splitlines()[0]
        outcome.seconds[cell.name] = time.perf_counter() - begin
        note(out, cells, outcome)
        if ended is not None:
            ended(index, cell.name, outcome.states[cell.name], outcome.seconds[cell.name])
    return outcome


def _run(cell: Cell, folder: Path, splits: Mapping[str, Maze], index: int, watch: Watch | None) -> None:
    config = cell.config()
    env = evaluate.environment(splits)
    is_other = folders.differences(folder, runner.begun(cell.method, config, splits, env))
    plan = runner.Plan(seeds=cell.seeds, out=folder, resume=not is_other)

    def look(seed: int, done: int, total: int, row: Mapping[str, float]) -> None:
        if watch is not None:
            watch(index, cell.name, seed, done, total, row)

    runner.run(cell.method, method_of(cell.method), config, splits, plan, env=env, watch=look)


def is_done(cell: Cell, folder: Path, splits: Mapping[str, Maze]) -> bool:
    """Is there a complete run of this cell: the same config, seeds and mazes?"""
    try:
        found = results.read(folder)
    except (FileNotFoundError, ValueError):
        return False
    return (
        found["method"] == cell.method
        and found["config"] == _plain(cell.config())
        and len(found["seeds"]) == cell.seeds
        and found["mazes"]["sha256"] == runner.digests(splits)
        and (folder / replay.FILE).is_file()
    )


def _plain(config: Any) -> dict[str, Any]:
    return json.loads(json.dumps(dataclasses.asdict(config)))


def note(out: Path, cells: Sequence[Cell], outcome: Outcome) -> None:
    """Write ``out/grid.json``: every cell, its choices and its state."""
    rows = [
        {
            **dataclasses.asdict(cell),
            "name": cell.name,
            "state": outcome.states[cell.name],
            "error": outcome.errors.get(cell.name),
        }
        for cell in cells
    ]
    write_atomic(out / STATE, json.dumps({"format": "jaxlab-grid-1", "cells": rows}, indent=1) + "\n")
