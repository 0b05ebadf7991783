"""One results.json from runs that differ in their training seeds alone: ``python -m baselines.merge OUT FOLDER...``.

Seeds that were trained on different machines, or one by one, become one row of a table.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines import replay, results

SAME = ("format", "method", "encoder", "observation", "settings", "config", "mazes")
"""What runs of one row share; versions and machine are those of the first."""


def merge(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the seeds of several results side by side, in order.

    Raises:
        ValueError: nothing to merge, two runs of one seed, or runs that differ in more than their seeds.
    """
    if not runs:
        raise ValueError("there is nothing to merge: give at least one folder with results.json")
    first = runs[0]
    for number, run in enumerate(runs):
        for name in SAME:
            if run[name] != first[name]:
                raise ValueError(
                    f"runs of one row differ in their seeds alone, but {name} of run {number} is "
                    f"{_short(run[name], first[name])}, and of run 0 {_short(first[name], run[name])}"
                )
    seeds = sorted((seed for run in runs for seed in run["seeds"]), key=lambda seed: seed["seed"])
    numbers = [seed["seed"] for seed in seeds]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise ValueError(f"training seed {twice[0]} is there twice")
    return {**first, "seeds": seeds}


def _short(value: Any, other: Any) -> str:
    """A value, or of two dictionaries the entries that differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {name: entry for name, entry in value.items() if other.get(name, ...) != entry}
    return json.dumps(value)


def write(out: str | os.PathLike[str], folders: Sequence[str | os.PathLike[str]]) -> Path:
    """Write ``out/results.json``, and ``out/replay.npz`` where all have one (host)."""
    whole = merge([results.read(folder) for folder in folders])
    kept = [Path(folder) for folder in folders]
    Path(out).mkdir(parents=True, exist_ok=True)
    if all((folder / replay.FILE).is_file() for folder in kept):
        parts = [replay.read(folder) for folder in kept]
        actions = {at: chosen for part in parts for at, chosen in part.actions.items()}
        replay.write(out, parts[0].env, parts[0].splits, actions)
    else:  # an older one is not of these seeds
        (Path(out) / replay.FILE).unlink(missing_ok=True)
    return results.write(out, whole)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0, or 2 for what can't be merged."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) < 2 or given[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if given and given[0] in ("-h", "--help") else 2
    try:
        path = write(given[0], given[1:])
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
