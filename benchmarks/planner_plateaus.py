"""Where a planner's trials end and what they believe there: ``python -m benchmarks.planner_plateaus [--starts 40]``.

A trial is 24 passes over the demonstrations of ``5x5-v1``, from weights of its own. By its last
training loss it works (below 0.08), or stands on one of two plateaus. Beliefs are those about the
demonstrated states, means over states.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np

from baselines import bc, learning, networks, planner
from benchmarks import timing
from jaxlab import datasets, splits
from jaxlab.env import Labyrinth

MAZES = "5x5-v1"
EARLY, LATE = (limit for _, limit in networks.encoder("planner").recipe.checks)
ENDS = {"works": (0.0, LATE), "second plateau": (LATE, EARLY), "first plateau": (EARLY, np.inf)}
"""By the training loss after the trial, between the limits of its checks."""
_BATCH = 308
"""A quarter of the demonstrated states."""


def data() -> learning.Data:
    """The demonstrations."""
    mazes = splits.load(MAZES)["train"]
    return learning.data(datasets.demonstrations(Labyrinth(mazes.shape), mazes), "planner")


def ended(loss: float) -> str:
    """Where a trial stands."""
    return next(name for name, (low, high) in ENDS.items() if low <= loss < high)


def believed(given: learning.Data, beliefs: planner.Beliefs) -> dict[str, float]:
    """What of the goal's chance lies on which cell, and how shut open borders look beside the start and elsewhere."""
    shown, mazes = given.demonstrations, given.params.mazes
    states, cell = np.arange(len(shown)), np.asarray(shown.cell)
    start, goal = (np.asarray(part)[np.asarray(shown.maze)] for part in (mazes.start, mazes.goal))
    true = planner.truth(given.env, jax.tree.map(lambda leaf: leaf[shown.maze], mazes), shown.mode, shown.cell)
    cells = np.arange(given.env.num_cells).reshape(given.env.shape)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    beside = np.concatenate(
        [
            ((low == start[:, None, None]) | (high == start[:, None, None])).reshape(len(states), -1)
            for low, high in pairs
        ],
        1,
    )
    shut, wall = (
        np.concatenate([np.asarray(part).reshape(len(states), -1) for part in (each.across, each.along)], 1)
        for each in (beliefs, true)
    )
    away = cell != start
    return {
        "goal at the goal": float(beliefs.goal[states, goal].mean()),
        "goal at the agent": float(beliefs.goal[states, cell].mean()),
        "goal at the start, agent elsewhere": float(beliefs.goal[states, start][away].mean()),
        "open border of the start is shut": float(shut[beside & (wall < 0.5)].mean()),
        "other open border is shut": float(shut[~beside & (wall < 0.5)].mean()),
        "wall is shut": float(shut[wall > 0.5].mean()),
    }


def measure(starts: int) -> list[dict[str, Any]]:
    """One row for each trial: its losses, where it ended, and its beliefs."""
    given, config = data(), bc.Config(encoder="planner")
    net = networks.policy("planner", given.env)
    passes = networks.encoder("planner").recipe.trial_epochs

    @jax.jit
    def trial(key: jax.Array, given: learning.Data) -> Any:
        def one(state: bc.State, _: None) -> Any:
            state, metrics = bc.epoch(config, given, state)
            return state, metrics["loss"]

        return jax.lax.scan(one, bc.begin(config, given, key), None, length=passes)

    @jax.jit
    def read(variables: networks.Variables, given: learning.Data) -> planner.Beliefs:
        shown = given.demonstrations
        rows = given.table.index(shown.maze, shown.mode, shown.cell).reshape(-1, _BATCH)
        parts = jax.lax.map(lambda row: planner.read(net, variables, given.table.see(*given.table.state(row))), rows)
        return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), parts)

    rows = []
    for number in range(starts):
        state, losses = trial(jax.random.fold_in(jax.random.key(0), number), given)
        last = float(losses[-1])
        beliefs = jax.device_get(read(state.variables, given))
        rows.append({"start": number, "loss": last, "end": ended(last), **believed(given, beliefs)})
        print(f"start {number}: loss {last:.3f}, {rows[-1]['end']}", flush=True)
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """Means by where the trials ended."""
    names = [name for name in rows[0] if name not in ("start", "loss", "end")]
    lines = [
        f"{len(rows)} trials of the planner on `{MAZES}`: where they ended, and what they believe there.",
        "",
        "| | " + " | ".join(ENDS) + " |",
        "| --- |" + " ---: |" * len(ENDS),
    ]
    groups = [[row for row in rows if row["end"] == end] for end in ENDS]
    lines.append("| trials | " + " | ".join(str(len(group)) for group in groups) + " |")
    for name in ("loss", *names):
        means = [f"{np.mean([row[name] for row in group]):.3f}" if group else "" for group in groups]
        lines.append(f"| {name} | " + " | ".join(means) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=40)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/planner-plateaus"))
    args = parser.parse_args()
    rows = measure(args.starts)
    timing.keep(args.out, {"machine": timing.machine(), "trials": rows}, page(rows))
    print(page(rows))


if __name__ == "__main__":
    main()
