"""Mutation testing: of the small faults that a module could have, how many do its own fast tests see?

bash scripts/mutate.sh maze text                # all mutants of two modules
bash scripts/mutate.sh --seconds 600 env        # as many as fit into ten minutes, drawn at random
bash scripts/mutate.sh --again                  # the survivors once more, after tests were added

The tests are collected once; for each mutant the process forks, gives one function another body and runs the
tests until one fails: those first that call the function, the quickest of them first. No device is started
before the fork. Fates are kept in build/mutation as they come; a command given again goes on from there.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import math
import multiprocessing
import random
import resource
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from campaigns import mutants
from jaxlab import errors, grid
from jaxlab.solve import routes

TESTS = {
    "jaxlab.maze": ["test_maze.py"],
    "jaxlab.text": ["test_text.py"],
    "jaxlab.env": ["test_env.py", "test_env_types.py", "test_bad_input.py"],
    "jaxlab.tiles": ["test_tiles.py", "test_env.py", "test_env_types.py"],
    "jaxlab.scene": ["test_observe.py"],
    "jaxlab.solve.table": ["test_solve_table.py", "test_tiles.py"],
    "jaxlab.solve.graph": ["test_paths.py"],
    "jaxlab.solve.enumerate": ["test_paths.py"],
    "jaxlab.solve.count": ["test_paths.py"],
}
SHORT = {name.removeprefix("jaxlab.").removeprefix("solve."): name for name in TESTS}
SEED = 0
FAILED = 3
"""Status of a fork in which a test failed; 1 is that of an error outside of the tests."""
SECONDS = 15
"""CPU that a test may take beyond three times its own: the first one in a fork starts the device and compiles."""
NO_REASON = "no reason is known"
MEMORY = 16 << 30
"""Bytes that a mutant may take."""
ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutation"
FORK = multiprocessing.get_context("fork")
Row = dict[str, Any]


class Forks:
    """A plugin of pytest that runs the collected tests once for each mutant, each time in a fork."""

    def __init__(self, module: types.ModuleType, given: Sequence[mutants.Mutant], end: float, keep: Callable) -> None:
        self.module, self.given, self.end, self.keep = module, given, end, keep

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of the usual loop."""
        seconds, callers = self._calls(session)
        for mutant in self.given:
            if time.monotonic() > self.end:
                break
            first = callers.get(mutant.function, ())
            items = [item for item in session.items if first and item.nodeid in seconds]
            items.sort(key=lambda item: (item.nodeid not in first, seconds[item.nodeid]))
            process = FORK.Process(target=_judge, args=(self.module, mutant, items, seconds))
            begin = _cpu_of_forks()
            process.start()
            process.join()
            fate = _fate(mutant, process.exitcode)
            self.keep({**mutant.row, "fate": fate, "seconds": round(_cpu_of_forks() - begin, 2)})
        return True

    def _calls(self, session: pytest.Session) -> tuple[dict[str, float], dict[str, list[str]]]:
        """CPU seconds of the tests that call the module, and who calls each function: seen in a fork, without a fault.

        A function under ``jit`` has only the tests as callers that trace it, so the others run after them.
        """
        file = WORK / f"{self.module.__name__}.calls.json"
        process = FORK.Process(target=_watch, args=(self.module, session, file))
        process.start()
        process.join()
        if process.exitcode:
            raise RuntimeError(f"the tests of {self.module.__name__} fail without a fault")
        found = json.loads(file.read_text("utf-8"))
        return found["seconds"], found["callers"]


def _watch(module: types.ModuleType, session: pytest.Session, file: Path) -> None:
    """In the fork: run all tests and write down which of them call what in a module, and for how long they run."""
    seconds: dict[str, float] = {}
    callers: dict[str, list[str]] = {}
    for item, following in _pairs(session.items):
        called: set[str] = set()

        def see(frame: types.FrameType, event: str, _: Any, called: set[str] = called) -> None:
            if event == "call" and frame.f_code.co_filename == module.__file__:
                called.add(frame.f_code.co_qualname.split(".<locals>")[0])

        begin = time.process_time()
        sys.setprofile(see)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        if session.testsfailed:
            sys.exit(f"{item.nodeid} fails")
        if called:
            seconds[item.nodeid] = time.process_time() - begin
        for name in called:
            callers.setdefault(name, []).append(item.nodeid)
    file.write_text(json.dumps({"seconds": seconds, "callers": callers}), "utf-8")


