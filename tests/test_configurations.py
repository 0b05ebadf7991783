"""Training that is not finite stops and says so; random configurations of every method."""

import dataclasses

import jax
import numpy as np
import pytest

import jaxlab
from baselines import bc, bco, learning, train
from campaigns import configurations
from jaxlab import datasets


@pytest.mark.parametrize("method", train.METHODS)
def test_what_is_drawn_is_allowed_and_reaches_the_ends(method):
    drawn = [configurations.draw(method, number) for number in range(configurations.CONFIGS)]
    made = [configurations.configure(method, choices) for choices in drawn]
    told = {field.name for field in dataclasses.fields(made[0])} - set(configurations.FIXED)
    assert all(choices.keys() == told for choices in drawn)
    assert len({repr(choices) for choices in drawn}) == configurations.CONFIGS
    assert {choices["batch"] for choices in drawn} >= {2 if method == "sqil" else 1, 64}
    assert max(choices["learning_rate"] for choices in drawn) > 1


@pytest.mark.slow
@pytest.mark.parametrize("method", train.METHODS)
def test_a_random_configuration_is_finite_or_stops(method):
    row = configurations.run(method, 0)
    assert not row["bad"] or "diverged" in row["said"]
    assert f"| mlp | {method} | 1 |" in configurations.markdown([row])


def test_the_report_tells_stopped_from_unnoticed():
    row = {"encoder": "mlp", "method": "bc", "number": 3, "choices": {"clip": 0.25}, "bad": ["[1].loss"], "said": ""}
    assert "| mlp | bc | 2 | 0 | 1 | 1 |" in (text := configurations.markdown([row, row | {"said": "it diverged"}]))
    assert "- mlp, bc 3: [1].loss. (clip 0.25)" in text and "- mlp, bc 3: it diverged. (clip 0.25)" in text


def test_a_run_that_diverges_stops_and_says_where(tmp_path, capsys):
    line = ["bc", "--size", "3", "--encoder", "mlp", "--quiet", "--epochs", "3", "--check-every", "3"]
    assert train.main([*line, "--learning-rate", "1e30", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: training of seed 0 diverged: loss is ") and "in epoch " in said
    assert said.endswith("; try smaller rates (learning_rate=1e+30)\n")
    assert not (tmp_path / "results.json").exists() and not list(tmp_path.glob("checkpoints/*"))


def test_the_message_names_the_first_epoch_or_the_array():
    figures = {"accuracy": np.ones(3, np.float32), "loss": np.array([1, np.inf, np.nan], np.float32)}
    weights = {"layers": [np.zeros(2, np.float32), np.array([1, np.nan], np.float32)], "key": jax.random.key(0)}
    config = bc.Config(encoder="mlp")
    with pytest.raises(learning.DivergedError, match="seed 4 diverged: loss is inf in epoch 9; try"):
        learning.check_finite(config, figures, weights, 4, 10)
    with pytest.raises(learning.DivergedError, match=r"layers\.1 is not finite after epoch 10; try"):
        learning.check_finite(config, {"loss": figures["accuracy"]}, weights, 4, 10)
    learning.check_finite(config, {"loss": figures["accuracy"]}, weights["layers"][:1], 4, 10)


def test_bco_without_updates_of_the_model_has_no_accuracy_of_nothing():
    """The mean over none was NaN in every row of metrics.jsonl."""
    mazes = jaxlab.splits.load("3x3-v1")["train"][:2]
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 3)), mazes)
    config = bco.Config(encoder="mlp", epochs=2, batch=8, random_steps=4, model_updates=0, renewal_updates=0)
    state, metrics = jax.jit(bco.make(config, shown))(jax.random.key(0))
    assert metrics["model_accuracy"].tolist() == [0, 0]
    assert learning.not_finite((state, metrics)) == []
