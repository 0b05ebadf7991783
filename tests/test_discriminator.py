"""The discriminator: its loss, the rewards made of its logit, and the gradient penalty, against hand values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from baselines import discriminator


def test_losses_and_rewards_by_hand():
    zero, two = jnp.float32(0), jnp.float32(2)
    assert discriminator.loss(zero, zero) == pytest.approx(2 * np.log(2), abs=1e-6)
    assert [float(discriminator.reward(zero, form)) for form in discriminator.REWARDS] == pytest.approx(
        [0, -0.693147, 0.693147]
    )
    assert [float(discriminator.reward(two, form)) for form in discriminator.REWARDS] == pytest.approx(
        [2, -0.126928, 2.126928]
    )
    shown = jnp.array([1.0, -1.0, 5.0])
    weighted = discriminator.loss(shown, shown, jnp.array([2.0, 1.0, 0.0]), jnp.array([0.0, 1.0, 1.0]))
    by_hand = (2 * np.log1p(np.exp(-1)) + np.log1p(np.exp(1))) / 3 + (np.log1p(np.exp(-1)) + np.log1p(np.exp(5))) / 2
    assert weighted == pytest.approx(by_hand, abs=1e-5)


def test_gradient_penalty_of_a_linear_judge():
    weight = jnp.array([1.2, 1.6])  # length 2
    assert discriminator.gradient_penalty(lambda x: x @ weight, 1.0, jnp.ones((5, 2))) == pytest.approx(1, abs=1e-5)
    both = discriminator.gradient_penalty(
        lambda x, a: x @ weight + 2 * a[:, 0], 1.0, jnp.ones((5, 2)), jnp.ones((5, 1))
    )
    assert both == pytest.approx((8**0.5 - 1) ** 2, abs=1e-5)


def test_a_discriminator_without_a_network_finds_the_ratio_of_visits():
    """One logit for each pair, matched data: l = log(expert's share / policy's share)."""
    expert, policy = jnp.array([0.5, 0.25, 0.25]), jnp.array([0.2, 0.2, 0.6])
    slope = jax.jit(jax.grad(lambda logit: discriminator.loss(logit, logit, expert, policy)))
    logits = jnp.zeros(3)
    for _ in range(400):
        logits -= 4 * slope(logits)
    assert np.allclose(logits, np.log(expert / policy), atol=1e-3)
