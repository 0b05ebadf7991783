"""Progress over the whole grid: one bar for the cells, one for the cell that runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence

from baselines.bench.campaign import Ended, Watch
from baselines.bench.cells import Cell
from jaxlab.errors import needs_extra


@contextlib.contextmanager
def bars(planned: Sequence[Cell], quiet: bool = False) -> Iterator[tuple[Watch | None, Ended | None]]:
    """Show how far the grid is; gives what `campaign.run` calls. A line is printed for each cell that ends."""
    if quiet:
        yield None, None
        return
    try:
        from rich import console, progress
    except ImportError:
        raise needs_extra("rich", "train") from None
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[figures]}"),
    )
    with progress.Progress(*columns, console=console.Console(file=sys.stderr)) as shown:
        whole = shown.add_task("grid", total=len(planned), figures="")
        current = shown.add_task("", total=None, figures="", visible=False)
        seeds: dict[str, list[int]] = {}

        def watch(index: int, name: str, seed: int, done: int, total: int, row: Mapping[str, float]) -> None:
            trained = seeds.setdefault(name, [])
            if seed not in trained:
                trained.append(seed)
            count = planned[index].seeds
            parts = [f"{key.split('_')[0]} {100 * row[key]:.0f} %" for key in row if key.endswith("_success")]
            shown.update(
                current,
                description=f"{name}, seed {trained.index(seed) + 1}/{count}",
                completed=done,
                total=total,
                figures=", ".join(parts),
                visible=True,
            )

        def ended(index: int, name: str, state: str, seconds: float) -> None:
            shown.console.print(f"{name}: {state}" + (f" in {seconds:.0f} s" if state != "kept" else ""))
            shown.update(whole, completed=index + 1)

        yield watch, ended
        shown.update(current, visible=False)
