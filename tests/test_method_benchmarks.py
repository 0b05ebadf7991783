"""What the benchmarks of the methods hand to their peers, and what they print."""

import json
import re

import numpy as np
import pages

import baselines
from baselines import evaluate
from benchmarks import convolutions, gail_speed, nearest_images, one_maze, planner_page, seeds, start_marker
from jaxlab import grid, splits

RESULTS = pages.ROOT / "benchmarks" / "results"


def test_the_peer_gets_the_same_mazes_and_choices(tmp_path):
    data = gail_speed.given("mlp")
    gail_speed.write_world(data, tmp_path / "world.npz")
    with np.load(tmp_path / "world.npz") as arrays:
        world = dict(arrays)
    assert world["following"].shape == world["reached"].shape == (2500, 4) and world["start"].shape == (100,)
    assert world["seen"].shape == (2500, 4 * 81) and set(np.unique(world["seen"])) == {0, 1}
    assert (world["seen"][:, : 3 * 81].reshape(-1, 3, 81).sum(-1) == 1).all(), "agent, start and goal as one-hots"
    along = world["following"][world["shown_state"], world["shown_action"]]
    assert (along == world["shown_following"]).all()
    assert (world["reached"][world["shown_state"], world["shown_action"]] == world["shown_done"]).all()
    assert world["shown_done"].sum() == 100
    choices = gail_speed.peer_choices(gail_speed.gail.Config(encoder="mlp"), 2500, 2, 1024, 1)
    assert (choices["steps"], choices["passes"], choices["minibatches"], choices["judge_batch"]) == (256, 2, 25, 1024)


def test_the_table_of_speeds():
    rates = {
        "jaxlab": {"seconds": {"best": 60.0, "median": 50.0}, "cpu_seconds": {"best": 120.0, "median": 100.0}},
        "imitation": {"seconds": {"best": 4.0, "median": 2.0}, "cpu_seconds": {"best": 8.0, "median": 4.0}},
    }
    times = {kind: {"best": 15.0, "median": 25.0} for kind in ("seconds", "cpu_seconds")}
    row = {
        "encoder": "mlp",
        "steps_per_second": rates,
        "times": times,
        "about": {"imitation": {"versions": {"a": "1"}}},
    }
    machine = dict.fromkeys(("python", "jax", "jaxlib", "numpy"), "x")
    text = gail_speed.markdown({"cores": 2, "machine": machine, "rows": {"mlp": row}})
    assert "| jaxlab, mlp | 120 [100] | 60 [50] | 0.50 |" in text
    assert "| times as many | 15.0 [25.0] | 15.0 [25.0] | |" in text


def test_every_method_solves_one_maze_with_every_seed_in_the_committed_table():
    found = json.loads((RESULTS / "one-maze.json").read_text())
    assert found["methods"].keys() == one_maze.CHOICES.keys()
    for name, method in found["methods"].items():
        assert {(run["maze"], run["seed"]) for run in method["runs"]} == {(i, s) for i in range(2) for s in range(5)}
        assert all(run["last"] and run["seconds"] + method["compile_seconds"] < 60 for run in method["runs"]), name
        assert method["choices"] == one_maze.CHOICES[name]
    assert one_maze.markdown(found) == (RESULTS / "one-maze.md").read_text()


def test_the_table_of_seeds():
    row = {"vmap seconds": 2.0, "loop seconds": 3.0, "vmap cpu seconds": 4.0, "loop cpu seconds": 2.0}
    found = {"seeds": 4, "mazes": "5x5-v1", "epochs": 1, "repeats": 3, "rows": {"bc, mlp": row}}
    assert seeds.markdown(found).endswith("| bc, mlp | 2.00 | 3.00 | 1.50 | 4.00 | 2.00 | 0.50 |\n")


def test_new_starts_are_shown_with_the_marker_moved_and_left(monkeypatch):
    """A policy that knows every cell, but only where the start is where demonstrations have it."""
    given = splits.load("5x5-v1")
    env = evaluate.environment(given)
    usual, best = int(given["train"].start[0]), evaluate.optimal_actions(env.params(given["train"])).ravel()

    class Policy:
        observation, asked = "vector", 0

        def __call__(self, seen):
            rows = np.arange(self.asked, self.asked + len(seen)) % best.size
            self.asked += len(seen)
            return np.eye(4, dtype=np.float32)[np.where(seen[:, 1] == usual, best[rows], grid.DOWN)]

    monkeypatch.setattr(baselines, "load", lambda run, seed: Policy())
    found = start_marker.solved("a run", 0)
    assert found["left"].shape == (100,) and found["left"].all()
    assert not found["moved"].any()


def test_the_table_of_new_starts():
    interval = {"mean": 0.5, "low": 0.25, "high": 0.75}
    part = {"success": interval, "each": [0.5], "more than bc": interval}
    text = start_marker.markdown({row: {"moved": part, "left": part} for row in ("dagger", "bc")}, "cnn")
    assert text.splitlines()[-2] == "| bc | 1 | 50.0 [25.0, 75.0] | 50.0 [25.0, 75.0] |  |  |"
    assert text.splitlines()[-1].endswith("| +50.0 [+25.0, +75.0] | +50.0 [+25.0, +75.0] |")


def test_the_table_of_nearest_images():
    row = {name: {"nearest": 0.5, "chance": 0.1} for name in nearest_images.nearest.SHARED}
    text = nearest_images.markdown({"dagger": {"runs": 2, **row}, "bc": {"runs": 1, **row}})
    assert text.splitlines()[-2:] == [f"| bc | 1{' | 50 (10)' * 4} |", f"| dagger | 2{' | 50 (10)' * 4} |"]


def test_the_planners_page_has_the_figures_of_its_file():
    page = (pages.ROOT / planner_page.PAGE).read_text("utf-8")
    figures = json.loads((pages.ROOT / planner_page.RESULTS).read_text("utf-8"))["figures"]
    assert planner_page.page(page, figures) == page
    assert page.count("<!-- -->") == 15


def test_reports_that_pages_name_are_there():
    named = set()
    for page in [pages.ROOT / "README.md", *(pages.ROOT / "docs").glob("*.md")]:
        named |= set(re.findall(r"benchmarks/results/[\w-]+\.\w+", page.read_text("utf-8")))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (pages.ROOT / name).is_file()] == []


def test_the_benchmark_of_convolutions_names_what_is_chosen():
    line = convolutions.layer((2, 2, 3, 4, 3), 1)
    assert re.match(r"   2 x  2\^2 x   3, 3\^2: plain +\d+\.\d+  2 +\d+\.\d+  pair +\d+\.\d+  chosen: plain$", line)
    assert convolutions.kernel_gradient(1, 40, 4, 3, 1).endswith("chosen: (slope.T @ x).T")
    assert convolutions.kernel_gradient(2, 4, 4, 3, 1).endswith("chosen: x.T @ slope")
