"""The clipped loss and its advantages, against hand values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from baselines import ppo


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective"), [(1.5, 1, 1.2), (1.5, -1, -1.5), (0.5, 1, 0.5), (0.5, -1, -0.8), (1, 2, 2)]
)
def test_clip(ratio, advantage, objective):
    assert ppo.clipped(jnp.float32(ratio), jnp.float32(advantage), 0.2) == pytest.approx(objective)


def test_advantages_by_hand():
    reward = jnp.array([1.0, 2.0, 3.0])
    value = jnp.array([0.5, 1.0, 1.5])
    after = jnp.array([1.0, 1.5, 4.0])
    carries_on = jnp.array([True, True, False])
    got = ppo.advantages(reward, value, after, carries_on, gamma=0.9, trace=0.5)
    last = 3 + 0.9 * 4 - 1.5
    middle = 2 + 0.9 * 1.5 - 1 + 0.45 * last
    first = 1 + 0.9 * 1 - 0.5 + 0.45 * middle
    assert np.allclose(got, [first, middle, last])
    cut = ppo.advantages(reward, value, after, jnp.array([False, True, False]), gamma=0.9, trace=0.5)
    assert cut[0] == pytest.approx(1.4) and np.allclose(cut[1:], got[1:])


def test_trace_one_is_the_whole_return():
    reward = jax.random.normal(jax.random.key(0), (6, 2))
    value = jnp.zeros((6, 2))
    got = ppo.advantages(reward, value, value, jnp.ones((6, 2), bool), gamma=0.8, trace=1.0)
    discounts = 0.8 ** np.arange(6)
    assert np.allclose(got[0], (np.asarray(reward) * discounts[:, None]).sum(0), atol=1e-5)


def test_rewards_are_divided_by_the_spread_of_discounted_returns():
    reward = jnp.array([[1.0], [2.0], [4.0]])
    over = jnp.array([[False], [True], [False]])
    scaled, spread = ppo.normalized(reward, over, ppo.no_spread(1), 0.5)
    returns = np.array([1, 2.5, 4])
    assert np.allclose(scaled, reward / returns.std(), atol=1e-4) and spread.running == 4
    scaled, spread = ppo.normalized(reward, over, spread, 0.5)
    returns = np.array([1, 2.5, 4, 3, 3.5, 4])
    assert np.allclose(scaled, reward / returns.std(), atol=1e-4)


def test_the_ratio_of_the_first_minibatch_is_one():
    logits = jax.random.normal(jax.random.key(0), (32, 4))
    action = jax.random.categorical(jax.random.key(1), logits)
    before = ppo.log_prob(logits, action)
    zero = jnp.zeros(32)
    _, parts = ppo.loss(logits, zero, action, before, zero, zero, ppo.Weights())
    assert parts["ratio"] == 1 and parts["kl"] == 0


def test_sums_by_state_give_the_loss_of_all_steps_and_its_slope():
    key = jax.random.split(jax.random.key(5), 6)
    states, steps = 6, 200
    logits, before = (jax.random.normal(k, (states, 4)) for k in key[:2])
    value = jax.random.normal(key[2], (states,))
    state, action = jax.random.randint(key[3], (steps,), 0, states), jax.random.randint(key[4], (steps,), 0, 4)
    advantage, target = jax.random.normal(key[5], (2, steps))
    likely = jax.nn.log_softmax(before)
    done, shares = ppo.tally(states, state, action, advantage, target), ppo.Weights()

    def of_steps(logits, value):
        return ppo.loss(logits[state], value[state], action, likely[state, action], advantage, target, shares)

    def of_states(logits, value):
        return ppo.tallied_loss(logits, value, likely, done, shares)

    both = [jax.value_and_grad(f, (0, 1), has_aux=True)(logits, value) for f in (of_steps, of_states)]
    for a, b in zip(*map(jax.tree.leaves, both), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_slope_of_the_loss_in_double_precision():
    with jax.enable_x64(True):
        key = jax.random.split(jax.random.key(3), 4)
        logits = jax.random.normal(key[0], (8, 4), jnp.float64)
        action = jax.random.randint(key[1], (8,), 0, 4)
        old = ppo.log_prob(logits + 0.3 * jax.random.normal(key[2], (8, 4), jnp.float64), action)
        advantage = jax.random.normal(key[3], (8,), jnp.float64)

        def total(logits, value):
            return ppo.loss(logits, value, action, old, advantage, advantage, ppo.Weights())[0]

        check_grads(total, (logits, advantage * 0.5), 1, modes=["rev"], rtol=1e-6)


def test_entropy_of_a_uniform_choice():
    assert ppo.entropy(jnp.zeros(4)) == pytest.approx(np.log(4))
