"""What must be equal on every machine and version (digests of integers) or close (losses): see docs/trust.md.

PYTHONPATH=tests:. python -m stored            # prints it
PYTHONPATH=tests:. python -m stored --write    # tests/data/stored.json: a change of what is promised
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import jax
import numpy as np

import jaxlab
from baselines import bc
from jaxlab import datasets, generate, solve, splits

FILE = Path(__file__).parent / "data" / "stored.json"
CONFIG = bc.Config(encoder="mlp", batch=16, epochs=5)


def of(*arrays: np.ndarray) -> str:
    """SHA-256 over shapes and values of arrays of integers, whatever their width."""
    sha = hashlib.sha256()
    for array in map(np.asarray, arrays):
        sha.update(repr(array.shape).encode())
        sha.update(np.ascontiguousarray(array, "<i8").tobytes())
    return sha.hexdigest()


def integers() -> dict[str, str]:
    """Name to digest of what is drawn and derived: mazes, splits, demonstrations, walks, paths, counts."""

    def key() -> jax.Array:
        return jax.random.key(7)  # the same one each time, but made anew: none is used twice

    drawn = {start_goal: generate.mazes(key(), 24, (5, 5), start_goal) for start_goal in ("biased", "unbiased")}
    drawn |= {name: generate.tree_mazes(key(), 8, (4, 4), name, loops=0.2) for name in ("wilson", "kruskal", "prim")}
    made = splits.make((3, 3), 8, 4, 4, seed=5, key_and_door=True)
    frozen = splits.load("5x5-ice-v1")
    mazes = frozen["train"][:8]
    env = jaxlab.Labyrinth.from_settings(frozen.shape, frozen.settings)
    params = env.params(mazes)
    shown = datasets.demonstrations(env, params, seed=3)
    walks = datasets.episodes(env, params, "all-routes")
    return {
        **{f"mazes, {name}": splits.digest(jax.tree.map(np.asarray, mazes)) for name, mazes in drawn.items()},
        **{f"split {name}": digest for name, digest in made.sha256.items()},
        "demonstrations": of(shown.maze, shown.cell, shown.action, shown.next_cell),
        "walks": of(walks.maze, walks.cell, walks.mode, walks.action),
        "paths": of(*(solve.paths(maze).cells for maze in mazes)),
        "counts": of([solve.count_paths(maze) for maze in frozen["test"]]),
    }


def losses() -> list[float]:
    """Of each epoch of behavioural cloning on four mazes, from ``CONFIG`` and a key."""
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 3)), splits.load("3x3-v1")["train"][:4])
    return jax.jit(bc.make(CONFIG, shown))(jax.random.key(0))[1]["loss"].tolist()


if __name__ == "__main__":
    found = json.dumps({"integers": integers(), "losses": losses()}, indent=1) + "\n"
    if "--write" in sys.argv:
        FILE.write_text(found, "utf-8")
    print(found, end="")
