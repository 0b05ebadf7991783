"""The code of the README runs as it stands, from top to bottom."""

from __future__ import annotations

import pages
import pytest


def test_code_of_the_readme_runs(capsys):
    pytest.importorskip("gymnasium", reason="the README shows Gymnasium (extra gym)")
    pytest.importorskip("flax", reason="the README trains (extra train)")
    readme = pages.run("README.md")
    assert readme.out.obs.shape == (4096, 3 + 17 * 17)
    assert readme.metrics["accuracy"].shape == (2, 2)
    printed = capsys.readouterr().out
    assert "| S" in printed and "optimal" in printed
