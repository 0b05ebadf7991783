"""The drawings of a policy's paths and of learning, and the paper's cells that do not fit each other."""

import numpy as np
import pytest

import jaxlab
from baselines import paper, pictures

# 3x3, row 0 at the bottom; the loop 3-4-7-6 gives a second way.
#   6-7-8
#   |   |
#   3-4-5     and 0-1-2, joined by 0-3
EDGES = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (7, 8), (6, 7), (3, 6)]
UP, RIGHT, DOWN, LEFT = range(4)
ENV = jaxlab.Labyrinth((3, 3))
MAZES = jaxlab.stack([jaxlab.from_edges(EDGES, (3, 3), start=start, goal=8) for start in (0, 1, 2)])
TO_THE_GOAL = [UP, LEFT, LEFT, UP, RIGHT, UP, RIGHT, RIGHT, 0]
"""What is best in each cell, by the upper way from cell 6 and by the lower one from 4."""


def actions(*of_mazes):
    return np.array(of_mazes)[:, None]  # one mode: neither key nor door


def test_paths_end_at_the_goal_at_a_wall_or_where_a_circle_closes():
    circle = [UP, LEFT, LEFT, DOWN, LEFT, UP, RIGHT, RIGHT, 0]
    wall = [LEFT, RIGHT, UP, UP, UP, UP, UP, UP, 0]
    assert pictures.walk(ENV, MAZES, actions(TO_THE_GOAL, circle, wall)) == [
        ([0, 3, 6, 7, 8], "goal"),
        ([1, 0, 3, 0], "loop"),
        ([2, 2], "loop"),
    ]


def test_a_fall_ends_a_path_on_the_ice():
    env = jaxlab.Labyrinth((3, 3), icy_floor=True)
    ice = np.zeros((1, 3, 3), bool)
    ice[0, 1, 0] = True
    assert pictures.walk(env, MAZES[:1].replace(ice=ice), actions(TO_THE_GOAL)) == [([0, 3], "fall")]


def test_drawings_say_how_each_path_ends(tmp_path, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    drawn = []
    monkeypatch.setattr(plt, "close", drawn.append)  # kept, to be looked at
    policy = np.eye(4, dtype=np.float32)[TO_THE_GOAL]
    cells = iter(range(3 * 9))
    pictures.mazes_with_paths(
        lambda seen: np.stack([policy[next(cells) % 9] for _ in seen]), MAZES, tmp_path / "new" / "a.png", env=ENV
    )
    assert [axis.get_title() for axis in drawn[0].axes] == ["goal in 4 moves", "goal in 5 moves", "goal in 6 moves"]
    pictures.mazes_with_paths(
        lambda seen: np.full(len(seen), DOWN), MAZES[:2], tmp_path / "b.png", env=ENV, title="Lost"
    )
    assert [axis.get_title() for axis in drawn[1].axes] == ["walks into a wall"] * 2
    looked = {"train_success": 0.5, "valid_success": 0.25}
    rows = [{"seed": seed, "epoch": 1, "loss": 1.0} for seed in (0, 1)]
    rows += [{"seed": seed, "epoch": 2, "loss": 0.5, **looked} for seed in (0, 1)]
    pictures.learning_curves(rows, tmp_path / "c.png", title="Curves")
    loss, success = drawn[2].axes
    assert [line.get_ydata().tolist() for line in loss.lines] == [[1, 0.5]] * 2
    assert [line.get_ydata().tolist() for line in success.lines] == [[50], [25]] * 2
    assert [text.get_text() for text in success.get_legend().get_texts()] == ["train", "valid"]
    for path in ("new/a.png", "b.png", "c.png"):
        assert (tmp_path / path).read_bytes().startswith(b"\x89PNG")


def test_cells_of_the_paper_that_the_page_of_results_names_do_not_fit():
    found = paper.contradictions()
    of_table_7 = [line for line in found if line.startswith("5x5 s0 ")]
    assert len(of_table_7) == 6 and all("(it is 2 sqrt(p(1-p)))" in line for line in of_table_7)
    fits = [line.split("it fits ")[1].split(")")[0] for line in found if "it fits" in line]
    assert fits == ["86%", "24%", "3%"] and all("IUPE" in line for line in found if "it fits" in line)
