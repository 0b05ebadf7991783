"""The audit finds what the released splits share; distances and expected visits against plain counting."""

from __future__ import annotations

import collections
import json

import jax
import numpy as np
import pytest

from jaxlab import Labyrinth, analysis, audit, from_edges, generate, grid, splits, stack
from jaxlab.maze import transform


@pytest.fixture(scope="module")
def released3(golden):
    return audit.audit(splits.read(golden / "mazes" / "labyrinths3"))


@pytest.fixture(scope="module")
def released4(golden):
    return audit.audit(splits.read(golden / "mazes" / "labyrinths4"))


def test_released_3x3_uses_all_possible_mazes(released3):
    assert released3["possible"] == {"structures": 96, "used": 96, "used_but_impossible": 0}
    for part in ("train", "valid", "test"):
        assert released3["splits"][part]["duplicates"] == 0 and released3["splits"][part]["unsolvable"] == 0
    assert released3["against"]["test"]["same_structure"] == 0
    assert released3["against"]["test"]["shared_shortest_path"] == 32
    assert released3["against"]["valid"]["shared_shortest_path"] == 28
    assert "96 of 96 possible mazes used" in audit.report(released3)


def test_released_4x4_shares_shortest_paths(released4):
    assert released4["possible"]["structures"] == 34719
    assert released4["against"]["valid"]["shared_shortest_path"] == 66
    assert released4["against"]["valid"]["same_structure"] == 0
    assert released4["against"]["s0"]["same_structure"] == 100
    assert sum(released4["against"]["valid"]["walls_to_nearest"].values()) == 100


@pytest.mark.parametrize(("name", "same"), [("3x3-v1", 1), ("5x5-v1", 1)])
def test_new_starts_and_goals_repeat_a_training_task_now_and_then(name, same):
    frozen = splits.load(name)
    against = audit.audit({"train": frozen["train"], "s0": frozen["s0"], "s0_g": frozen["s0_g"]})["against"]
    assert (against["s0"]["same_task"], against["s0_g"]["same_task"]) == (0, same)


def test_where_nothing_is_solvable_nothing_is_walked_and_no_distance_is_given(tmp_path):
    one, stuck = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), 0, 3), from_edges([(0, 1)], (2, 2), 0, 3)
    result = audit.audit({"train": stack([one]), "test": stack([stuck])})
    assert result["splits"]["test"]["actions"] == [0, 0, 0, 0] and set(result["splits"]["test"]["cells"]) == {0}
    assert result["against"]["test"]["action_distance"] is result["against"]["test"]["cell_distance"] is None
    lines = audit.report(result).splitlines()
    assert [line.split()[-1] for line in lines if line.startswith(("Jensen", "moves of"))] == ["-", "-", "-"]
    assert audit.figure(result).startswith(b"\x89PNG")


def test_the_figure_is_a_png_and_a_name_that_is_none_is_corrected(tmp_path, capsys):
    for given, said in ((["3x3-v1", "--figure", "b.pdf"], "'b.pdf' must end in .png"), (["3x3-v2"], "'3x3-v1'")):
        with pytest.raises(SystemExit) as ended:
            audit.main(given)
        assert ended.value.code == 2 and said in capsys.readouterr().err


def test_golden_action_counts(golden):
    """REFERENCE.md B8: actions over all shortest paths of the 96 mazes."""
    parts = splits.read(golden / "mazes" / "labyrinths3")
    total = np.zeros(4)
    for name in ("train", "valid", "test"):
        seen = analysis.visits(Labyrinth((3, 3)), parts[name])
        total += (seen.actions * seen.number[:, None]).sum(0)
    assert np.round(total, 9).tolist() == [362, 362, 6, 6]


def test_an_audit_sees_duplicates_mirror_images_and_unsolvable_mazes():
    one = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), 0, 3)
    stuck = from_edges([(0, 1)], (2, 2), 0, 3)
    mirrored = transform(one, 4).replace(start=one.start, goal=one.goal)
    result = audit.audit({"train": stack([one, one, stuck]), "test": stack([mirrored, one])})
    assert (
        result["splits"]["train"] | {"duplicates": 1, "unsolvable": 1, "symmetric_duplicates": 1}
        == (result["splits"]["train"])
    )
    assert result["splits"]["test"]["duplicates"] == 0 and result["splits"]["test"]["symmetric_duplicates"] == 1
    against = result["against"]["test"]
    assert (against["same_task"], against["same_structure"], against["mirrored_structure"]) == (1, 1, 2)
    moved = audit.audit({"train": stack([one]), "s0": stack([one.replace(start=np.int32(1)), one])})["against"]["s0"]
    assert (moved["same_task"], moved["same_structure"]) == (1, 2)
    assert (against["shared_shortest_path"], against["walls_to_nearest"]) == (1, {"0": 1, "2": 1})
    with pytest.raises(ValueError, match="no splits"):
        audit.audit({})


