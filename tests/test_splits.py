"""Splits: disjoint, from a seed, never short; read, written, frozen."""

import os

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlab import grid, maze, splits
from jaxlab.splits import make


@pytest.fixture(scope="module")
def small():
    return make((3, 3), 32, 32, 32, seed=4)


def structures(mazes):
    return {form.tobytes() for form in maze.structure(mazes.walls)}


def test_all_96_mazes_in_three_disjoint_splits(small):
    assert {name: len(mazes) for name, mazes in small.items()} == dict.fromkeys(
        ("train", "valid", "test", "s0", "s0_g"), 32
    )
    assert len(structures(small["train"]) | structures(small["valid"]) | structures(small["test"])) == 96


def test_more_than_exist_is_an_error():
    with pytest.raises(ValueError, match="exactly 96"):
        make((3, 3), 33, 32, 32)
    with pytest.raises(ValueError, match="exactly 34719"):
        make((4, 4), 34_718, 1, 1)


def test_written_and_read_back(small, tmp_path):
    splits.write(tmp_path / "new" / "s3", small)
    back = splits.read(tmp_path / "new" / "s3")
    assert {name: back.sha256[name] for name in splits.DRAWN} == {name: small.sha256[name] for name in splits.DRAWN}
    splits.write(tmp_path / "new" / "s3", small)  # the same again changes nothing
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["s3"]
    with pytest.raises(FileExistsError, match="other files"):
        splits.write(tmp_path / "new" / "s3", make((3, 3), 3, 3, 3))


def test_a_structure_in_two_folders_is_warned_of_and_noted(small, tmp_path):
    leaking = {"train": small["train"][:4], "valid": small["valid"][:3], "test": small["train"][[7, 2, 3]]}
    leaking["test"] = maze.concatenate([leaking["test"], small["valid"][:1]])
    splits.write(tmp_path / "leaking", splits.Splits(leaking, small.settings))
    with pytest.warns(UserWarning, match="split test has the walls of") as caught:
        back = splits.read(tmp_path / "leaking")
    expected = (
        "split test has the walls of train in 2 of its 4 mazes: test/0001.labyrinth is train/0002.labyrinth",
        "split test has the walls of valid in 1 of its 4 mazes: test/0003.labyrinth is eval/0000.labyrinth",
    )
    assert back.notes == expected == tuple(str(warning.message) for warning in caught)
    assert caught[0].filename == __file__


def test_s0_and_s0_g_follow_their_rules(small):
    far = grid.manhattan((3, 3)) >= 3
    train, s0, s0_g = small["train"], small["s0"], small["s0_g"]
    np.testing.assert_array_equal(s0.walls, train.walls)
    np.testing.assert_array_equal(s0_g.walls, train.walls)
    np.testing.assert_array_equal(s0.goal, train.goal)
    assert (s0.start != train.start).all() and far[s0.start, s0.goal].all() and far[s0_g.start, s0_g.goal].all()
    assert len(set(s0_g.start.tolist())) > 4


def test_folders_that_are_not_read_are_named(small, tmp_path):
    splits.write(tmp_path / "odd", splits.Splits({"train": small["train"][:2]}, small.settings))
    for name, file in (("valid", "0.labyrinth"), ("valid", "1.labyrinth"), ("notes", "read.txt")):
        (tmp_path / "odd" / name).mkdir(exist_ok=True)
        (tmp_path / "odd" / name / file).write_text("nothing to read")
    with pytest.warns(UserWarning, match="valid holds mazes and is not read: only train, eval, test are"):
        back = splits.read(tmp_path / "odd")
    assert len(back.notes) == 1 and "valid" not in back


def test_splits_are_found_by_name_or_folder(small, tmp_path):
    splits.write(tmp_path / "there", small)
    assert splits.find(tmp_path / "there").sha256["test"] == small.sha256["test"]
    assert splits.find("3x3-v1").name == "3x3-v1"
    with pytest.raises(ValueError, match=r"there is no such folder.*got '3x3-v2'; did you mean '3x3-v1'"):
        splits.find("3x3-v2")


