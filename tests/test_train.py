import json

import numpy as np
import pytest

import baselines
from baselines import evaluate, results, train

QUICK = ["--encoder", "mlp", "--quiet", "--check-every", "2"]


def arguments(out, *more):
    return ["bc", "--size", "3", *QUICK, "--epochs", "6", "--out", str(out), *more]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run")
    assert train.main(arguments(out, "--seeds", "2")) == 0
    return out


def rows(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_writes_results_metrics_and_config(run):
    found = results.read(run)
    assert (found["method"], found["encoder"], found["observation"]) == ("bc", "mlp", "vector")
    assert found["mazes"]["name"] == "3x3-v1" and found["mazes"]["shape"] == [3, 3]
    assert [seed["seed"] for seed in found["seeds"]] == [0, 1]
    assert set(found["seeds"][0]["splits"]) == {"train", "valid", "test", "s0", "s0_g"}
    assert [(row["seed"], row["epoch"]) for row in rows(run)] == [(s, e) for s in (0, 1) for e in range(1, 7)]
    assert sum("valid_success" in row for row in rows(run)) == 6
    assert json.loads((run / "config.json").read_text())["epochs"] == 6


def test_loaded_policy_scores_what_the_results_say(run):
    found = results.read(run)
    for seed, which, kind in ((0, "last", "argmax"), (1, "best", "best")):
        report = evaluate.table(baselines.load(run, seed, which), "3x3-v1")
        for split, scores in found["seeds"][seed]["splits"].items():
            assert report.value("argmax", split) == pytest.approx(scores[kind]["success"])
    with pytest.raises(ValueError, match="training seeds"):
        baselines.load(run, 7)
    with pytest.raises(FileNotFoundError, match="no results"):
        baselines.load(run / "nowhere")


def test_a_stopped_run_goes_on_with_the_same_bits(run, tmp_path, monkeypatch):
    from baselines import checkpoints

    real, calls = checkpoints.save, []

    def stop_after_two(folder, step, tree):
        real(folder, step, tree)
        calls.append(step)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "save", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        train.main(arguments(tmp_path))
    monkeypatch.setattr(checkpoints, "save", real)
    assert train.main(arguments(tmp_path, "--resume")) == 0
    whole = [row for row in rows(run) if row["seed"] == 0]
    assert [row["loss"] for row in rows(tmp_path)] == [row["loss"] for row in whole]
    seen = np.random.default_rng(0).integers(0, 2, (16, 28)).astype(np.float32)
    assert np.array_equal(baselines.load(tmp_path)(seen), baselines.load(run, 0)(seen))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["bcc", "--size", "3"], "did you mean 'bc'"),
        (["bc"], "--size N or --mazes DIR"),
        (["bc", "--size", "3", "--encoder", "cmn"], "did you mean 'cnn'"),
        (["bc", "--size", "3", "--seeds", "0"], "--seeds must be at least 1"),
        (["bc", "--mazes", "nowhere"], "no training mazes"),
        (["bc", "--size", "3", "--config", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_input_is_one_line_and_status_2(given, message, capsys):
    assert train.main(given) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("error: ") and err.count("\n") == 1


def test_config_is_dumped_and_loaded(run):
    name, _, choices, config = train.parse(
        ["bc", "--size", "3", "--config", str(run / "config.json"), "--batch", "full"]
    )
    assert (name, choices.size, config.epochs, config.encoder, config.batch) == ("bc", 3, 6, "mlp", "full")
