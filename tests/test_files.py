"""Atomic writing."""

import os

import pytest

from jaxlab.files import write_atomic


def test_text_and_bytes_replace_what_was_there(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    write_atomic(path, "old\n")
    write_atomic(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    write_atomic(str(path), b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert os.listdir(path.parent) == ["file.txt"]


def test_new_files_get_the_permissions_that_open_gives(tmp_path):
    write_atomic(tmp_path / "a", "a")
    (tmp_path / "b").write_text("b")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
    (tmp_path / "a").chmod(0o600)
    write_atomic(tmp_path / "a", "again")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_atomic(path, "old")

    def full(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]
