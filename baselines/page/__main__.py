"""``python -m baselines.page FOLDER... --out report.html``: the report of any finished runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from baselines import page
from baselines.bench import entries, tables


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m baselines.page", description="Draw the report of finished runs.")
    parser.add_argument("folders", nargs="+", help="folders with results.json (and replay.npz), or such files")
    parser.add_argument("--out", default="report.html", help="the HTML file to write")
    parser.add_argument("--title", default="Labyrinth benchmark", help="its heading")
    given = parser.parse_args(arguments)
    try:
        found = entries.read(given.folders)
        path = page.write(given.out, found, tables.collect(found), tables.gaps(found), title=given.title)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
