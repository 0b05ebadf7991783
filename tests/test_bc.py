import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import bc, evaluate, learning, networks
from jaxlab import datasets

ENV = jaxlab.Labyrinth((3, 3))
MAZES = jaxlab.splits.load("3x3-v1")["train"][:4]
SHOWN = datasets.demonstrations(ENV, MAZES)
CONFIG = bc.Config(encoder="mlp", epochs=60, batch=8)


@pytest.fixture(scope="module")
def trained():
    """Two seeds in one jit, as the README has it."""
    keys = jax.random.split(jax.random.key(0), 2)
    return keys, *jax.jit(jax.vmap(bc.make(CONFIG, SHOWN)))(keys)


def test_cross_entropy_hand_value_and_gradient():
    logits, action = jnp.array([[1.0, 2.0, 3.0, 0.0]]), jnp.array([2])
    assert float(learning.cross_entropy(logits, action)[0]) == pytest.approx(0.440190, abs=1e-6)
    slope = jax.grad(lambda x: learning.cross_entropy(x, action).sum())(logits)
    np.testing.assert_allclose(slope, jax.nn.softmax(logits) - jax.nn.one_hot(action, 4), atol=1e-6)


def test_learns_its_mazes_and_equals_a_single_seed(trained):
    keys, state, metrics = trained
    assert metrics["loss"].shape == (2, 60) and (metrics["loss"][:, -1] < 0.3 * metrics["loss"][:, 0]).all()
    data = learning.data(SHOWN, "mlp")
    net = bc.network(CONFIG, data.env)
    variables = jax.tree.map(lambda leaf: leaf[1], state.variables)
    assert float(evaluate.success(net, variables, data.table)) == 1
    alone, _ = jax.jit(bc.make(CONFIG, SHOWN))(keys[1])
    for a, b in zip(jax.tree.leaves(alone.variables), jax.tree.leaves(variables), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)


def test_pass_shows_every_example_in_batches_of_one_size():
    rows = learning.minibatches(jax.random.key(0), 10, 4)
    assert rows.shape == (3, 4) and set(rows.ravel().tolist()) == set(range(10))
    assert learning.minibatches(jax.random.key(0), 10, "full").shape == (1, 10)
    assert learning.minibatches(jax.random.key(0), 10, 100).shape == (1, 10)


def test_config_takes_the_encoders_recipe_and_refuses_nonsense():
    recipe = networks.encoder("cnn").recipe
    assert bc.Config().batch == recipe.batch == 100 and bc.Config().learning_rate == 5e-4
    assert dataclasses.replace(bc.Config(), batch="full").batch == "full"
    for wrong, message in (
        ({"encoder": "cn"}, "did you mean 'cnn'"),
        ({"decay": "cosin"}, "did you mean 'cosine'"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            bc.Config(**wrong)


def test_updates_become_whole_epochs():
    data = learning.data(SHOWN, "mlp")
    assert bc.num_epochs(bc.Config(encoder="mlp", batch=8, updates=7), data) == -(-7 // -(-len(SHOWN) // 8))


def test_optimizer_decays_to_nothing_and_clips():
    optimizer = learning.optimizer(1.0, 2, decay="cosine", clip=1.0)
    weights = {"w": jnp.ones(2)}
    memory = optimizer.init(weights)
    for _ in range(2):
        change, memory = optimizer.update({"w": jnp.full(2, 100.0)}, memory, weights)
    change, _ = optimizer.update({"w": jnp.full(2, 100.0)}, memory, weights)
    np.testing.assert_allclose(change["w"], 0, atol=1e-7)


def test_policy_callable_takes_any_batch():
    env = dataclasses.replace(ENV, observation="vector")
    net = networks.policy("mlp", env)
    policy = learning.Policy(net, net.init(jax.random.key(0)), "vector")
    rows = np.random.default_rng(0).integers(0, 2, (5, 28)).astype(np.float32)
    assert policy(rows).shape == (5, 4)
    np.testing.assert_allclose(policy(rows)[3:4], policy(rows[3:4]), atol=1e-5)


@pytest.mark.parametrize(("limit", "starts"), [(100.0, 1), (0.0, 3)], ids=["a good loss", "never good enough"])
def test_a_trial_starts_again_while_its_loss_is_too_high_and_not_for_ever(monkeypatch, limit, starts):
    entry = networks.ENCODERS["mlp"]
    checks = ((1, 100.0), (2, limit))
    recipe = dataclasses.replace(entry.recipe, checks=checks, trials=3)
    monkeypatch.setitem(networks.ENCODERS, "mlp", dataclasses.replace(entry, recipe=recipe))
    data, key = learning.data(SHOWN, "mlp"), jax.random.key(4)
    state = jax.jit(lambda key: bc.init(CONFIG, data, key))(key)
    expected = bc.begin(CONFIG, data, jax.random.fold_in(key, starts - 1))
    epoch = jax.jit(lambda state: bc.epoch(CONFIG, data, state))
    for _ in range(2):
        expected, _ = epoch(expected)
    for a, b in zip(jax.tree.leaves(state.variables), jax.tree.leaves(expected.variables), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    # Labels that come later begin a trial of their own, with these labels.
    shown = data.demonstrations
    late = dataclasses.replace(data, demonstrations=shown.replace(action=shown.action * 0))
    again = bc.labelled(CONFIG, late, dataclasses.replace(expected, key=key), shown.action)
    for a, b in zip(jax.tree.leaves(again.variables), jax.tree.leaves(expected.variables), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_without_a_trial_labels_that_come_later_change_nothing():
    data = learning.data(SHOWN, "mlp")
    state = bc.init(CONFIG, data, jax.random.key(0))
    assert bc.labelled(CONFIG, data, state, SHOWN.action) is state