def test_an_audit_of_key_mazes_counts_plays():
    one = from_edges([(0, 1), (1, 2), (0, 3)], (2, 3), 0, 2, key=3, door=1)
    result = audit.audit({"train": stack([one])}, splits.Settings(key_and_lock=True))
    assert result["splits"]["train"]["shortest_moves"] == {"4": 1}
    assert result["splits"]["train"]["actions"] == [0.25, 0.5, 0.25, 0]
    assert np.allclose(np.array(result["splits"]["train"]["cells"]) * 5, [2, 1, 1, 1, 0, 0])


def test_the_command_line_writes_report_json_and_figure(golden, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    folder = golden / "mazes" / "labyrinths3"
    audit.main([str(folder), "--json", str(tmp_path / "a.json"), "--figure", str(tmp_path / "a.png")])
    printed = capsys.readouterr().out
    assert "96 of 96" in printed and "shares a shortest path with train" in printed
    assert json.loads((tmp_path / "a.json").read_text())["format"] == "jaxlab-audit-1"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit) as stop:
        audit.main([str(tmp_path / "nothing")])
    assert stop.value.code == 2


def test_visits_are_the_mean_over_all_shortest_paths():
    mazes = jax.tree.map(np.asarray, generate.mazes(jax.random.key(0), 40, (4, 4)))
    mazes = stack([*mazes, from_edges(grid.edges((4, 4)), (4, 4), 0, 15)])
    env = Labyrinth((4, 4))
    seen = analysis.visits(env, mazes)
    listed, complete = analysis.shortest_paths(env, mazes)
    assert complete.all() and seen.number.tolist() == [len(one) for one in listed] and seen.number[-1] == 20
    for i, one in enumerate(listed):
        cells = collections.Counter(cell for path, _ in one for cell in path)
        actions = collections.Counter(action for _, taken in one for action in taken)
        assert np.allclose(seen.cells[i], [cells[c] / len(one) for c in range(16)])
        assert np.allclose(seen.actions[i], [actions[a] / len(one) for a in range(4)])
        assert len(set(one)) == len(one)
    assert not analysis.shortest_paths(env, mazes, limit=19)[1][-1]


def test_distances_between_distributions():
    rng = np.random.default_rng(0)
    p, q = rng.random(9), rng.random(9)
    assert analysis.jensen_shannon(p, 3 * p) < 1e-7  # weights are normalised
    assert analysis.jensen_shannon([1, 0], [0, 5]) == 1
    spatial = pytest.importorskip("scipy.spatial")
    assert np.isclose(analysis.jensen_shannon(p, q), spatial.distance.jensenshannon(p, q, base=2))
    corner, other = np.eye(9)[0], np.eye(9)[8]
    assert np.isclose(analysis.wasserstein(corner, other, (3, 3)), 4)
    assert np.isclose(analysis.wasserstein(p, q, (3, 3)), analysis.wasserstein(q, p, (3, 3)))
    stats = pytest.importorskip("scipy.stats")
    line = stats.wasserstein_distance(range(9), range(9), p, q)
    assert np.isclose(analysis.wasserstein(p, q, (1, 9)), line)
    with pytest.raises(ValueError, match="at least 0"):
        analysis.jensen_shannon([1, -1], [0, 1])


def test_permutation_test_tells_equal_from_different_groups():
    rng = np.random.default_rng(1)

    def apart(a, b):
        return float(abs(a.mean() - b.mean()))

    same = analysis.permutation_test(apart, rng.random((30, 1)), rng.random((30, 1)), times=200)
    different = analysis.permutation_test(apart, rng.random((30, 1)), rng.random((30, 1)) + 1, times=200)
    assert same > 0.05 and different == 1 / 201
