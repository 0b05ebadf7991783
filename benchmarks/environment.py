"""What the environment costs: resets, sizes, tiles, observations, compile time, memory."""

from __future__ import annotations

import functools
import time
from typing import Any

import jax
import jax.numpy as jnp

import jaxlab
from benchmarks import timing
from benchmarks.rollouts import ours

NUM_MAZES = 1000
BATCH = 8192


def _params(env: jaxlab.Labyrinth, number: int = NUM_MAZES) -> jaxlab.Params:
    settings = {"key_and_door": env.key_and_door, "icy_floor": env.icy_floor}
    if not any(settings.values()):
        return env.params(jaxlab.generate.mazes(jax.random.key(0), number, env.shape))
    mazes = jaxlab.splits.make(env.shape, number, 0, 0, variants=False, **settings)["train"]
    return env.params(mazes)


def _rates(rollouts: dict[str, Any], repeats: int) -> dict[str, dict[str, float]]:
    spent = timing.side_by_side({name: rollout.run for name, rollout in rollouts.items()}, repeats)
    return {
        name: {"best": rollouts[name].steps / t.best, "median": rollouts[name].steps / t.median}
        for name, t in spent.items()
    }


def resets(repeats: int) -> dict[str, Any]:
    """Stepping with automatic resets beside the bare step (at most 1.25 times its time)."""
    env = jaxlab.Labyrinth((5, 5))
    params = _params(env)
    return _rates(
        {name: ours(env, params, BATCH, 512, resets=name == "auto_reset") for name in ("bare", "auto_reset")},
        5 * repeats,
    )


def sizes(repeats: int) -> dict[str, Any]:
    """State-only stepping by size of the maze (25x25 at most 1.3 times the time of 5x5)."""
    rollouts = {}
    for side in (3, 5, 10, 25, 50, 100):
        env = jaxlab.Labyrinth((side, side))
        rollouts[f"{side}x{side}"] = ours(env, _params(env, 1000 if side <= 25 else 20), BATCH, 512)
    return _rates(rollouts, repeats)


def effects(repeats: int) -> dict[str, Any]:
    """Stepping with every tile on beside bare navigation (at least half as fast)."""
    bare = jaxlab.Labyrinth((5, 5))
    full = jaxlab.Labyrinth((5, 5), key_and_door=True, icy_floor=True)
    return _rates(
        {"bare": ours(bare, _params(bare), BATCH, 1024), "key_ice": ours(full, _params(full), BATCH, 1024)}, repeats
    )


def observations(repeats: int) -> dict[str, Any]:
    """Stepping with each observation consumed."""
    rollouts = {}
    for name, occlusion, length in (
        ("vector", False, 256),
        ("vector", True, 16),
        ("grid", False, 64),
        ("pixels", False, 8),
        ("pixels", True, 8),
    ):
        env = jaxlab.Labyrinth((5, 5), observation=name, occlusion=occlusion)
        batch = 1024 if name == "pixels" else BATCH
        rollouts[name + (" occluded" if occlusion else "")] = ours(env, _params(env), batch, length, observe=True)
    return _rates(rollouts, repeats)


def rendering(repeats: int) -> dict[str, Any]:
    """Pictures drawn a second, kept in memory, by size of the maze and of the picture."""
    drawn = {}
    for side, size, number in ((5, 64, 1024), (10, 64, 1024), (25, 64, 1024), (5, 600, 16)):
        env = jaxlab.Labyrinth((side, side), observation="pixels", pixels=size)

        @jax.jit
        def draw(seed, params, env=env, number=number):
            key_maze, key_cell = jax.random.split(jax.random.key(seed))
            maze = jax.random.randint(key_maze, (number,), 0, len(params.mazes), jnp.int32)
            state = jax.vmap(env.reset_to, (0, None))(maze, params)[1]
            cell = jax.random.randint(key_cell, (number,), 0, env.num_cells, jnp.int32)
            return jax.vmap(env.observe, (0, None))(state.replace(cell=cell), params)

        drawn[f"{side}x{side} at {size} px"] = (functools.partial(draw, params=_params(env, 100)), number)
    spent = timing.side_by_side({name: run for name, (run, _) in drawn.items()}, repeats)
    return {name: {"best": drawn[name][1] / t.best, "median": drawn[name][1] / t.median} for name, t in spent.items()}


def compile_seconds(repeats: int) -> dict[str, Any]:
    """Seconds to compile one step, without and with observations (under 1)."""
    del repeats  # compiled once: a second time is served from the cache
    out = {}
    for observation in ("vector", "grid", "pixels"):
        env = jaxlab.Labyrinth((5, 5), observation=observation)
        params = _params(env)
        state = jax.vmap(env.reset_to, (0, None))(jnp.zeros(BATCH, jnp.int32), params)[1]
        stepper = jax.jit(jax.vmap(env.step, (None, 0, 0, None)))
        began = time.perf_counter()
        stepper.lower(None, state, jnp.zeros(BATCH, jnp.int32), params).compile()
        out[observation] = time.perf_counter() - began
    return out


def bytes_per_environment(repeats: int) -> dict[str, Any]:
    """Bytes of one environment's state, and of one solved maze."""
    del repeats
    out = {}
    for side in (5, 10, 25):
        env = jaxlab.Labyrinth((side, side))
        params = _params(env, 100)
        state = jax.vmap(env.reset_to, (0, None))(jnp.zeros(100, jnp.int32), params)[1]
        out[f"{side}x{side}"] = {
            "state": sum(leaf.nbytes for leaf in jax.tree.leaves(state)) / 100,
            "solved maze": sum(leaf.nbytes for leaf in jax.tree.leaves(params)) / 100,
        }
    return out
