"""The summary of a campaign: pairs by seed, intervals, and what is still missing."""

import json

import pytest

from benchmarks import seconds_to_target, six_methods


def row(success):
    kinds = lambda share: {"argmax": {"success": share}}  # noqa: E731
    seeds = [
        {"seed": i, "train_seconds": 10.0, "splits": {split: kinds(share) for split in six_methods.SPLITS}}
        for i, share in enumerate(success)
    ]
    return {"encoder": "mlp", "observation": "vector", "seeds": seeds}


def test_the_table_pairs_by_seed():
    rows = {"bc": row([0.5, 0.6]), "dagger": row([0.75, 0.85, 0.1]), "gail": row([0.9])}
    text = six_methods.markdown(rows)
    assert "| bc | 2 | 55.0 [50.0, 60.0]" in text and "| 50 | 10 |" in text
    assert "| dagger - bc | +25.0 [+25.0, +25.0]" in text, "the seed that only one of them has is left out"
    assert "gail - gail-shuffled" not in text, "a control that has not run yet has no difference"


def test_intervals_hold_the_mean_and_shrink_to_it():
    low, high = six_methods.interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert 1 < low < 3 < high < 5
    assert six_methods.interval([2.0, 2.0]) == (2.0, 2.0)


def test_an_empty_campaign_is_said_to_be_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="no finished run"):
        six_methods.collect(tmp_path)


def test_seconds_to_the_target(tmp_path):
    looks = [(0.5, 3.0), (0.9, 6.0), (1.0, 9.0)]
    lines = [
        {"seed": 0, "epoch": i, "steps": 600.0, "train_success": share, "seconds": seconds}
        for i, (share, seconds) in enumerate(looks)
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (got,) = seconds_to_target.measure(tmp_path, 0.85)
    assert got == {"seconds_to_target": 6.0, "seconds": 9.0, "last_success": 1.0, "steps_per_second": 200.0}
    assert seconds_to_target.measure(tmp_path, 1.1)[0]["seconds_to_target"] is None