def test_a_digest_is_of_the_mazes_and_not_of_their_types(small):
    wide = small["test"].replace(start=small["test"].start.astype(np.int64), key=jnp.asarray(small["test"].key))
    assert splits.digest(wide) == splits.digest(small["test"]) != splits.digest(small["valid"])


def test_what_another_writer_put_there_meanwhile_is_kept(small, tmp_path, monkeypatch):
    folder = tmp_path / "shared"
    folder.mkdir()
    sync = os.fsync

    def fill(descriptor):
        (folder / "late.txt").write_text("of another writer")
        sync(descriptor)

    monkeypatch.setattr(splits.os, "fsync", fill)
    with pytest.raises(FileExistsError, match="already holds other files"):
        splits.write(folder, small)
    assert [path.name for path in tmp_path.rglob("*")] == ["shared", "late.txt"]


def test_missing_split_says_why():
    with pytest.warns(UserWarning, match="s0 is left out"):
        tiny = make((2, 2), 1, 1, 1)
    assert "s0" not in tiny
    with pytest.raises(KeyError, match="left out"):
        tiny["s0"]


@pytest.mark.parametrize("name", splits.FROZEN)
def test_frozen_splits_load(name):
    frozen = splits.load(name)
    sizes = {len(frozen[split]) for split in ("train", "valid", "test", "s0", "s0_g")}
    assert sizes == ({32} if name == "3x3-v1" else {100})
    parts = [structures(frozen[split]) for split in splits.DRAWN]
    assert len(set.union(*parts)) == sum(map(len, parts)) == sum(len(frozen[split]) for split in splits.DRAWN)
    for mazes in frozen.values():
        maze.check(mazes)
    assert frozen.name == name


@pytest.mark.parametrize("name", ["3x3-v1", "5x5-key-v1"])
def test_frozen_splits_are_made_from_their_seed(name):
    frozen = splits.load(name)
    settings = frozen.settings
    made = make(frozen.shape, *(len(frozen[s]) for s in splits.DRAWN), frozen.seed, key_and_door=settings.key_and_lock)
    assert made.sha256 == frozen.sha256
    assert made.notes == frozen.notes


def test_damaged_file_is_noticed(tmp_path, monkeypatch):
    raw = bytearray((splits.DATA / "3x3-v1.npz").read_bytes())
    raw[len(raw) // 2] ^= 1
    (tmp_path / "3x3-v1.npz").write_bytes(raw)
    (tmp_path / "SHA256SUMS").write_text((splits.DATA / "SHA256SUMS").read_text())
    monkeypatch.setattr(splits, "DATA", tmp_path)
    with pytest.raises(ValueError, match="damaged"):
        splits.load("3x3-v1")
    with pytest.raises(ValueError, match="did you mean '5x5-v1'"):
        splits.load("5x5v1")


def test_unique_up_to_symmetry():
    made = make((3, 3), 10, 10, 10, seed=1, unique_up_to="symmetry", variants=False)
    assert len({form.tobytes() for split in made for form in maze.canonical(made[split].walls)}) == 30
    with pytest.raises(ValueError, match="different mazes were asked for, but exactly"):
        make((3, 3), 70, 10, 10, unique_up_to="symmetry")
    with pytest.raises(ValueError, match="did you mean 'symmetry'"):
        make((3, 3), 1, 1, 1, unique_up_to="symetry")


def test_search_stops_with_the_number_found(monkeypatch):
    monkeypatch.setattr("jaxlab.generate.search.MAX_MISSES", 2000)
    monkeypatch.setattr("jaxlab.generate.search.support.MAX_CELLS", 4)
    with pytest.raises(ValueError, match=r"\d\d were found before 2000 draws in a row"):
        make((3, 3), 97, 10, 10)
