"""GAIL beside the PyTorch library ``imitation``: ``python -m benchmarks.gail_speed --peer-python PYTHON``.

Environment steps a second of whole rounds: walk, discriminator's updates, rewards, PPO's updates. Both sides have
the training mazes of 5x5-v1, one walker in each, the vector observation as one-hots, the same layers, steps a round,
minibatches, passes and learning rates, and the same cores. The peer needs an older Gymnasium, so it runs in an
interpreter of its own (``pip install imitation``), on an environment in plain numpy (`benchmarks.gail_peer`);
the two take turns. What differs, and in whose favour:

- the peer's discriminator sees ``--judge-batch`` demonstrations and as many own steps an update, ours all of them in
  100 of 2,500 states (about 47 and 1,024 where walks are spread evenly);
- the peer's networks run on every step that was walked; ours on each state of the mazes once, which gives the same
  sums (no mazes have more than 25 states);
- the peer has no absorbing state and does not judge it.

With ``--encoder cnn`` only ours is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from baselines import gail, learning, networks, runner, world
from benchmarks import timing
from jaxlab import datasets
from jaxlab.files import write_atomic

PEER = Path(__file__).with_name("gail_peer.py")
MAZES = "5x5-v1"


def given(encoder: str) -> learning.Data:
    """The training mazes and their demonstrations."""
    mazes = jaxlab.splits.load(MAZES)["train"]
    return learning.data(datasets.demonstrations(jaxlab.Labyrinth((5, 5)), mazes), encoder)


class Ours:
    """The chunk of rounds that ships, from the state that the last one left."""

    def __init__(self, encoder: str, rounds: int) -> None:
        self.config, self.rounds, data = gail.Config(encoder=encoder), rounds, given(encoder)
        self.state = runner._init(gail, self.config, data, jax.random.key(0))
        self.run = lambda count: runner._chunk(gail, self.config, rounds, False, data, self.state, jnp.int32(count))
        self.round_steps = len(data.params.mazes) * self.config.steps
        self.parameters = {
            name: sum(leaf.size for leaf in jax.tree.leaves(part.weights))
            for name, part in (("policy", self.state.actor), ("judge", self.state.judge))
        }
        begin = time.perf_counter()
        self.state, _ = jax.block_until_ready(self.run(0))
        self.compile_seconds = time.perf_counter() - begin

    def turn(self) -> dict[str, list[float]]:
        """Seconds a round, by the clock and of the CPU."""
        begin = time.perf_counter(), time.process_time()
        self.state, _ = jax.block_until_ready(self.run(self.rounds))
        spent = time.perf_counter() - begin[0], time.process_time() - begin[1]
        return {"seconds": [spent[0] / self.rounds], "cpu_seconds": [spent[1] / self.rounds]}


def peer_choices(config: gail.Config, states: int, rounds: int, judge_batch: int, threads: int) -> dict[str, Any]:
    """Our choices in the words of the peer's side; it gets as many updates in a pass."""
    names = ("steps", "limit", "gamma", "trace", "passes", "clip", "value_weight", "entropy_weight")
    names += ("learning_rate", "clip_gradient", "judge_passes", "judge_rate")
    layers = {"hidden": [512, 512], "judge_hidden": [256, 256], "judge_batch": judge_batch}
    updates = {"minibatches": learning.num_batches(states, config.batch)}
    return {name: getattr(config, name) for name in names} | layers | updates | {"rounds": rounds, "threads": threads}


def write_world(data: learning.Data, path: Path) -> None:
    """Everything that the peer's environment and demonstrations are made of."""
    rules, shown, states = world.make(data.env, data.params), data.demonstrations, data.table.num_states
    trunk = networks.trunk("mlp", data.env, rngs=None)
    seen = trunk(data.table.see(*data.table.state(jnp.arange(states))))
    following = data.table.index(shown.maze, shown.next_mode, shown.next_cell)
    arrays = {
        "following": rules.following,
        "reached": rules.reached,
        "start": rules.start,
        "seen": seen,
        "shown_state": data.table.index(shown.maze, shown.mode, shown.cell),
        "shown_action": shown.action,
        "shown_following": following,
        "shown_done": shown.next_cell == data.params.mazes.goal[shown.maze],
    }
    np.savez(path, **{name: np.asarray(value) for name, value in arrays.items()})


def peer_turn(python: str, folder: Path) -> dict[str, Any]:
    """One run of the peer; its first round is not in what it gives."""
    line = [python, str(PEER), str(folder / "world.npz"), str(folder / "choices.json")]
    ended = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    if ended.returncode:
        raise RuntimeError(f"the peer failed:\n{ended.stderr[-2000:]}")
    return json.loads(ended.stdout.splitlines()[-1])


