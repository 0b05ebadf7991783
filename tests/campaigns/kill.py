"""Interruptions: kill -9 at random moments, a full disk, a folder that can't be written.

    bash scripts/kill.sh                  # benchmarks/results/kill.md
    bash scripts/kill.sh --kills 5        # five kills of each command

The commands are forked from one process that has imported everything and computed nothing, so that the
moments of death lie in their work and not in Python's imports.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from campaigns.refusals import FORK, Commands, Fork, finish, of_orbax, refusals, start

GENERATE = [
    "--width",
    "5",
    "--height",
    "5",
    "--train",
    "60",
    "--eval",
    "30",
    "--test",
    "30",
    "--seed",
    "3",
    "--key-and-door",
    "--out",
]
DATASET = ["--name", "3x3-v1", "--variant", "all-routes", "--out"]
TRAIN = [
    "bc",
    "--size",
    "3",
    "--encoder",
    "mlp",
    "--epochs",
    "12",
    "--check-every",
    "3",
    "--quiet",
    "--resume",
    "--out",
]
BENCHMARK = [
    "--methods",
    "bc",
    "--sizes",
    "3",
    "--encoders",
    "mlp",
    "--seeds",
    "1",
    "--epochs",
    "8",
    "--quiet",
    "--out",
]


def _generate(arguments: Sequence[str]) -> int:
    from jaxlab.generate.__main__ import main

    return main(arguments)


def _dataset(arguments: Sequence[str]) -> int:
    from jaxlab.datasets.__main__ import main

    return main(arguments)


def _train(arguments: Sequence[str]) -> int:
    from baselines.train import main

    return main(arguments)


def _benchmark(arguments: Sequence[str]) -> int:
    from baselines.benchmark import main

    return main(arguments)


COMMANDS: Commands = {
    "generate": (_generate, GENERATE, False),
    "dataset": (_dataset, DATASET, False),
    "train": (_train, TRAIN, True),
    "benchmark": (_benchmark, BENCHMARK, True),
}
"""Name: (main, arguments before the folder, does it resume?)."""


def kill_after(process: Fork, seconds: float) -> bool:
    """Kill it after so long; False when it had come to its end."""
    process.join(seconds)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode == -signal.SIGKILL


# -- what a folder holds ---------------------------------------------------------------------------------


def content(folder: Path) -> dict[str, str]:
    """A digest of every finished file, times taken out; hidden ones are what was never finished."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            found[str(name)] = hashlib.sha256(_timeless(path)).hexdigest()[:16]
    return {name: digest for name, digest in found.items() if not of_orbax(name)} | _policies(folder)


def _timeless(path: Path) -> bytes:
    if path.name == "results.json":
        results = json.loads(path.read_text("utf-8"))
        for run in results["seeds"]:
            run.pop("train_seconds")
        return json.dumps(results).encode()
    if path.name == "metrics.jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return json.dumps([{name: row[name] for name in row if name != "seconds"} for row in rows]).encode()
    if path.name == "grid.json":  # it says which cells the last command found finished
        return path.read_bytes().replace(b'"kept"', b'"done"')
    if path.name == "report.html":
        return b""  # it shows seconds
    return path.read_bytes()


def _policies(folder: Path) -> dict[str, str]:
    """A digest of the weights of every kept policy."""
    found = {}
    for results in sorted(folder.rglob("results.json")):
        import baselines

        for which in ("last", "best"):
            policy = baselines.load(results.parent, which=which)
            sha = hashlib.sha256()
            for leaf in _leaves(policy):
                sha.update(np.asarray(leaf).tobytes())
            found[f"{results.parent.name}/{which}"] = sha.hexdigest()[:16]
    return found


def _leaves(policy: Any) -> list[Any]:
    import jax

    return jax.tree.leaves(policy.variables)


def torn(folder: Path, whole: dict[str, str], resumes: bool) -> list[str]:
    """What of a killed command's folder is neither absent nor whole. Metrics are appended to, and mended by resume."""
    if not folder.exists():
        return []
    faults = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if of_orbax(name) or path.name in ("metrics.jsonl", "report.html", "grid.json"):
            continue
        try:
            digest = hashlib.sha256(_timeless(path)).hexdigest()[:16]
        except ValueError as error:
            faults.append(f"{name}: {error}")
            continue
        if whole.get(name) != digest:
            faults.append(f"{name} is torn")
    if not resumes and folder.exists() and (have := set(content(folder))) and folder.name == "generate":
        faults += [f"{name} lacks in a set that is there" for name in sorted(set(whole) - have)]
    return faults


# -- the campaigns ---------------------------------------------------------------------------------------


