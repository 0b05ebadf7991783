"""Imitating unknown policies via exploration, IUPE (Gavenski et al. 2020; after ABCO, Monteiro et al. 2020).

BCO with three changes. (1) The share w of the policy's walks that reach the goal decides how much of
the inverse model's data are those walks rather than random steps, and each draw is even over the
actions, so that a bad policy's loops can't take over. (2) The policy explores by sampling. (3) The
labels of the demonstrations are sampled from the inverse model, again for every pass. Demonstrated
actions are never read; of the environment only "goal reached" is. Self-attention comes with the
encoder ``resnet18-attention``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from baselines import bc, inverse, learning, world
from baselines.inverse import Moves
from baselines.learning import Data, Metrics
from baselines.networks import Network, Variables
from baselines.world import Steps
from jaxlab import grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose

LABELS = ("sample", "argmax")
EXPLORES = ("sample", "argmax")


@dataclasses.dataclass(frozen=True)
class Config(inverse.Config):
    """Every choice of a run; what is inherited is the policy's, as for BC, and the inverse model's.

    At a renewal the policy walks one episode in each maze; one that is cut at ``limit`` has failed.
    """

    labels: str = "sample"
    """"sample" from softmax of the model, or "argmax"."""
    explore: str = "sample"
    """How the policy acts on its walks: "sample" or "argmax"."""
    weighted: bool = True
    """Weigh walks by the share that succeeds; False: as much of them as of random steps."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choose("labels", self.labels, LABELS)
        choose("explore", self.explore, EXPLORES)


class Sources(NamedTuple):
    """Random steps and the policy's successful walks, one behind the other.

    Attributes:
        moves: ``int32[C]`` columns, the first ``num_random`` rows are the random steps.
        held: ``bool[C]``, rows that count.
        success: ``float32``, w: the share of the last walks that reached the goal.
    """

    moves: Moves
    held: jax.Array
    success: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one epoch to the next; ``answers float32[n, 4]`` are the model's logits, ``right``
    its accuracy on the last batches.
    """

    policy: bc.State
    model: Variables
    optimizer: Any
    key: jax.Array
    epoch: jax.Array
    sources: Sources
    answers: jax.Array
    right: jax.Array


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network, BC's."""
    return bc.network(config, env)


def num_epochs(config: Config, data: Data) -> int:
    """How many passes over the demonstrations a run has."""
    return bc.num_epochs(config, data)


# -- which moves the model learns from -------------------------------------------------------------


def own_share(success: jax.Array, num_own: jax.Array, num_random: jax.Array | int) -> jax.Array:
    """Share of the policy's walks in the model's data: ``w |own| / (w |own| + (1 - w) |random|)``."""
    own, random = success * num_own, (1 - success) * num_random
    return own / jnp.maximum(own + random, 1e-9)


def draw(key: jax.Array, sources: Sources, num_random: int, shape: tuple[int, ...], *, weighted: bool) -> jax.Array:
    """Row numbers of the mixed data (`inverse.draw_evenly`)."""
    is_own = jnp.arange(len(sources.held)) >= num_random
    num_own = (sources.held & is_own).sum()
    share = own_share(sources.success, num_own, num_random) if weighted else jnp.where(num_own > 0, 0.5, 0.0)
    return inverse.draw_evenly(key, sources.moves, sources.held, is_own, share, shape)


def first_episodes(steps: Steps) -> tuple[jax.Array, jax.Array]:
    """(steps of each walker's first episode where it reached the goal ``bool[T, N]``, share of such walkers)."""
    over = steps.ended | steps.cut
    before = jnp.cumsum(over, 0) - over
    within = before == 0
    arrived = (within & steps.reached).any(0)
    return within & arrived, arrived.mean()


# -- training --------------------------------------------------------------------------------------


def init(config: Config, data: Data, key: jax.Array) -> State:
    """Random moves and an untrained model; the policy starts as BC's would with this key."""
    key_walk, key_weights, key_run = jax.random.split(jax.random.fold_in(key, 1), 3)
    rules = world.make(data.env, data.params)
    begin = world.begin(rules)
    _, steps = world.walk(rules, world.at_random, begin, key_walk, config.random_steps, config.limit)
    moves = inverse.room(steps, config.limit * len(begin.state))
    sources = Sources(moves, inverse.usable(moves), jnp.float32(0))
    model = inverse.model(config, data.env).init(key_weights)
    return State(
        bc.begin(config, data, key),
        model,
        inverse.optimizer(config).init(model.weights),
        key_run,
        jnp.int32(0),
        sources,
        jnp.zeros((len(data.demonstrations), grid.NUM_ACTIONS)),
        jnp.float32(0),
    )


