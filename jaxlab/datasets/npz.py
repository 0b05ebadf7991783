"""The ``.npz`` layout of IL-Datasets: read by its ``BaselineDataset`` as it is."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from jaxlab.datasets.episodes import Episodes, from_rows
from jaxlab.files import write_atomic

NEEDED = ("obs", "actions", "rewards", "episode_starts")


def write_npz(path: str | os.PathLike[str], episodes: Episodes) -> None:
    """Write ``obs``, ``actions``, ``rewards``, ``episode_returns`` and ``episode_starts``, whole or not at all.

    One row for each state, the last of an episode included (action -1, reward 0);
    ``episode_returns`` has one number an episode. ``info`` holds the maze text of each row,
    from which `read_npz` plays the episodes again.
    """
    if episodes.env.view is not None:
        raise ValueError("the layout holds one array a row: choose an observation without view")
    states, which = episodes.distinct()
    texts = np.array(episodes.texts())
    file = io.BytesIO()
    np.savez_compressed(
        file,
        obs=episodes.observe(states)[which],
        actions=episodes.action.astype(np.int64),
        rewards=episodes.reward.astype(np.float64),
        episode_returns=episodes.returns.astype(np.float64),
        episode_starts=episodes.starts,
        info=texts[episodes.maze],
    )
    write_atomic(path, file.getvalue())


def read_npz(path: str | os.PathLike[str]) -> Episodes | dict[str, Any]:
    """Read the layout.

    Returns:
        `Episodes` where ``info`` names the mazes (ours do). Else a dict of ``obs``,
        ``actions`` and ``next_obs``, one row a transition, from which images can be learned too.

    Raises:
        ValueError: an array is missing, or they do not have one length.
    """
    path = Path(path)
    with np.load(path, allow_pickle=False) as file:
        data = {name: file[name] for name in file.files}
    check_columns(data, str(path))
    if "info" in data:
        return from_rows(data["actions"], data["episode_starts"], data["info"].tolist())
    starts = data["episode_starts"].astype(bool)
    played = ~np.append(starts[1:], True)
    rows = np.flatnonzero(played)
    return {"obs": data["obs"][rows], "actions": data["actions"][rows], "next_obs": data["obs"][rows + 1]}


def check_columns(data: dict[str, Any], where: str) -> None:
    """Raise ``ValueError`` unless the columns of the layout are there and of one length."""
    if missing := [name for name in NEEDED if name not in data]:
        raise ValueError(f"{where}: no {', '.join(missing)}; the layout has {', '.join(NEEDED)}")
    if len({len(data[name]) for name in NEEDED}) != 1:
        lengths = {name: len(data[name]) for name in NEEDED}
        raise ValueError(f"{where}: the arrays must have one length, got {lengths}")
