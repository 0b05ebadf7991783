"""``replay.npz`` beside results.json: the mazes and what a policy does in every state of them.

With it every episode can be played again, drawn and explained, with no network at hand. It holds
one byte for a state and a training seed. Everything in this file is numpy on the host.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxlab import solve
from jaxlab.env import Labyrinth
from jaxlab.files import read_arrays, write_atomic
from jaxlab.maze import Maze
from jaxlab.splits import FIELDS, sets_of
from jaxlab.text import Settings

FILE = "replay.npz"

Actions = Mapping[tuple[int, str], np.ndarray]
"""(training seed, split) to ``uint8[N, num_modes, H*W]``, the action that the policy prefers."""


@dataclasses.dataclass(frozen=True, eq=False)
class Replay:
    """What ``replay.npz`` holds.

    Attributes:
        env: the rules; its observation says nothing.
        splits: the mazes, host arrays.
        actions: of every training seed and split.
    """

    env: Labyrinth
    splits: dict[str, Maze]
    actions: dict[tuple[int, str], np.ndarray]

    @property
    def seeds(self) -> list[int]:
        """The training seeds."""
        return sorted({seed for seed, _ in self.actions})

    @functools.cached_property
    def rules(self) -> dict[str, Rules]:
        """The rules of every split."""
        return {split: rules(self.env, mazes) for split, mazes in self.splits.items()}


def write(folder: str | os.PathLike[str], env: Labyrinth, splits: Mapping[str, Maze], actions: Actions) -> Path | None:
    """Write ``folder/replay.npz``, whole or not at all; None, and no file, where there are tiles of one's own.

    The rules of such tiles are Python functions, which a file of numbers can't hold.
    """
    if env.tiles:
        return None
    arrays: dict[str, np.ndarray] = {
        "settings": np.array([env.key_and_door, env.icy_floor, env.occlusion]),
        "splits": np.array(list(splits)),
    }
    for split, mazes in splits.items():
        arrays |= {f"{split}.{field}": np.asarray(getattr(mazes, field)) for field in FIELDS}
    for (seed, split), chosen in actions.items():
        shape = (len(splits[split]), env.num_modes, env.num_cells)
        if np.shape(chosen) != shape:
            raise ValueError(f"actions of seed {seed} on {split} must be {shape}, got {np.shape(chosen)}")
        arrays[f"actions.{seed}.{split}"] = np.asarray(chosen, np.uint8)
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    path = Path(folder) / FILE
    write_atomic(path, packed.getvalue())
    return path


def read(folder: str | os.PathLike[str]) -> Replay:
    """Read ``folder/replay.npz`` (or the file itself).

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged.
    """
    path = Path(folder)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no replay here; a finished run of baselines.train writes one")
    arrays = read_arrays(path)
    try:
        return _unpack(arrays)
    except ValueError as error:
        raise ValueError(f"{path} is not a replay: {error}") from None


def _unpack(arrays: Mapping[str, np.ndarray]) -> Replay:
    splits = sets_of(arrays)
    flags = arrays.get("settings", np.zeros(0))
    if flags.shape != (3,) or flags.dtype != bool:
        raise ValueError(f"settings must be bool[3], got {flags.dtype}{list(flags.shape)}")
    settings = Settings(*(bool(flag) for flag in flags))
    env = Labyrinth.from_settings(next(iter(splits.values())).shape, settings)
    actions = {}
    for name, array in arrays.items():
        if name.startswith("actions."):
            seed, _, split = name.removeprefix("actions.").partition(".")
            if not seed.isascii() or not seed.isdigit() or len(seed) > 10 or split not in splits:
                raise ValueError(f"{name!r} names no seed and split")
            shape = (len(splits[split]), env.num_modes, env.num_cells)
            if array.shape != shape or array.dtype != np.uint8 or (array.size and array.max() > 3):
                raise ValueError(f"{name} must be uint8{list(shape)} of 0..3, got {array.dtype}{list(array.shape)}")
            actions[int(seed), split] = array
    return Replay(env, splits, actions)


# -- the rules as tables ---------------------------------------------------------------------------


class Rules(NamedTuple):
    """What there is to know of a split. ``S = num_modes * H*W`` states, ``mode * H*W + cell``.

    Attributes:
        start: ``int32[N]``, the first state.
        goal: ``int32[N]``, the goal's cell.
        following: ``int32[N, S, 4]``, the state after each action.
        fell: ``bool[N, S, 4]``.
        cost: ``int32[N, S, 4]``.
        optimal: ``uint8[N, S]``, bit set of the optimal actions; 0 where nothing is to be done.
        distance: ``int32[N, S]``, least cost to the goal; -1: it can't be reached.
        walls: ``uint8[N, H*W]``.
        max_steps: the time limit.
    """

    start: np.ndarray
    goal: np.ndarray
    following: np.ndarray
    fell: np.ndarray
    cost: np.ndarray
    optimal: np.ndarray
    distance: np.ndarray
    walls: np.ndarray
    max_steps: int

    @property
    def num_cells(self) -> int:
        """Cells of a maze."""
        return self.walls.shape[1]


def rules(env: Labyrinth, mazes: Maze) -> Rules:
    """The rules of a set of mazes as numpy tables (host)."""
    params = env.params(mazes)
    move = solve.transitions(env, params)
    best = solve.optimal(env, params)
    count = len(mazes)
    following = np.asarray(move.mode) * env.num_cells + np.asarray(move.cell)
    return Rules(
        start=np.asarray(mazes.start, np.int32),
        goal=np.asarray(mazes.goal, np.int32),
        following=following.reshape(count, -1, 4).astype(np.int32),
        fell=np.asarray(move.fell).reshape(count, -1, 4),
        cost=np.asarray(move.cost).reshape(count, -1, 4),
        optimal=np.asarray(best.optimal).reshape(count, -1),
        distance=np.asarray(best.distance).reshape(count, -1),
        walls=np.asarray(mazes.walls).reshape(count, -1),
        max_steps=int(params.max_steps),
    )


class Play(NamedTuple):
    """One episode of a deterministic policy.

    Attributes:
        states: the states it acted in, in order; for a loop each state of it once.
        actions: what it did there.
        end: the state after the last of these actions; for a loop the state that came back.
        outcome: ``"goal"``, ``"fall"``, ``"loop"`` or ``"time"``.
    """

    states: list[int]
    actions: list[int]
    end: int
    outcome: str

    @property
    def loop(self) -> list[int]:
        """The states that it goes round in; empty where it does not."""
        return self.states[self.states.index(self.end) :] if self.outcome == "loop" else []


def play(known: Rules, maze: int, actions: np.ndarray) -> Play:
    """Play one maze from its start (host).

    Args:
        known: the rules of the split.
        maze: which maze.
        actions: ``int[S]`` or ``int[num_modes, H*W]``, the action in every state.
    """
    chosen = np.asarray(actions).reshape(-1)
    state, time, seen = int(known.start[maze]), 0, set[int]()
    states, done = [], []
    while state not in seen:
        action = int(chosen[state])
        seen.add(state)
        states.append(state)
        done.append(action)
        time += int(known.cost[maze, state, action])
        after = int(known.following[maze, state, action])
        if known.fell[maze, state, action]:
            return Play(states, done, after, "fall")
        if after % known.num_cells == known.goal[maze]:
            return Play(states, done, after, "goal")
        if time >= known.max_steps:
            return Play(states, done, after, "time")
        state = after
    return Play(states, done, state, "loop")


def reaches(known: Rules, actions: np.ndarray) -> np.ndarray:
    """Does the policy reach the goal from each state, time aside? ``bool[N, S]`` (host)."""
    count, size = known.optimal.shape
    chosen = np.asarray(actions).reshape(count, size, 1).astype(np.int64)
    after = np.take_along_axis(known.following, chosen, -1)[..., 0]
    fell = np.take_along_axis(known.fell, chosen, -1)[..., 0]
    at_goal = np.arange(size) % known.num_cells == known.goal[:, None]
    here = np.broadcast_to(np.arange(size), after.shape)
    after = np.where(at_goal | fell, here, after)
    for _ in range(max(1, size.bit_length())):  # jumps of 1, 2, 4, ... moves
        after = np.take_along_axis(after, after, 1)
    return np.take_along_axis(at_goal, after, 1)
