"""A command in a fork; commands on a full disk, against a limit on files, and in a folder that can't be written."""

from __future__ import annotations

import contextlib
import json
import multiprocessing.process
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Commands = dict[str, tuple[Callable[[Sequence[str]], int], list[str], bool]]
"""Name: (main, arguments before the folder, does it resume?)."""


FORK = multiprocessing.get_context("fork")
Fork = multiprocessing.process.BaseProcess


def start(main: Callable[[Sequence[str]], int], arguments: Sequence[str], log: Path, limit: int | None = None) -> Fork:
    """Fork a command; ``limit`` is the longest file in bytes that it may write."""
    process = FORK.Process(target=_command, args=(main, arguments, log, limit))
    process.start()
    return process


def _command(main: Callable[[Sequence[str]], int], arguments: Sequence[str], log: Path, limit: int | None) -> None:
    """In the fork, whose status is the command's: what it says goes to ``log``."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 1)
    os.dup2(file, 2)
    if limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.exit(main(arguments))


def finish(process: Fork) -> int | None:
    """The exit status of a forked command; 1 where it raised, and the log says what."""
    process.join()
    return process.exitcode


def of_orbax(name: str) -> bool:
    return "checkpoints/" in name or "policies/" in name


def refusals(commands: Commands, work: Path) -> list[dict[str, Any]]:
    """Every command on a full disk, against a limit on files, and in a folder that can't be written."""
    rows = []
    for name, (main, arguments, _) in commands.items():
        for kind, place in (("full disk", _full), ("read-only folder", _read_only), ("file limit", _limited)):
            with place(work / "place") as (folder, limit):
                if folder is None:
                    continue
                log = work / f"{name}-{kind}.log"
                old = folder / "old.txt"
                before = old.read_bytes()
                code = finish(start(main, [*arguments, str(folder / "out")], log, limit))
                said = [line for line in log.read_text().splitlines() if line.strip()]
                rows.append(
                    {
                        "command": name,
                        "place": kind,
                        "status": code,
                        "says": said[-1][:160].replace(str(folder), "OUT") if said else "",
                        "traceback": any(line.startswith("Traceback") for line in said),
                        "old": old.read_bytes() == before,
                        "torn": _torn_there(folder / "out"),
                    }
                )
    return rows


def _torn_there(folder: Path) -> list[str]:
    """JSON, archives and mazes in a folder that do not read as a whole."""
    faults = []
    for path in sorted(folder.rglob("*")) if folder.exists() else []:
        if any(part.startswith(".") for part in path.relative_to(folder).parts) or of_orbax(str(path)):
            continue
        try:
            if path.suffix == ".json":
                json.loads(path.read_text("utf-8"))
            elif path.suffix == ".npz":
                from jaxlab.files import read_arrays

                read_arrays(path)
            elif path.suffix == ".labyrinth":
                from jaxlab import text

                text.load(path)
        except ValueError as error:
            faults.append(f"{path.name}: {error}")
    return faults


@contextlib.contextmanager
def _full(place: Path) -> Iterator[tuple[Path | None, int | None]]:
    with _mounted(place, "size=24k") as folder:
        if folder is not None:
            (folder / "old.txt").write_text("old")
        yield folder, None


@contextlib.contextmanager
def _read_only(place: Path) -> Iterator[tuple[Path | None, int | None]]:
    with _mounted(place, "size=64k") as folder:
        if folder is not None:
            (folder / "old.txt").write_text("old")
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder, None


@contextlib.contextmanager
def _mounted(place: Path, options: str) -> Iterator[Path | None]:
    """A small file system in memory; None where this user may not mount."""
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@contextlib.contextmanager
def _limited(place: Path) -> Iterator[tuple[Path | None, int | None]]:
    folder = place.parent / "limited"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    yield folder, 200
    shutil.rmtree(folder)
