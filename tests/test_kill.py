import random

import pytest

from campaigns import smoke

LINE = ("--methods", "bc", "dagger", "--sizes", "3", "--encoders", "mlp", "--seeds", "2", "--epochs", "20", "--quiet")
KILLS = 20


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_numbers(tmp_path):
    seconds = smoke.whole(LINE, tmp_path / "whole")
    kills = smoke.killed(LINE, tmp_path / "killed", KILLS, 0.6 * seconds, random.Random(0))
    smoke.whole(LINE, tmp_path / "killed")
    assert len(kills) > 0
    whole = smoke.numbers(tmp_path / "whole")
    assert smoke.numbers(tmp_path / "killed") == whole
    assert {"tables.md", "scores.csv", "differences.csv"} <= whole.keys()
    assert sum(isinstance(found, dict) for found in whole.values()) == 2


def test_the_report_says_whether_the_numbers_are_the_same():
    assert "killed (SIGKILL) 3 times" in (text := smoke.report(100.0, [0, 1, 1], 2, True, LINE))
    assert "\n0 1 1\n" in text and "the same" in text
    assert "**other ones**" in smoke.report(100.0, [0], 2, False, LINE)
