"""The scripts that redraw the paper's Figure 2 and Table 1 run, and their numbers are what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def script(name):
    spec = importlib.util.spec_from_file_location(f"scripts_{name}", SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figure_2_and_table_8(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    arguments = ["figures.py", "--split", "3x3-v1", "--mazes", "500", "--permutations", "20", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    script("figures").main()
    text = (tmp_path / "numbers.md").read_text()
    assert text in capsys.readouterr().out
    assert (tmp_path / "figure2.png").read_bytes().startswith(b"\x89PNG")
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in text.splitlines() if line.startswith("|")}
    assert np.allclose([float(x) for x in rows["train"][5:]], 0)
    for name in ("train", "valid", "test", "s0", "s0_g"):
        assert abs(sum(float(x) for x in rows[name][1:5]) - 1) < 0.003
    # Another goal makes the actions more even, as in the paper's Figure 2.
    assert float(rows["s0_g"][5]) > float(rows["test"][5])


def test_table_1_measures_distances_to_the_closest():
    pytest.importorskip("scipy")
    table = script("table1")
    states, reference = np.array([[0.0, 0.0], [1.0, 3.0]]), np.array([[0.0, 1.0], [2.0, 2.0]])
    assert table.closest(states, reference).tolist() == [1, 2]
    distance, dimensions = table.labyrinth(4, 40, 10, seed=0)
    assert distance.shape == (40,) and dimensions == 52 and 0 <= distance.min() < distance.max() <= 24
    pytest.importorskip("gymnasium")
    source = table.of_gym("CartPole-v1")
    assert source(0, 5).shape == (5, 4) and np.array_equal(source(0, 5)[1:], source(1, 4))


def test_the_readmes_figure_reads_success_with_its_interval():
    pytest.importorskip("matplotlib")
    drawing, grid = script("success_figure"), SCRIPTS.parent / "benchmarks" / "results" / "grid-5-cnn"
    rows = drawing.read(grid)
    assert list(rows)[:2] == ["BC", "DAgger"] and not any(name.startswith(drawing.HIDDEN) for name in rows)
    assert list(rows["BC"]) == list(drawing.SPLITS)
    assert all(0 <= low <= mean <= high <= 1 for scores in rows.values() for mean, low, high in scores.values())
    assert drawing.draw({grid: "the paper's CNN"}).startswith(b"\x89PNG")
