"""What grows with what: memory with steps, time with seeds, speed with devices; and compile times of the methods."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp

import jaxlab
from baselines import learning, runner, train
from benchmarks import timing
from benchmarks.rollouts import ours
from jaxlab import datasets

LENGTHS = (100, 1_000, 10_000)
SEEDS = (1, 2, 4)
EPOCHS = 3


def memory(repeats: int) -> dict[str, Any]:
    """Bytes that a compiled rollout of 8,192 environments needs, by its number of steps."""
    del repeats
    env = jaxlab.Labyrinth((5, 5))
    params = env.params(jaxlab.generate.mazes(jax.random.key(0), 1000, (5, 5)))
    out = {}
    for length in LENGTHS:
        compiled = ours(env, params, 8192, length).program.lower(jax.random.key(0)).compile()
        analysis = compiled.memory_analysis()
        out[f"{length} steps"] = {"bytes": float(analysis.temp_size_in_bytes + analysis.output_size_in_bytes)}
    return out


def _data(encoder: str) -> learning.Data:
    shown = datasets.demonstrations(jaxlab.Labyrinth((5, 5)), jaxlab.splits.load("5x5-v1")["train"])
    return learning.data(shown, encoder)


def chunks(repeats: int) -> dict[str, Any]:
    """Seconds to compile a chunk of epochs of each method with pictures (under 20)."""
    del repeats  # compiled once: a second time is served from the cache
    data = _data("cnn")
    out = {}
    for name, module in train.METHODS.items():
        method = importlib.import_module(module)
        config = method.Config(encoder="cnn")
        state = runner._init(method, config, data, jax.random.key(0))
        began = time.perf_counter()
        runner._chunk.lower(method, config, 10, False, data, state, jnp.int32(1)).compile()
        out[name] = time.perf_counter() - began
    return out


def seeds(repeats: int) -> dict[str, Any]:
    """Seconds of three epochs of cloning with the MLP, by how many seeds train as one batch."""
    from baselines import bc

    data, config = _data("mlp"), bc.Config(encoder="mlp")

    def several(number: int):
        states = [runner._init(bc, config, data, jax.random.key(seed)) for seed in range(number)]
        kept = [jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)]

        def run(_: int) -> Any:
            kept[0], figures = runner._chunk(bc, config, EPOCHS, True, data, kept[0], jnp.int32(EPOCHS))
            return figures

        return run

    spent = timing.side_by_side({f"{number} seeds": several(number) for number in SEEDS}, repeats)
    return {name: {"best": t.best, "median": t.median} for name, t in spent.items()}


def virtual_devices(repeats: int) -> dict[str, Any]:
    """Steps a second of 65,536 environments over one device and over one for each core, in a process with so many."""
    cores = len(os.sched_getaffinity(0))
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={cores}"
    code = f"import json; from benchmarks import costs; print(json.dumps(costs._over({cores}, {repeats})))"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(said.stdout.splitlines()[-1])


def _over(most: int, repeats: int) -> dict[str, Any]:
    from benchmarks.rollouts import over_devices

    env = jaxlab.Labyrinth((5, 5))
    params = env.params(jaxlab.generate.mazes(jax.random.key(0), 1000, (5, 5)))
    rollouts = {
        f"{number} devices": over_devices(lambda batch: ours(env, params, batch, 256), 65_536, number)
        for number in sorted({1, most})
    }
    spent = timing.side_by_side({name: rollout.run for name, rollout in rollouts.items()}, repeats)
    return {
        name: {"best": rollouts[name].steps / t.best, "median": rollouts[name].steps / t.median}
        for name, t in spent.items()
    }
