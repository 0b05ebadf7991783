import dataclasses
import json

import jax
import numpy as np
import pytest

import baselines
import jaxlab
from baselines import bc, checkpoints, diagnosis, folders, nearest, replay, results, runner
from baselines.page import sections

SPLITS = {name: mazes[:4] for name, mazes in jaxlab.splits.load("3x3-v1").items() if name in ("train", "test")}
CONFIG = bc.Config(encoder="mlp", epochs=2)


def go(out, config=CONFIG, splits=SPLITS, watch=None, **choices):
    return runner.run("bc", bc, config, splits, runner.Plan(out=out, check_every=2, **choices), watch=watch)


def files(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("finished")
    go(out, seeds=2)
    return out


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (
            {"config": dataclasses.replace(CONFIG, learning_rate=0.05)},
            rf"learning_rate is 0.05 now and was {CONFIG.learning_rate}; resume with those, .* another --out",
        ),
        ({"config": dataclasses.replace(CONFIG, epochs=20)}, "epochs is 20 now and was 2"),
        ({"splits": {**SPLITS, "test": SPLITS["train"]}}, r"test is \w{8}... now and was \w{8}..."),
        ({"demo_seed": 3}, "demo_seed is 3 now and was 0"),
    ],
)
def test_a_run_is_resumed_with_its_own_choices_alone(finished, choices, message):
    before = files(finished)
    with pytest.raises(ValueError, match=message):
        go(finished, seeds=2, resume=True, **choices)
    assert files(finished) == before


def test_what_older_versions_began_is_resumed(tmp_path):
    given = runner.begun("bc", CONFIG, SPLITS, jaxlab.Labyrinth((3, 3)))
    folders.begin(tmp_path, given, resume=False)
    (tmp_path / folders.MAZES).unlink()
    folders.begin(tmp_path, given, resume=True)
    assert json.loads((tmp_path / folders.MAZES).read_text()) == given[folders.MAZES]
    (tmp_path / folders.MAZES).write_text(json.dumps(runner.digests(SPLITS)))
    assert folders.differences(tmp_path, given) == []
    (tmp_path / folders.MAZES).write_text(json.dumps({**runner.digests(SPLITS), "train": "ab" * 32}))
    (said,) = folders.differences(tmp_path, given)
    assert said.startswith("mazes.train is ") and said.endswith("now and was abababab...")
    (tmp_path / folders.CONFIG).write_text('{"method": "gail", "epochs": 3}')
    assert folders.differences(tmp_path, given)[0] == 'method is "bc" now and was "gail"'
    (tmp_path / folders.CONFIG).write_text("{")
    assert folders.differences(tmp_path, given) == ["config.json is damaged"]


def test_policies_are_those_that_the_results_score(finished):
    trained = baselines.load(finished, 1)
    like = trained.variables
    folder = runner.policy_folder(finished, 1, "last")
    other = jax.tree.map(np.zeros_like, like)
    assert any(np.any(leaf) for leaf in jax.tree.leaves(like))
    for path in (folder, runner.policy_folder(finished, 9, "last")):  # of other seeds that trained with these
        checkpoints.save(path, 3, other)
    go(finished, seeds=2, resume=True)
    again = checkpoints.restore(folder, like)
    assert all(map(np.array_equal, jax.tree.leaves(again), jax.tree.leaves(like)))
    assert sorted(path.name for path in (finished / "policies").iterdir()) == ["seed-0", "seed-1"]


class Killed(BaseException):
    """No `Exception`: nothing may catch it, as nothing catches a kill."""


def kill(*_):
    raise Killed


def test_a_finished_run_is_kept_until_the_next_one_is_finished(tmp_path):
    go(tmp_path)
    whole = {name: data for name, data in files(tmp_path).items() if name != ".lock"}
    for _ in range(2):  # the second has nothing finished to set aside
        with pytest.raises(Killed):
            go(tmp_path, seed=5, watch=kill)
        assert not (tmp_path / results.FILE).exists()
        assert files(tmp_path / folders.PREVIOUS) == whole
    go(tmp_path, seed=5)
    assert results.read(tmp_path)["seeds"][0]["seed"] == 5
    assert {path.name for path in tmp_path.iterdir()} == {name.split("/")[0] for name in whole} | {".lock"}


def test_a_kill_while_a_finished_run_is_set_aside_loses_nothing(tmp_path):
    given = runner.begun("bc", CONFIG, SPLITS, jaxlab.Labyrinth((3, 3)))
    written = {folders.CONFIG: "c", folders.PREVIOUS + "/" + folders.MAZES: "m", results.FILE: "r"}
    (tmp_path / folders.PREVIOUS).mkdir()
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    (tmp_path / folders.CONFIG).rename(tmp_path / folders.PREVIOUS / folders.CONFIG)
    folders.begin(tmp_path, given, resume=True)  # what was begun can't be told: it begins anew
    assert files(tmp_path / folders.PREVIOUS) == {folders.CONFIG: b"c", folders.MAZES: b"m", results.FILE: b"r"}
    assert json.loads((tmp_path / folders.CONFIG).read_text()) == given[folders.CONFIG]


def test_a_folder_is_held_by_one_process(tmp_path):
    other = folders.alone(tmp_path / "new")
    with folders.alone(tmp_path / "new"), pytest.raises(OSError, match="another process is at work"):
        other.__enter__()
    with folders.alone(tmp_path / "new"):
        pass


def test_a_second_run_leaves_the_first_ones_folder_alone(finished):
    before = files(finished)
    with folders.alone(finished), pytest.raises(OSError, match=r"another process is at work.* give another --out"):
        go(finished, seeds=2)
    assert files(finished) == before


def test_a_split_without_a_solvable_maze_is_scored_and_written(tmp_path):
    lost = jaxlab.stack([jaxlab.from_edges([], (3, 3), start=0, goal=8)] * 4)
    some = jaxlab.stack([lost[0], *(SPLITS["test"][i] for i in range(3))])
    _, report = go(tmp_path, splits={"train": SPLITS["train"], "test": lost, "valid": some})
    scores = results.read(tmp_path)["seeds"][0]["splits"]["test"]["argmax"]
    assert (scores["success"], scores["optimal_rate_all"], scores["optimal_rate_visited"]) == (0, None, None)
    assert np.isnan(report.value("optimal", "test", "optimal_rate_all"))
    assert list(nearest.run(tmp_path)) == ["valid"]  # nothing is asked of mazes without a solution
    assert "</table>" in sections.diagnosis_tables([("BC", 0, diagnosis.run(replay.read(tmp_path)))], ["test"])
