"""Hostile files: every reader either loads an input or raises the error that it documents.

    bash scripts/fuzz.sh                    # the whole campaign, benchmarks/results/fuzz.md
    bash scripts/fuzz.sh --scale 0.01       # a hundredth of it

Each campaign runs in a process of its own, so that a crash of the interpreter is a finding too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import types
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from campaigns import targets
from campaigns.guard import Finding, Guard

COUNTS = {"guided": 500_000, "texts": 550_000, "arrays": 60_000, "documents": 45_000, "checkpoints": 1_000}
"""Inputs of each campaign."""
MEANING = {
    "guided": "`.labyrinth` texts, coverage-guided (atheris)",
    "texts": "`.labyrinth` texts, damaged real ones",
    "arrays": "`.npz`: splits, episodes, replays",
    "documents": "results.json, alone and through baselines.load",
    "checkpoints": "Orbax checkpoints",
}
STALLED = 60
"""CPU seconds without a new input after which a process counts as hanging."""
_ROOM = 1 << 20


class Blackbox:
    """The input at work, in memory that outlives the process."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(b"\0" * (_ROOM + 16))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), _ROOM + 16)

    def note(self, number: int, data: bytes) -> None:
        """Before an input is read."""
        self._map[:16] = number.to_bytes(8, "little") + len(data).to_bytes(8, "little")
        self._map[16 : 16 + len(data[:_ROOM])] = data[:_ROOM]

    def read(self) -> tuple[int, bytes]:
        """(number, input) of what was at work last."""
        number, length = (int.from_bytes(self._map[i : i + 8], "little") for i in (0, 8))
        return number, bytes(self._map[16 : 16 + min(length, _ROOM)])


