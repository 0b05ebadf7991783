"""Which lines of the packages no default test runs, from what coverage.py saw.

bash scripts/coverage.sh                # benchmarks/results/coverage.md
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxlab.files import write_atomic

ASKED = {"jaxlab": 95.0, "baselines": 85.0}
"""Percent of each package's lines that tests must run."""


def report(seen: dict[str, Any], failed: Sequence[str] = ()) -> tuple[str, bool]:
    """The report as text, and whether every package has what is asked.

    Args:
        seen: what ``coverage json`` wrote.
        failed: files whose tests failed.
    """
    modules = {path: found for path, found in sorted(seen["files"].items()) if found["summary"]["num_statements"]}
    packages, enough = [], True
    for package, asked in ASKED.items():
        inside = [found["summary"] for path, found in modules.items() if Path(path).parts[0] == package]
        lines, missed = (sum(found[key] for found in inside) for key in ("num_statements", "missing_lines"))
        percent = 100 * (lines - missed) / lines
        enough &= percent >= asked
        excluded = sum(found["excluded_lines"] for found in inside)
        packages.append(f"| {package} | {lines:,} | {missed} | {percent:.1f} % | {asked:.0f} % | {excluded} |")
    short = [
        f"| `{path}` | {found['summary']['num_statements']} | {found['summary']['missing_lines']} "
        f"| {_runs(found['missing_lines'])} |"
        for path, found in modules.items()
        if found["missing_lines"]
    ]
    text = [
        "# Line coverage",
        "",
        "`bash scripts/coverage.sh`: lines run by the tests that are not marked slow, without the processes that tests",
        f"start. Python {platform.python_version()}, coverage.py {seen['meta']['version']}.",
        *(f"\n**Tests failed in {name}.**" for name in failed),
        "",
        "| package | lines | missed | run | asked | left out of the count |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *packages,
        "",
        f"All lines are run in {len(modules) - len(short)} of {len(modules)} modules; in the others all but these.",
        "",
        "| module | lines | missed | which |",
        "| --- | ---: | ---: | --- |",
        *short,
    ]
    return "\n".join(text) + "\n", enough


def _runs(lines: Sequence[int]) -> str:
    """As in '3, 7-9'."""
    runs = []
    for _, group in itertools.groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in group]
        runs.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    return ", ".join(runs)


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.lines", description=__doc__)
    parser.add_argument("seen", type=Path, help="what coverage json wrote")
    parser.add_argument("out", type=Path, help="the report")
    parser.add_argument("failed", nargs="*", help="files whose tests failed")
    arguments = parser.parse_args(argv)
    text, enough = report(json.loads(arguments.seen.read_text("utf-8")), arguments.failed)
    write_atomic(arguments.out, text)
    print(text)
    return 0 if enough and not arguments.failed else 1


if __name__ == "__main__":
    sys.exit(main())
