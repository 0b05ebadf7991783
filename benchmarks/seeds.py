"""Several seeds at once beside one after the other: ``python -m benchmarks.seeds [--methods bc sqil] [--seeds 4]``.

The same chunk of epochs, jitted: with all seeds in one ``vmap``, or called once for each seed. Both give the same
policies to rounding (tests/test_methods.py). They take turns; seconds are the best of the repeats, by the clock and
of the CPU, all threads together. `baselines.runner` loops on a CPU and maps on other devices: this is why.
"""

from __future__ import annotations

import argparse
import importlib
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxlab
from baselines import learning, runner
from baselines.train import METHODS
from benchmarks import timing
from jaxlab import datasets


def measure(name: str, encoder: str, seeds: int, epochs: int, repeats: int, mazes: str) -> dict[str, float]:
    """Seconds of both ways for so many epochs of every seed, behind the first epoch, which does more."""
    method = importlib.import_module(METHODS[name])
    config = method.Config(encoder=encoder)
    train = jaxlab.splits.load(mazes)["train"]
    data = learning.data(datasets.demonstrations(jaxlab.Labyrinth(train.shape), train), encoder)
    keys = [jax.random.key(seed) for seed in range(seeds)]

    def chunk(state: Any, count: int, together: bool) -> Any:
        return runner._chunk(method, config, epochs, together, data, state, jnp.int32(count))[0]

    alone = [chunk(runner._init(method, config, data, key), 1, False) for key in keys]
    together = chunk(jax.tree.map(lambda *leaves: jnp.stack(leaves), *alone), 0, True)
    spent: dict[str, list[tuple[float, float]]] = {"vmap": [], "loop": []}
    for _ in range(repeats):
        begin = time.perf_counter(), time.process_time()
        alone = jax.block_until_ready([chunk(state, epochs, False) for state in alone])
        middle = time.perf_counter(), time.process_time()
        together = jax.block_until_ready(chunk(together, epochs, True))
        end = time.perf_counter(), time.process_time()
        spent["loop"].append((middle[0] - begin[0], middle[1] - begin[1]))
        spent["vmap"].append((end[0] - middle[0], end[1] - middle[1]))
    found = {}
    for way, runs in spent.items():
        found |= {f"{way} seconds": min(run[0] for run in runs), f"{way} cpu seconds": min(run[1] for run in runs)}
    return found


def markdown(found: dict[str, Any]) -> str:
    """The table for people."""
    lines = [
        "# Several seeds at once",
        "",
        f"`python -m benchmarks.seeds`: {found['seeds']} seeds, {found['mazes']}, {found['epochs']} epochs of each "
        f"method behind the first, best of {found['repeats']}.",
        "",
        "| method | vmap, s | loop, s | loop / vmap | vmap, s of CPU | loop, s of CPU | loop / vmap |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in found["rows"].items():
        cells = [row["vmap seconds"], row["loop seconds"], row["loop seconds"] / row["vmap seconds"]]
        cells += [row["vmap cpu seconds"], row["loop cpu seconds"], row["loop cpu seconds"] / row["vmap cpu seconds"]]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--encoders", nargs="+", default=["mlp"])
    parser.add_argument("--mazes", default="5x5-v1")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="write NAME.md and NAME.json")
    args = parser.parse_args()
    found: dict[str, Any] = {name: getattr(args, name) for name in ("mazes", "seeds", "epochs", "repeats")}
    found |= {"machine": timing.machine(), "rows": {}}
    for encoder in args.encoders:
        for name in args.methods:
            found["rows"][f"{name}, {encoder}"] = measure(
                name, encoder, args.seeds, args.epochs, args.repeats, args.mazes
            )
            print(markdown(found).splitlines()[-1], flush=True)
            if args.out:
                # Written after every row: a run that is stopped keeps what it has measured.
                timing.keep(args.out, found, markdown(found))


if __name__ == "__main__":
    main()