class Tally:
    """What became of the inputs so far, on disk every second."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.outcomes, self.findings = folder, Counter[str](), list[dict[str, Any]]()
        self._written = time.monotonic()

    def add(self, target: str, outcome: str | Finding, data: bytes) -> None:
        """One more input."""
        if isinstance(outcome, Finding):
            kind = f"{outcome.kind} at {outcome.where}"
            self.outcomes[f"{target}: FINDING {outcome.kind}"] += 1
            if all(one["kind"] != kind for one in self.findings) and len(self.findings) < 50:
                path = self.folder / f"finding-{zlib.crc32(kind.encode()):08x}"
                path.write_bytes(data)
                row = {"target": target, "kind": kind, "detail": outcome.detail, "input": path.name}
                self.findings.append(row)
        else:
            self.outcomes[f"{target}: {outcome}"] += 1
        if time.monotonic() - self._written > 1:
            self.write()

    def write(self) -> None:
        """To ``tally.json``."""
        self._written = time.monotonic()
        text = json.dumps({"outcomes": self.outcomes, "findings": self.findings}, indent=1)
        (self.folder / "tally.json").write_text(text, "utf-8")


def open_targets(campaign: str, folder: Path, run: Path | None) -> dict[str, targets.Target]:
    """The targets of a campaign; ``run`` is a finished run of baselines.train, for "documents"."""
    if campaign == "arrays":
        return targets.arrays(folder)
    if campaign == "checkpoints":
        return targets.checkpoints(folder)
    if campaign == "documents":
        assert run is not None
        return targets.documents(folder, run)
    return targets.texts()


def mutate(
    campaign: str,
    count: int,
    seed: int,
    folder: Path,
    run: Path | None = None,
    *,
    confine: bool = True,
    seconds: float = float("inf"),
) -> Tally:
    """Read ``count`` damaged inputs in this process, or as many as fit into so many seconds."""
    end = time.monotonic() + seconds
    given = open_targets(campaign, folder, run)
    guard, tally, box, dice = Guard(), Tally(folder), Blackbox(folder / "input"), random.Random(seed)
    _warm(given, guard, dice)
    if confine:
        guard.confine()
    names = list(given)
    shares = [given[name].share for name in names]
    for number in range(count):
        if time.monotonic() > end:
            break
        name = dice.choices(names, shares)[0]
        data = given[name].draw(dice)
        raw = data if isinstance(data, bytes) else repr(data).encode()
        box.note(number + 1, raw)
        tally.add(name, guard.call(given[name].load, data, given[name].allowed), raw)
    tally.write()
    return tally


def _warm(given: dict[str, targets.Target], guard: Guard, dice: random.Random) -> None:
    """Load whole files and a few damaged ones, unwatched: imports and compilations are no fault of an input."""
    for target in given.values():
        for data in (*target.whole, *(target.draw(dice) for _ in range(20))):
            with contextlib.suppress(*target.allowed):  # any other error ends the campaign here, and says so
                target.load(data)


def guided(count: int, seed: int, folder: Path, seconds: float) -> None:
    """Coverage-guided texts: libFuzzer draws them, in this process, which it ends."""
    import atheris

    from jaxlab import draw, text
    from jaxlab.generate import place

    for module in (text, draw, place):
        for name, function in list(vars(module).items()):
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
                setattr(module, name, atheris.instrument_func(function))
    target = targets.texts()["text"]
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for i, data in enumerate(targets.labyrinths()[:200]):
        (corpus / f"{i:04d}").write_bytes(data)
    words = folder / "words"
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in targets.mutations.TOKENS))
    guard, tally, box = Guard(), Tally(folder), Blackbox(folder / "input")
    _warm({"text": target}, guard, random.Random(seed))
    guard.confine()
    number, end = 0, time.monotonic() + seconds

    def one(data: bytes) -> None:
        nonlocal number
        number += 1
        box.note(number, data)
        tally.add("text", guard.call(target.load, data, target.allowed), data)
        if number >= count or time.monotonic() > end:
            tally.write()
            sys.stderr.flush()
            os._exit(0)

    line = [
        f"-runs={2 * count}",
        f"-seed={seed + 1}",
        "-max_len=2048",
        f"-dict={words}",
        "-rss_limit_mb=0",
        "-verbosity=1",
    ]
    atheris.Setup(["fuzz", *line, str(corpus)], one)
    atheris.Fuzz()


def _escaped(token: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in (34, 92) else f"\\x{byte:02x}" for byte in token)


# -- the parent ----------------------------------------------------------------------------------------


def watch(campaign: str, count: int, seed: int, folder: Path, run: Path | None, seconds: float) -> dict[str, Any]:
    """Run a campaign in a process of its own; a crash or a hang is noted, and the rest of the inputs follow."""
    folder.mkdir(parents=True, exist_ok=True)
    begin, done, rounds, total = time.monotonic(), 0, 0, Counter[str]()
    findings: list[dict[str, Any]] = []
    note = ""
    while done < count and rounds < 10 and time.monotonic() - begin < seconds:
        here = folder / str(rounds)
        here.mkdir()
        box = Blackbox(here / "input")
        line = ["--child", campaign, "--count", str(count - done), "--seed", str(seed + rounds), "--folder", str(here)]
        line += ["--seconds", str(seconds - (time.monotonic() - begin))]
        with open(here / "log", "wb") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "campaigns.fuzz", *line, *(["--run", str(run)] if run else [])],
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, _places()))},
            )
            fault = _wait(child, box)
        number, data = box.read()
        tally = json.loads((here / "tally.json").read_text()) if (here / "tally.json").exists() else {}
        total.update(tally.get("outcomes", {}))
        findings += tally.get("findings", [])
        if fault:
            (here / "fatal-input").write_bytes(data)
            detail = (here / "log").read_text("utf-8", "replace")[-300:]
            findings.append({"target": campaign, "kind": fault, "detail": detail, "input": f"{rounds}/fatal-input"})
            number = max(1, number)
        note = _last_coverage(here / "log") or note
        done += number
        rounds += 1
    return {
        "campaign": campaign,
        "inputs": done,
        "seconds": round(time.monotonic() - begin, 1),
        "outcomes": dict(sorted(total.items())),
        "findings": findings,
        "note": note,
    }


def _places() -> list[Path]:
    tests = Path(__file__).resolve().parents[1]
    return [tests, tests.parent]


def _wait(child: subprocess.Popen[bytes], box: Blackbox) -> str:
    """ "" when the process ended well, else what became of it."""
    last, since = -1, 0.0
    while child.poll() is None:
        time.sleep(0.2)
        number, used = box.read()[0], _cpu_seconds(child.pid)
        if number != last:
            last, since = number, used
        elif number > 0 and used - since > STALLED:
            child.send_signal(signal.SIGKILL)
            child.wait()
            return f"no answer in {STALLED} s of computing"
    return "" if child.returncode == 0 else f"the process ended with {child.returncode}"


def _cpu_seconds(process: int) -> float:
    """What a process has computed so far; 0 once it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _last_coverage(log: Path) -> str:
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if " cov: " in line]
    return lines[-1].split("exec/s")[0].strip() if lines else ""


