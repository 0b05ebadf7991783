"""Files that nobody vouches for: a short fuzzing campaign, and each fault that was found or feared."""

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import jaxlab
from campaigns import fuzz
from jaxlab import datasets, splits
from jaxlab.files import read_arrays, write_atomic

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(("campaign", "count"), [("texts", 1500), ("arrays", 60)])
def test_damaged_files_load_or_raise_the_documented_error(campaign, count, tmp_path):
    tally = fuzz.mutate(campaign, count, seed=7, folder=tmp_path, confine=False)
    assert tally.findings == []
    assert sum(tally.outcomes.values()) == count
    assert sum(number for name, number in tally.outcomes.items() if name.endswith(": loaded")) > count // 100


def test_the_fuzzer_finds_what_it_watches_for(tmp_path):
    from campaigns.guard import Finding, Guard

    guard = Guard(seconds=0.2, memory=64 * 2**20)

    def endless(_):
        while True:
            pass

    def kind(load, *allowed):
        outcome = guard.call(load, "1 + 1", allowed)
        return outcome.kind if isinstance(outcome, Finding) else outcome

    assert kind(eval) == "forbidden"
    assert kind(endless) == "slow"
    assert kind(lambda _: np.ones(100 * 2**20, np.uint8).sum()) == "memory"
    assert kind(int) == "ValueError" and isinstance(guard.call(int, "x", ()), Finding)
    assert guard.call(int, "x", (ValueError,)) == "ValueError" and guard.call(int, "1", ()) == "loaded"


@pytest.fixture(scope="module")
def packed():
    file = io.BytesIO()
    np.savez_compressed(file, **splits.pack(splits.load("3x3-v1")))
    return file.getvalue()


