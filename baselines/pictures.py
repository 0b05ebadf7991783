"""Figures of a run: learning curves, and mazes with the path that a policy takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from baselines import evaluate, table
from jaxlab import solve
from jaxlab.env import Labyrinth
from jaxlab.errors import needs_extra
from jaxlab.maze import Maze
from jaxlab.render import render

_SIZE = 360
_PATH, _LOST = "#c026d3", "#6b7280"


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise needs_extra("matplotlib", "viz") from None
    matplotlib.use("Agg")  # files only, no display
    import matplotlib.pyplot as plt

    return plt


def walk(env: Labyrinth, mazes: Maze, actions: np.ndarray) -> list[tuple[list[int], str]]:
    """The cells that a deterministic policy goes through in each maze, and the outcome (host).

    Args:
        env: the rules.
        mazes: a set.
        actions: ``int[N, num_modes, H*W]``.
    """
    params = env.params(mazes)
    move = solve.transitions(env, params)
    cells, modes, fell = np.asarray(move.cell), np.asarray(move.mode), np.asarray(move.fell)
    outcomes = np.asarray(evaluate.episodes(env, params, actions).outcome)
    paths = []
    for i, outcome in enumerate(outcomes):
        cell, mode, seen = int(mazes.start[i]), 0, set()
        path = [cell]
        while (cell, mode) not in seen and cell != int(mazes.goal[i]):
            seen.add((cell, mode))
            step = i, mode, cell, int(actions[i, mode, cell])
            cell, mode = int(cells[step]), int(modes[step])
            path.append(cell)
            if fell[step]:
                break
        paths.append((path, evaluate.OUTCOMES[outcome]))
    return paths


def mazes_with_paths(
    policy: evaluate.Policy,
    mazes: Maze,
    path: str | os.PathLike[str],
    *,
    env: Labyrinth,
    render_as: str = "paper",
    title: str = "",
    count: int = 6,
) -> None:
    """Draw the first mazes of a set with the path that a policy takes, as a PNG (host).

    A path that goes in circles ends where it first comes back to a state, marked by a cross.
    """
    plt = _pyplot()
    some = mazes[: min(count, len(mazes))]
    seen = table.make(env, env.params(some), env.observation, render_as)
    actions = evaluate.answers(policy, seen)
    actions = actions.argmax(-1) if actions.ndim == 4 else actions
    columns = min(3, len(some))
    rows = -(-len(some) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3 * columns, 3.3 * rows), squeeze=False)
    for axis in axes.flat:
        axis.axis("off")
    for i, (cells, outcome) in enumerate(walk(env, some, actions)):
        axis = axes.flat[i]
        height, width = env.shape
        axis.imshow(np.asarray(render(some[i], int(some.start[i]), _SIZE)), interpolation="nearest")
        x = (np.array(cells) % width + 0.5) * _SIZE / width
        y = _SIZE - (np.array(cells) // width + 0.5) * _SIZE / height
        color = _PATH if outcome == "goal" else _LOST
        axis.plot(x, y, color=color, linewidth=3.5, solid_capstyle="round", solid_joinstyle="round")
        axis.plot(x[-1], y[-1], "o" if outcome == "goal" else "X", color=color, markersize=11, markeredgecolor="white")
        lost = "walks into a wall" if cells[-2:] == cells[-1:] * 2 else "goes in circles"
        says = {"goal": f"goal in {len(cells) - 1} moves", "fall": "falls through the ice"}
        axis.set_title(says.get(outcome, lost), fontsize=11)
        axis.add_patch(plt.Rectangle((-0.5, -0.5), _SIZE, _SIZE, fill=False, linewidth=1.5, edgecolor="black"))
    if title:
        figure.suptitle(title, fontsize=13)
    figure.tight_layout(h_pad=2)
    _save(figure, path)
    plt.close(figure)


def learning_curves(metrics: Sequence[dict[str, float]], path: str | os.PathLike[str], *, title: str = "") -> None:
    """Loss, and success on train and valid, over epochs, one line a seed, as a PNG (host)."""
    plt = _pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    seeds = sorted({int(row["seed"]) for row in metrics})
    for seed in seeds:
        rows = [row for row in metrics if row["seed"] == seed]
        faint = 1.0 if len(seeds) == 1 else 0.6
        left.plot([r["epoch"] for r in rows], [r.get("loss", np.nan) for r in rows], color="#2563eb", alpha=faint)
        for name, color in (("train", "#16a34a"), ("valid", "#ea580c")):
            looked = [row for row in rows if f"{name}_success" in row]
            label = name if seed == seeds[0] else None
            rates = [100 * row[f"{name}_success"] for row in looked]
            right.plot([row["epoch"] for row in looked], rates, color=color, alpha=faint, label=label, marker=".")
    left.set(xlabel="epoch", ylabel="training loss", yscale="log")
    right.set(xlabel="epoch", ylabel="success, %", ylim=(-3, 103))
    right.legend(frameon=False)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    if title:
        figure.suptitle(title, fontsize=12)
    figure.tight_layout()
    _save(figure, path)
    plt.close(figure)


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


__all__ = ["learning_curves", "mazes_with_paths", "walk"]
