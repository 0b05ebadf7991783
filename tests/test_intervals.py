import numpy as np
import pytest

from baselines.bench import intervals


def test_the_interval_of_a_mean_is_near_the_normal_one_where_all_scores_are_independent():
    values = np.random.default_rng(0).normal(0, 1, (1, 400))
    found = intervals.of_mean(values)
    half = 1.96 * values.std() / 20
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.01)
    assert found.high == pytest.approx(values.mean() + half, abs=0.01)


def test_both_seeds_and_mazes_widen_it():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.01, (5, 100))
    width = {
        name: np.ptp(intervals.of_mean(effect + noise)[1:])
        for name, effect in (("none", 0), ("seeds", rng.normal(0, 1, (5, 1))), ("mazes", rng.normal(0, 1, (1, 100))))
    }
    assert width["seeds"] > 20 * width["none"]
    assert width["mazes"] > 20 * width["none"]


def test_it_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(100):
        hard = rng.beta(2, 2, 60)
        found = intervals.of_rate(rng.random((5, 60)) < hard, draws=500)
        hits += found.low <= 0.5 <= found.high
    assert hits >= 88


def test_outcomes_that_are_all_alike_have_the_exact_binomial_interval():
    low = intervals.of_rate(np.zeros((5, 100)))
    assert low[:2] == (0, 0)
    assert (1 - low.high) ** 100 == pytest.approx(0.025)
    assert intervals.of_rate(np.ones((1, 32))) == (1, pytest.approx(0.025 ** (1 / 32)), 1)


def test_pairing_removes_what_the_mazes_have_in_common():
    rng = np.random.default_rng(3)
    hard = rng.normal(0, 1, 100)
    one, two = hard + rng.normal(0.1, 0.05, (5, 100)), hard + rng.normal(0, 0.05, (4, 100))
    paired = intervals.of_difference(one, two)
    assert paired.low > 0
    assert np.ptp(paired[1:]) < np.ptp(intervals.of_mean(one)[1:]) / 3
    swapped = intervals.of_difference(two, one)
    assert swapped.mean == pytest.approx(-paired.mean)
    with pytest.raises(ValueError, match="same mazes, got 100 and 99"):
        intervals.of_difference(one, two[:, 1:])
    with pytest.raises(ValueError, match=r"\[seeds, mazes\]"):
        intervals.of_mean(hard)
