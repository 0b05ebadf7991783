"""Minari: the episodes as a local Minari data set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from jaxlab.datasets.episodes import Episodes, check_episodes
from jaxlab.errors import needs_extra


def write_minari(folder: str | os.PathLike[str], episodes: Episodes, name: str = "labyrinth/shortest-v0") -> Any:
    """Write the episodes under ``folder``; there ``minari.load_dataset(name)`` finds them.

    Minari looks in the folder that the variable ``MINARI_DATASETS_PATH`` names. A play that ends
    at the goal or with a fall is terminated, one that stops before that truncated.

    Returns:
        The ``minari.MinariDataset``.

    Raises:
        ImportError: Minari is not installed.
        TypeError: something else than episodes.
        ValueError: Minari's own, where a data set of this name is there already.
    """
    check_episodes(episodes)
    try:
        import gymnasium
        import minari
        from minari.data_collector import EpisodeBuffer
    except ImportError:
        raise needs_extra("minari", "data") from None
    env = episodes.env
    states, which = episodes.distinct()
    observations = episodes.observe(states)
    if isinstance(observations, dict):
        raise ValueError("Minari data sets hold one array a row: choose an observation without view")
    first = np.flatnonzero(episodes.starts)
    buffers = []
    for number, (low, high) in enumerate(zip(first, np.append(first[1:], len(episodes)), strict=True)):
        ended = np.arange(low, high - 1) == high - 2
        terminated = ended & episodes.terminated[number]
        buffers.append(
            EpisodeBuffer(
                id=number,
                observations=observations[which[low:high]],
                actions=episodes.action[low : high - 1].astype(np.int64),
                rewards=episodes.reward[low : high - 1].tolist(),
                terminations=terminated.tolist(),
                truncations=(ended & ~terminated).tolist(),
            )
        )
    made = gymnasium.make(
        "Labyrinth-v0",
        shape=env.shape,
        occlusion=env.occlusion,
        key_and_door=env.key_and_door,
        icy_floor=env.icy_floor,
        observation=env.observation,
        pixels=env.pixels,
    )
    before = os.environ.get("MINARI_DATASETS_PATH")
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.environ["MINARI_DATASETS_PATH"] = str(Path(folder).resolve())
    try:
        return minari.create_dataset_from_buffers(
            name,
            buffers,
            env=made,
            eval_env=made,
            algorithm_name="exact solver of jaxlab",
            author="jaxlab",
            author_email="none",
            code_permalink="https://pypi.org/project/jaxlab",
            description="Demonstrations in mazes of Labyrinth.",
            data_format="arrow",
            jpeg_encoding=False,
        )
    finally:
        if before is None:
            del os.environ["MINARI_DATASETS_PATH"]
        else:
            os.environ["MINARI_DATASETS_PATH"] = before
