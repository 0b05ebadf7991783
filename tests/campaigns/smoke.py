"""Kill -9 at random moments of a benchmark: it goes on and ends with the same numbers.

    bash scripts/kill_smoke.sh              # 20 kills of --preset smoke, benchmarks/results/kill-smoke.md

The benchmark runs once undisturbed, which gives its time. Then it is started again and again in another
folder and killed after a stint drawn uniformly, until it has been killed so often; the last start runs to its end.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jaxlab.files import write_atomic

ROOT = Path(__file__).resolve().parents[2]
LINE = ("--preset", "smoke", "--quiet")
TABLES = ("tables.md", "scores.csv", "differences.csv", "agreement.md")


def start(line: Sequence[str], out: Path) -> subprocess.Popen[bytes]:
    """One benchmark in a process of its own; what it says goes to a file beside its folder."""
    with open(out.with_suffix(".log"), "ab") as log:
        command = [sys.executable, "-m", "baselines.benchmark", *line, "--out", str(out)]
        return subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)


def whole(line: Sequence[str], out: Path) -> float:
    """Seconds of a run that nobody disturbs."""
    begin = time.monotonic()
    status = start(line, out).wait()
    if status != 0:
        raise RuntimeError(f"the benchmark ended with {status}: {out.with_suffix('.log').read_text()[-500:]}")
    return time.monotonic() - begin


def killed(line: Sequence[str], out: Path, kills: int, longest: float, dice: random.Random) -> list[int]:
    """Kill it so often, each time after 0 to ``longest`` seconds; the cells that were done at each kill.

    The list is shorter where it came to its end before.
    """
    done = []
    for _ in range(kills):
        process = start(line, out)
        try:
            process.wait(dice.uniform(0, longest))
            return done
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done.append(len(list(out.glob("cells/*/results.json"))))
    return done


def numbers(out: Path) -> dict[str, Any]:
    """Every result of a benchmark's folder without its times, and its tables."""
    found: dict[str, Any] = {name: (out / name).read_text() for name in TABLES if (out / name).exists()}
    for path in sorted(out.glob("cells/*/results.json")):
        found[path.parent.name] = results = json.loads(path.read_text())
        for run in results["seeds"]:
            del run["train_seconds"]
    return found


def report(seconds: float, done: Sequence[int], cells: int, equal: bool, line: Sequence[str]) -> str:
    """For people."""
    return "\n".join(
        [
            "# Interrupted benchmark",
            "",
            f"`python -m baselines.benchmark {' '.join(line)}` took {seconds:.0f} s undisturbed, for {cells} cells.",
            f"In another folder it was killed (SIGKILL) {len(done)} times; the cells that were done at each kill:",
            "",
            " ".join(map(str, done)),
            "",
            f"Then it ran to its end. Results without times, and tables: {'the same' if equal else '**other ones**'}.",
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when the numbers are the same and it was killed as often as asked."""
    command = argparse.ArgumentParser(prog="scripts/kill_smoke.sh", description=__doc__)
    command.add_argument("--kills", type=int, default=20)
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--longest", type=float, help="seconds until a kill, at most (default: a sixth of a run)")
    command.add_argument("--whole", type=Path, help="folder of an undisturbed run that is there already")
    command.add_argument("--seconds", type=float, default=0.0, help="what that run took")
    command.add_argument("--out", type=Path, default=Path("benchmarks/results/kill-smoke.md"))
    args = command.parse_args(arguments)
    if args.whole and args.seconds <= 0:
        command.error("--whole needs --seconds")
    with tempfile.TemporaryDirectory() as folder:
        base, seconds = args.whole or Path(folder) / "whole", args.seconds
        if args.whole is None:
            seconds = whole(LINE, base)
        print(f"undisturbed: {seconds:.0f} s", flush=True)
        broken = Path(folder) / "killed"
        longest = args.longest or seconds / 6
        done = killed(LINE, broken, args.kills, longest, random.Random(args.seed))
        print(f"killed {len(done)} times", flush=True)
        whole(LINE, broken)
        one, other = numbers(base), numbers(broken)
        cells = sum(isinstance(value, dict) for value in one.values())
        text = report(seconds, done, cells, one == other, LINE)
    print(text)
    write_atomic(args.out, text)
    return int(one != other or len(done) < args.kills)


if __name__ == "__main__":
    raise SystemExit(main())
