"""Each method on one maze: ``python -m benchmarks.one_maze [--methods bc gail] [--seeds 5] [--out NAME]``.

The mazes are the two released ones of 3 x 3 whose shortest solution has eight moves, the most there is. Success
is that of the argmax policy, looked at 10 times a run; ``reached`` is the first look from which on it stays 100 %.
Seconds are of the process's CPU, all threads together. One compilation serves all seeds of a method on both mazes;
its seconds stand apart, and ``with compilation`` is the slowest run as if it had compiled alone.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxlab
from baselines import evaluate, learning, runner
from baselines.train import METHODS
from benchmarks import timing
from jaxlab import datasets

SHAPE, LOOKS = (3, 3), 10
EDGES = (
    [(0, 1), (1, 2), (2, 5), (3, 4), (3, 6), (4, 5), (6, 7), (7, 8)],
    [(0, 3), (1, 2), (1, 4), (2, 5), (3, 6), (4, 7), (5, 8), (6, 7)],
)
"""Open passages of the mazes; they start in cell 0 and end in cell 8."""
CHOICES: dict[str, dict[str, Any]] = {
    "bc": {"epochs": 60, "batch": 8},
    "dagger": {"epochs": 10, "steps": 20, "round_updates": 10, "batch": 32},
    "gail": {"epochs": 80, "passes": 10, "judge_passes": 5},
    "bco": {"epochs": 60, "batch": 8, "random_steps": 2000, "model_updates": 200, "model_batch": 64},
    "sqil": {"epochs": 10, "epoch_updates": 100, "batch": 64, "first_steps": 50},
    "iupe": {
        "epochs": 80,
        "batch": 8,
        "random_steps": 2000,
        "renewals": 4,
        "model_updates": 200,
        "model_batch": 64,
    },
}
"""What differs from each method's defaults, which are made for a hundred mazes."""


def maze(i: int) -> jaxlab.Maze:
    """The i-th of the two."""
    return jaxlab.from_edges(EDGES[i], SHAPE, start=0, goal=8)


def config(name: str, encoder: str = "mlp") -> Any:
    """A method's choices for one maze."""
    return importlib.import_module(METHODS[name]).Config(encoder=encoder, **CHOICES[name])


def _timed(run: Any) -> tuple[Any, float]:
    begin = time.process_time()
    return jax.block_until_ready(run()), time.process_time() - begin


def measure(name: str, encoder: str, seeds: int) -> dict[str, Any]:
    """Every seed of a method on both mazes, and the seconds that compilation took."""
    method, choices, env = importlib.import_module(METHODS[name]), config(name, encoder), jaxlab.Labyrinth(SHAPE)
    given = [learning.data(datasets.demonstrations(env, jaxlab.stack([maze(i)])), encoder) for i in range(2)]
    total = method.num_epochs(choices, given[0])
    size = -(-total // LOOKS)
    chunk = functools.partial(runner._chunk, method, choices, size, False)

    @jax.jit
    def success(data: learning.Data, state: Any) -> jax.Array:
        logits = learning.everywhere(method.network(choices, data.env), method.policy(choices, data, state), data.table)
        played = evaluate.episodes(data.env, data.params, logits.argmax(-1).reshape(1, 1, -1))
        return (played.outcome == evaluate.GOAL).mean()

    def begin(data: learning.Data, seed: int) -> Any:
        return runner._init(method, choices, data, jax.random.key(seed))

    def compile_all() -> Any:
        state, _ = chunk(given[0], begin(given[0], 0), jnp.int32(0))
        return success(given[0], state)

    _, compiled = _timed(compile_all)
    runs = []
    for i, data in enumerate(given):
        for seed in range(seeds):
            state, seconds = _timed(lambda data=data, seed=seed: begin(data, seed))
            looks: list[tuple[float, bool]] = []
            for done in range(0, total, size):
                count = jnp.int32(min(size, total - done))
                (state, _), spent = _timed(lambda state=state, data=data, count=count: chunk(data, state, count))
                seconds += spent
                looks.append((seconds, bool(success(data, state) == 1)))
            failed = [at for at, (_, right) in enumerate(looks) if not right]
            stays = looks[failed[-1] + 1 :] if failed else looks
            reached = stays[0][0] if stays else None
            runs.append({"maze": i, "seed": seed, "last": looks[-1][1], "reached": reached, "seconds": seconds})
    return {"choices": CHOICES[name], "compile_seconds": compiled, "runs": runs}


def markdown(found: dict[str, Any]) -> str:
    """The table for people."""
    lines = [
        f"# One maze of 3x3, shortest solution 8 moves: {found['encoder']}",
        "",
        f"`python -m benchmarks.one_maze`: two mazes, {found['seeds']} seeds each; last weights, most likely action.",
        "Seconds of CPU, all threads together: until success is 100 % for good (mean and slowest), of a whole run, of",
        "compilation, and of the slowest run to its end with compilation. Versions are in the .json beside this.",
        "",
        "| method | runs at 100 % | to 100 % | slowest | whole run | compilation | with compilation |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, method in found["methods"].items():
        runs = method["runs"]
        times = [run["reached"] for run in runs if run["reached"] is not None]
        mean = f"{sum(times) / len(times):.1f}" if times else "-"
        slowest = f"{max(times):.1f}" if times else "-"
        whole = [run["seconds"] for run in runs]
        lines.append(
            f"| {name} | {sum(run['last'] for run in runs)} of {len(runs)} | {mean} | {slowest} | "
            f"{sum(whole) / len(whole):.1f} | {method['compile_seconds']:.1f} | "
            f"{max(whole) + method['compile_seconds']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--encoder", default="mlp")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="write NAME.md and NAME.json")
    args = parser.parse_args()
    found: dict[str, Any] = {
        "encoder": args.encoder,
        "seeds": args.seeds,
        "machine": timing.machine() | {name: timing.version(name) for name in ("flax", "optax")},
        "methods": {},
    }
    for name in args.methods:
        found["methods"][name] = measure(name, args.encoder, args.seeds)
        print(markdown(found).splitlines()[-1], flush=True)
        if args.out:
            # Written after every method: a run that is stopped keeps what it has measured.
            timing.keep(args.out, found, markdown(found))


if __name__ == "__main__":
    main()