def rate(steps: int, turns: list[dict[str, Any]], kind: str) -> dict[str, float]:
    """Steps a second: of the fastest round, and of the median."""
    seconds = [value for turn in turns for value in turn[kind]]
    return {"best": steps / min(seconds), "median": steps / float(np.median(seconds))}


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Turns of both sides."""
    ours = Ours(args.encoder, args.rounds)
    sides: dict[str, list[dict[str, Any]]] = {"jaxlab": []}
    about = {"jaxlab": {"parameters": ours.parameters, "compile_seconds": ours.compile_seconds}}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if args.peer_python:
            sides["imitation"] = []
            data = given("mlp")
            write_world(data, folder / "world.npz")
            choices = peer_choices(ours.config, data.table.num_states, args.peer_rounds, args.judge_batch, args.cores)
            write_atomic(folder / "choices.json", json.dumps(choices))
        for _ in range(args.repeats):
            sides["jaxlab"].append(ours.turn())
            if args.peer_python:
                turn = peer_turn(args.peer_python, folder)
                assert turn["round_steps"] == ours.round_steps
                about["imitation"] = {name: turn[name] for name in ("parameters", "versions")}
                sides["imitation"].append(turn)
    rates = {
        name: {kind: rate(ours.round_steps, turns, kind) for kind in ("seconds", "cpu_seconds")}
        for name, turns in sides.items()
    }
    found: dict[str, Any] = {
        "encoder": args.encoder,
        "round_steps": ours.round_steps,
        "steps_per_second": rates,
        "about": about,
    }
    if "imitation" in rates:
        found["times"] = {
            kind: {
                which: rates["jaxlab"][kind][which] / rates["imitation"][kind][which] for which in ("best", "median")
            }
            for kind in ("cpu_seconds", "seconds")
        }
    return found


def markdown(found: dict[str, Any]) -> str:
    """The table for people."""
    lines = [
        "# Speed of GAIL",
        "",
        f"`python -m benchmarks.gail_speed` on {found['cores']} core(s): training mazes of {MAZES}, a walker in each,",
        "whole rounds with all updates; the fastest round [median]. What is the same on both sides and what is not",
        "stands in benchmarks/gail_speed.py; `imitation` runs in its own interpreter on a numpy environment.",
        "",
        "A second of CPU counts all threads and not what else the machine did meanwhile, a second by the clock does:",
        "the last column is the cores that each side got.",
        "",
        "| | environment steps per second of CPU | by the clock | cores |",
        "|---|---|---|---|",
    ]
    peers: list[str] = []
    for row in found["rows"].values():
        for name, kinds in row["steps_per_second"].items():
            cells = [
                f"{kinds[kind]['best']:,.0f} [{kinds[kind]['median']:,.0f}]" for kind in ("cpu_seconds", "seconds")
            ]
            cores = kinds["seconds"]["median"] / kinds["cpu_seconds"]["median"]
            lines.append(f"| {name}, {row['encoder']} | {' | '.join(cells)} | {cores:.2f} |")
        if "times" in row:
            cells = [
                f"{row['times'][kind]['best']:.1f} [{row['times'][kind]['median']:.1f}]"
                for kind in ("cpu_seconds", "seconds")
            ]
            lines.append(f"| times as many | {' | '.join(cells)} | |")
            words = ", ".join(f"{name} {word}" for name, word in row["about"]["imitation"]["versions"].items())
            peers.append(f"The peer: {words}.")
    words = ", ".join(f"{name} {found['machine'][name]}" for name in ("python", "jax", "jaxlib", "numpy"))
    return "\n".join([*lines, "", f"Ours: {words}.", *peers]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", default="mlp", help="mlp, or cnn without a peer")
    parser.add_argument("--peer-python", help="an interpreter that has imitation")
    parser.add_argument("--repeats", type=int, default=3, help="turns of each side")
    parser.add_argument("--rounds", type=int, default=5, help="our rounds in a turn")
    parser.add_argument("--peer-rounds", type=int, default=2, help="the peer's, behind a first that is not counted")
    parser.add_argument("--judge-batch", type=int, default=1024, help="the peer's demonstrations an update")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write NAME.md and NAME.json; the row of another encoder stays")
    args = parser.parse_args()
    if args.peer_python and args.encoder != "mlp":
        parser.error("--peer-python goes with --encoder mlp")
    # Before JAX counts them: both sides get the same cores.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    row = measure(args)
    rows = {args.encoder: row}
    if args.out and (before := args.out.with_name(args.out.name + ".json")).is_file():
        rows = json.loads(before.read_text("utf-8"))["rows"] | rows
    found = {"cores": len(os.sched_getaffinity(0)), "machine": timing.machine(), "rows": rows}
    print(markdown(found))
    if args.out:
        timing.keep(args.out, found, markdown(found))


if __name__ == "__main__":
    main()