def first(config: Config, data: Data, state: State) -> State:
    """The first model and its first answers, and the policy's trial where its encoder asks for one."""
    key, key_model = jax.random.split(state.key)
    assert config.model_updates is not None
    state = improve(config, data, dataclasses.replace(state, key=key), key_model, config.model_updates)
    likeliest = state.answers.argmax(-1).astype(jnp.int32)
    return dataclasses.replace(state, policy=bc.labelled(config, data, state.policy, likeliest))


def improve(config: Config, data: Data, state: State, key: jax.Array, updates: int) -> State:
    """Train the inverse model on what `draw` gives, and ask it about the demonstrations anew."""
    net, sources = inverse.model(config, data.env), state.sources
    num_random = config.random_steps * len(data.params.mazes)
    key_draw, key_fit, key_spread = jax.random.split(key, 3)
    drawn = draw(key_draw, sources, num_random, (updates, config.model_batch), weighted=config.weighted)
    model, memory, metrics = inverse.fit(
        net, inverse.optimizer(config), data, state.model, state.optimizer, sources.moves, drawn, key_fit
    )
    spread = draw(key_spread, sources, num_random, (1000,), weighted=config.weighted)
    model = net.precise(model, inverse.see_pair(data, sources.moves.state[spread], sources.moves.following[spread]))
    answers = inverse.logits(net, data, model, *inverse.demonstrated(data))
    right = metrics["model_accuracy"][-10:].mean() if updates else state.right
    return dataclasses.replace(state, model=model, optimizer=memory, answers=answers, right=right)


def renew(config: Config, data: Data, state: State) -> State:
    """One episode of the policy in each training maze, then `improve`."""
    key, key_walk, key_model = jax.random.split(state.key, 3)
    rules = world.make(data.env, data.params)
    logits = learning.everywhere(network(config, data.env), state.policy.variables, data.table)
    if config.explore == "argmax":
        logits = jnp.where(logits == logits.max(-1, keepdims=True), 0.0, -jnp.inf)
    _, steps = world.walk(rules, world.sampled(logits), world.begin(rules), key_walk, config.limit, config.limit)
    kept, success = first_episodes(steps)
    num_random = config.random_steps * len(data.params.mazes)
    before = state.sources
    moves = inverse.append(before.moves._replace(filled=jnp.int32(num_random)), steps)
    held = before.held.at[num_random:].set(kept.ravel())
    state = dataclasses.replace(state, key=key, sources=Sources(moves, held, success.astype(jnp.float32)))
    return improve(config, data, state, key_model, config.renewal_updates)


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One pass of BC over the demonstrations with labels from the model; at its time, the first model or a
    renewal before it.
    """
    every = max(1, num_epochs(config, data) // (config.renewals + 1))
    stage = jnp.where(state.epoch == 0, 1, jnp.where(state.epoch % every == 0, 2, 0))
    stages = [lambda state: state, lambda state: first(config, data, state), lambda state: renew(config, data, state)]
    state = jax.lax.switch(stage, stages, state)
    key, key_label = jax.random.split(state.key)
    labels = state.answers.argmax(-1)
    if config.labels == "sample":
        labels = jax.random.categorical(key_label, state.answers)
    labelled = data.demonstrations.replace(action=labels.astype(jnp.int32))
    policy_state, metrics = bc.epoch(config, dataclasses.replace(data, demonstrations=labelled), state.policy)
    state = dataclasses.replace(state, policy=policy_state, key=key, epoch=state.epoch + 1)
    return state, metrics | {"walks_reached": state.sources.success, "model_accuracy": state.right}


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The weights as they are used: batch-norm statistics of all demonstrations, or the running ones."""
    return bc.policy(config, data, state.policy, precise=precise)


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[epochs]``."""
    return learning.run(init, epoch, num_epochs, config, learning.data(demonstrations, config.encoder, config.render))