def kills(name: str, number: int, seed: int, work: Path) -> dict[str, Any]:
    """Kill one command ``number`` times, each at a random moment, and look at what is left."""
    main, arguments, resumes = COMMANDS[name]
    dice, begin = random.Random(f"{seed} {name}"), time.monotonic()
    log = work / f"{name}.log"
    whole_folder, folder = work / "whole" / name, work / name
    whole_folder.parent.mkdir(parents=True, exist_ok=True)
    if code := finish(start(main, [*arguments, str(whole_folder)], log)):
        raise RuntimeError(f"{name} ends with {code} when nobody kills it: {log.read_text()[-2000:]}")
    again = time.monotonic()  # the first run compiles for the later ones, where a cache is set
    shutil.rmtree(whole_folder)
    finish(start(main, [*arguments, str(whole_folder)], log))
    seconds = time.monotonic() - again
    whole = _in_child(lambda: content(whole_folder))
    killed, completed, faults = 0, 0, []
    finished: list[bool] = []
    while killed < number:
        process = start(main, [*arguments, str(folder)], log)
        if kill_after(process, dice.uniform(0.0, 1.1 * seconds)):
            killed += 1
            faults += torn(folder, whole, resumes)
            if dice.random() < 0.75 and killed < number:
                continue  # killed again before it comes to its end
        else:
            completed += 1
        if code := finish(start(main, [*arguments, str(folder)], log)):
            faults.append(f"resumed, it ends with {code}")
        same = _in_child(lambda: content(folder)) == whole
        finished.append(same)
        if not same:
            faults.append("resumed, it ends with other bytes")
        shutil.rmtree(folder, ignore_errors=True)
    leftovers = [path.name for path in work.iterdir() if path.name.startswith(f".{name}")]
    for path in work.glob(f".{name}*"):
        shutil.rmtree(path, ignore_errors=True)
    return {
        "command": name,
        "kills": killed,
        "torn": len([fault for fault in faults if "torn" in fault or "lacks" in fault]),
        "resumed": len(finished),
        "same": sum(finished),
        "faults": faults[:20],
        "unfinished": len(leftovers),
        "run_seconds": round(seconds, 2),
        "seconds": round(time.monotonic() - begin, 1),
    }


def _in_child(function: Callable[[], dict[str, str]]) -> dict[str, str]:
    """Run in a fork: this process must never start a device, or its forks would inherit half of it."""
    with tempfile.TemporaryFile("w+") as file:

        def write() -> None:
            json.dump(function(), file)
            file.flush()

        process = FORK.Process(target=write)
        process.start()
        if finish(process):
            return {"the folder": "can't be read"}  # the fork has said why
        file.seek(0)
        return json.load(file)


def markdown(report: dict[str, Any]) -> str:
    """The report for people."""
    lines = [
        "# Interruptions",
        "",
        f"`bash scripts/kill.sh`, Python {report['python']}, seed {report['seed']}. Each command is killed (SIGKILL)",
        "at moments drawn uniformly over its running time. After each kill every file under its name is compared with",
        "the same file of an undisturbed run; then the command is given again, and all bytes are compared (times",
        "taken out). Three quarters are killed again before they may come to their end; train and benchmark go on from",
        "their checkpoints.",
        "",
        "| command | kills | torn files | completed afterwards | of these the same bytes | hidden leftovers |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in report["kills"]:
        names = ("command", "kills", "torn", "resumed", "same", "unfinished")
        lines.append(f"| {' | '.join(str(row[name]) for name in names)} |")
    faults = [f"{row['command']}: {fault}" for row in report["kills"] for fault in row["faults"]]
    lines += ["", "Faults: " + ("; ".join(faults) if faults else "none") + ".", ""]
    lines += ["## No room, no permission", ""]
    lines += [
        "| command | where | exit status | last line | old file left | torn files |",
        "| --- | --- | ---: | --- | --- | ---: |",
    ]
    for row in report["refusals"]:
        old = "yes" if row["old"] else "NO"
        says = row["says"].replace("|", "\\|")
        line = (row["command"], row["place"], row["status"], f"`{says}`", old, len(row["torn"]))
        lines.append(f"| {' | '.join(map(str, line))} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when nothing was torn and everything resumed to the same bytes."""
    command = argparse.ArgumentParser(prog="scripts/kill.sh", description=__doc__)
    command.add_argument("--only", nargs="*", choices=COMMANDS, default=list(COMMANDS))
    command.add_argument("--kills", type=int, default=50, help="of each command")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--kills-only", action="store_true", help="no full disk, no read-only folder")
    command.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    args = command.parse_args(arguments)
    _import_for(args.only)
    work = Path(tempfile.mkdtemp(prefix="kill-"))
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / "kill.json"
    old = json.loads(file.read_text()) if file.exists() else {"kills": [], "refusals": []}
    rows = {row["command"]: row for row in old["kills"]}
    for name in args.only:
        rows[name] = kills(name, args.kills, args.seed, work)
        print(json.dumps(rows[name], indent=1), flush=True)
    report = {"python": sys.version.split()[0], "seed": args.seed, "kills": [rows[n] for n in COMMANDS if n in rows]}
    report["refusals"] = old["refusals"] if args.kills_only else refusals(COMMANDS, work)
    file.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    (args.out / "kill.md").write_text(markdown(report), "utf-8")
    print(markdown(report))
    shutil.rmtree(work)
    return int(any(row["faults"] for row in report["kills"]))


def _import_for(names: Sequence[str]) -> None:
    """What the commands import, so that their forks have it."""
    modules = {
        "generate": ("jaxlab.generate.__main__",),
        "dataset": ("jaxlab.datasets.__main__",),
        "train": ("baselines.train", "baselines.bc", "baselines.runner", "orbax.checkpoint", "tyro"),
        "benchmark": ("baselines.benchmark", "baselines.bc", "baselines.page", "matplotlib.pyplot"),
    }
    for name in names:
        for module in modules[name]:
            importlib.import_module(module)


if __name__ == "__main__":
    raise SystemExit(main())
