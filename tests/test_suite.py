import json

import pytest

from benchmarks import one_file, show, targets


@pytest.fixture
def results():
    rate = {"best": 3e8, "median": 2e8}
    return {
        "machine": {"cores": 2},
        "peers": {"gymnax": "1.0.1", "navix": "absent"},
        "stepping": {
            "about": "Steps a second",
            "none 8192": {"jaxlab": rate, "gymnax": {"median": 1e7}, "c_one_core": {"median": 1.25e8}},
            "pixels 64": {"jaxlab": {"median": 4090 * 40.0}},
        },
        "compile": {"about": "Seconds", "vector": 0.5, "pixels": 1.5},
    }


def test_targets_are_judged_by_medians_and_left_open_where_nothing_was_measured(results):
    rows = {row["name"]: row for row in targets.judged(results)}
    assert len(rows) == len(targets.TARGETS)
    gymnax = rows["states only, batch 8,192: times gymnax FourRooms"]
    assert gymnax["value"] == pytest.approx(20) and gymnax["met"] is True
    share = next(row for name, row in rows.items() if "C program" in name)
    assert share["value"] == pytest.approx(0.8) and share["met"] is True
    pictures = next(row for name, row in rows.items() if name.startswith("pictures"))
    assert pictures["value"] == pytest.approx(40) and pictures["met"] is False
    assert rows["seconds to compile a step"]["value"] == 1.5 and rows["seconds to compile a step"]["met"] is False
    assert rows["states only, batch 8,192: times jumanji Maze"]["met"] is None


def test_the_page_and_the_figure_hold_what_was_measured(results, tmp_path):
    page = show.markdown(results)
    assert "gymnax 1.0.1, navix absent" in page and "| **no** |" in page and "| not measured |" in page
    assert "| none 8192: jaxlab | 300,000,000 | 200,000,000 |" in page
    pytest.importorskip("matplotlib", reason="the figure needs matplotlib")
    show.figure(results, tmp_path / "suite.png")
    assert (tmp_path / "suite.png").read_bytes().startswith(b"\x89PNG")


def test_one_file_holds_suite_targets_and_methods(results, tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "suite.json").write_text(json.dumps(results))
    (tmp_path / "gail.failed").write_text("gail failed: no memory\n")
    found = one_file.join(tmp_path, 7.0)
    assert found["seconds"] == 7 and found["stepping"] == results["stepping"]
    assert found["methods"] == {"gail": {"failed": "gail failed: no memory"}}
    assert sum(row["met"] is True for row in found["targets"]) == 3