def rewritten(data, change):
    """An archive whose first member is changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for i, name in enumerate(old.namelist()):
            new.writestr(name, old.read(name) if i else change(old.read(name)))
    return out.getvalue()


def test_arrays_come_back_as_they_were(packed, tmp_path):
    (tmp_path / "a.npz").write_bytes(packed)
    found = read_arrays(tmp_path / "a.npz")
    for name, array in splits.pack(splits.load("3x3-v1")).items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert splits.unpack("3x3-v1", found).sha256 == splits.load("3x3-v1").sha256


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: data[:-30], "no readable .npz"),
        (lambda data: b"", "no readable .npz"),
        (lambda data: rewritten(data, lambda raw: raw[:20]), "no readable .npz"),
        (lambda data: rewritten(data, lambda raw: raw.replace(b"(5,)", b"(9999999999,)", 1)), "another length"),
        (lambda data: rewritten(data, lambda raw: raw.replace(b"(5,)", b"(-5,)", 1)), "another length"),
        (lambda data: rewritten(data, lambda raw: raw.replace(b"'<U", b"'|V", 1)), "holds"),
    ],
)
def test_damaged_archives_say_so(packed, damage, says):
    with pytest.raises(ValueError, match=says):
        read_arrays(damage(packed))


def test_objects_are_not_unpickled():
    file = io.BytesIO()
    np.savez(file, splits=np.array([{"an": "object"}], object))
    with pytest.raises(ValueError, match="holds object"):
        read_arrays(file.getvalue())


def test_a_bomb_is_not_unpacked(monkeypatch):
    """A small archive whose directory says that it holds a thousand million zeros."""
    file = io.BytesIO()
    np.savez_compressed(file, a=np.zeros(2000, np.uint8))
    data = bytearray(file.getvalue())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10**9).to_bytes(4, "little")
    with pytest.raises(ValueError, match="can't be as long"):
        read_arrays(bytes(data))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"train.goal": None}, "'train' lacks goal"),
        ({"splits": np.array(["train", "train"])}, "different names"),
        ({"splits": np.array([1, 2])}, "different names"),
        ({"settings": np.array([True])}, "settings"),
        ({"seed": np.array(0.5)}, "seed"),
        ({"train.start": np.full(32, 99, np.int32)}, r"start must lie in 0\.\.8"),
        ({"train.walls": np.zeros((32, 3, 3), np.uint8)}, "walls do not agree"),
    ],
)
def test_arrays_that_are_no_splits_are_refused(changes, says):
    arrays = splits.pack(splits.load("3x3-v1")) | changes
    with pytest.raises(ValueError, match=says):
        splits.unpack(None, {name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"actions": np.array([7, -1])}, "row 0: an action is 0, 1, 2 or 3, got 7"),
        ({"actions": np.array([np.nan, -1])}, "got nan"),
        ({"actions": np.array([["a"], ["b"]])}, "column of numbers"),
        ({"episode_starts": np.array([False, False])}, "first row must begin"),
        ({"info": np.array(["no maze", "no maze"])}, "line 1, column 1"),
        ({"info": np.array([1, 2])}, "column of text"),
        ({"obs": np.zeros(())}, "one length of at least 1"),
        (
            {"actions": np.zeros(0), "obs": np.zeros(0), "rewards": np.zeros(0), "episode_starts": np.zeros(0)},
            "one length",
        ),
    ],
)
def test_arrays_that_are_no_episodes_are_refused(changes, says, tmp_path):
    text = jaxlab.text.format(jaxlab.from_edges([(0, 1)], (1, 2), 0, 1))
    arrays = {
        "obs": np.zeros((2, 3)),
        "actions": np.array([1, -1]),
        "rewards": np.zeros(2),
        "episode_starts": np.array([True, False]),
        "info": np.array([text, text]),
    }
    np.savez(tmp_path / "a.npz", **(arrays | changes))
    with pytest.raises(ValueError, match=says):
        datasets.read_npz(tmp_path / "a.npz")


def test_ten_thousand_brackets_are_no_results(tmp_path):
    from baselines import results

    (tmp_path / "results.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="is not JSON"):
        results.read(tmp_path)


def test_a_damaged_checkpoint_says_so(tmp_path):
    from baselines import checkpoints

    tree = {"a": np.arange(4.0, dtype=np.float32)}
    checkpoints.save(tmp_path / "kept", 3, tree)
    with pytest.raises(ValueError, match="checkpoint 3 is damaged, or of another network"):
        checkpoints.restore(tmp_path / "kept", {"a": tree["a"], "b": tree["a"]})
    for path in (tmp_path / "kept").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:3])
    with pytest.raises(ValueError, match="checkpoint 3 is damaged"):
        checkpoints.restore(tmp_path / "kept", tree)


# -- no room, no permission ----------------------------------------------------------------------------


def _full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_result(failing, tmp_path, monkeypatch):
    maze = jaxlab.from_edges([(0, 1)], (1, 2), 0, 1)
    jaxlab.save(tmp_path / "a.labyrinth", maze)
    old = (tmp_path / "a.labyrinth").read_bytes()
    env = jaxlab.Labyrinth((1, 2))
    played = datasets.episodes(env, jaxlab.stack([maze]))
    monkeypatch.setattr(os, failing, _full)
    with pytest.raises(OSError, match="No space left"):
        jaxlab.save(tmp_path / "a.labyrinth", maze.replace(start=maze.goal, goal=maze.start))
    with pytest.raises(OSError, match="No space left"):
        datasets.write_npz(tmp_path / "a.npz", played)
    with pytest.raises(OSError, match="No space left"):
        splits.write(tmp_path / "mazes", splits.load("3x3-v1"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.labyrinth"]
    assert (tmp_path / "a.labyrinth").read_bytes() == old


def apart(*line, **environment):
    """A process of its own."""
    places = os.pathsep.join(str(ROOT / place) for place in ("tests", "."))
    environment = os.environ | {"PYTHONPATH": places} | environment
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)  # JAX would warn that its cache can't be written either
    return subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_a_limit_on_files_ends_the_command_with_a_message(tmp_path):
    """A block of 1024 bytes, which a maze of 16 x 16 does not fit."""
    line = (
        f"{sys.executable} -m jaxlab.generate --width 16 --height 16 --train 2 --eval 0 --test 0 --out {tmp_path}/out"
    )
    without_cache = {"JAX_ENABLE_COMPILATION_CACHE": "false"}  # of compilations, whose files would be too large too
    done = apart("bash", "-c", f"trap '' XFSZ; ulimit -f 1; exec {line}", **without_cache)
    assert (done.returncode, done.stderr) == (2, "python -m jaxlab.generate: [Errno 27] File too large\n")
    assert list(tmp_path.iterdir()) == []


def test_killed_at_random_moments_a_set_of_mazes_is_there_or_not(tmp_path):
    line = f"-m campaigns.kill --only generate --kills 2 --seed 1 --kills-only --out {tmp_path}"
    assert apart(sys.executable, *line.split()).returncode == 0
    (row,) = json.loads((tmp_path / "kill.json").read_text())["kills"]
    assert row["faults"] == [] and row["kills"] == 2 and row["same"] == row["resumed"] > 0


def test_a_file_is_whole_at_every_moment(tmp_path):
    """Whoever reads while it is written again and again finds one of the texts that were written."""
    path, seen = tmp_path / "a.json", set()

    def write():
        for i in range(100):
            write_atomic(path, json.dumps([i] * 2000))

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        if path.exists():
            seen.add(tuple(json.loads(path.read_text())))
    writer.join()
    assert seen and all(len(set(row)) == 1 and len(row) == 2000 for row in seen)
