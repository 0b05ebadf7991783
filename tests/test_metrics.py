"""Metrics as lines of JSON, and the same figures read back from TensorBoard's event files."""

import struct
import sys

import pytest

from baselines import metrics, runner, train

ROWS = [
    {"seed": 0, "epoch": 1, "loss": 1.5},
    {"seed": 0, "epoch": 2, "loss": 0.75, "train_success": 0.5, "seconds": 3.25},
    {"seed": 4, "epoch": 1, "loss": 1.25},
]


def read_events(folder):
    """{seed: {(name, epoch): value}} of event files: records of a length, a checksum, the event and another."""
    event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2", reason="tensorboardX is not installed")
    found = {}
    for path in sorted((folder / metrics.EVENTS).glob("seed-*/events.*")):
        data, at, values = path.read_bytes(), 0, {}
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = event_pb2.Event.FromString(data[at + 12 : at + 12 + length])
            for value in event.summary.value:
                assert (value.tag, event.step) not in values, "each figure is written once"
                values[value.tag, event.step] = value.simple_value
            at += 16 + length
        found[int(path.parent.name.removeprefix("seed-"))] = values
    return found


def expected(rows):
    found = {}
    for row in rows:
        of_seed = found.setdefault(row["seed"], {})
        of_seed |= {(name, row["epoch"]): row[name] for name in row if name not in ("seed", "epoch")}
    return {seed: pytest.approx(values) for seed, values in found.items()}


def test_rows_are_read_as_written_and_half_a_line_is_none(tmp_path):
    assert metrics.read(tmp_path) == []
    metrics.append(tmp_path, ROWS)
    with open(tmp_path / metrics.FILE, "a") as file:
        file.write('{"seed": 4, "epo')
    assert metrics.read(tmp_path) == ROWS
    assert metrics.keep(tmp_path, [0], 1) == ROWS[:1]
    assert metrics.read(tmp_path) == [ROWS[0], ROWS[2]]


def test_event_files_of_a_run_that_is_there(tmp_path, capsys):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    metrics.append(tmp_path, ROWS)
    assert metrics.main([str(tmp_path)]) == metrics.main([str(tmp_path)]) == 0
    assert "2 seeds, 3 epochs" in capsys.readouterr().out
    assert read_events(tmp_path) == expected(ROWS)
    assert metrics.main([str(tmp_path / "nowhere")]) == 2


def test_a_run_writes_the_figures_of_its_lines_and_goes_on_where_it_was(tmp_path, monkeypatch):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    line = ["bc", "--size", "3", "--encoder", "mlp", "--quiet", "--epochs", "4", "--check-every", "2", "--tensorboard"]
    real, calls = metrics.append, []

    def stop_after_one(folder, rows):
        calls.append(rows)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(folder, rows)

    monkeypatch.setattr(metrics, "append", stop_after_one)
    with pytest.raises(KeyboardInterrupt):
        train.main([*line, "--out", str(tmp_path)])
    assert read_events(tmp_path) == expected(metrics.read(tmp_path)), "what was done before the end is on disk"
    monkeypatch.setattr(metrics, "append", real)
    assert train.main([*line, "--out", str(tmp_path), "--resume"]) == 0
    rows = metrics.read(tmp_path)
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    assert read_events(tmp_path) == expected(rows)


def test_without_tensorboardx_the_extra_is_named(tmp_path, monkeypatch, capsys):
    metrics.append(tmp_path, ROWS)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    assert metrics.main([str(tmp_path)]) == 2
    assert "pip install 'jaxlab[tensorboard]'" in capsys.readouterr().err
    assert metrics.read(tmp_path) == ROWS


def test_event_files_need_a_folder():
    with pytest.raises(ValueError, match="give out"):
        runner.Plan(tensorboard=True)
