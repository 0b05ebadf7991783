"""Environment steps per second, ours beside gymnax FourRooms where it is installed.

What is timed: random actions drawn inside a ``lax.scan``, automatic resets, 1,000 mazes;
reward, both flags and the final state are summed and returned, so nothing can be skipped.
With an observation, every value of it is summed as well.

    python -m benchmarks.throughput [--batches 256 8192 65536] [--repeats 5]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import jaxlab
from benchmarks import timing
from jaxlab.wrappers import AutoReset

NUM_MAZES = 1000


class Rollout(NamedTuple):
    """A compiled rollout and how many environment steps one call takes."""

    run: Callable[[int], Any]
    steps: int


def totals(reset: Callable, step: Callable, batch: int, length: int, *, observe: bool) -> Rollout:
    """Roll ``batch`` environments out for ``length`` steps with random actions.

    Args:
        reset: ``(key) -> state`` of the whole batch.
        step: ``(key, state, action[batch]) -> (obs, state, reward, terminated, truncated)``.
        batch, length: static.
        observe: sum every value of the observation as well.
    """

    def body(carry, key):
        state, sums = carry
        key_action, key_step = jax.random.split(key)
        # A byte holds the two bits that an action needs.
        action = (jax.random.bits(key_action, (batch,), jnp.uint8) & 3).astype(jnp.int32)
        obs, state, *paid = step(key_step, state, action)
        if observe:
            paid.append(sum(leaf.astype(jnp.float32).sum() for leaf in jax.tree.leaves(obs)))
        return (state, tuple(old + new.sum() for old, new in zip(sums, paid, strict=True))), None

    @jax.jit
    def rollout(key):
        key_reset, key_steps = jax.random.split(key)
        sums = (jnp.float32(0), jnp.int32(0), jnp.int32(0), *([jnp.float32(0)] if observe else []))
        (state, sums), _ = jax.lax.scan(body, (reset(key_reset), sums), jax.random.split(key_steps, length))
        return sums, jax.tree.map(jnp.sum, state)

    return Rollout(lambda seed: rollout(jax.random.key(seed)), batch * length)


def ours(env: jaxlab.Labyrinth, params: jaxlab.Params, batch: int, length: int, *, observe: bool) -> Rollout:
    """Ours, with automatic resets into the same maze."""
    auto = AutoReset(env)

    def reset(key):
        maze = jax.random.randint(key, (batch,), 0, len(params.mazes))
        return jax.vmap(auto.reset_to, (0, None))(maze, params)[1]

    def step(key, state, action):
        out = jax.vmap(auto.step, (None, 0, 0, None))(key, state, action, params)
        return out.obs, out.state, out.reward, out.terminated, out.truncated

    return totals(reset, step, batch, length, observe=observe)


def gymnax_four_rooms(batch: int, length: int, *, observe: bool) -> Rollout:
    """gymnax FourRooms; its ``step`` resets by itself."""
    import gymnax

    env, params = gymnax.make("FourRooms-misc")

    def reset(key):
        return jax.vmap(env.reset, (0, None))(jax.random.split(key, batch), params)[1]

    def step(key, state, action):
        obs, state, reward, terminated, truncated, _ = jax.vmap(env.step, (0, 0, 0, None))(
            jax.random.split(key, batch), state, action, params
        )
        return obs, state, reward, terminated, truncated

    return totals(reset, step, batch, length, observe=observe)


def length_of(batch: int, steps: int) -> int:
    """How long a rollout must be for about ``steps`` steps in all."""
    return max(8, steps // batch)


def measure(batches: list[int], repeats: int, shape: tuple[int, int] = (5, 5)) -> list[dict[str, Any]]:
    """One row for each observation and batch size."""
    mazes = jaxlab.generate.mazes(jax.random.key(0), NUM_MAZES, shape)
    rows = []
    for observation, steps in (("none", 2**23), ("vector", 2**22), ("pixels", 2**16)):
        env = jaxlab.Labyrinth(shape, observation="vector" if observation == "none" else observation)
        params = env.params(mazes)
        for batch in batches:
            observe, length = observation != "none", length_of(batch, steps)
            rollouts = {"jaxlab": ours(env, params, batch, length, observe=observe)}
            if timing.version("gymnax") != "absent" and observation != "pixels":
                rollouts["gymnax"] = gymnax_four_rooms(batch, length_of(batch, steps // 8), observe=observe)
            timings = timing.side_by_side({name: rollout.run for name, rollout in rollouts.items()}, repeats)
            row: dict[str, Any] = {"observation": observation, "batch": batch}
            for name, spent in timings.items():
                count = rollouts[name].steps
                row[name] = {
                    "best": count / spent.best,
                    "median": count / spent.median,
                    "compile_seconds": spent.first - spent.median,
                }
            rows.append(row)
            print(line(row), flush=True)
    return rows


def line(row: dict[str, Any]) -> str:
    """One row as text."""
    out = f"{row['observation']:>7} {row['batch']:>8,}"
    for name in ("jaxlab", "gymnax"):
        if name in row:
            out += f"  {name} {row[name]['best'] / 1e6:8.2f} M/s (median {row[name]['median'] / 1e6:.2f})"
    if "gymnax" in row:
        out += f"  ratio {row['jaxlab']['median'] / row['gymnax']['median']:.1f}"
    return out + f"  compile {row['jaxlab']['compile_seconds']:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, nargs="+", default=[256, 1024, 8192, 65536])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", help="also write the rows to this JSON file")
    args = parser.parse_args()
    facts = {**timing.machine(), "gymnax": timing.version("gymnax")}
    print(json.dumps(facts))
    rows = measure(args.batches, args.repeats)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
