"""Which training image is nearest to a new one, for the encoder? A test of a claim of the paper.

Section 4.2 says of images from new mazes that their nearest training images, in the encoder's
features, "might have the agent in a different position, but the wall structure remains similar".
Here: the demonstrated states of the training mazes against states of the same kind in other mazes,
nearest by Euclidean distance between features. What two images share is set beside what a random
training image shares, because cells at the border have walls alike by themselves.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import baselines
from baselines import diagnosis, replay, table
from baselines.learning import Policy
from baselines.replay import Replay
from jaxlab import datasets, grid
from jaxlab.files import write_atomic

FILE = "nearest.json"
SPLITS = ("valid", "test")
SHARED = ("same_cell", "same_walls", "alike_around", "same_walls_elsewhere")
"""What two images may share: the agent's cell; the walls of that cell; the share of equal wall bits in the
3x3 cells around it; the walls of the cell among pairs in which the agent is elsewhere."""
_BATCH = 256
_OUTSIDE = 16  # a wall byte that no cell has


class States(NamedTuple):
    """States, one a row.

    Attributes:
        features: ``float32[n, F]``, what the encoder makes of them.
        cell: ``int[n]``, where the agent is.
        around: ``uint8[n, 9]``, the wall bytes of the 3x3 cells around it, its own in the middle.
    """

    features: np.ndarray
    cell: np.ndarray
    around: np.ndarray


def surroundings(walls: np.ndarray) -> np.ndarray:
    """The wall bytes of the 3x3 cells around each cell: ``uint8[N, H, W]`` to ``uint8[N, H*W, 9]``; 16 is outside."""
    count, height, width = walls.shape
    wide = np.pad(walls, ((0, 0), (1, 1), (1, 1)), constant_values=_OUTSIDE)
    parts = [wide[:, r : r + height, c : c + width] for r in range(3) for c in range(3)]
    return np.stack(parts, -1).reshape(count, height * width, 9)


def states(policy: Policy, trial: Replay, split: str) -> States:
    """The states of one demonstration in each maze that has one, as the policy's encoder sees them (host)."""
    mazes = trial.splits[split][np.flatnonzero(diagnosis.is_solvable(trial.rules[split]))]
    observation, _, render = policy.observation.partition("-")
    seen = table.make(trial.env, trial.env.params(mazes), observation, render or "paper")
    shown = datasets.demonstrations(trial.env, seen.params)
    maze, mode, cell = (np.asarray(part) for part in (shown.maze, shown.mode, shown.cell))
    encode = jax.jit(policy.network.features)
    found = []
    for low in range(0, len(cell), _BATCH):
        rows = np.minimum(np.arange(low, low + _BATCH), len(cell) - 1)  # the last batch is filled up
        looked = seen.see(*(jnp.asarray(part[rows]) for part in (maze, mode, cell)))
        found.append(np.asarray(encode(policy.variables, looked), np.float32))
    features = np.concatenate(found)[: len(cell)]
    return States(features.reshape(len(cell), -1), cell, surroundings(np.asarray(mazes.walls))[maze, cell])


def nearest(features: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The row of ``features [n, F]`` nearest to each of ``asked [m, F]``: ``int64[m]``, the first of equals."""
    squares = (features.astype(np.float64) ** 2).sum(1)
    parts = [
        (squares - 2 * asked[low : low + _BATCH].astype(np.float64) @ features.T.astype(np.float64)).argmin(1)
        for low in range(0, len(asked), _BATCH)
    ]
    return np.concatenate(parts)


def shared(shown: States, asked: States, rows: np.ndarray) -> dict[str, float]:
    """How often ``asked[i]`` and ``shown[rows[i]]`` share what `SHARED` names, 0..1; NaN without such pairs."""
    same_cell = asked.cell == shown.cell[rows]
    same_walls = asked.around[:, 4] == shown.around[rows, 4]
    differ = np.bitwise_count(asked.around ^ shown.around[rows]).astype(float)
    outside = (asked.around == _OUTSIDE) != (shown.around[rows] == _OUTSIDE)
    alike = np.where(outside, 0, 1 - np.minimum(differ, grid.NUM_ACTIONS) / grid.NUM_ACTIONS).mean(1)
    elsewhere = same_walls[~same_cell].mean() if (~same_cell).any() else float("nan")
    return dict(zip(SHARED, map(float, (same_cell.mean(), same_walls.mean(), alike.mean(), elsewhere)), strict=True))


def compare(shown: States, asked: States, draws: int = 20) -> dict[str, dict[str, float | None]]:
    """What the nearest training image shares, beside what random ones do.

    Args:
        shown: training states.
        asked: states of other mazes.
        draws: how many random training images for each state.

    Returns:
        ``{name of SHARED: {"nearest", "chance"}}``; None where there is no such pair.
    """
    near = shared(shown, asked, nearest(shown.features, asked.features))
    rng = np.random.default_rng(0)
    at_random = [shared(shown, asked, rng.integers(0, len(shown.cell), len(asked.cell))) for _ in range(draws)]
    chance = {name: float(np.mean([one[name] for one in at_random])) for name in SHARED}

    def known(value: float) -> float | None:
        return None if np.isnan(value) else value

    return {name: {"nearest": known(near[name]), "chance": known(chance[name])} for name in SHARED}


def run(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The comparison for every split of `SPLITS` with the first training seed of a run; kept as nearest.json (host).

    Empty where the run kept no weights or no replay, or its network is not an encoder and a head.
    """
    place = Path(folder)
    kept, weights, actions = place / FILE, place / "policies", place / replay.FILE
    if kept.is_file() and not (weights.is_dir() and kept.stat().st_mtime < actions.stat().st_mtime):
        return json.loads(kept.read_text("utf-8"))
    if not (weights.is_dir() and actions.is_file()):
        return {}
    policy, trial = baselines.load(place), replay.read(place)
    try:
        shown = states(policy, trial, "train")
    except ValueError:
        found: dict[str, Any] = {}
    else:
        asked = [name for name in SPLITS if name in trial.rules and diagnosis.is_solvable(trial.rules[name]).any()]
        found = {split: compare(shown, states(policy, trial, split)) for split in asked}
    write_atomic(place / FILE, json.dumps(found, indent=1) + "\n")
    return found
