"""``make_vec`` beside SyncVectorEnv over the same environment: ``python -m benchmarks.gym``.

Both play the same mazes with the same actions; they take turns, best and median of the repeats.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import gymnasium
import jax
import numpy as np

import jaxlab
from benchmarks import timing

STEPS = {"make_vec": 200, "make_vec same step": 200, "SyncVectorEnv": 2, "single": 2000}
"""Steps of all sub-environments in one timed run, so that each run takes about as long."""


def compare(num_envs: int = 1024, shape: tuple[int, int] = (5, 5), repeats: int = 5) -> dict[str, Any]:
    """Steps a second of each, and how many times SyncVectorEnv's the vector environment makes."""
    mazes = jaxlab.generate.mazes(jax.random.key(0), 16, shape)
    single = gymnasium.make("Labyrinth-v0", shape=shape, mazes=mazes)
    environments = {
        "make_vec": gymnasium.make_vec("Labyrinth-v0", num_envs, shape=shape, mazes=mazes),
        "make_vec same step": gymnasium.make_vec(
            "Labyrinth-v0", num_envs, shape=shape, mazes=mazes, autoreset_mode="SameStep"
        ),
        "SyncVectorEnv": gymnasium.make_vec(
            "Labyrinth-v0", num_envs, vectorization_mode="sync", shape=shape, mazes=mazes
        ),
    }
    for environment in environments.values():
        environment.reset(seed=0)
    single.reset(seed=0)

    def many(name: str):
        def run(number: int) -> None:
            actions = np.random.default_rng(number).integers(0, 4, (STEPS[name], num_envs))
            for row in actions:
                environments[name].step(row)

        return run

    def one(number: int) -> None:
        for action in np.random.default_rng(number).integers(0, 4, STEPS["single"]):
            *_, terminated, truncated, _ = single.step(action)
            if terminated or truncated:
                single.reset()

    timed = timing.side_by_side({**{name: many(name) for name in environments}, "single": one}, repeats)
    steps = {name: STEPS[name] * (1 if name == "single" else num_envs) for name in timed}
    rates = {name: {"best": steps[name] / one.best, "median": steps[name] / one.median} for name, one in timed.items()}
    ratio = {kind: rates["make_vec"][kind] / rates["SyncVectorEnv"][kind] for kind in ("best", "median")}
    return {"num_envs": num_envs, "shape": list(shape), "steps_per_second": rates, "make_vec / SyncVectorEnv": ratio}


def main() -> None:
    """Print a table and, as one line of JSON, everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    result = compare(args.envs, repeats=args.repeats)
    print(f"| {args.envs} environments, vector, steps/s | best | median |\n| --- | ---: | ---: |")
    for name, rate in result["steps_per_second"].items():
        print(f"| {name} | {rate['best']:,.0f} | {rate['median']:,.0f} |")
    ratio = result["make_vec / SyncVectorEnv"]
    print(f"| make_vec / SyncVectorEnv | {ratio['best']:.1f} | {ratio['median']:.1f} |")
    versions = {"gymnasium": timing.version("gymnasium"), **timing.machine()}
    print(json.dumps({**result, "machine": versions}))


if __name__ == "__main__":
    main()
