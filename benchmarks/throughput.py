"""Environment steps per second beside other libraries and the single-core limit.

    python -m benchmarks.throughput [--batches 256 8192 65536] [--devices 1] [--repeats 5] [--out FILE]

What is timed is told in `benchmarks.rollouts`; 1,000 mazes of 5x5.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import jax

import jaxlab
from benchmarks import limit, timing
from benchmarks.rollouts import installed_peers, ours, over_devices

NUM_MAZES = 1000
STEPS = {"none": 2**24, "vector": 2**22, "pixels": 2**16}
"""Environment steps of one timed run of ours, by observation."""
PEER_STEPS = {"gymnax": 2**21, "xminigrid": 2**18, "jumanji": 2**16}
SHORTEST_ROLLOUT, LONGEST_ROLLOUT = 8, 20_000


def length_of(batch: int, steps: int) -> int:
    """How long a rollout of ``batch`` must be for about ``steps`` steps in all."""
    return min(LONGEST_ROLLOUT, max(SHORTEST_ROLLOUT, steps // batch))


def compare(
    observation: str,
    batch: int,
    repeats: int,
    peers: list[str],
    shape: tuple[int, int] = (5, 5),
    devices: int = 1,
) -> dict[str, Any]:
    """One row: steps per second, best and median, of ours and each peer, timed in turn."""
    env = jaxlab.Labyrinth(shape, observation="vector" if observation == "none" else observation)
    params = env.params(jaxlab.generate.mazes(jax.random.key(0), NUM_MAZES, shape))
    observe = observation != "none"
    length = length_of(batch, STEPS[observation])

    def make(batch):
        return ours(env, params, batch, length, observe=observe)

    rollouts = {"jaxlab": make(batch) if devices == 1 else over_devices(make, batch, devices)}
    for name, peer in installed_peers().items():
        if name in peers:
            rollouts[name] = peer(batch, length_of(batch, PEER_STEPS[name]), observe=observe)
    spent = timing.side_by_side({name: rollout.run for name, rollout in rollouts.items()}, repeats)
    row: dict[str, Any] = {"observation": observation, "batch": batch, "shape": list(shape)}
    for name, rollout in rollouts.items():
        row[name] = {
            "best": rollout.steps / spent[name].best,
            "median": rollout.steps / spent[name].median,
            "first_call_seconds": spent[name].first,
        }
    program = limit.build() if observation == "none" else None
    if program is not None:
        rates = [
            limit.steps_per_second(program, params, batch, length_of(batch, STEPS["none"]), seed)
            for seed in range(repeats)
        ]
        row["c_one_core"] = {"best": max(rates), "median": sorted(rates)[len(rates) // 2]}
    return row


def line(row: dict[str, Any]) -> str:
    """One row as text, with ratios of the medians."""
    out = f"{row['observation']:>7} {row['batch']:>9,}"
    for name in ("jaxlab", *PEER_STEPS, "c_one_core"):
        if name in row:
            out += f"  {name} {row[name]['best'] / 1e6:.3g} M/s (median {row[name]['median'] / 1e6:.3g}"
            ratio = row["jaxlab"]["median"] / row[name]["median"]
            out += ")" if name == "jaxlab" else f", ours {ratio:.3g} times)"
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, nargs="+", default=[256, 1024, 8192, 65536])
    parser.add_argument("--observations", nargs="+", default=["none", "vector", "pixels"], choices=list(STEPS))
    parser.add_argument("--peers", nargs="*", default=["gymnax"], choices=list(PEER_STEPS))
    parser.add_argument("--devices", type=int, default=1, help="over how many devices the batch is split")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", help="also write the rows to this JSON file")
    args = parser.parse_args()
    facts = {**timing.machine(), **{name: timing.version(name) for name in PEER_STEPS}}
    print(json.dumps(facts))
    rows = []
    for observation in args.observations:
        for batch in args.batches:
            # Other libraries have no picture like ours to compare with.
            row = compare(
                observation, batch, args.repeats, [] if observation == "pixels" else args.peers, devices=args.devices
            )
            rows.append(row)
            print(line(row), flush=True)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
