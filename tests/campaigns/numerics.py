"""The tests of jaxlab/ under JAX's stricter rules: 64 bits, strict promotion, keys used twice, NaN.

    bash scripts/numerics.sh                # all four, benchmarks/results/numerics.md
    bash scripts/numerics.sh JAX_DEBUG_NANS # one of them

What passed is kept in build/numerics until the test file or any code that is no test is another.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from collections.abc import Sequence
from pathlib import Path

import jax

from jaxlab.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
FLAGS = {
    "JAX_ENABLE_X64": ("1", "64 bits: what is written as a plain number or counted becomes wider"),
    "JAX_NUMPY_DTYPE_PROMOTION": ("strict", "two types in one operation are an error"),
    "JAX_DEBUG_KEY_REUSE": ("1", "a key used twice is an error"),
    "JAX_DEBUG_NANS": ("1", "a NaN is an error where it arises"),
}
"""Variables of the environment: their value, and what they do."""
OTHERS = {
    "baselines/": "bc configurations conv diagnosis discriminator evaluate intervals inverse kill merge methods "
    "metrics nearest networks page planner pooling ppo ranges resnet results table train windows winograd world",
    "benchmarks/": "benchmark method_benchmarks six_methods suite",
    "scripts and pages": "docs figures readme scripts sources",
}
"""Test files that are not about jaxlab/, by what they are about. A file that is not named here is run."""
KEPT = ROOT / "build" / "numerics"
TOGETHER = 7
"""Test files that share a process and what it has compiled; a stop loses no more than these."""

Row = dict[str, str]
"""One test: ``file``, ``name``, ``outcome`` (passed, failed or skipped) and ``why``."""


def files() -> list[Path]:
    """The test files of jaxlab/."""
    others = {f"test_{name}.py" for names in OTHERS.values() for name in names.split()}
    return sorted(path for path in (ROOT / "tests").glob("test_*.py") if path.name not in others)


def stamp(path: Path) -> str:
    """SHA-256 of all that decides what a test file gives."""
    sha = hashlib.sha256(jax.__version__.encode())
    code = [part for package in ("jaxlab", "baselines", "tests") for part in (ROOT / package).rglob("*.py")]
    shared = [part for part in code if not part.name.startswith("test_") and part != Path(__file__)]
    for part in sorted([path, *shared]):
        sha.update(part.read_bytes())
    return sha.hexdigest()


def outcomes(report: str) -> list[Row]:
    """The tests of a JUnit report."""
    rows = []
    for case in xml.etree.ElementTree.fromstring(report).iter("testcase"):
        place = case.get("classname", "") or case.get("name", "")
        row = {"file": f"{place.split('.')[1]}.py", "name": case.get("name", ""), "outcome": "passed", "why": ""}
        for part in case:
            if part.tag in ("failure", "error", "skipped"):
                row["outcome"] = "skipped" if part.tag == "skipped" else "failed"
                row["why"] = " ".join((part.get("message") or "").split())[:200]
        rows.append(row)
    return rows


def run(flag: str, chosen: Sequence[Path]) -> list[Row]:
    """The fast tests of some files under a flag, in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "--tb=short", f"--junitxml={report}"]
        done = subprocess.run([*command, *map(str, chosen)], cwd=ROOT, env={**os.environ, flag: FLAGS[flag][0]})
        if done.returncode not in (0, 1) or not report.is_file():
            raise RuntimeError(f"pytest under {flag} ended with {done.returncode}")
        return outcomes(report.read_text("utf-8"))


def under(flag: str) -> list[Row]:
    """All tests under a flag; a file that passed before, as it is now, is not run again."""
    place = KEPT / f"{flag}.json"
    kept = json.loads(place.read_text("utf-8")) if place.is_file() else {}
    stamps = {path.name: stamp(path) for path in files()}
    kept = {name: file for name, file in kept.items() if file["stamp"] == stamps.get(name)}
    waiting = [path for path in files() if path.name not in kept]
    failed: list[Row] = []
    for first in range(0, len(waiting), TOGETHER):
        some = waiting[first : first + TOGETHER]
        rows = run(flag, some)
        for path in some:
            own = [row for row in rows if row["file"] == path.name]
            if any(row["outcome"] == "failed" for row in own):
                failed += own
            else:
                kept[path.name] = {"stamp": stamps[path.name], "rows": own}
        KEPT.mkdir(parents=True, exist_ok=True)
        write_atomic(place, json.dumps(kept, indent=1) + "\n")
    return sorted([row for file in kept.values() for row in file["rows"]] + failed, key=lambda row: row["file"])


def line(flag: str, rows: Sequence[Row]) -> str:
    """What is printed of a flag."""
    count = {kind: sum(row["outcome"] == kind for row in rows) for kind in ("passed", "failed", "skipped")}
    return f"{flag}={FLAGS[flag][0]}: " + ", ".join(f"{number} {kind}" for kind, number in count.items())


def markdown(found: dict[str, list[Row]]) -> str:
    """The report for people."""
    lines = [
        "# Stricter rules of JAX",
        "",
        f"`bash scripts/numerics.sh`, jax {jax.__version__}, Python {platform.python_version()}: the fast tests of",
        f"jaxlab/ ({len(files())} files; those of baselines/, benchmarks/, scripts and pages are not among them), once",
        "under each flag.",
        "",
        "| flag | what it does | passed | failed | skipped |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for flag, rows in found.items():
        count = [sum(row["outcome"] == kind for row in rows) for kind in ("passed", "failed", "skipped")]
        value, meaning = FLAGS[flag]
        lines.append(f"| `{flag}={value}` | {meaning} | {' | '.join(map(str, count))} |")
    others = [(flag, row) for flag, rows in found.items() for row in rows if row["outcome"] != "passed"]
    lines += ["", "Not passed:", ""] if others else []
    lines += [f"- `{flag}`: {row['outcome']} {row['file']} `{row['name']}`: {row['why']}" for flag, row in others]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when nothing failed. The report is written when all flags were asked for."""
    command = argparse.ArgumentParser(prog="scripts/numerics.sh", description=__doc__)
    command.add_argument("flags", nargs="*", metavar="FLAG", help=f"of {', '.join(FLAGS)}; default: all")
    args = command.parse_args(arguments)
    if unknown := set(args.flags) - set(FLAGS):
        command.error(f"no such flag: {', '.join(sorted(unknown))}")
    found = {flag: under(flag) for flag in args.flags or FLAGS}
    for flag, rows in found.items():
        print(line(flag, rows))
    if len(found) == len(FLAGS):
        write_atomic(ROOT / "benchmarks/results/numerics.md", markdown(found))
    return int(any(row["outcome"] == "failed" for rows in found.values() for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
