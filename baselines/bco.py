"""Behavioural cloning from observation, BCO(alpha) (Torabi, Warnell & Stone 2018).

An inverse model, trained on the agent's own moves, says which action leads from one observation
to the next. It labels the demonstrations, of which only the states are used, and BC does the rest.
With ``alpha > 0`` the policy walks again from time to time; those moves join the data, and model and
labels are renewed. Demonstrated actions are never read: with -1 in their place nothing changes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from baselines import bc, inverse, learning, ranges, world
from baselines.learning import Data, Metrics
from baselines.networks import Network, Variables
from baselines.world import Walk
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth


@dataclasses.dataclass(frozen=True)
class Config(inverse.Config):
    """Every choice of a run; what is inherited is the policy's, as for BC, and the inverse model's."""

    renewals: int = 20
    """How often the policy walks and the model goes on learning, evenly over the run; without effect at alpha 0."""
    renewal_updates: int = 50
    """The model's updates at each renewal."""
    alpha: float = 0.0
    """Steps of the policy at each renewal, as a share of the random steps; 0 is BCO(0)."""
    balanced: bool = False
    """Draw the model's data evenly over the actions, as IUPE does."""
    keep_bumps: bool = False
    """Train the model also on steps into a wall, whose action can't be told; no demonstration has one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        ranges.number("alpha", self.alpha, 0.0, math.inf, "[)")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one epoch to the next.

    ``moves`` are the agent's own, ``inverse.Moves`` of fixed capacity; ``labels int32[n]`` are what
    the model says of the demonstrations; ``right`` is its accuracy on the last batches.
    """

    policy: bc.State
    model: Variables
    optimizer: Any
    key: jax.Array
    epoch: jax.Array
    walkers: Walk
    moves: inverse.Moves
    labels: jax.Array
    right: jax.Array


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network, BC's."""
    return bc.network(config, env)


def num_epochs(config: Config, data: Data) -> int:
    """How many passes over the demonstrations a run has."""
    return bc.num_epochs(config, data)


def renewal_steps(config: Config) -> int:
    """Steps of the policy in each maze at a renewal."""
    return round(config.alpha * config.random_steps) if config.alpha else 0


def _every(config: Config, data: Data) -> int:
    return max(1, num_epochs(config, data) // (config.renewals + 1))


def init(config: Config, data: Data, key: jax.Array) -> State:
    """Random moves and an untrained model; the policy starts as BC's would with this key."""
    key_walk, key_weights, key_run = jax.random.split(jax.random.fold_in(key, 1), 3)
    rules = world.make(data.env, data.params)
    walkers, steps = world.walk(rules, world.at_random, world.begin(rules), key_walk, config.random_steps, config.limit)
    rounds = config.renewals if config.alpha else 0
    moves = inverse.room(steps, rounds * renewal_steps(config) * len(walkers.state))
    model = inverse.model(config, data.env).init(key_weights)
    return State(
        bc.begin(config, data, key),
        model,
        inverse.optimizer(config).init(model.weights),
        key_run,
        jnp.int32(0),
        world.begin(rules),
        moves,
        jnp.zeros(len(data.demonstrations), jnp.int32),
        jnp.float32(0),
    )


def first(config: Config, data: Data, state: State) -> State:
    """The first model and the first labels, and the policy's trial where its encoder asks for one."""
    key, key_model = jax.random.split(state.key)
    assert config.model_updates is not None
    state = improve(config, data, dataclasses.replace(state, key=key), key_model, config.model_updates)
    return dataclasses.replace(state, policy=bc.labelled(config, data, state.policy, state.labels))


def improve(config: Config, data: Data, state: State, key: jax.Array, updates: int) -> State:
    """Train the inverse model on the moves so far, and label the demonstrations anew."""
    net = inverse.model(config, data.env)
    usable = inverse.usable(state.moves, keep_bumps=config.keep_bumps)
    key_draw, key_fit, _ = jax.random.split(key, 3)
    drawn = inverse.draw(key_draw, state.moves, usable, (updates, config.model_batch), balanced=config.balanced)
    model, memory, metrics = inverse.fit(
        net, inverse.optimizer(config), data, state.model, state.optimizer, state.moves, drawn, key_fit
    )
    model = inverse.precise(net, data, model, state.moves, usable)
    labels = inverse.logits(net, data, model, *inverse.demonstrated(data)).argmax(-1).astype(jnp.int32)
    right = metrics["model_accuracy"][-10:].mean() if updates else state.right
    return dataclasses.replace(state, model=model, optimizer=memory, labels=labels, right=right)


def renew(config: Config, data: Data, state: State) -> State:
    """Walk with the policy, append the moves, then `improve`."""
    key, key_walk, key_model = jax.random.split(state.key, 3)
    logits = learning.everywhere(network(config, data.env), state.policy.variables, data.table)
    walkers, steps = world.walk(
        world.make(data.env, data.params),
        world.sampled(logits),
        state.walkers,
        key_walk,
        renewal_steps(config),
        config.limit,
    )
    state = dataclasses.replace(state, key=key, walkers=walkers, moves=inverse.append(state.moves, steps))
    return improve(config, data, state, key_model, config.renewal_updates)


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One pass of BC over the labelled demonstrations; at its time, the first model or a renewal before it."""
    stages = [lambda state: state, lambda state: first(config, data, state)]
    stage = (state.epoch == 0).astype(jnp.int32)
    if renewal_steps(config):
        due = (state.epoch > 0) & (state.epoch % _every(config, data) == 0) & inverse.has_room(state.moves)
        stages.append(lambda state: renew(config, data, state))
        stage = jnp.where(due, 2, stage)
    state = jax.lax.switch(stage, stages, state)
    labelled = dataclasses.replace(data, demonstrations=data.demonstrations.replace(action=state.labels))
    policy_state, metrics = bc.epoch(config, labelled, state.policy)
    state = dataclasses.replace(state, policy=policy_state, epoch=state.epoch + 1)
    return state, metrics | {"model_accuracy": state.right}


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The weights as they are used: batch-norm statistics of all demonstrations, or the running ones."""
    return bc.policy(config, data, state.policy, precise=precise)


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[epochs]``."""
    return learning.run(init, epoch, num_epochs, config, learning.data(demonstrations, config.encoder, config.render))
