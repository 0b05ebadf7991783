"""A run's folder: held by one process, gone on in only with the choices it was begun with, never emptied too early."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from baselines import metrics, replay, results
from jaxlab.files import write_atomic

CONFIG = "config.json"
"""The method and all its choices."""
MAZES = "mazes.json"
"""The mazes, the settings and the demonstrations that are learnt from."""
CHECKPOINTS, POLICIES = "checkpoints", "policies"
PREVIOUS = "previous"
"""The finished run that was in a folder, until the one that takes its place is finished too."""
_WRITTEN = (CONFIG, MAZES, metrics.FILE, metrics.EVENTS, CHECKPOINTS, POLICIES, replay.FILE, results.FILE)
"""All that a run writes, in the order in which it goes: without config.json nothing is gone on from, so that no kill
leaves half of a run to resume; with results.json a finished run is there, of which the rest has still to be moved."""


@contextlib.contextmanager
def alone(out: Path | None) -> Iterator[None]:
    """Hold a folder, so that no second process trains in it; the system lets go when the process ends.

    None, which is no folder, is not held.

    Raises:
        OSError: another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        out = None
    if out is None:
        yield
        return
    out.mkdir(parents=True, exist_ok=True)
    with open(out / ".lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"{out}: another process is at work in this folder; give another --out") from None
        yield


def begin(out: Path, begun: Mapping[str, Any], *, resume: bool) -> None:
    """Make a folder ready for a run, or for going on with the one that is there (host).

    A finished run that is not gone on with is moved to ``out/previous``; `discard_previous` removes it.

    Args:
        out: the folder.
        begun: what config.json and mazes.json hold, by these names, in values of JSON.
        resume: go on, where a run was begun.

    Raises:
        ValueError: there is a run to go on with, and it was begun with other choices; the message says which.
    """
    if resume and (out / CONFIG).is_file():
        if found := differences(out, begun):
            raise ValueError(
                f"{out} holds a run that was begun with other choices: {', '.join(found)}; "
                "resume with those, begin anew without --resume, or give another --out"
            )
    else:
        _clear(out)
    for name in (MAZES, CONFIG):  # the last says that there is a run
        write_atomic(out / name, json.dumps(begun[name], indent=1) + "\n")


def differences(out: Path, begun: Mapping[str, Any]) -> list[str]:
    """In which choices the run in a folder differs from ``begun``, in words; none where no run was begun (host)."""
    found: list[str] = []
    for name in (CONFIG, MAZES):
        try:
            there = json.loads((out / name).read_text("utf-8"))
        except FileNotFoundError:  # mazes.json is younger than config.json
            continue
        except ValueError:
            there = None
        if not isinstance(there, dict):
            return [f"{name} is damaged"]
        given = begun[name]
        if name == CONFIG and there.get("method") != given["method"]:
            return [_differing("method", given["method"], there.get("method"))]  # the rest means something else
        if name == MAZES and "mazes" not in there:  # benchmarks used to note the digests alone
            given, there = {"mazes": given["mazes"]}, {"mazes": there}
        found += _all_differing(given, there)
    return found


def _all_differing(given: Mapping[str, Any], there: Mapping[str, Any], of: str = "") -> Iterator[str]:
    for name in {**given, **there}:
        one, two = given.get(name), there.get(name)
        if isinstance(one, dict) and isinstance(two, dict):
            yield from _all_differing(one, two, f"{name}.")
        elif one != two:
            yield _differing(of + name, one, two)


def _differing(name: str, given: Any, there: Any) -> str:
    return f"{name} is {_short(given)} now and was {_short(there)}"


def _short(value: Any) -> str:
    """A value as JSON; of a digest its beginning."""
    return f"{value[:8]}..." if isinstance(value, str) and len(value) == 64 else json.dumps(value)


def _clear(out: Path) -> None:
    """Take away all that a run wrote, or move it aside where the run is finished."""
    if (out / results.FILE).is_file():
        before = out / PREVIOUS
        if (before / results.FILE).is_file():  # without, it is the beginning of a move that was cut short
            discard_previous(out)
        before.mkdir(exist_ok=True)
        for name in _WRITTEN:
            if (out / name).exists():
                (out / name).rename(before / name)
    for name in _WRITTEN:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        else:
            (out / name).unlink(missing_ok=True)


def discard_previous(out: Path) -> None:
    """Remove the finished run that was set aside (host)."""
    discarded = out / ".discarded"
    shutil.rmtree(discarded, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        (out / PREVIOUS).rename(discarded)  # at once, so that what is called previous is never half gone
    shutil.rmtree(discarded, ignore_errors=True)