def markdown(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        "# Fuzzing",
        "",
        f"`bash scripts/fuzz.sh`, Python {report['python']}, seed {report['seed']}. Each input loads or raises the",
        "error that its reader documents. A finding is any other exception, the end of the process, more than 1 s",
        "of computing or 200 MiB of memory for one input, or an audit event of code being run, an object being",
        "unpickled, a process started or a connection made.",
        "",
        "| inputs | of | read whole | documented errors | findings | seconds |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for one in report["campaigns"]:
        loaded = sum(n for name, n in one["outcomes"].items() if name.endswith(": loaded"))
        wrong = sum(n for name, n in one["outcomes"].items() if "FINDING" in name)
        errors = sum(one["outcomes"].values()) - loaded - wrong
        row = (f"{one['inputs']:,}", MEANING[one["campaign"]], f"{loaded:,}", f"{errors:,}", len(one["findings"]))
        lines.append(f"| {' | '.join(map(str, row))} | {one['seconds']:.0f} |")
    lines += ["", "What became of them:", ""]
    for one in report["campaigns"]:
        lines += [f"- {one['campaign']}: " + ", ".join(f"{name} {n:,}" for name, n in one["outcomes"].items())]
        if one["note"]:
            lines += [f"  (last line of libFuzzer: `{one['note']}`)"]
    found = [row for one in report["campaigns"] for row in one["findings"]]
    if found:
        lines += ["", "Findings:", ""] + [f"- {row['target']}: {row['kind']}: {row['detail'][:200]!r}" for row in found]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when nothing was found."""
    command = argparse.ArgumentParser(prog="scripts/fuzz.sh", description=__doc__)
    command.add_argument("--only", nargs="*", choices=COUNTS, help="campaigns (default: all)")
    command.add_argument("--scale", type=float, default=1.0, help="share of the inputs")
    command.add_argument("--seconds", type=float, default=float("inf"), help="the most for each campaign")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--run", type=Path, help="finished run of baselines.train, in place of one made now")
    command.add_argument("--work", type=Path, help="folder for inputs that were findings (default: a temporary one)")
    command.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    for hidden in ("--child", "--count", "--folder"):
        command.add_argument(hidden, help=argparse.SUPPRESS)
    args = command.parse_args(arguments)
    if args.child:
        child(args.child, int(args.count), args.seed, Path(args.folder), args.run, args.seconds)
        return 0
    work = args.work or Path(tempfile.mkdtemp(prefix="fuzz-"))
    chosen = args.only or list(COUNTS)
    run = args.run
    if "documents" in chosen and run is None:
        run = work / "run"
        line = ["bc", "--size", "3", "--encoder", "mlp", "--epochs", "2", "--quiet", "--out"]
        subprocess.run([sys.executable, "-m", "baselines.train", *line, str(run)], check=True)
    rows = []
    for name in chosen:
        rows.append(watch(name, max(1, round(COUNTS[name] * args.scale)), args.seed, work / name, run, args.seconds))
        print(json.dumps(rows[-1], indent=1), flush=True)
    report = {"python": sys.version.split()[0], "seed": args.seed, "campaigns": rows}
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / "fuzz.json"
    if args.only and file.exists():  # the other campaigns stay as they were
        kept = [one for one in json.loads(file.read_text())["campaigns"] if one["campaign"] not in chosen]
        report["campaigns"] = sorted([*kept, *rows], key=lambda one: list(COUNTS).index(one["campaign"]))
    file.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    (args.out / "fuzz.md").write_text(markdown(report), "utf-8")
    print(f"written to {file}; inputs of findings under {work}")
    return int(any(one["findings"] for one in rows))


def child(campaign: str, count: int, seed: int, folder: Path, run: Path | None, seconds: float) -> None:
    """One campaign in this process."""
    if campaign == "guided":
        guided(count, seed, folder, seconds)
    else:
        mutate(campaign, count, seed, folder, run, seconds=seconds)


if __name__ == "__main__":
    raise SystemExit(main())
