"""The wheel in empty environments, with the oldest packages that pyproject.toml allows and with the newest.

    bash scripts/versions.sh                # every row of benchmarks/results/versions.md
    bash scripts/versions.sh 3.11:oldest    # one of them; the others stay as they are

The wheel is built once. For every Python that is found, an environment outside of the tree gets it with the
extra ``all``; tests that were copied elsewhere then run against the installed package, and the command line
trains once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from jaxlab.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "benchmarks" / "results" / "versions.md"
PYTHONS = ("3.11", "3.12", "3.13")
WHICH = ("oldest", "newest")
ROWS = tuple(f"{python}:{which}" for python in PYTHONS for which in WHICH)
NAMED = ("jax", "flax", "optax", "orbax-checkpoint", "gymnasium", "numpy", "chex")
"""Packages with a column of their own."""
TESTS = ("test_determinism.py", "test_gym.py", "test_datasets_files.py")
"""Files that lean on jax, flax and optax; on gymnasium; on datasets and minari. Training leans on orbax."""
TOOLS = ("pytest", "hypothesis")
MAKE = ("--width", "3", "--height", "3", "--train", "8", "--eval", "4", "--test", "4", "--out", "mazes")
TRAIN = ("bc", "--mazes", "mazes", "--encoder", "mlp", "--epochs", "200", "--quiet", "--out", "run")
SECONDS = 1800
"""Longest time of one command."""


def oldest(project: dict[str, Any], python: str) -> list[str]:
    """The lower bounds of all packages that users of the extra ``all`` get, each as 'name==version'.

    Args:
        project: the table ``project`` of pyproject.toml.
        python: as in '3.11'; a bound may differ between versions of Python.
    """
    extras = project["optional-dependencies"]
    (whole,) = map(Requirement, extras["all"])
    given = [*project["dependencies"], *(need for extra in sorted(whole.extras) for need in extras[extra])]
    pins = set()
    for need in map(Requirement, given):
        if need.marker is None or need.marker.evaluate({"python_version": python, "python_full_version": python}):
            bounds = [bound.version for bound in need.specifier if bound.operator == ">="]
            if len(bounds) != 1:
                raise ValueError(f"{need} has no lower bound")
            pins.add(f"{need.name}=={bounds[0]}")
    return sorted(pins)


def interpreter(python: str) -> str | None:
    """The command of this version of Python, where there is one that runs."""
    command = f"python{python}"
    if shutil.which(command) and subprocess.run([command, "-c", ""], capture_output=True).returncode == 0:
        return command
    return None


class StepError(Exception):
    """A step of a row failed."""


def run(step: str, command: Sequence[str | Path], words: Path, cwd: Path) -> str:
    """What a command printed; it is kept in the file ``words`` too.

    Raises:
        StepError: it ended with another status than 0, or not in time.
    """
    # No variable of the caller's may lead Python back into the tree.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    line = [str(part) for part in command]
    with words.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(line)}\n")
        file.flush()
        begin = file.tell()
        try:
            done = subprocess.run(line, cwd=cwd, env=environment, stdout=file, stderr=file, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise StepError(f"{step}: not done in {SECONDS} s") from error
    with words.open(encoding="utf-8") as file:
        file.seek(begin)
        printed = file.read()
    if done.returncode != 0:
        raise StepError(f"{step}: {last_line(printed)}")
    return printed


def last_line(printed: str) -> str:
    """The last line that says something, fit for a cell of a table."""
    lines = [line.strip("= ") for line in printed.splitlines() if line.strip("= ")]
    return re.sub(r" in [\d.]+s.*", "", lines[-1]).replace("|", "/") if lines else "no word"


def log(name: str) -> Path:
    """A new file for what the commands of a row print."""
    path = ROOT / "build" / "versions" / f"{name.replace(':', '-')}.log"
    write_atomic(path, "")
    return path


def build(work: Path) -> Path:
    """The wheel, in the folder ``work``."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, ROOT]
    run("building the wheel", command, log("wheel"), work)
    (wheel,) = work.glob("*.whl")
    return wheel


