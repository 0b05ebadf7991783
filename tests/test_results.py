import copy
import json

import pytest

from baselines import results

FIGURES = {"success": 0.5, "aer": -1.5, "aer_std": 2.5, "optimal_rate_all": 0.7, "optimal_rate_visited": 0.9}
EPISODES = [
    {"maze": 0, "success": True, "return": 1.0, "steps": 4, "outcome": "goal"},
    {"maze": 1, "success": False, "return": -4.0, "steps": 360, "outcome": "loop"},
]
SCORES = {
    "argmax": {**FIGURES, "episodes": EPISODES},
    "sampled": {"success": 0.4},
    "best": FIGURES,
    "running_bn": FIGURES,
}
GOOD = {
    "format": "jaxlab-results-1",
    "method": "bc",
    "encoder": "cnn",
    "observation": "pixels-paper",
    "settings": {},
    "config": {},
    "versions": {},
    "machine": {},
    "mazes": {"shape": [3, 3], "seed": None, "sha256": {"train": "0" * 64}},
    "seeds": [{"seed": 0, "train_seconds": 1.5, "splits": {"train": SCORES}}],
}


def test_written_and_read_back(tmp_path):
    results.write(tmp_path, GOOD)
    assert results.read(tmp_path) == GOOD
    unsolvable = copy.deepcopy(GOOD)
    unsolvable["seeds"][0]["splits"]["train"]["best"]["optimal_rate_all"] = None  # no action is optimal
    results.check(unsolvable)


FAULTS = [
    (("format",), "jaxlab-results-0", "results.format"),
    (("encoder",), None, "results.encoder must be a str"),
    (("mazes", "shape"), [3], "results.mazes.shape"),
    (("mazes", "sha256", "train"), "abc", "sha256.train"),
    (("seeds",), [], "results.seeds"),
    (("seeds", 0, "seed"), True, r"seeds\[0\].seed"),
    (("seeds", 0, "splits"), {}, r"seeds\[0\].splits are \[\]"),
    (("seeds", 0, "splits", "train", "best"), None, "train.best"),
    (("seeds", 0, "splits", "train", "argmax", "success"), 0.9, "its episodes say 0.5"),
    (("seeds", 0, "splits", "train", "argmax", "aer"), float("nan"), "argmax.aer"),
    (("seeds", 0, "splits", "train", "argmax", "aer"), None, "argmax.aer must be a number"),
    (("seeds", 0, "splits", "train", "argmax", "episodes", 1, "outcome"), "goal", "does not fit"),
    (("seeds", 0, "splits", "train", "sampled", "success"), 2, "from 0 to 1"),
]


@pytest.mark.parametrize(("path", "value", "message"), FAULTS)
def test_first_fault_is_named(path, value, message, tmp_path):
    bad = copy.deepcopy(GOOD)
    where = bad
    for step in path[:-1]:
        where = where[step]
    where[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        results.write(tmp_path, bad)
    assert not (tmp_path / results.FILE).exists()


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no results here"):
        results.read(tmp_path)
    (tmp_path / results.FILE).write_text(json.dumps(GOOD)[:-5])
    with pytest.raises(ValueError, match="is not JSON"):
        results.read(tmp_path)
