import dataclasses
import importlib
import json

import numpy as np
import pytest

import baselines
from baselines import evaluate, results, runner, train

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
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"seed": 0, "epoch": 5, "lo')  # killed while it wrote
    assert train.main(arguments(tmp_path, "--resume")) == 0
    whole = [row for row in rows(run) if row["seed"] == 0]
    assert [row["loss"] for row in rows(tmp_path)] == [row["loss"] for row in whole]
    seen = np.random.default_rng(0).integers(0, 2, (16, 28)).astype(np.float32)
    assert np.array_equal(baselines.load(tmp_path)(seen), baselines.load(run, 0)(seen))


def test_resume_takes_no_other_choices(run, capsys):
    assert train.main(arguments(run, "--seeds", "2", "--resume", "--learning-rate", "0.05", "--maze-seed", "77")) == 2
    err = capsys.readouterr().err
    assert "learning_rate is 0.05 now" in err and "mazes.train is" in err and err.count("\n") == 1
    assert json.loads((run / "config.json").read_text())["learning_rate"] != 0.05


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["bcc", "--size", "3"], "did you mean 'bc'"),
        (["bc"], "--size N or --mazes DIR"),
        (["bc", "--size", "3", "--encoder", "cmn"], "did you mean 'cnn'"),
        (["bc", "--size", "3", "--seeds", "0"], "--seeds must be at least 1"),
        (["bc", "--mazes", "nowhere"], "no training mazes"),
        (["bc", "--size", "3", "--config", "nowhere.json"], "nowhere.json"),
        (["bc", "--size", "3", "--config"], "--config needs a value"),
    ],
)
def test_bad_input_is_one_line_and_status_2(given, message, capsys):
    assert train.main(given) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("error: ") and err.count("\n") == 1


@pytest.mark.parametrize("name", ["gail", "bc"])
def test_gail_says_that_its_horizon_varies(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "run", lambda *_, **__: ({}, "the table"))
    assert train.main([name, "--size", "3", "--encoder", "mlp", "--quiet", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert ("horizon varies" in printed and "no evidence of imitation" in printed) == (name == "gail")


# -- choices ---------------------------------------------------------------------------------------

CHANGED = {
    "bc": {"epochs": 7, "batch": "full", "decay": "cosine"},
    "dagger": {"beta": "linear", "beta_rate": 15, "updates": 30},
    "gail": {"reward": "logD", "absorbing": False, "penalty": 10.0},
    "bco": {"alpha": 0.1, "keep_bumps": True, "model_updates": 5},
    "sqil": {"gamma": 0.95, "batch": 64},
    "iupe": {"labels": "argmax", "weighted": False, "renewals": 3},
}


def test_config_is_dumped_and_loaded(run):
    name, _, choices, config = train.parse(
        ["bc", "--size", "3", "--config", str(run / "config.json"), "--batch", "full"]
    )
    assert (name, choices.size, config.epochs, config.encoder, config.batch) == ("bc", 3, 6, "mlp", "full")


@pytest.mark.parametrize("name", train.METHODS)
def test_every_choice_of_every_method_survives_its_file(name, tmp_path):
    method = importlib.import_module(train.METHODS[name])
    config = method.Config(encoder="mlp", **CHANGED[name])
    path = tmp_path / "config.json"
    path.write_text(runner.dump(name, config))
    assert json.loads(path.read_text()) == {"method": name} | dataclasses.asdict(config)
    assert train.parse([name, "--size", "3", f"--config={path}"])[3] == config
    for choice in json.loads(path.read_text()):
        misspelt = choice[:-1] + "x"
        path.write_text(json.dumps({misspelt: 1}))
        with pytest.raises(ValueError, match=rf"config.json: choice must be .* got '{misspelt}'; did you mean '\w+'"):
            train.read_config(path, name, method.Config)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"method": "gail"}', "of method 'gail', not 'bc'"),
        ('{"epochs": "many"}', "epochs must be int or None, got 'many'"),
        ('{"epochs": true}', "epochs must be int or None, got True"),
        ('{"epochs": 2.5}', "epochs must be int or None, got 2.5"),
        ('{"batch": "fall"}', "batch must be int, 'full' or None, got 'fall'"),
        ('{"dropout": [0.3]}', "dropout must be float, got [0.3]"),
        ('{"render": "papre"}', "did you mean 'paper'"),
        ('["epochs"]', "must hold an object of choices"),
        ('{"epochs": 3', "is not JSON"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_one_line(written, message, tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(written)
    assert train.main(["bc", "--size", "3", "--config", str(path)]) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("error: ") and err.count("\n") == 1


@pytest.mark.parametrize("name", train.METHODS)
@pytest.mark.parametrize("encoder", ["planner", "mlp", "cnn"])
def test_defaults_on_the_command_line_are_those_of_the_encoder(name, encoder):
    method = importlib.import_module(train.METHODS[name])
    assert train.parse([name, "--size", "3", "--encoder", encoder])[3] == method.Config(encoder=encoder)
