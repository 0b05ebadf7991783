"""A method of one's own in the tables: one function from demonstrations to a policy."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines import evaluate, replay, results, table
from baselines.bench import campaign
from baselines.evaluate import Policy
from jaxlab import datasets, grid, splits
from jaxlab.datasets import Demonstrations
from jaxlab.files import write_atomic
from jaxlab.maze import Maze

Fit = Callable[[Demonstrations, int], Policy]
"""(demonstrations of the training mazes, training seed) to a policy: observations to actions or logits."""


def add(
    name: str,
    fit: Fit,
    *,
    mazes: Sequence[str | Mapping[str, Maze]] = ("5x5-v1",),
    seeds: int = 5,
    out: str | os.PathLike[str] = "runs/benchmark",
    observation: str = "pixels",
    render: str = "paper",
    config: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Train and score a method of one's own, so that it joins the tables of a benchmark's folder (host).

    Args:
        name: its row's name.
        fit: makes a policy of demonstrations and a training seed. `baselines.learning.data` draws what
            the demonstrated states look like.
        mazes: names of frozen splits, or splits.
        seeds: how many training seeds.
        out: the benchmark's folder; afterwards ``python -m baselines.benchmark --out ... --only-report``.
        observation: what the policy reads: ``"pixels"``, ``"vector"`` or ``"grid"``.
        render: how pixels are drawn, ``"paper"`` or ``"direct"``.
        config: choices worth keeping with the results; values that JSON holds.

    Returns:
        The results.json of each set of mazes.
    """
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    paths = []
    for given in mazes:
        sets = evaluate.read_splits(given)
        env = evaluate.environment(sets)
        seen = {split: table.make(env, env.params(part), observation, render) for split, part in sets.items()}
        shown = datasets.demonstrations(env, seen["train"].params)
        runs, actions = [], {}
        for seed in range(seeds):
            begin = time.perf_counter()
            policy = fit(shown, seed)
            seconds = time.perf_counter() - begin
            scores = {}
            for split, drawn in seen.items():
                scores[split], actions[seed, split] = _score(policy, drawn)
            runs.append({"seed": seed, "train_seconds": seconds, "splits": scores})
        height, width = env.shape
        folder = Path(out) / campaign.CELLS / f"{height}x{width}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"
        replay.write(folder, env, sets, actions)
        write_atomic(folder / ".added", "")
        found = {
            "format": results.FORMAT,
            "method": name,
            "encoder": "own",
            "observation": seen["train"].name,
            "settings": {
                "key_and_door": env.key_and_door,
                "icy_floor": env.icy_floor,
                "occlusion": env.occlusion,
                "pixels": env.pixels,
            },
            "config": dict(config or {}),
            "versions": results.versions(),
            "machine": results.machine(),
            "mazes": {
                "name": getattr(sets, "name", None),
                "shape": list(env.shape),
                "seed": getattr(sets, "seed", None),
                "sha256": {split: splits.digest(part) for split, part in sets.items()},
            },
            "seeds": runs,
        }
        paths.append(results.write(folder, found))
    return paths


def _score(policy: Policy, seen: table.Table) -> tuple[dict[str, Any], np.ndarray]:
    """(scores of a split as results.json has them, the action in every state)."""
    given = evaluate.answers(policy, seen)
    if given.ndim == 4:
        logits, actions = given, given.argmax(-1)
    else:  # a policy that is sure: sampling from it is the same as following it
        actions = given
        logits = np.where(np.arange(grid.NUM_ACTIONS) == actions[..., None], 0.0, -1e9).astype(np.float32)
    argmax = evaluate.score(seen.env, seen.params, actions)
    figures = {name: value for name, value in argmax.items() if name != "episodes"}
    return {
        "argmax": argmax,
        "sampled": evaluate.score_sampled(seen.env, seen.params, logits),
        "best": figures,
        "running_bn": figures,
    }, actions
