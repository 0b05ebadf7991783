"""The inverse model: right on every move, seen or not, and no better than chance where nothing can be told."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import bco, inverse, learning, world
from jaxlab import datasets

ENV, SPLITS = jaxlab.Labyrinth((3, 3)), jaxlab.splits.load("3x3-v1")


@functools.cache
def data(split, encoder):
    return learning.data(datasets.demonstrations(ENV, SPLITS[split]), encoder)


@functools.cache
def trained(encoder):
    """(network, model, the moves that it learnt from, labels of the demonstrations) after BCO's first epoch."""
    given, config = data("train", encoder), bco.Config(encoder=encoder, epochs=1, keep_bumps=True)
    state, _ = jax.jit(bco.make(config, given.demonstrations))(jax.random.key(0))
    return inverse.model(config, given.env), state.model, state.moves, state.labels


@functools.cache
def answers(split, encoder):
    """What the model says of every action in every state but the goals: (answers, is it a move) ``[S, 4]``, states."""
    given = data(split, encoder)
    network, model, *_ = trained(encoder)
    rules = world.make(given.env, given.params)
    states = np.flatnonzero(world.reachable(rules))
    after = rules.following[states]
    before = jnp.broadcast_to(jnp.asarray(states)[:, None], after.shape)
    logits = jax.jit(inverse.logits, static_argnums=0)(network, given, model, before.ravel(), after.ravel())
    return np.asarray(logits.argmax(-1)).reshape(after.shape), np.asarray(after != before), states


ENCODERS = ["mlp", pytest.param("cnn", marks=pytest.mark.slow)]


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_move_is_told_also_held_out_ones_and_in_mazes_never_seen(encoder):
    moves = trained(encoder)[2]
    seen = set(zip(np.asarray(moves.state).tolist(), np.asarray(moves.action).tolist(), strict=True))
    for split in ("train", "valid", "test"):
        said, moving, states = answers(split, encoder)
        if split == "train":
            all_moves = {(int(states[row]), int(action)) for row, action in zip(*np.nonzero(moving), strict=True)}
            assert len(all_moves - seen) > 20, "some moves of the training mazes were not walked"
        assert (said == np.arange(4))[moving].all(), split
    assert (trained(encoder)[3] == data("train", encoder).demonstrations.action).all(), "demonstrations never bump"


@pytest.mark.parametrize("encoder", ENCODERS)
def test_bumps_are_told_as_often_as_they_can_be(encoder):
    """All b blocked actions of a state look alike, so one answer is right for 1 in b of them and no more."""
    said, moving, _ = answers("train", encoder)
    ceiling = (moving.sum(-1) + ~moving.all(-1)).sum() / moving.size
    reached = (said == np.arange(4)).mean()
    assert ceiling - 0.01 <= reached <= ceiling
    edges = SPLITS["train"].walls
    open_sides = 4 - np.unpackbits(np.asarray(edges)[..., None], axis=-1).sum(-1)
    goal = np.asarray(SPLITS["train"].goal)
    open_sides.reshape(len(goal), -1)[np.arange(len(goal)), goal] = 0
    assert moving.sum() == open_sides.sum(), "P(move) = 2E / 4N but for the goals, where nobody stands"
