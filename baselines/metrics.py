"""``metrics.jsonl``, a run's figures epoch by epoch, and the same as TensorBoard's event files.

    python -m baselines.metrics RUN...

writes ``RUN/tensorboard/seed-N`` for every seed of runs that are there already; ``baselines.train
--tensorboard`` writes them while it trains. Each figure stands under its own name at its epoch.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jaxlab.errors import needs_extra
from jaxlab.files import write_atomic

FILE = "metrics.jsonl"
EVENTS = "tensorboard"
"""The folder of event files within a run's."""

Row = dict[str, Any]
"""``seed``, ``epoch`` (from 1) and named figures."""
Record = Callable[[Sequence[Row]], None]


def read(folder: str | os.PathLike[str]) -> list[Row]:
    """The rows of a run, none where there is no such file (host)."""
    path = Path(folder) / FILE
    if not path.is_file():
        return []
    # A run that was killed while it wrote leaves the beginning of a line; it is of an epoch to be done again.
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.endswith("}")]


def append(folder: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Write rows behind those that are there (host)."""
    with open(Path(folder) / FILE, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def keep(folder: str | os.PathLike[str], seeds: Collection[int], epochs: int) -> list[Row]:
    """Forget rows of these seeds after so many epochs; gives those that stay of them (host)."""
    rows = [row for row in read(folder) if row["seed"] not in seeds or row["epoch"] <= epochs]
    if rows or (Path(folder) / FILE).exists():
        write_atomic(Path(folder) / FILE, "".join(json.dumps(row) + "\n" for row in rows))
    return [row for row in rows if row["seed"] in seeds]


@contextlib.contextmanager
def recorder(
    folder: str | os.PathLike[str] | None, seeds: Collection[int], epochs: int, *, tensorboard: bool
) -> Iterator[Record]:
    """Gives the function that notes rows of a run that has done so many epochs of these seeds (host)."""
    if folder is None:
        yield lambda rows: None
        return
    before = keep(folder, seeds, epochs)
    with events(folder, seeds) if tensorboard else contextlib.nullcontext(lambda rows: None) as show:
        show(before)

        def record(rows: Sequence[Row]) -> None:
            append(folder, rows)
            show(rows)

        yield record


# -- TensorBoard -----------------------------------------------------------------------------------


@contextlib.contextmanager
def events(folder: str | os.PathLike[str], seeds: Iterable[int]) -> Iterator[Record]:
    """Event files of some seeds, begun anew: gives the function that writes rows to them (host).

    Raises:
        ImportError: tensorboardX is not installed; the message names the extra.
    """
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        raise needs_extra("tensorboardX", "tensorboard") from None
    with contextlib.ExitStack() as opened:
        writers = {}
        for seed in seeds:
            place = Path(folder) / EVENTS / f"seed-{seed}"
            shutil.rmtree(place, ignore_errors=True)
            writers[seed] = opened.enter_context(SummaryWriter(str(place)))

        def write(rows: Sequence[Row]) -> None:
            for row in rows:
                for name, value in row.items():
                    if name not in ("seed", "epoch"):
                        writers[row["seed"]].add_scalar(name, value, row["epoch"])
            for writer in writers.values():
                writer.flush()

        yield write


def main(arguments: Sequence[str] | None = None) -> int:
    """Event files of finished runs; returns the exit status."""
    folders = list(sys.argv[1:] if arguments is None else arguments)
    if not folders or folders[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if folders else 2
    for folder in folders:
        rows = read(folder)
        if not rows:
            print(f"error: {folder}: no {FILE} with figures here; baselines.train writes it", file=sys.stderr)
            return 2
        seeds = sorted({row["seed"] for row in rows})
        try:
            with events(folder, seeds) as write:
                write(rows)
        except ImportError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(f"written: {Path(folder) / EVENTS}, {len(seeds)} seeds, {len(rows)} epochs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