def _judge(module: types.ModuleType, mutant: mutants.Mutant, items: Sequence[pytest.Item], seconds: dict) -> None:
    """In the fork: end as soon as a test fails, or takes much more CPU than it took without the fault."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    _install(module, mutant)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    for item, following in _pairs(items):
        limit = math.ceil(time.process_time() + SECONDS + 3 * seconds[item.nodeid])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            sys.exit(FAILED)


def _pairs(items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    """Each test and the one after it, for which pytest keeps the fixtures that both need."""
    return zip(items, [*items[1:], None], strict=False)


def _cpu_of_forks() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _install(module: types.ModuleType, mutant: mutants.Mutant) -> None:
    """Give the function its faulty body, so that all who imported it have it."""
    function: Any = module
    for name in mutant.function.split("."):
        function = inspect.getattr_static(function, name)
    if hasattr(function, "cache_clear"):
        function.cache_clear()
    while not isinstance(function, types.FunctionType):  # property, classmethod, jit, cache
        function = next(
            getattr(function, name) for name in ("fget", "__func__", "__wrapped__", "func") if hasattr(function, name)
        )
    function.__code__ = mutant.code()


def _fate(mutant: mutants.Mutant, exitcode: int | None) -> str:
    if exitcode == 1:
        raise RuntimeError(f"the campaign itself fails with {mutant.row}")
    names = {0: "survived", FAILED: "killed", -signal.SIGXCPU: "out of time", -signal.SIGKILL: "out of time"}
    return names.get(exitcode, "crashed")


def key(row: Row) -> str:
    """What names a mutant."""
    return f"{row['function']}:{row['line']}:{row['column']}: {row['before']} -> {row['after']}"


def kept(name: str) -> dict[str, Row]:
    """The mutants of a module that were judged, by their keys; the last word counts."""
    file = WORK / f"{name}.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {key(row): row for row in map(json.loads, lines)}


def run(name: str, seconds: float, again: bool) -> None:
    """Judge the mutants of a module that were not judged yet, or its survivors, in an order drawn from ``SEED``."""
    module = importlib.import_module(name)
    assert module.__file__ is not None
    given, before = mutants.of_module(Path(module.__file__)), kept(name)
    random.Random(SEED).shuffle(given)
    given = [one for one in given if before.get(key(one.row), {}).get("fate") == ("survived" if again else None)]
    if not given:
        return
    # What numba has compiled is loaded here, and not in every fork. It needs no device.
    routes(np.full((1, 1, 2), grid.ALL_WALLS, np.uint8), [0], [1])
    WORK.mkdir(parents=True, exist_ok=True)
    with open(WORK / f"{name}.jsonl", "a", encoding="utf-8", buffering=1) as file:
        forks = Forks(module, given, time.monotonic() + seconds, lambda row: file.write(json.dumps(row) + "\n"))
        tests = [str(ROOT / "tests" / test) for test in TESTS[name]]
        quiet = ["-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no", "--assert=plain"]
        # Exit code 1: the parent runs no test itself, so anything but "no failure" is an error of the campaign.
        if code := pytest.main([*quiet, *tests], plugins=[forks]):
            raise RuntimeError(f"{name}: pytest ended with {code}")


def reason(row: Row, line: str, entries: Sequence[dict[str, str]]) -> str:
    """Why a mutant survives, of the entries for its module: by its function, its change and words of its line."""
    change = f"{row['before']} -> {row['after']}"
    fit = (e for e in entries if (e["function"], e["change"]) == (row["function"], change) and e["line"] in line)
    return next((entry["reason"] for entry in fit), "")


def markdown(reasons: dict[str, list[dict[str, str]]]) -> str:
    """The report for people."""
    lines = [
        "# Mutation testing",
        "",
        "`bash scripts/mutate.sh`: each mutant changes one comparison, operator, number, truth value, branch, return",
        "value, end of a loop, raise, or call whose value is not used, within a function. It is killed when a fast",
        "test of its own module fails, crashes, or takes three times its CPU and 15 seconds more. What",
        "errors say, annotations, default values and constants of modules are not changed. Where fewer mutants were",
        f"tried than there are, they are a random sample (seed {SEED}). Equivalent mutants count as survivors.",
        "Survivors are listed as line:column, with the reason from tests/campaigns/survivors.json.",
        "",
        "| module | tests | mutants | tried | killed | share |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    survivors = []
    total = [0, 0, 0]
    for name, tests in TESTS.items():
        path = Path(str(importlib.import_module(name).__file__))
        keys = [key(one.row) for one in mutants.of_module(path)]
        rows = [row for row in map(kept(name).get, dict.fromkeys(keys)) if row]
        lived = [row for row in rows if row["fate"] == "survived"]
        numbers = len(keys), len(rows), len(rows) - len(lived)
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        lines.append(_line(f"`{name}`", ", ".join(tests), *numbers))
        survivors += ["", f"## Survivors in {name}", ""] if lived else []
        lines_of = path.read_text("utf-8").splitlines()
        for row in sorted(lived, key=lambda row: (row["line"], row["column"])):
            words = reason(row, lines_of[row["line"] - 1], reasons.get(name, [])) or NO_REASON
            place = f"{row['line']}:{row['column']}, `{row['function']}`"
            survivors.append(f"- {place}: `{row['before']}` to `{row['after']}`: {words}")
    return "\n".join([*lines, _line("all", "", *total), *survivors]) + "\n"


def _line(name: str, tests: str, mutants: int, tried: int, killed: int) -> str:
    share = f"{100 * killed / tried:.1f} %" if tried else "-"
    return f"| {' | '.join(map(str, (name, tests, mutants, tried, killed, share)))} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    command = argparse.ArgumentParser(prog="scripts/mutate.sh", description=__doc__)
    command.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(SHORT)}; by default all")
    command.add_argument("--seconds", type=float, default=float("inf"), help="the most for each module")
    command.add_argument("--again", action="store_true", help="only those that survived before")
    command.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    args = command.parse_args(arguments)
    # A test that failed has failed: no search for a smaller example.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutation", phases=phases, database=None, report_multiple_bugs=False)
    hypothesis.settings.load_profile("mutation")
    for short in args.modules or SHORT:
        run(SHORT[errors.choose("module", short, SHORT)], args.seconds, args.again)
    reasons = json.loads((ROOT / "tests" / "campaigns" / "survivors.json").read_text("utf-8"))
    (args.out / "mutation.md").write_text(markdown(reasons), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
