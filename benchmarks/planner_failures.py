"""A picture of what the planner gets wrong: ``python -m benchmarks.planner_failures [--seeds 10]``.

Uses the weights that ``python -m benchmarks.planner --only main`` keeps, or trains them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import numpy as np

from baselines import evaluate, planner
from benchmarks import planner as measured
from benchmarks.planner_runs import Run
from jaxlab import splits
from jaxlab.env import Labyrinth

SHOWN = 8
SPLITS = ("test", "s0", "s0_g")


def failures(run: Run, name: str) -> list[dict[str, Any]]:
    """Mazes of a split that a run does not solve, each with its true walls, the beliefs at its start and the walk."""
    env = Labyrinth((5, 5), observation="pixels")
    mazes = splits.load(measured.MAZES)[name]
    params = env.params(mazes)
    beliefs, maze = measured.beliefs_of(run, env, params)
    cells = env.num_cells
    actions = np.asarray(measured.act_on(jax.tree.map(jax.numpy.asarray, beliefs), cells)).reshape(-1, 1, cells)
    outcome = np.asarray(evaluate.episodes(env, params, jax.numpy.asarray(actions, jax.numpy.int32)).outcome)
    found = []
    for index in np.flatnonzero(outcome != evaluate.GOAL):
        walk = [int(mazes.start[index])]
        for _ in range(cells):
            here = jax.numpy.array([walk[-1]])
            action = jax.numpy.array([actions[index, 0, walk[-1]]])
            zero = jax.numpy.array([0])
            walk.append(int(env.rule(params.mazes, jax.numpy.array([index]), here, zero, action).cell[0]))
            if walk[-1] in walk[:-1]:
                break
        # Of the cell where it is lost: what it believes there decides.
        row = int(index) * cells + walk[-1]
        own = planner.Beliefs(*(None if part is None else part[row] for part in beliefs))
        true = planner.truth(env, jax.tree.map(np.asarray, params.mazes)[maze[row : row + 1]], maze[:1] * 0, [walk[-1]])
        found.append(
            {
                "title": f"seed {run.seed}, {name} {index}",
                "own": own,
                "across": np.asarray(true.across[0]),
                "along": np.asarray(true.along[0]),
                "walk": walk,
                "goal": int(mazes.goal[index]),
            }
        )
    return found


def draw(ax: Any, case: dict[str, Any]) -> None:
    """True walls in grey; over them what is believed: red where a wall is seen, as thick as it is sure."""
    height, width = case["across"].shape[0], case["along"].shape[1]
    ax.set(xlim=(-0.05, width + 0.05), ylim=(-0.05, height + 0.05), aspect="equal", xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_visible(False)
    ax.plot([0, width, width, 0, 0], [0, 0, height, height, 0], color="0.7", lw=4, zorder=1)
    for true, seen, place in (
        (case["across"], case["own"].across, lambda r, c: ([c + 1, c + 1], [r, r + 1])),
        (case["along"], case["own"].along, lambda r, c: ([c, c + 1], [r + 1, r + 1])),
    ):
        for row, col in np.ndindex(*true.shape):
            if true[row, col]:
                ax.plot(*place(row, col), color="0.7", lw=4, zorder=1)
            ax.plot(*place(row, col), color="crimson", lw=2.5 * seen[row, col], alpha=0.9, zorder=2)
    middle = lambda cell: (cell % width + 0.5, cell // width + 0.5)  # noqa: E731
    points = np.array([middle(cell) for cell in case["walk"]])
    ax.plot(*points.T, color="tab:blue", lw=1.2, zorder=3)
    ax.plot(*points[0], "o", color="tab:blue", ms=5, zorder=4)
    ax.plot(*points[-1], "x", color="tab:blue", ms=7, mew=2, zorder=4)
    ax.plot(*middle(case["goal"]), "*", color="tab:green", ms=9, zorder=4)
    ax.set_title(case["title"], fontsize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("docs/planner-failures.png"))
    args = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    cases: list[dict[str, Any]] = []
    for run in measured.cloning().runs(range(args.seeds)):
        for name in SPLITS:
            found = failures(run, name)
            print(f"{name}, seed {run.seed}: {[case['title'].split()[-1] for case in found]}", flush=True)
            cases += found
    # A maze that many seeds fail is shown once, then others.
    first = {case["title"].split(", ")[1]: case for case in reversed(cases)}
    again = [case for case in cases if all(case is not shown for shown in first.values())]
    cases = (list(first.values()) + again)[:SHOWN]
    columns = min(max(len(cases), 1), SHOWN // 2)
    rows = max(1, -(-len(cases) // columns))
    figure, axes = pyplot.subplots(rows, columns, figsize=(2 * columns, 2.2 * rows), dpi=120, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, case in zip(axes.flat, cases, strict=False):
        ax.set_axis_on()
        draw(ax, case)
    figure.tight_layout()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(args.out)
    print(args.out)


if __name__ == "__main__":
    main()
