import dataclasses
import math

import numpy as np
import pytest

from baselines import bc, bco, dagger, gail, iupe, ranges, sqil

CONFIGS = [module.Config for module in (bc, bco, dagger, gail, iupe, sqil)]


def numeric(config):
    return [field.name for field in dataclasses.fields(config) if "int" in field.type or "float" in field.type]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__module__)
def test_every_number_of_every_method_has_a_range(config):
    known = {*ranges.COUNTS, *ranges.NUMBERS, "alpha"}  # alpha means another thing to each method that has it
    assert set(numeric(config)) <= known
    for name in {*numeric(config)} - {"alpha"}:
        for wrong in (-1.5, math.nan, True):
            if name == "center" and wrong == -1.5:
                continue
            with pytest.raises(ValueError, match=f"^{name} must be .*, got {wrong}"):
                config(**{name: wrong})


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"learning_rate": 0}, "learning_rate must be above 0 and finite, got 0"),
        ({"learning_rate": math.inf}, "learning_rate must be above 0 and finite, got inf"),
        ({"clip": -1}, "clip must be at least 0 and finite, got -1"),
        ({"batch": 2.5}, "batch must be a whole number of at least 1, got 2.5"),
        ({"batch": "half"}, "batch must be a whole number of at least 1, or 'full', got 'half'"),
        ({"dropout": None}, "dropout must be at least 0 and below 1, got None"),
        ({"epochs": "ten"}, "epochs must be a whole number of at least 1, got 'ten'"),
    ],
)
def test_what_is_out_of_range_is_refused(choices, words):
    with pytest.raises(ValueError, match=words):
        bc.Config(**choices)


def test_the_ends_that_belong_to_a_range_are_allowed():
    config = bc.Config(dropout=0.0, weight_decay=0, clip=0.0, learning_rate=np.float32(1e-3), batch="full")
    assert config.dropout == 0 and config.batch == "full"
    assert type(config.learning_rate) is float and type(bc.Config(epochs=10.0).epochs) is int
    with pytest.raises(ValueError, match="beta_rate must be at most 1 with beta='exponential', got 5"):
        dagger.Config(beta="exponential", beta_rate=5)
    assert gail.Config(judge_memory=1, trace=0).judge_memory == 1