def judge(command: str, pins: Sequence[str], wheel: Path, work: Path, words: Path) -> dict[str, str]:
    """One row: its environment, its tests and its training, as column to text."""
    place = Path(tempfile.mkdtemp(dir=work))
    elsewhere, packages = place / "elsewhere", place / "oldest.txt"
    shutil.copytree(ROOT / "tests", elsewhere / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, elsewhere)
    packages.write_text("\n".join(pins), "utf-8")
    python = place / "venv" / "bin" / "python"
    row: dict[str, str] = {}
    try:
        run("making the environment", [command, "-m", "venv", place / "venv"], words, place)
        # Wheels only: a package without one for this Python would have to be compiled.
        get = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--constraint", packages]
        run("installing", [*get, f"{wheel}[all]", *TOOLS], words, place)
        row |= json.loads(run("versions", [python, "-c", _VERSIONS, *NAMED], words, elsewhere))
        run("import", [python, "-c", _INSTALLED], words, elsewhere)
        files = [f"tests/{name}" for name in TESTS]
        printed = run("tests", [python, "-m", "pytest", "-q", "-m", "not slow", *files], words, elsewhere)
        row["tests"] = last_line(printed)
        run("jaxlab generate", [python.with_name("jaxlab"), "generate", *MAKE], words, elsewhere)
        train = [python, "-m", "baselines.train", *TRAIN]
        run("training", train, words, elsewhere)
        run("going on from its checkpoint", [*train, "--resume"], words, elsewhere)
        (seed,) = json.loads((elsewhere / "run" / "results.json").read_text("utf-8"))["seeds"]
        row["training"] = f"{100 * seed['splits']['train']['argmax']['success']:.0f} % solved"
    except StepError as error:
        row["failed"] = str(error)
    shutil.rmtree(place)
    return row


_VERSIONS = """
import json, platform, sys
from importlib.metadata import version
print(json.dumps({"Python": platform.python_version()} | {name: version(name) for name in sys.argv[1:]}))
"""
_INSTALLED = """
import pathlib, sysconfig
import baselines, jaxlab
for package in (baselines, jaxlab):
    assert pathlib.Path(package.__file__).is_relative_to(sysconfig.get_path("purelib")), package.__file__
"""


def report(rows: dict[str, str]) -> str:
    """The page. ``rows``: name (as in '3.11:oldest') to line of the table."""
    head = ["Python", "packages", *NAMED, "tests", "training"]
    text = [
        "# Versions",
        "",
        "`bash scripts/versions.sh`: the wheel with the extra `all`, in an empty environment, without this tree:",
        "with the lower bounds of pyproject.toml, or with what pip takes by itself. Run there, in another folder:",
        f"{', '.join(f'`{name}`' for name in TESTS)} (not the slow ones), then `jaxlab generate` and",
        "`python -m baselines.train bc` on eight mazes that it made, which its last column tells.",
        "",
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(rows[name] for name in ROWS if name in rows),
    ]
    return "\n".join(text) + "\n"


def written(path: Path) -> dict[str, str]:
    """The rows of a page that was written before."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    found = (re.match(r"\| (3\.\d+)\S* \| (\w+) \|", line) for line in lines)
    return {":".join(match.groups()): match.string for match in found if match}


def line(name: str, row: dict[str, str]) -> str:
    """One line of the table."""
    python, which = name.split(":")
    cells = [row.get("Python", python), which, *(row.get(column, "") for column in NAMED)]
    if "failed" in row:
        return f"| {' | '.join([*cells, '**failed**', row['failed']])} |"
    if "skipped" in row:
        return f"| {' | '.join([*cells, 'skipped', row['skipped']])} |"
    return f"| {' | '.join([*cells, row['tests'], row['training']])} |"


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m campaigns.versions", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="which rows; all of them without")
    parser.add_argument("--out", type=Path, default=OUT, help="the report")
    arguments = parser.parse_args(argv)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    good = True
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheel = build(work)
        for name in arguments.rows or ROWS:
            python, which = name.split(":")
            command = interpreter(python)
            if command is None:
                print(f"{name}: skipped, there is no python{python} on the PATH", flush=True)
                if name in written(arguments.out):
                    continue
                row = {"skipped": f"no python{python} was found"}
            else:
                row = judge(command, oldest(project, python) if which == "oldest" else [], wheel, work, log(name))
            good &= "failed" not in row
            # Each row is kept as it comes, and takes the place of its own older one only.
            write_atomic(arguments.out, report(written(arguments.out) | {name: line(name, row)}))
            print(line(name, row), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
