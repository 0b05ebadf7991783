"""The data behind the report's interactive parts, as plain JSON.

Arrays travel as base64: walls, optimal actions, distances and what a policy does take a few kB for a
hundred mazes. Episodes are played here, by the environment's own rules; the page only draws them.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from baselines import diagnosis, replay
from baselines.bench.entries import Entry, groups
from baselines.replay import Rules

UNKNOWN = 255
"""In distances: the goal can't be reached."""


def pack(array: np.ndarray, kind: Any = np.uint8) -> str:
    """An array as base64 of little-endian numbers."""
    flat = np.ascontiguousarray(array, dtype=np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(flat.tobytes()).decode("ascii")


def build(found: Sequence[Entry]) -> dict[str, Any]:
    """``{"groups": [...], "entries": [...]}``; entries without a replay have scores only (host)."""
    sets, rows = [], []
    for index, (name, group) in enumerate(groups(found).items()):
        known = next((entry.replay for entry in group if entry.replay is not None), None)
        sets.append({"name": name, "shape": list(group[0].shape), "splits": {}, "modes": 1})
        if known is not None:
            sets[-1]["modes"] = known.env.num_modes
            sets[-1]["splits"] = {split: _mazes(known, split) for split in known.splits}
        rows += [_entry(entry, index) for entry in group]
    return {"groups": sets, "entries": rows}


def _mazes(known: replay.Replay, split: str) -> dict[str, Any]:
    mazes, rules = known.splits[split], known.rules[split]
    distance = np.where(rules.distance < 0, UNKNOWN, np.minimum(rules.distance, UNKNOWN - 1))
    ice = np.asarray(mazes.ice)
    return {
        "count": len(mazes),
        "walls": pack(rules.walls),
        "start": np.asarray(mazes.start).tolist(),
        "goal": np.asarray(mazes.goal).tolist(),
        "key": np.asarray(mazes.key).tolist() if known.env.key_and_door else None,
        "door": np.asarray(mazes.door).tolist() if known.env.key_and_door else None,
        "ice": pack(ice) if ice.any() else None,
        "optimal": pack(rules.optimal),
        "distance": pack(distance),
        "states": _by_cell(rules, np.ones(rules.optimal.shape, bool))[1],
        "starts": _by_cell(_first_mode(rules), np.ones((len(mazes), rules.num_cells), bool))[1],
    }


def _entry(entry: Entry, group: int) -> dict[str, Any]:
    trial, seeds = entry.replay, []
    for run in entry.results["seeds"] if trial is not None else ():
        assert trial is not None
        splits = {}
        for split in entry.splits:
            chosen = trial.actions.get((run["seed"], split))
            if chosen is not None:
                splits[split] = _played(trial.rules[split], np.asarray(chosen))
        seeds.append({"seed": run["seed"], "splits": splits})
    return {"group": group, "label": entry.label, "seeds": seeds}


def _played(rules: Rules, chosen: np.ndarray) -> dict[str, Any]:
    """What one training seed does on one split."""
    episodes = [replay.play(rules, maze, actions) for maze, actions in enumerate(chosen)]
    kind = np.uint8 if rules.optimal.shape[1] <= 256 else np.uint16
    right = diagnosis.is_right(rules, chosen)
    return {
        "actions": pack(_pack_actions(chosen)),
        # The states of an episode and the one after its last action; one list for all mazes.
        "paths": pack(np.concatenate([[*episode.states, episode.end] for episode in episodes]), kind),
        "lengths": [len(episode.states) + 1 for episode in episodes],
        "ends": [diagnosis.end_of(episode) or "goal" for episode in episodes],
        "right": _by_cell(rules, right)[0],
        "reached": _by_cell(_first_mode(rules), replay.reaches(rules, chosen)[:, : rules.num_cells])[0],
    }


def _pack_actions(chosen: np.ndarray) -> np.ndarray:
    """Four actions in a byte, the first in its lowest bits."""
    flat = chosen.reshape(-1).astype(np.uint8)
    fours = np.concatenate([flat, np.zeros(-len(flat) % 4, np.uint8)]).reshape(-1, 4)
    return (fours << np.arange(0, 8, 2, dtype=np.uint8)).sum(-1, dtype=np.uint8)


def _first_mode(rules: Rules) -> Rules:
    """The states before anything has been picked up: where an episode could begin."""
    return rules._replace(optimal=rules.optimal[:, : rules.num_cells])


def _by_cell(rules: Rules, values: np.ndarray) -> tuple[list[int], list[int]]:
    """(hits, states) in each cell, over the states with something to do."""
    valid = (rules.optimal != 0).reshape(-1, rules.num_cells)
    hits = values.reshape(-1, rules.num_cells) & valid
    return hits.sum(0).tolist(), valid.sum(0).tolist()
