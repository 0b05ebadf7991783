"""The ``.npz`` layout of IL-Datasets: read by its ``BaselineDataset`` as it is."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from jaxlab.datasets.episodes import Episodes, check_episodes, from_rows
from jaxlab.env import Labyrinth
from jaxlab.files import read_arrays, write_atomic
from jaxlab.observe import PLANES

NEEDED = ("obs", "actions", "rewards", "episode_starts")


def write_npz(path: str | os.PathLike[str], episodes: Episodes) -> None:
    """Write ``obs``, ``actions``, ``rewards``, ``episode_returns`` and ``episode_starts``, whole or not at all.

    One row for each state, the last of an episode included (action -1, reward 0);
    ``episode_returns`` has one number an episode. ``info`` holds the maze text of each row,
    from which `read_npz` plays the episodes again.

    Raises:
        TypeError: something else than episodes.
        ValueError: an environment with a view, whose observations are no single array.
    """
    write_atomic(path, npz_bytes(episodes))


def npz_bytes(episodes: Episodes) -> bytes:
    """What `write_npz` writes: equal episodes give equal bytes."""
    check_episodes(episodes)
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
    return file.getvalue()


def read_npz(path: str | os.PathLike[str], env: Labyrinth | None = None) -> Episodes | dict[str, Any]:
    """Read the layout.

    Args:
        path: of the file.
        env: what was played in. By default an environment with the settings of the mazes, the
            reward that pays what the file holds, and the kind of observation that it shows.

    Returns:
        `Episodes` where ``info`` names the mazes (ours do). Else a dict of ``obs``,
        ``actions`` and ``next_obs``, one row a transition, from which images can be learned too.

    Raises:
        OSError: the file can't be read.
        ValueError: it is damaged, an array is missing, they do not have one length, they are no
            episodes, or no environment of these settings pays their rewards.
    """
    data = read_arrays(path)
    check_columns(data, str(path))
    if "info" in data:
        given = data["actions"], data["episode_starts"], data["info"].tolist(), data["rewards"]
        return from_rows(*given, env, **_shown(data["obs"]))
    starts = data["episode_starts"].astype(bool)
    played = ~np.append(starts[1:], True)
    rows = np.flatnonzero(played)
    return {"obs": data["obs"][rows], "actions": data["actions"][rows], "next_obs": data["obs"][rows + 1]}


def _shown(obs: np.ndarray) -> dict[str, Any]:
    """Which observation rows of this shape are: ``[n, features]``, ``[n, S, S, 3]`` or ``[n, H, W, planes]``."""
    if obs.ndim == 2:
        return {"observation": "vector"}
    if obs.ndim == 4 and obs.shape[-1] == len(PLANES):
        return {"observation": "grid"}
    return {"observation": "pixels", **({"pixels": obs.shape[1]} if obs.ndim == 4 else {})}


def check_columns(data: dict[str, Any], where: str) -> None:
    """Raise ``ValueError`` unless the columns of the layout are there and of one length."""
    if missing := [name for name in NEEDED if name not in data]:
        raise ValueError(f"{where}: no {', '.join(missing)}; the layout has {', '.join(NEEDED)}")
    columns = [*NEEDED, "info"] if "info" in data else NEEDED
    lengths = {name: np.shape(data[name])[:1] for name in columns}
    if len(set(lengths.values())) != 1 or lengths["obs"] in ((), (0,)):
        raise ValueError(f"{where}: the arrays must have one length of at least 1, got {lengths}")
    for name in columns[1:]:
        kind = "U" if name == "info" else "biuf"
        if data[name].ndim != 1 or data[name].dtype.kind not in kind:
            wanted = "text" if name == "info" else "numbers"
            raise ValueError(f"{where}: {name} must be a column of {wanted}, got {data[name].dtype}{data[name].shape}")
