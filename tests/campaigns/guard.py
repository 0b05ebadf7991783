"""Watching one call: what it raises, how long it computes, what it takes, and what it must never do."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 1.0, 200 * 2**20
"""The most that one input may cost: CPU seconds, and bytes of resident memory."""

FORBIDDEN = (
    "exec",
    "pickle.find_class",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "subprocess.Popen",
    "socket.connect",
)
"""Audit events that no file may bring about."""


class TooSlowError(BaseException):
    """More than `SECONDS` of computing."""


@dataclasses.dataclass
class Finding:
    """What went wrong with one input."""

    kind: str
    detail: str
    where: str


class Guard:
    """Calls a function under watch. One for a process: it can't be taken off again."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds, self.memory = seconds, memory
        self._watching = False
        self._calls = 0
        self._events: list[str] = []
        signal.signal(signal.SIGPROF, self._too_slow)
        sys.addaudithook(self._audit)

    def confine(self, room: int = 3 * 2**30) -> None:
        """No allocation of more than ``room`` beyond what is mapped now; no core files, no large files."""
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (mapped + room, mapped + room))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def call(self, load: Callable[[Any], Any], data: Any, allowed: tuple[type[BaseException], ...]) -> str | Finding:
        """``"loaded"``, the name of the allowed error, or a finding. What is slow or large is tried once more:
        what it compiles and keeps for later is no fault of the input."""
        outcome = self._once(load, data, allowed)
        if isinstance(outcome, Finding) and outcome.kind in ("slow", "memory"):
            self._calls = 0
            outcome = self._once(load, data, allowed)
        return outcome

    def _once(self, load: Callable[[Any], Any], data: Any, allowed: tuple[type[BaseException], ...]) -> str | Finding:
        if self._calls % 256 == 0:
            _forget_peak()
        self._calls += 1
        before = _peak()
        self._events.clear()
        self._watching = True
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            load(data)
            outcome: str | Finding = "loaded"
        except allowed as error:
            outcome = type(error).__name__
        except TooSlowError as error:
            outcome = Finding("slow", f"more than {self.seconds} s of computing", _where(error))
        except (Exception, SystemExit) as error:  # whatever else a reader raises is a finding
            outcome = Finding(type(error).__name__, str(error)[:200], _where(error))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._watching = False
        if self._events:
            return Finding("forbidden", self._events[0], "")
        grown = _peak() - before
        if grown > self.memory:
            return Finding("memory", f"{grown // 2**20} MiB", "")
        return outcome

    def _too_slow(self, *_: Any) -> None:
        if self._watching:
            raise TooSlowError

    def _audit(self, event: str, arguments: Any) -> None:
        if self._watching and event in FORBIDDEN and not _in_own_machinery():
            self._events.append(f"{event} {arguments!r:.200}")


_MACHINERY = re.compile(r"importlib|dataclasses\.py|collections/__init__\.py|/(jax|flax|orbax|numba|chex)/")


def _in_own_machinery() -> bool:
    """Is it an import, or a library that makes a class or compiles a function of its own?"""
    frame: Any = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if _MACHINERY.search(frame.f_code.co_filename):
            return True
        frame = frame.f_back
    return False


def _peak() -> int:
    """Peak of resident memory in bytes since it was last forgotten."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _where(error: BaseException) -> str:
    """The innermost lines of the package in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames if "/campaigns/" not in frame.filename]
    return " > ".join(own[-4:])
