"""Why does a policy fail? Its actions beside the optimal ones, state by state.

    python -m baselines.diagnosis runs/bc

Everything is exact, because the optimal actions of every state are known: where the policy is
right (by distance to the goal, by open sides of the cell, on and off the demonstrated path), the
first mistake of every failed episode, and what the failures end in.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from baselines import replay
from baselines.replay import Play, Replay, Rules
from jaxlab import datasets, grid

ENDS = ("bump", "two-cycle", "longer loop", "fall", "time")
"""What a failed episode ends in: against a wall, to and fro, round and round, on ice, or out of time."""


class Rate(NamedTuple):
    """How often the action was an optimal one.

    Attributes:
        optimal: share of the states, 0..1.
        states: how many states that is.
    """

    optimal: float
    states: int


class Mistake(NamedTuple):
    """The first action of a failed episode that was not optimal.

    Attributes:
        maze: index in its split.
        step: moves made before it.
        cell, mode: where.
        action: what was done.
        best: what is optimal there, names.
        distance: cost left to the goal there.
        end: one of `ENDS`.
    """

    maze: int
    step: int
    cell: int
    mode: int
    action: str
    best: tuple[str, ...]
    distance: int
    end: str


def is_right(known: Rules, actions: np.ndarray) -> np.ndarray:
    """Is the action optimal in each state? ``bool[N, S]``; False where nothing is to be done."""
    chosen = np.asarray(actions).reshape(known.optimal.shape).astype(np.uint8)
    return (known.optimal >> chosen & 1).astype(bool)


def is_solvable(known: Rules) -> np.ndarray:
    """Does the maze have a solution? ``bool[N]``; where it has none, no action is a mistake."""
    return known.distance[np.arange(len(known.start)), known.start] >= 0


def rates(right: np.ndarray, groups: np.ndarray) -> dict[int, Rate]:
    """The rate of each group of states; groups below 0 are left out.

    >>> rates(np.array([True, False, True]), np.array([1, 1, -1]))
    {1: Rate(optimal=0.5, states=2)}
    """
    return {
        int(group): Rate(float(right[groups == group].mean()), int((groups == group).sum()))
        for group in np.unique(groups[groups >= 0])
    }


def by_distance(known: Rules, actions: np.ndarray) -> dict[int, Rate]:
    """By cost left to the goal."""
    return rates(is_right(known, actions), np.where(known.optimal != 0, known.distance, -1))


def by_open_sides(known: Rules, actions: np.ndarray) -> dict[int, Rate]:
    """By how many sides of the cell have no wall: 1 is a dead end, 2 a corridor, 3 and 4 junctions."""
    sides = grid.NUM_ACTIONS - np.bitwise_count(known.walls & grid.ALL_WALLS).astype(np.int64)
    modes = known.optimal.shape[1] // known.num_cells
    return rates(is_right(known, actions), np.where(known.optimal != 0, np.tile(sides, (1, modes)), -1))


def demonstrated(trial: Replay, split: str, demo_seed: int = 0) -> np.ndarray:
    """States on the path that a demonstration takes through each maze: ``bool[N, S]`` (host).

    For the training mazes that is the path that was shown; elsewhere it is one that would have been. A maze
    without a solution has none.
    """
    known = trial.rules[split]
    on = np.zeros(known.optimal.shape, bool)
    solvable = np.flatnonzero(is_solvable(known))
    if not solvable.size:
        return on
    shown = datasets.demonstrations(trial.env, trial.splits[split][solvable], demo_seed)
    on[solvable[np.asarray(shown.maze)], np.asarray(shown.mode) * trial.env.num_cells + np.asarray(shown.cell)] = True
    return on


def by_path(known: Rules, actions: np.ndarray, on: np.ndarray) -> dict[str, Rate]:
    """On and off the demonstrated path (`demonstrated`)."""
    found = rates(is_right(known, actions), np.where(known.optimal != 0, on.astype(int), -1))
    return {name: found[group] for group, name in ((1, "on"), (0, "off")) if group in found}


def end_of(episode: Play) -> str | None:
    """One of `ENDS`, None for a success."""
    if episode.outcome == "loop":
        return {1: "bump", 2: "two-cycle"}.get(len(episode.loop), "longer loop")
    return None if episode.outcome == "goal" else episode.outcome


def mistakes(known: Rules, actions: np.ndarray) -> list[Mistake]:
    """The first mistake of every failed episode, in mazes that have a solution (host)."""
    out, right, chosen = [], is_right(known, actions), np.asarray(actions)
    for maze in np.flatnonzero(is_solvable(known)).tolist():
        episode = replay.play(known, maze, chosen[maze])
        end = end_of(episode)
        if end is None:
            continue
        step = next((i for i, state in enumerate(episode.states) if not right[maze, state]), None)
        if step is None:  # optimal all the way, and the time limit is shorter than that
            continue
        state = episode.states[step]
        best = int(known.optimal[maze, state])
        out.append(
            Mistake(
                maze=maze,
                step=step,
                cell=state % known.num_cells,
                mode=state // known.num_cells,
                action=grid.ACTION_NAMES[episode.actions[step]],
                best=tuple(name for a, name in enumerate(grid.ACTION_NAMES) if best >> a & 1),
                distance=int(known.distance[maze, state]),
                end=end,
            )
        )
    return out


def by_cell(known: Rules, values: np.ndarray) -> list[float | None]:
    """The mean of ``values bool[N, S]`` in each cell, over mazes and modes with something to do: ``[H*W]``."""
    count, size = known.optimal.shape
    shape = (count * (size // known.num_cells), known.num_cells)
    valid, hit = (known.optimal != 0).reshape(shape), values.reshape(shape)
    total = valid.sum(0)
    return [float((hit & valid)[:, cell].sum() / n) if (n := int(total[cell])) else None for cell in range(shape[1])]


# -- a whole run -----------------------------------------------------------------------------------


def merge(found: Sequence[Mapping[Any, Rate]]) -> dict[Any, Rate]:
    """Rates of several seeds as one: states are counted once for each seed."""
    keys = dict.fromkeys(key for one in found for key in one)
    out = {}
    for key in keys:
        parts = [one[key] for one in found if key in one]
        states = sum(part.states for part in parts)
        out[key] = Rate(sum(part.optimal * part.states for part in parts) / states, states)
    return out


def run(trial: Replay) -> dict[str, dict[str, Any]]:
    """The diagnosis of every split, over all training seeds; mazes without a solution are left out (host).

    Returns:
        ``{split: {"distance", "open_sides", "path": {group: Rate}, "ends": {end: episodes},
        "episodes": how many in all, "mistakes": {seed: [Mistake]}}}``.
    """
    out = {}
    for split, known in trial.rules.items():
        each = [trial.actions[seed, split] for seed in trial.seeds]
        on = demonstrated(trial, split)
        found = {seed: mistakes(known, chosen) for seed, chosen in zip(trial.seeds, each, strict=True)}
        ends = Counter(mistake.end for rows in found.values() for mistake in rows)
        out[split] = {
            "distance": merge([by_distance(known, chosen) for chosen in each]),
            "open_sides": merge([by_open_sides(known, chosen) for chosen in each]),
            "path": merge([by_path(known, chosen, on) for chosen in each]),
            "ends": {end: ends.get(end, 0) for end in ENDS},
            "episodes": len(each) * int(is_solvable(known).sum()),
            "mistakes": found,
        }
    return out


def describe(found: Mapping[str, Mapping[str, Any]]) -> str:
    """A diagnosis in words and numbers."""
    lines = []
    for split, one in found.items():
        failed = sum(one["ends"].values())
        lines.append(f"{split}: {failed} of {one['episodes']} episodes failed")
        for name, title in (
            ("distance", "distance to goal"),
            ("open_sides", "open sides"),
            ("path", "demonstrated path"),
        ):
            rows = ", ".join(f"{group}: {100 * rate.optimal:.0f} %" for group, rate in one[name].items())
            lines.append(f"  optimal action by {title}: {rows}")
        if failed:
            lines.append("  failures end in: " + ", ".join(f"{end} {n}" for end, n in one["ends"].items() if n))
            steps = [mistake.step for rows in one["mistakes"].values() for mistake in rows]
            lines.append(f"  first mistake: after {np.median(steps):.0f} moves in the median failure")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m baselines.diagnosis", description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", help="a finished run, with replay.npz in it")
    given = parser.parse_args(arguments)
    try:
        print(describe(run(replay.read(given.folder))))
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
