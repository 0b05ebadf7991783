"""Training stays finite or says that it diverged: random configurations of every method, at least 200 updates each.

bash scripts/configurations.sh                                # benchmarks/results/configurations.md
bash scripts/configurations.sh --encoder cnn --configs 2      # the same with pictures, in the same report

Done ones are kept in build/configurations, for the method's code as it is; a command given again goes on from there.
Compiled without optimisation: a configuration is a program of its own, and compiling it takes longer than running it.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax

import jaxlab
from baselines import dagger, discriminator, gail, iupe, learning, ranges, runner, train
from jaxlab import datasets, splits
from jaxlab.files import write_atomic
from jaxlab.maze import Maze

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "configurations" / "done.jsonl"
UPDATES, MAZES, CONFIGS, SEED = 200, 4, 20, 0
FIXED = ("encoder", "render", "epochs", "updates")
"""Choices that are not drawn."""
MORE = {
    **dict.fromkeys(("batch",), (16, 64)),
    **dict.fromkeys(("steps", "limit"), (12, 40)),
    **dict.fromkeys(("passes", "judge_passes"), (2, 4)),
    **dict.fromkeys(("round_updates", "epoch_updates"), (10, 50)),
    **dict.fromkeys(("random_steps", "first_steps"), (10, 100)),
    **dict.fromkeys(("model_updates", "renewal_updates"), (20, 100)),
    "renewals": (5, 20),
    "model_batch": (16, 128),
    "replay": (100, 10_000),
}
"""Counts are drawn from the least that is allowed (`ranges.COUNTS`) and these: few, since each is a shape."""
WORDS = {
    "decay": learning.DECAYS,
    "beta": dagger.BETAS,
    "reward": discriminator.REWARDS,
    "control": gail.CONTROLS,
    "labels": iupe.LABELS,
    "explore": iupe.EXPLORES,
}
ALPHA = {"bco": (0.0, 0.1, 1.0), "sqil": (1e-6, 1e-3, 0.1, 1.0, 10.0)}
"""What alpha means, and which values it may have, differs between these two."""
SMALL, LARGE = 1e-6, 10.0
"""A number of no upper bound is drawn log-uniformly between these."""
AT_END = 0.25
"""Chance that a number is an end of its range, where the end belongs to it."""

Row = dict[str, Any]
"""``encoder``, ``method``, ``number``, ``choices``, ``bad`` (what is not finite), ``said`` (the error), ``code``."""


def draw(method: str, number: int, encoder: str = "mlp") -> dict[str, Any]:
    """The choices of a numbered configuration, each from its documented range."""
    dice = random.Random(f"{SEED} {encoder} {method} {number}")
    choices: dict[str, Any] = {}
    for field in dataclasses.fields(_module(method).Config):
        if field.name not in FIXED:
            choices[field.name] = _value(method, field.name, str(field.type), dice)
    if method == "sqil":
        choices["batch"] = max(2, choices["batch"])  # half of them demonstrations
    if choices.get("beta") == "exponential":
        choices["beta_rate"] = min(1.0, choices["beta_rate"])
    return choices


def _value(method: str, name: str, kind: str, dice: random.Random) -> Any:
    if kind == "bool":
        return dice.random() < 0.5
    if kind.startswith("str"):
        return dice.choice(WORDS[name])
    if name == "alpha":
        return dice.choice(ALPHA[method])
    if name in ranges.COUNTS:
        whole_pass = ("full",) if "Literal" in kind and method != "dagger" else ()
        return dice.choice((ranges.COUNTS[name], *MORE[name], *whole_pass))
    low, high, ends = ranges.NUMBERS[name]
    allowed = [end for end, sign in ((low, ends[0]), (high, ends[1])) if sign in "[]"]
    if allowed and dice.random() < AT_END:
        return dice.choice(allowed)
    if low == -math.inf:
        return dice.uniform(-LARGE, LARGE)
    return dice.uniform(low, high) if high < math.inf else SMALL * (LARGE / SMALL) ** dice.random()


def configure(method: str, choices: dict[str, Any], encoder: str = "mlp") -> Any:
    """A config of these choices and no fewer than ``UPDATES`` updates."""
    match method:
        case "gail":
            each = choices["passes"] * learning.num_batches(MAZES * 9, choices["batch"])
            length = {"epochs": -(-UPDATES // each)}
        case "sqil":
            length = {"epochs": -(-UPDATES // choices["epoch_updates"])}
        case _:
            length = {"updates": UPDATES}
    return _module(method).Config(encoder=encoder, **choices, **length)


def mazes() -> Maze:
    """What is trained on."""
    return splits.load("3x3-v1")["train"][:MAZES]


def run(method: str, number: int, encoder: str = "mlp") -> Row:
    """Train one configuration; where it is not finite, train it again as the command line does, which has to stop."""
    module, choices = _module(method), draw(method, number, encoder)
    config = configure(method, choices, encoder)
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 3)), mazes())
    bad = learning.not_finite(jax.jit(module.make(config, shown))(jax.random.key(number)))
    row = {"encoder": encoder, "method": method, "number": number, "choices": choices, "bad": bad, "said": ""}
    if bad:
        try:
            runner.run(method, module, config, {"train": mazes()}, runner.Plan(seed=number))
        except learning.DivergedError as error:
            row["said"] = str(error)
    return row


def _module(method: str) -> Any:
    return importlib.import_module(train.METHODS[method])


def code() -> str:
    """SHA-256 of the learning code."""
    sha = hashlib.sha256()
    for path in sorted((ROOT / "baselines").glob("*.py")):
        sha.update(path.read_bytes())
    return sha.hexdigest()


def markdown(rows: Sequence[Row]) -> str:
    """The report for people."""
    lines = [
        "# Random configurations",
        "",
        f"`bash scripts/configurations.sh`: configurations drawn at random (seed {SEED}) from the ranges in",
        f"`baselines/ranges.py`, trained for {UPDATES} updates or some more on {MAZES} mazes of 3x3. All that a run",
        "holds at its end (weights, statistics, optimiser) and all metrics of all epochs are searched for NaN and",
        "infinity. Where there is any, the run is given to `baselines.runner`, which has to stop with an error.",
        "",
        "| encoder | method | configurations | finite | stopped with an error | not finite and not stopped |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for encoder, method in dict.fromkeys((row["encoder"], row["method"]) for row in rows):
        of_it = [row for row in rows if (row["encoder"], row["method"]) == (encoder, method)]
        bad = [row for row in of_it if row["bad"]]
        said = sum(bool(row["said"]) for row in bad)
        lines.append(f"| {encoder} | {method} | {len(of_it)} | {len(of_it) - len(bad)} | {said} | {len(bad) - said} |")
    if bad := [row for row in rows if row["bad"]]:
        lines += ["", "Not finite:", ""]
    for row in bad:
        choices = ", ".join(f"{name} {_short(value)}" for name, value in row["choices"].items())
        lines.append(
            f"- {row['encoder']}, {row['method']} {row['number']}: {row['said'] or row['bad'][0]}. ({choices})"
        )
    lines += [
        "",
        "Counts are the least that is allowed or one of two more. Numbers lie anywhere in their range",
        f"({SMALL:g} to {LARGE:g}, log-uniformly, where it has no upper end), with a chance of {AT_END:g} at an end",
        "that belongs to it.",
    ]
    return "\n".join(lines) + "\n"


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when every run was finite or stopped with an error."""
    command = argparse.ArgumentParser(prog="scripts/configurations.sh", description=__doc__)
    command.add_argument("--methods", nargs="*", default=list(train.METHODS), choices=list(train.METHODS))
    command.add_argument("--encoder", default="mlp", help="mlp or cnn")
    command.add_argument("--configs", type=int, default=CONFIGS, help="of each method")
    command.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    args = command.parse_args(arguments)
    jax.config.update("jax_disable_most_optimizations", True)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.exists() else []
    rows = [row for row in map(json.loads, lines) if row["code"] == code()]
    rows = [row for row in rows if row["choices"] == draw(row["method"], row["number"], row["encoder"])]
    done = {(row["encoder"], row["method"], row["number"]) for row in rows}
    with open(KEPT, "a", encoding="utf-8", buffering=1) as file:
        for number in range(args.configs):
            for method in args.methods:
                if (args.encoder, method, number) not in done:
                    rows.append(run(method, number, args.encoder) | {"code": code()})
                    file.write(json.dumps(rows[-1]) + "\n")
    order = list(train.METHODS)
    rows.sort(key=lambda row: (row["encoder"] != "mlp", row["encoder"], order.index(row["method"]), row["number"]))
    write_atomic(args.out / "configurations.md", markdown(rows))
    print(markdown(rows))
    return int(any(row["bad"] and not row["said"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
