"""Without an optional package the error names the extra that brings it; with it, progress is shown."""

import io
import sys

import numpy as np
import pytest

from baselines import benchmark, checkpoints, pictures, progress, train
from baselines.bench import cells
from baselines.bench import progress as of_grid
from baselines.page import charts
from jaxlab import audit, datasets, show
from jaxlab.generate import __main__ as generate


def enter(context):
    with context:
        raise AssertionError("it opened")


@pytest.mark.parametrize(
    ("module", "extra", "call"),
    [
        ("matplotlib.figure", "viz", lambda: audit.figure({})),
        ("PIL", "viz", lambda: show.image([np.zeros((2, 2, 3), np.uint8)], "png")),
        ("datasets", "data", lambda: datasets.read_huggingface("nowhere")),
        ("orbax.checkpoint", "train", lambda: checkpoints.save("nowhere", 0, {})),
        ("tyro", "train", lambda: train.parse(["bc"])),
        ("tyro", "train", lambda: benchmark.parse([])),
        ("rich", "train", lambda: enter(progress.bar("bc"))),
        ("rich", "train", lambda: enter(of_grid.bars([]))),
        ("matplotlib.figure", "viz", lambda: charts.figure(1, 1)),
        ("matplotlib", "viz", pictures._pyplot),
    ],
)
def test_the_error_names_the_extra(module, extra, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"which is not installed: pip install 'jaxlab\[{extra}\]'"):
        call()


def test_training_shows_each_seed_with_its_newest_figures(capsys):
    with progress.bar("bc", quiet=True) as watch:
        assert watch is None
    with progress.bar("bc") as watch:
        watch(0, 1, 4, {"loss": 0.75})
        watch(0, 4, 4, {"loss": 0.5, "valid_success": 0.25})
        watch(3, 1, 4, {})
    shown = capsys.readouterr().out
    assert "bc seed 0" in shown and "bc seed 3" in shown and "4/4" in shown
    assert "loss 0.5, valid 25 %" in shown.replace("\n", " ")


def test_a_benchmark_shows_its_cells(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    planned = cells.grid(["bc", "dagger"], [3], ["mlp"], seeds=2)
    with of_grid.bars(planned, quiet=True) as silent:
        assert silent == (None, None)
    with of_grid.bars(planned) as (watch, ended):
        ended(0, "3x3-bc-mlp", "kept", 0.0)
        watch(1, "3x3-dagger-mlp", 7, 1, 10, {})
        watch(1, "3x3-dagger-mlp", 8, 5, 10, {"valid_success": 0.5})
        ended(1, "3x3-dagger-mlp", "trained", 12.4)
    shown = capsys.readouterr().err
    assert "3x3-bc-mlp: kept\n" in shown and "3x3-dagger-mlp: trained in 12 s" in shown
    assert "grid" in shown and "2/2" in shown


@pytest.mark.parametrize("installed", [True, False])
def test_drawing_mazes_shows_how_many_on_a_terminal(installed, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    if not installed:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    with generate.progress_bar() as told:
        told(3, 8)
    assert "mazes" in shown.getvalue()
    assert installed or shown.getvalue() == "\rmazes 3/8\n"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with generate.progress_bar() as told:
        assert told is None
