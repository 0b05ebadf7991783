"""What docs/trust.md promises to be equal or close, against values stored by another process on another day.

Elsewhere: resumed runs in test_train.py and test_kill.py, devices in test_devices.py, pictures and rollouts
in test_golden.py, sets that begin with smaller ones in test_generate.py.
"""

import json

import jax
import jax.numpy as jnp
import marks
import numpy as np
import pytest
import stored

import jaxlab
from baselines import bc, learning
from jaxlab import datasets

STORED = json.loads(stored.FILE.read_text("utf-8"))
ENV = jaxlab.Labyrinth((3, 3))
MAZES = jaxlab.splits.load("3x3-v1")["train"]


def test_integers_are_the_stored_ones():
    assert len(STORED["integers"]) == 15
    assert stored.integers() == STORED["integers"]


@marks.draws_dropout
@marks.trains_with_adam
def test_training_has_the_stored_losses_to_a_ten_thousandth():
    assert STORED["losses"][-1] < 0.9 * STORED["losses"][0]
    np.testing.assert_allclose(stored.losses(), STORED["losses"], rtol=1e-4)


@pytest.mark.parametrize("batch", [1, 5])
def test_a_batch_of_any_size_plays_the_same(batch):
    params = ENV.params(MAZES)
    actions = np.random.default_rng(1).integers(0, 4, (20, 32))

    def play(size):
        states = jax.vmap(lambda i: ENV.reset_to(i, params)[1])(jnp.arange(size))
        seen = []
        for row in actions[:, :size]:
            out = jax.vmap(ENV.step, (None, 0, 0, None))(None, states, jnp.asarray(row, jnp.int32), params)
            states = out.state
            seen.append(np.c_[out.obs, out.reward, out.terminated, out.truncated])
        return np.stack(seen)

    whole = play(32)
    assert len(np.unique(whole[-1], axis=0)) > 10
    np.testing.assert_array_equal(play(batch), whole[:, :batch])


def test_without_jit_steps_solutions_and_pictures_are_the_same():
    mazes = MAZES[:2]

    def everything():
        params = ENV.params(jax.tree.map(jnp.asarray, mazes))
        state, seen = ENV.reset_to(1, params)[1], []
        for action in (0, 1, 1, 0, 3, 2):
            out = ENV.step(None, state, action, params)
            state = out.state
            seen.append([*out.obs, out.reward, out.terminated, out.truncated])
        picture = jaxlab.render(params.mazes[0], 4, 32)
        return [np.asarray(found, np.float32) for found in (params.distance, params.optimal, seen, picture)]

    with jax.disable_jit():
        slow = everything()
    for found, expected in zip(everything(), slow, strict=True):
        np.testing.assert_array_equal(found, expected)


@marks.trains_with_adam
def test_without_jit_an_epoch_of_training_is_close():
    data = learning.data(datasets.demonstrations(ENV, MAZES[:4]), "mlp")
    state, again = (bc.init(stored.CONFIG, data, jax.random.key(0)) for _ in range(2))
    with jax.disable_jit():
        slow, _ = bc.epoch(stored.CONFIG, data, state)
    quick, _ = jax.jit(bc.epoch, static_argnums=0)(stored.CONFIG, data, again)
    moved = 0.0
    for before, one, other in zip(*(jax.tree.leaves(s.variables) for s in (state, slow, quick)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        moved = max(moved, float(abs(one - before).max()))
    assert moved > 1e-4
