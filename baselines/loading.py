"""Trained policies from disk."""

from __future__ import annotations

import importlib
import os

import jax

from baselines import checkpoints, results, runner
from baselines.learning import Policy
from baselines.train import METHODS
from jaxlab.env import Labyrinth
from jaxlab.errors import choose


def load(folder: str | os.PathLike[str], seed: int | None, which: str) -> Policy:
    """`baselines.load`."""
    choose("which", which, ("last", "best"))
    found = results.read(folder)
    seeds = [run["seed"] for run in found["seeds"]]
    seed = seeds[0] if seed is None else seed
    if seed not in seeds:
        raise ValueError(f"{folder} has the training seeds {seeds}, not {seed}")
    method = importlib.import_module(METHODS[choose("method", found["method"], METHODS)])
    observation, _, _ = found["observation"].partition("-")
    try:
        config = method.Config(**found["config"])
        env = Labyrinth(tuple(found["mazes"]["shape"]), observation=observation, **found["settings"])
        network = method.network(config, env)
        like = jax.eval_shape(network.init, jax.random.key(0))
    except TypeError as error:
        raise ValueError(f"{folder}: the config or settings in its results are damaged: {error}") from None
    variables = checkpoints.restore(runner.policy_folder(folder, seed, which), like)
    return Policy(network, variables, found["observation"])
