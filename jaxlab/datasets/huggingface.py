"""Hugging Face: a folder of Parquet files with a card, loaded offline by ``datasets.load_dataset(DIR)``."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxlab.datasets.episodes import Episodes, Progress, check_episodes, from_rows
from jaxlab.env import Labyrinth
from jaxlab.errors import needs_extra
from jaxlab.files import write_atomic

SPLITS = ("train", "validation", "test")
ALIASES = {"valid": "validation", "eval": "validation", "evaluation": "validation"}
CARD, CROISSANT = "README.md", "croissant.json"

_PUBLISHED = re.compile(r"[\w.-]+/[\w.-]+")

COLUMNS = {
    "obs": "picture of the state",
    "actions": "0 up, 1 right, 2 down, 3 left; -1 in the last state of an episode",
    "rewards": "what the action paid",
    "episode_starts": "is this the first state of an episode?",
    "info": "the maze in the .labyrinth language",
}


def write_huggingface(
    folder: str | os.PathLike[str],
    splits: Mapping[str, Episodes],
    name: str = "labyrinth",
    progress: Progress | None = None,
) -> None:
    """Write one Parquet file a split, a data-set card and Croissant metadata.

    Columns: ``obs`` (image), ``actions``, ``rewards``, ``episode_starts`` and ``info`` (the maze
    text), one row a state, the last of an episode included. Each file is written whole or
    not at all, the card last.

    Args:
        folder: new or empty.
        splits: episodes by split (train, valid or validation, test), whose environments observe pixels.
        name: of the data set.
        progress: called with (pictures drawn, pictures in all).

    Raises:
        ImportError: ``datasets`` or Pillow is not installed.
        FileExistsError: the folder holds something.
        TypeError: no mapping, or something else than episodes in it.
        ValueError: an environment that does not observe pixels, or two names of one split.
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise FileExistsError(f"{root} exists and is not an empty folder")
    if not isinstance(splits, Mapping):
        raise TypeError(f"splits must be a mapping from names to episodes, got {type(splits).__name__}")
    for split, episodes in splits.items():
        check_episodes(episodes)
        if episodes.env.observation != "pixels":
            raise ValueError(f'split {split!r}: the obs column holds images, make the environment with "pixels"')
    written: dict[str, str] = {}
    for split in splits:
        if (other := written.setdefault(ALIASES.get(split, split), split)) != split:
            raise ValueError(
                f"splits {other!r} and {split!r} would be one file, {ALIASES.get(split, split)!r}: give one"
            )
    named = {name: splits[split] for name, split in written.items()}
    total = sum(len(episodes.distinct()[0]) for episodes in named.values())
    done = 0
    files = {}
    for split, episodes in named.items():
        states, which = episodes.distinct()
        pictures = []
        for low in range(0, len(states), 256):
            pictures += [_png(picture) for picture in episodes.observe(states[low : low + 256])]
            if progress is not None:
                progress(done + len(pictures), total)
        done += len(pictures)
        path = f"data/{split}-00000-of-00001.parquet"
        files[split] = (path, _parquet(episodes, [pictures[i] for i in which]))
    for path, data in files.values():
        write_atomic(root / path, data)
    write_atomic(root / CROISSANT, json.dumps(_croissant(name, files), indent=2) + "\n")
    write_atomic(root / CARD, _card(name, named))


def read_huggingface(folder: str | os.PathLike[str], split: str = "train", env: Labyrinth | None = None) -> Episodes:
    """Read a split of such a folder, or of the published data sets once they are on this disk (offline).

    The episodes are played again from ``info`` and ``actions``: the pictures are not decoded,
    and any observation can be made of them.

    Args:
        folder: of `write_huggingface`, or the name of a published data set (OWNER/NAME).
        split: its name.
        env: what was played in; by default as `read_npz` finds it.

    Raises:
        ImportError: ``datasets`` is not installed.
        FileNotFoundError: no data there.
        ValueError: no such split, a missing column, or no environment of these settings pays the rewards.
    """
    datasets = _datasets()
    if not os.path.isdir(folder) and not _PUBLISHED.fullmatch(str(folder)):
        raise FileNotFoundError(f"{folder}: no such folder, and no name of a published data set (OWNER/NAME)")
    loaded = datasets.load_dataset(str(folder))
    wanted = ALIASES.get(split, split)
    for name in loaded:
        if wanted in (name, ALIASES.get(name, name)):
            rows = loaded[name]
            break
    else:
        raise ValueError(f"no split {split!r} in {folder}: there are {', '.join(map(str, loaded))}")
    if missing := [name for name in ("actions", "episode_starts", "info") if name not in rows.column_names]:
        raise ValueError(f"{folder}: no column {', '.join(missing)}")
    names = [name for name in ("actions", "episode_starts", "info", "rewards") if name in rows.column_names]
    columns = rows.select_columns(names).to_dict()
    rewards = np.asarray(columns["rewards"]) if "rewards" in columns else None
    side = {"pixels": rows[0]["obs"].width} if "obs" in rows.column_names else {}
    given = np.asarray(columns["actions"]), np.asarray(columns["episode_starts"]), columns["info"]
    return from_rows(*given, rewards, env, observation="pixels", **side)


