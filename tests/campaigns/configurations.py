"""Training never yields NaN: random configurations of every method, at least 200 updates each.

bash scripts/numerics.sh --configs 20           # benchmarks/results/configurations.md

Done ones are kept in build/numerics; a command given again goes on from there. Delete it after a change of baselines/.
 Compiled without optimisation:
a configuration is a program of its own, and compiling it takes longer than running it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxlab
from baselines import learning
from jaxlab import datasets, splits

UPDATES, MAZES, SEED = 200, 4, 0
POLICY = {
    "batch": [4, 16, 64],
    "learning_rate": (1e-5, 1e-2),
    "weight_decay": [0.0, 1e-4, 0.1],
    "decay": ["constant", "cosine"],
    "clip": [0.0, 0.5, 5.0],
    "dropout": [0.0, 0.3, 0.8],
}
INVERSE = POLICY | {
    "random_steps": [1, 10, 100],
    "limit": [1, 12, 100],
    "renewals": [1, 5, 20],
    "model_updates": [1, 20, 200],
    "renewal_updates": [1, 10, 50],
    "model_batch": [1, 16, 128],
    "model_rate": (1e-5, 1e-2),
    "model_dropout": [0.0, 0.5],
}
RANGES: dict[str, dict[str, list[Any] | tuple[float, float]]] = {
    "bc": POLICY,
    "dagger": POLICY
    | {
        "steps": [1, 10, 40],
        "limit": [1, 12, 40],
        "round_updates": [10, 40, 80],
        "beta": ["first", "exponential", "linear"],
        "beta_rate": [0.1, 0.5, 0.9],
        "explore": [0.0, 0.1, 1.0],
    },
    "gail": {
        "steps": [8, 64],
        "limit": [1, 12, 100],
        "gamma": [0.0, 0.5, 0.95],
        "trace": [0.0, 0.95, 1.0],
        "passes": [1, 2, 4],
        "batch": [2, 16, 100],
        "clip": [0.05, 0.2, 0.5],
        "value_weight": [0.0, 0.5, 1.0],
        "entropy_weight": [0.0, 0.01, 0.1],
        "learning_rate": (1e-5, 1e-2),
        "clip_gradient": [0.1, 0.5, 10.0],
        "judge_passes": [1, 3],
        "judge_memory": [0.0, 0.95, 1.0],
        "judge_rate": (1e-5, 1e-2),
        "penalty": [0.0, 1.0, 10.0],
        "reward": ["airl", "logD", "neg_log1mD"],
        "absorbing": [True, False],
        "normalize": [True, False],
        "control": ["none", "shuffled", "constant"],
    },
    "bco": INVERSE | {"alpha": [0.0, 0.1, 1.0], "balanced": [True, False], "keep_bumps": [True, False]},
    "sqil": {
        "epoch_updates": [10, 50, 100],
        "batch": [2, 16, 256],
        "learning_rate": (1e-5, 1e-2),
        "gamma": [0.0, 0.5, 0.9, 0.99],
        "alpha": [0.01, 0.1, 0.3, 1.0],
        "polyak": [0.0, 0.02, 1.0],
        "center": [0.0, 0.5, 1.0],
        "absorbing": [True, False],
        "replay": [4, 100, 10_000],
        "first_steps": [1, 10],
        "limit": [1, 12, 100],
    },
    "iupe": INVERSE | {"labels": ["sample", "argmax"], "explore": ["sample", "argmax"], "weighted": [True, False]},
}
"""What is drawn: one of a list, or log-uniform between two ends."""
KEPT = Path(__file__).resolve().parents[2] / "build" / "numerics" / "configurations.jsonl"


def draw(method: str, number: int) -> dict[str, Any]:
    """The choices of a numbered configuration."""
    dice = random.Random(f"{SEED} {method} {number}")
    choices = {}
    for name, given in RANGES[method].items():
        low, high = given[0], given[-1]
        choices[name] = dice.choice(given) if isinstance(given, list) else low * (high / low) ** dice.random()
    return choices


def configure(method: str, number: int) -> Any:
    """A config with these choices and no fewer than ``UPDATES`` updates."""
    choices = draw(method, number)
    match method:
        case "gail":
            states = MAZES * 9
            choices["epochs"] = -(-UPDATES // (choices["passes"] * learning.num_batches(states, choices["batch"])))
        case "sqil":
            choices["epochs"] = -(-UPDATES // choices["epoch_updates"])
        case _:
            choices["updates"] = UPDATES
    return importlib.import_module(f"baselines.{method}").Config(encoder="mlp", **choices)


def not_finite(tree: Any) -> list[str]:
    """The paths of a tree's leaves that hold NaN or infinity."""
    floats = [
        (path, leaf) for path, leaf in jax.tree.leaves_with_path(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)
    ]
    return [jax.tree_util.keystr(path) for path, leaf in floats if not jnp.isfinite(leaf).all()]


def run(method: str, number: int, shown: datasets.Demonstrations) -> dict[str, Any]:
    """Train one configuration: what of its last state and of all its metrics is not finite."""
    train = jax.jit(importlib.import_module(f"baselines.{method}").make(configure(method, number), shown))
    bad = not_finite(train(jax.random.key(number)))
    return {"method": method, "number": number, "bad": bad, "choices": draw(method, number)}


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The report for people."""
    lines = [
        "# Random configurations",
        "",
        f"`bash scripts/numerics.sh`: configurations with the choices below, drawn at random (seed {SEED}), trained",
        f"for {UPDATES} updates or a little more on {MAZES} mazes of 3x3 with the encoder `mlp`. All that a run holds",
        "at its end (weights, statistics, optimiser) and all metrics of all epochs are searched for NaN and infinity.",
        "",
        "| method | configurations | with NaN or infinity |",
        "| --- | ---: | ---: |",
    ]
    for method in RANGES:
        of_it = [row for row in rows if row["method"] == method]
        lines.append(f"| {method} | {len(of_it)} | {sum(bool(row['bad']) for row in of_it)} |")
    lines += [
        f"- {row['method']} {row['number']}: {', '.join(row['bad'])} with {row['choices']}"
        for row in rows
        if row["bad"]
    ]
    lines += ["", "| method | choice | values |", "| --- | --- | --- |"]
    for method, ranges in RANGES.items():
        for name, given in ranges.items():
            values = ", ".join(map(str, given)) if isinstance(given, list) else f"{given[0]} to {given[1]}"
            lines.append(f"| {method} | `{name}` | {values} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns 0 when all is finite."""
    command = argparse.ArgumentParser(prog="scripts/numerics.sh", description=__doc__)
    command.add_argument("--methods", nargs="*", default=list(RANGES), choices=list(RANGES))
    command.add_argument("--configs", type=int, default=20, help="of each method")
    command.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    args = command.parse_args(arguments)
    jax.config.update("jax_disable_most_optimizations", True)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in KEPT.read_text("utf-8").splitlines()] if KEPT.exists() else []
    rows = [row for row in rows if row["method"] in RANGES and row["choices"] == draw(row["method"], row["number"])]
    done = {(row["method"], row["number"]) for row in rows}
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 3)), splits.load("3x3-v1")["train"][:MAZES])
    with open(KEPT, "a", encoding="utf-8", buffering=1) as file:
        for number in range(args.configs):
            for method in args.methods:
                if (method, number) not in done:
                    rows.append(run(method, number, shown))
                    file.write(json.dumps(rows[-1]) + "\n")
    (args.out / "configurations.md").write_text(markdown(rows), "utf-8")
    return int(any(row["bad"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
