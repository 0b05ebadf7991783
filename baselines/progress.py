"""Progress bars of training: one line a seed, with the newest figures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from baselines.runner import Watch
from jaxlab.errors import needs_extra


@contextlib.contextmanager
def bar(name: str, quiet: bool = False) -> Iterator[Watch | None]:
    """Show how far each seed is; gives the function that `runner.run` calls between chunks."""
    if quiet:
        yield None
        return
    try:
        from rich import progress
    except ImportError:
        raise needs_extra("rich", "train") from None
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[figures]}"),
    )
    tasks: dict[int, progress.TaskID] = {}
    with progress.Progress(*columns) as shown:

        def watch(seed: int, done: int, total: int, row: Mapping[str, float]) -> None:
            if seed not in tasks:
                tasks[seed] = shown.add_task(f"{name} seed {seed}", total=total, figures="")
            parts = [f"{label} {row[key]:.3g}" for key, label in (("loss", "loss"),) if key in row]
            parts += [f"{key.split('_')[0]} {100 * row[key]:.0f} %" for key in row if key.endswith("_success")]
            shown.update(tasks[seed], completed=done, figures=", ".join(parts))

        yield watch
