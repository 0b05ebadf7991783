"""The paper's Figure 2 and the Labyrinth row of its Table 8, with the numbers: ``python scripts/figures.py``.

Figure 2 compares cells and actions of the shortest solutions over three ways to vary a maze:
(a) other structures (train, valid, test), (b) another start (s0), (c) another start and goal (s0_g).
Table 8 compares the training mazes with many freshly drawn ones.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import jax
import numpy as np

from jaxlab import Labyrinth, analysis, generate, splits
from jaxlab.errors import needs_extra
from jaxlab.files import write_atomic

PAPER_TABLE_8 = {"Average reward": 0.9535, "Action difference": 0.0165, "Trajectory difference": 0.0475, "p-value": 0.0}
WAYS = {
    "(a) other structures": ("train", "valid", "test"),
    "(b) another start": ("train", "s0"),
    "(c) another start and goal": ("train", "s0_g"),
}


def figure_2(seen: dict[str, analysis.Visits], shape: tuple[int, int]) -> bytes:
    """The figure as a PNG: one column a split, cells above actions, a line between the three ways."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise needs_extra("matplotlib", "viz") from error
    columns = [(way, name) for way, names in WAYS.items() for name in names if name in seen]
    drawing = Figure(figsize=(2.4 * len(columns) + 0.8, 5.2), layout="constrained", dpi=120)
    ratios = np.array([sum(way == w for w, _ in columns) for way in WAYS], float)
    ratios[-1] += 0.35  # room for the colour bar
    parts = drawing.subfigures(1, len(WAYS), width_ratios=ratios)
    top = max(one.cell_distribution().max() for one in seen.values())
    for part, (way, names) in zip(np.atleast_1d(parts), WAYS.items(), strict=True):
        names = [name for name in names if name in seen]
        part.suptitle(way, fontsize=12)
        axes = part.subplots(2, len(names), squeeze=False)
        for i, name in enumerate(names):
            image = analysis.draw_cells(axes[0, i], seen[name].cell_distribution(), shape, name, top)
            analysis.draw_actions(axes[1, i], seen[name].action_distribution())
    part.colorbar(image, ax=axes[0, :].tolist(), shrink=0.85)
    raw = io.BytesIO()
    drawing.savefig(raw, format="png", metadata={"Software": None})
    return raw.getvalue()


def numbers(seen: dict[str, analysis.Visits], shape: tuple[int, int]) -> str:
    """What Figure 2 shows, as a table: distributions, and distances from the training mazes."""
    lines = [
        "| split | mazes | up | right | down | left | JS actions | JS cells | EMD cells |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    train = seen["train"]
    for name, one in seen.items():
        actions, cells = one.action_distribution(), one.cell_distribution()
        apart = (
            analysis.jensen_shannon(actions, train.action_distribution()),
            analysis.jensen_shannon(cells, train.cell_distribution()),
            analysis.wasserstein(cells, train.cell_distribution(), shape),
        )
        shares = " | ".join(f"{share:.3f}" for share in actions)
        lines.append(f"| {name} | {len(one.number)} | {shares} | {' | '.join(f'{x:.4f}' for x in apart)} |")
    return "\n".join(lines)


def table_8(train: analysis.Visits, shape: tuple[int, int], num_mazes: int, seed: int, draws: int) -> str:
    """The Labyrinth row, training mazes against ``num_mazes`` fresh ones, beside the paper's."""
    env = Labyrinth(shape)
    fresh = analysis.visits(env, generate.mazes(jax.random.key(seed), num_mazes, shape))
    moves = fresh.actions.sum(1)
    released = 1 - env.step_penalty * (moves - 1)
    actions = train.action_distribution(), fresh.action_distribution()
    cells = train.cell_distribution(), fresh.cell_distribution()
    greatest = shape[0] + shape[1] - 2
    mover = analysis.wasserstein(*cells, shape)

    def apart(a, b):
        return analysis.jensen_shannon(a.sum(0), b.sum(0))

    some = fresh.cells[: 10 * len(train.cells)]
    p_cells = analysis.permutation_test(apart, train.cells, some, draws, seed)
    p_actions = analysis.permutation_test(apart, train.actions, fresh.actions[: len(some)], draws, seed)
    rows = [
        ("Average reward of a shortest solution, released reward", released.mean(), PAPER_TABLE_8["Average reward"]),
        ("Average reward of a shortest solution, Eq. 1", 1.0, None),
        ("Action difference: JS distance", analysis.jensen_shannon(*actions), PAPER_TABLE_8["Action difference"]),
        ("Action difference: p-value by permutation of mazes", p_actions, None),
        (
            f"Trajectory difference: EMD over the cells / {greatest}",
            mover / greatest,
            PAPER_TABLE_8["Trajectory difference"],
        ),
        ("Trajectory difference: EMD over the cells, in cells", mover, None),
        ("Trajectory difference: JS distance of the cells", analysis.jensen_shannon(*cells), None),
        ("Trajectory p-value by permutation of mazes", p_cells, PAPER_TABLE_8["p-value"]),
    ]
    lines = [
        f"| {len(train.number)} training mazes against {num_mazes} drawn afresh | measured | paper |",
        "|---|---|---|",
    ]
    for name, value, paper in rows:
        lines.append(f"| {name} | {value:.4f} | {'-' if paper is None else f'{paper:.4f}'} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", default="5x5-v1", help="a frozen split or a folder of mazes")
    parser.add_argument("--mazes", type=int, default=100_000, help="mazes drawn afresh for Table 8")
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder for figure2.png and numbers.md")
    given = parser.parse_args()
    parts = splits.load(given.split) if given.split in splits.FROZEN else splits.read(given.split)
    env = Labyrinth.from_settings(parts.shape, parts.settings)
    wanted = {name for names in WAYS.values() for name in names}
    seen = {name: analysis.visits(env, mazes) for name, mazes in parts.items() if name in wanted}
    text = f"Figure 2, {given.split}; distances from train\n\n{numbers(seen, parts.shape)}\n"
    if env.num_modes == 1 and not env.icy_floor:
        text += f"\nTable 8, {given.split}\n\n"
        text += table_8(seen["train"], parts.shape, given.mazes, given.seed, given.permutations) + "\n"
    print(text)
    write_atomic(given.out / "numbers.md", text)
    write_atomic(given.out / "figure2.png", figure_2(seen, parts.shape))
    print(f"wrote {given.out / 'figure2.png'} and {given.out / 'numbers.md'}")


if __name__ == "__main__":
    main()
