"""``python -m baselines.benchmark``: methods x sizes x encoders x seeds, tables beside the paper's, a report.

    python -m baselines.benchmark --preset smoke --out runs/smoke
    python -m baselines.benchmark --methods all --sizes 3 4 5 --encoders cnn --seeds 5 --out runs/paper

Run the same line again after a kill: finished cells are kept, the one that was running goes on. A
method of your own joins with its results.json (``--add FOLDER``, docs/results-format.md) or with one
function (`add`).
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from baselines import folders, results
from baselines.bench import campaign, cells, entries, formats, tables
from baselines.bench.cells import Cell
from baselines.bench.own import add
from jaxlab.errors import choose, needs_extra
from jaxlab.files import write_atomic


@dataclasses.dataclass(frozen=True)
class Options:
    """What to run and where to put it."""

    preset: str | None = None
    """"smoke" (minutes), "cpu" (hours on two cores) or "paper" (the paper's budget): in place of the grid below."""
    methods: tuple[str, ...] = ("all",)
    """Methods, or "all"."""
    sizes: tuple[int, ...] = (5,)
    """Sides of the mazes; the frozen splits of each size."""
    encoders: tuple[str, ...] = ("cnn",)
    """Encoders."""
    seeds: int | None = None
    """Training seeds of each cell (5, or what the preset says)."""
    epochs: int | None = None
    """Epochs of every method, whatever it calls one (default: its own)."""
    maze_seed: int | None = None
    """Draw new mazes from this seed in place of the frozen splits."""
    add: tuple[Path, ...] = ()
    """Further results.json, or folders of them, that join the tables."""
    out: Path = Path("runs/benchmark")
    """Folder for the cells, the tables and report.html."""
    only_report: bool = False
    """Train nothing: tables and report of what is there."""
    quiet: bool = False
    """No progress bar."""


def plan(options: Options) -> list[Cell]:
    """The cells that the options name."""
    known = cells.all_methods()
    names = known if "all" in options.methods else [choose("method", name, known) for name in options.methods]
    if options.seeds is not None and options.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {options.seeds}")
    if options.preset is not None:
        found = cells.PRESETS[choose("preset", options.preset, cells.PRESETS)](names)
        if options.seeds is not None:
            found = [dataclasses.replace(cell, seeds=options.seeds) for cell in found]
        return found
    common: dict[str, Any] = {} if options.epochs is None else {"epochs": options.epochs}
    return cells.grid(names, options.sizes, options.encoders, options.seeds or 5, {"": common})


def collect(out: Path, further: Sequence[Path] = (), planned: Sequence[Cell] | None = None) -> list[entries.Entry]:
    """The entries of a benchmark's folder: its cells, what `add` put there, and further ones (host)."""
    found = sorted(path.parent for path in (out / campaign.CELLS).glob(f"*/{results.FILE}"))
    if planned is not None:  # cells of other grids in the same folder are left out
        names = {cell.name for cell in planned}
        found = [folder for folder in found if folder.name in names or (folder / ".added").exists()]
    return entries.read([*found, *further])


def write(out: Path, found: Sequence[entries.Entry], title: str = "Labyrinth benchmark") -> list[Path]:
    """Write the tables in every format and the report (host)."""
    from baselines import page

    made = tables.collect(found)
    gaps = tables.gaps(found)
    texts = {
        "tables.md": formats.markdown(made),
        "agreement.md": formats.agreement(tables.beside_paper(found)),
        "scores.csv": formats.scores_csv(made),
        "differences.csv": formats.gaps_csv(gaps),
        "figures.csv": formats.kinds_csv(found),
        **{f"latex/{table.key}.tex": formats.latex(table) for table in made},
    }
    paths = []
    for name, text in texts.items():
        if not text:  # nothing here stands beside the paper
            (out / name).unlink(missing_ok=True)
            continue
        write_atomic(out / name, text)
        paths.append(out / name)
    paths.append(page.write(out / "report.html", found, made, gaps, title=title))
    return paths


def parse(arguments: Sequence[str]) -> Options:
    """Options of a command line."""
    try:
        import tyro
    except ImportError:
        raise needs_extra("tyro", "train") from None
    return tyro.cli(Options, prog="python -m baselines.benchmark", description=__doc__, args=list(arguments))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when every cell is done, 1 when one failed, 2 for a wrong line."""
    from baselines.bench import progress

    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        planned = plan(options)
        if find_spec("matplotlib") is None:  # better now than after hours
            raise needs_extra("matplotlib", "viz")
        failed = False
        if options.only_report:
            found = collect(options.out, options.add)
        else:
            with folders.alone(options.out), progress.bars(planned, options.quiet) as (watch, ended):
                outcome = campaign.run(planned, options.out, maze_seed=options.maze_seed, watch=watch, ended=ended)
            failed = bool(outcome.errors)
            for name, error in outcome.errors.items():
                where = options.out / campaign.CELLS / name / campaign.ERROR
                print(f"{name} failed: {error} ({where})", file=sys.stderr)
            found = collect(options.out, options.add, planned)
        if not found:
            raise ValueError(f"{options.out}: no results to show")
        paths = write(options.out, found)
    except (ValueError, OSError, ImportError, json.JSONDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(formats.markdown(tables.collect(found)))
    for name in {entry.method for entry in found} & set(cells.all_methods()):
        if caveat := getattr(cells.method_of(name), "CAVEAT", None):
            print(caveat)
    print("written: " + ", ".join(str(path) for path in paths))
    return int(failed)


__all__ = ["Options", "add", "collect", "main", "plan", "write"]


if __name__ == "__main__":
    raise SystemExit(main())
