"""What a mesh computes, for test_devices.py: one device without a mesh, 8 virtual ones, or those of two processes.

python tests/sharded.py OUT.npz [PORT PROCESS]
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

import jaxlab
from baselines import bc, learning, runner
from jaxlab import datasets, devices
from jaxlab.wrappers import AutoReset, EpisodeStatistics

BATCH, STEPS, SEEDS, EPOCHS = 32, 60, 8, 3


def rollouts(over: Mesh | None):
    """Random episodes, each environment with a key of its own: states, returns, observations."""
    env = AutoReset(EpisodeStatistics(jaxlab.Labyrinth((3, 3))), "another")
    params = env.params(jaxlab.splits.load("3x3-v1")["train"])

    def roll(share, params):
        keys, states = share

        def step(states, t):
            keys_action, keys_step = jax.vmap(lambda key: tuple(jax.random.split(jax.random.fold_in(key, t))))(keys)
            actions = jax.vmap(lambda key: jax.random.randint(key, (), 0, 4, jnp.int32))(keys_action)
            out = jax.vmap(env.step, (0, 0, 0, None))(keys_step, states, actions, params)
            paid = jnp.where(out.terminated, out.info["episode_return"], 0)
            return out.state, (out.state.maze, out.state.cell, out.terminated, paid, out.obs.astype(jnp.int32).sum(-1))

        states, seen = jax.lax.scan(step, states, jnp.arange(STEPS, dtype=jnp.int32))
        return states, jax.tree.map(lambda leaf: leaf.swapaxes(0, 1), seen)

    keys = jax.random.split(jax.random.key(0), BATCH)
    states = jax.vmap(lambda i: env.reset_to(i, params)[1])(jnp.arange(BATCH, dtype=jnp.int32))
    if over is None:
        return jax.jit(roll)((keys, states), params)
    run = jax.jit(devices.each(roll, over))
    share, shared = devices.spread((keys, states), over), devices.copy(params, over)
    program = run.lower(share, shared).compile().as_text()
    assert not any(word in program for word in ("all-gather", "all-reduce", "all-to-all", "collective-permute"))
    return devices.copy(run(share, shared), over)


def training(over: Mesh | None, encoder: str):
    """Seeds of behavioural cloning after a chunk of epochs: their weights and losses. The CNN reads windows."""
    mazes = jaxlab.splits.load("3x3-v1")["train"]
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 3)), mazes)
    data, config = learning.data(shown, encoder), bc.Config(encoder=encoder, epochs=EPOCHS)
    states = [bc.init(config, data, jax.random.key(seed)) for seed in range(SEEDS)]
    if over is None:
        run = [runner._chunk(bc, config, EPOCHS, False, data, state, jnp.int32(EPOCHS)) for state in states]
        after, metrics = jax.tree.map(lambda *leaves: jnp.stack(leaves), *run)
    else:
        states = devices.spread(runner.together(states), over)
        copied = devices.copy(data, over)
        run = runner._chunk(bc, config, EPOCHS, over, copied, states, np.int32(EPOCHS))
        after, metrics = devices.copy(run, over)
    return [leaf for leaf in jax.tree.leaves(after) if leaf.dtype == jnp.float32], metrics


def everything(over: Mesh | None) -> dict[str, np.ndarray]:
    """All arrays, by number."""
    found = {"rollouts": rollouts(over), **{f"training {name}": training(over, name) for name in ("mlp", "cnn")}}
    return {
        f"{name} {i}": np.asarray(leaf) for name, tree in found.items() for i, leaf in enumerate(jax.tree.leaves(tree))
    }


if __name__ == "__main__":
    if len(sys.argv) > 2:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(f"127.0.0.1:{sys.argv[2]}", num_processes=2, process_id=int(sys.argv[3]))
        assert jax.process_count() == 2
    np.savez(sys.argv[1], **everything(devices.mesh() if jax.device_count() > 1 else None))
