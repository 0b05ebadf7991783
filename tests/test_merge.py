import copy

import pytest

import jaxlab
from baselines import bc, merge, replay, results, runner
from tests.test_results import GOOD


def of_seed(number, **changes):
    run = {**copy.deepcopy(GOOD), **changes}
    run["seeds"][0]["seed"] = number
    return run


def test_seeds_stand_in_order_and_the_format_holds():
    whole = merge.merge([of_seed(2), of_seed(0), of_seed(1)])
    assert [seed["seed"] for seed in whole["seeds"]] == [0, 1, 2]
    results.check(whole)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], "nothing to merge"),
        ([of_seed(0), of_seed(0)], "seed 0 is there twice"),
        ([of_seed(0), of_seed(1, config={"batch": 7})], r'config of run 1 is \{"batch": 7\}, and of run 0 \{\}'),
    ],
)
def test_what_is_not_one_row_is_refused(runs, message):
    with pytest.raises(ValueError, match=message):
        merge.merge(runs)


def test_two_runs_merged_are_one_run_of_two_seeds(tmp_path, capsys):
    splits = {name: mazes[:4] for name, mazes in jaxlab.splits.load("3x3-v1").items()}
    config = bc.Config(encoder="mlp", epochs=2)
    for seed in (0, 1):
        runner.run("bc", bc, config, splits, runner.Plan(seed=seed, out=tmp_path / str(seed)))
    whole, _ = runner.run("bc", bc, config, splits, runner.Plan(seeds=2, out=tmp_path / "both"))
    assert merge.main([str(tmp_path / "merged"), str(tmp_path / "1"), str(tmp_path / "0")]) == 0
    assert "written" in capsys.readouterr().out
    merged = results.read(tmp_path / "merged")
    for mine, theirs in zip(merged["seeds"], whole["seeds"], strict=True):
        assert {**mine, "train_seconds": 0} == {**theirs, "train_seconds": 0}
    actions = replay.read(tmp_path / "merged").actions
    assert {at: chosen.tolist() for at, chosen in actions.items()} == {
        at: chosen.tolist() for at, chosen in replay.read(tmp_path / "both").actions.items()
    }
    assert merge.main([str(tmp_path / "merged"), str(tmp_path / "none")]) == 2
    (tmp_path / "0" / replay.FILE).unlink()
    assert merge.main([str(tmp_path / "merged"), str(tmp_path / "1"), str(tmp_path / "0")]) == 0
    assert not (tmp_path / "merged" / replay.FILE).exists()  # the one from before was of other runs
