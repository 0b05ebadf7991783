import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import marks
import numpy as np
import pytest

from baselines import runner, train
from jaxlab import devices

ROOT = Path(__file__).resolve().parents[1]


def start(count, *arguments):
    """A process with so many virtual devices.

    XLA takes its number of threads from NPROC: with one thread, as on a single core, it sums in another order.
    """
    environment = os.environ | {
        "NPROC": "8",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={count}",
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
    }
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(*processes):
    for process in processes:
        said, _ = process.communicate(timeout=600)
        assert process.returncode == 0, said


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    path = tmp_path_factory.mktemp("alone") / "one.npz"
    finish(start(1, ROOT / "tests" / "sharded.py", path))
    with np.load(path) as found:
        return dict(found)


def is_same(name, one, other):
    """To the bit; training with 64 bits, part of it in float64, for which no bits are promised, within rounding."""
    if jax.config.jax_enable_x64 and name.startswith("training"):
        return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6)
    return np.array_equal(one, other)


def differing(path, alone):
    """Names of what is not the same to the bit, or not there."""
    assert all(expected.size for expected in alone.values())
    with np.load(path) as found:
        same = {name for name in found.files if name in alone and is_same(name, found[name], alone[name])}
        return (set(found.files) | set(alone)) - same


@marks.trains_with_adam
def test_eight_devices_find_what_one_does_to_the_bit(alone, tmp_path):
    finish(start(8, ROOT / "tests" / "sharded.py", tmp_path / "eight.npz"))
    assert not differing(tmp_path / "eight.npz", alone)
    ended, returns = alone["rollouts 8"], alone["rollouts 9"]
    assert ended.any() and len(np.unique(returns[ended])) > 5  # the rollouts reset, and are not all alike


@pytest.mark.slow
def test_two_processes_find_what_one_does_to_the_bit(alone, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = ROOT / "tests" / "sharded.py"
    finish(*[start(2, script, tmp_path / f"{i}.npz", port, i) for i in range(2)])
    for i in range(2):
        assert not differing(tmp_path / f"{i}.npz", alone)


@pytest.mark.slow
def test_seeds_over_devices_write_the_same_results(tmp_path):
    from baselines import results

    options = ["bc", "--size", "3", "--encoder", "mlp", "--quiet", "--epochs", "4", "--check-every", "2"]
    options += ["--seeds", "3", "--out"]
    process = start(2, "-m", "baselines.train", *options, tmp_path / "two", "--devices", "2")
    assert train.main([*options, str(tmp_path / "one")]) == 0
    finish(process)
    one, two = (results.read(tmp_path / name) for name in ("one", "two"))
    assert two["machine"]["devices"] == 2
    for seed in one["seeds"] + two["seeds"]:
        del seed["train_seconds"]
    assert one["seeds"] == two["seeds"]


def test_each_device_trains_as_many_seeds_as_any_other():
    assert runner.Plan(seeds=3).groups() == [[0], [1], [2]]
    assert runner.Plan(seeds=5, seed=7, devices=2).groups() == [[7, 8], [9, 10], [11]]
    assert runner.Plan(seeds=11, devices=4, vmap=True).groups() == [list(range(8)), [8, 9, 10]]
    assert runner.Plan(seeds=2, devices=4, vmap=True).groups() == [[0, 1]]


def test_what_can_not_be_spread_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="devices must be a whole number in 1"):
        devices.mesh(jax.device_count() + 1)
    with pytest.raises(ValueError, match="can't be split"):
        devices.spread(np.float32(1), devices.mesh(1))
    assert train.main(["bc", "--size", "3", "--devices", "0", "--quiet", "--out", str(tmp_path)]) == 2
    assert "devices must be a whole number" in capsys.readouterr().err
