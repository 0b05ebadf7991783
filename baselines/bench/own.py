"""A method of one's own in the tables: one function from demonstrations to a policy."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines import evaluate, replay, results, runner, table
from baselines.bench import campaign
from baselines.evaluate import Policy
from jaxlab import datasets, grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
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
        name: its row's name. Adding one again on the same mazes replaces its results.
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

    Raises:
        TypeError, ValueError: ``config`` holds what JSON can't.
        ValueError: fewer than one seed, a name without a letter or digit, or one that shares its folder with
            another entry.
    """
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    kept = json.loads(json.dumps(dict(config or {}), allow_nan=False))  # raises now, not after training
    all_sets = [evaluate.read_splits(given) for given in mazes]
    all_envs = [evaluate.environment(sets) for sets in all_sets]
    found_folders = [_folder(Path(out), name, sets, env) for sets, env in zip(all_sets, all_envs, strict=True)]
    paths = []
    for sets, env, folder in zip(all_sets, all_envs, found_folders, strict=True):
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
        found = {
            "format": results.FORMAT,
            "method": name,
            "encoder": "own",
            "observation": seen["train"].name,
            "settings": runner.settings(env),
            "config": kept,
            "versions": results.versions(),
            "machine": results.machine(),
            "mazes": {
                "name": getattr(sets, "name", None),
                "shape": list(env.shape),
                "seed": getattr(sets, "seed", None),
                "sha256": runner.digests(sets),
            },
            "seeds": runs,
        }
        results.check(found)  # before anything older is touched
        (folder / results.FILE).unlink(missing_ok=True)
        replay.write(folder, env, sets, actions)
        write_atomic(folder / ".added", "")
        paths.append(results.write(folder, found))
    return paths


def _folder(out: Path, name: str, sets: Mapping[str, Maze], env: Labyrinth) -> Path:
    """Where an entry's results lie: a folder for each name and set of mazes, apart from those of the cells.

    Raises:
        ValueError: a name without a letter or digit, or the results of another entry lie there.
    """
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", name).casefold()).strip("-")
    if not words:
        raise ValueError(f"a method's name needs a letter or digit, for its folder, got {name!r}")
    played = json.dumps([runner.digests(sets), runner.settings(env)])
    height, width = env.shape
    mark = hashlib.sha256(played.encode()).hexdigest()[:8]
    folder = out / campaign.CELLS / f"{height}x{width}-{words[:40]}-{mark}"
    if (folder / results.FILE).is_file() and (there := results.read(folder)["method"]) != name:
        raise ValueError(f"{name!r} and {there!r} share the folder {folder}: give another name, or remove the folder")
    return folder


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
