"""The example of PPO, and clients of other libraries."""

import importlib.util
import subprocess
import sys

import numpy as np
import pages
import pytest

import jaxlab


@pytest.fixture(scope="module")
def ppo():
    pytest.importorskip("flax", reason="the example needs flax and optax (extra train)")
    spec = importlib.util.spec_from_file_location("ppo_example", pages.ROOT / "scripts" / "ppo_example.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ENVS, module.STEPS = 32, 48
    return module


@pytest.mark.slow
def test_ppo_learns_on_fixed_mazes_without_recompiling_for_others(ppo):
    import jax

    train = ppo.make_train(40, fresh=False)
    splits = jaxlab.splits.load("3x3-v1")
    curve = np.asarray(train(jax.random.key(0), splits["train"]))
    assert curve[-5:].mean() > max(0.85, curve[:3].mean())
    train(jax.random.key(1), splits["test"])
    assert train._cache_size() == 1


@pytest.mark.slow
def test_ppo_trains_on_levels_made_inside_the_loop(ppo):
    import jax

    train = ppo.make_train(3, fresh=True)
    curve = np.asarray(train(jax.random.key(0), jaxlab.splits.load("3x3-v1")["train"]))
    assert curve.shape == (3,) and np.isfinite(curve).all() and train._cache_size() == 1


@pytest.mark.slow
def test_stable_baselines3_trains_5000_steps():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    done = subprocess.run(
        [sys.executable, pages.ROOT / "scripts" / "clients" / "sb3_ppo.py"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(pages.ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    steps = int(done.stdout.split("trained ")[1].split()[0])
    assert steps >= 5000