def _datasets() -> Any:
    try:
        import datasets
    except ImportError:
        raise needs_extra("datasets", "data") from None
    return datasets


def _png(picture: np.ndarray) -> bytes:
    try:
        from PIL import Image
    except ImportError:
        raise needs_extra("pillow", "data") from None
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()


def _parquet(episodes: Episodes, pictures: list[bytes]) -> bytes:
    datasets = _datasets()
    texts = episodes.texts()
    features = datasets.Features(
        obs=datasets.Image(),
        actions=datasets.Value("int64"),
        rewards=datasets.Value("float32"),
        episode_starts=datasets.Value("bool"),
        info=datasets.Value("string"),
    )
    table = datasets.Dataset.from_dict(
        {
            "obs": [{"bytes": picture, "path": None} for picture in pictures],
            "actions": episodes.action,
            "rewards": episodes.reward,
            "episode_starts": episodes.starts,
            "info": [texts[i] for i in episodes.maze],
        },
        features=features,
    )
    file = io.BytesIO()
    table.to_parquet(file)
    return file.getvalue()


def _card(name: str, splits: Mapping[str, Episodes]) -> str:
    first = next(iter(splits.values()))
    height, width = first.env.shape
    files = "\n".join(f"      - split: {split}\n        path: data/{split}-*.parquet" for split in splits)
    sizes = "\n".join(
        f"| {split} | {len(e.params.mazes)} | {e.num_episodes} | {len(e)} | {e.returns.mean():.4f} |"
        for split, e in splits.items()
    )
    columns = "\n".join(f"- `{column}`: {meaning}" for column, meaning in COLUMNS.items())
    return f"""---
pretty_name: {name}
task_categories:
  - reinforcement-learning
tags:
  - imitation-learning
  - labyrinth
configs:
  - config_name: default
    data_files:
{files}
---

# {name}

Demonstrations in {height} x {width} mazes of Labyrinth, made with jaxlab. Settings: {first.settings}.
Pictures are {first.env.pixels} x {first.env.pixels} RGB.

| split | mazes | episodes | rows | mean return |
| --- | --- | --- | --- | --- |
{sizes}

One row a state; the last row of an episode is the state it ended in, without an action.

{columns}
"""


def _croissant(name: str, files: Mapping[str, tuple[str, bytes]]) -> dict[str, Any]:
    kinds = {
        "obs": "sc:ImageObject",
        "actions": "sc:Integer",
        "rewards": "sc:Float",
        "episode_starts": "sc:Boolean",
        "info": "sc:Text",
    }
    objects = [
        {
            "@type": "cr:FileObject",
            "@id": path,
            "name": path,
            "contentUrl": path,
            "contentSize": f"{len(data)} B",
            "encodingFormat": "application/x-parquet",
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        for path, data in files.values()
    ]

    def record_set(split: str, path: str) -> dict[str, Any]:
        fields = [
            {
                "@type": "cr:Field",
                "@id": f"{split}/{column}",
                "name": column,
                "description": meaning,
                "dataType": kinds[column],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, meaning in COLUMNS.items()
        ]
        return {"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields}

    return {
        "@context": {
            "@language": "en",
            "@vocab": "https://schema.org/",
            "sc": "https://schema.org/",
            "cr": "http://mlcommons.org/croissant/",
            "conformsTo": "dct:conformsTo",
            "dct": "http://purl.org/dc/terms/",
            "column": "cr:column",
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
            "extract": "cr:extract",
            "field": "cr:field",
            "fileObject": "cr:fileObject",
            "recordSet": "cr:recordSet",
            "source": "cr:source",
        },
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": "Demonstrations in mazes of Labyrinth, made with jaxlab.",
        "distribution": objects,
        "recordSet": [record_set(split, path) for split, (path, _) in files.items()],
    }
