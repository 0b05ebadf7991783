"""DAgger: label with the expert every state that the learner visits (Ross, Gordon & Bagnell 2011).

Round i walks with ``beta_i * expert + (1 - beta_i) * learner``, adds all visited states with the
expert's action to one growing data set, and trains on it. With ``beta_i = 1`` only at i = 0 that
round's data are the demonstrations. It is the only method that may ask the expert.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from baselines import bc, learning, world
from baselines.learning import Data, Metrics
from baselines.networks import Network, Variables
from baselines.world import Walk
from jaxlab import grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose

BETAS = ("first", "exponential", "linear")


@dataclasses.dataclass(frozen=True)
class Config(bc.Config):
    """Every choice of a run; what is inherited means the same as for BC, an epoch is a round."""

    epochs: int | None = 50
    """Rounds."""
    steps: int = 40
    """Steps that it walks in each training maze a round."""
    limit: int = 40
    """Moves after which an episode begins again."""
    round_updates: int = 80
    """Updates a round."""
    beta: str = "first"
    """Share of the expert's own actions: "first" (1, then 0), "exponential" or "linear"."""
    beta_rate: float = 0.5
    """Exponential: beta_i = rate^i. Linear: beta_i = max(0, 1 - i / rate)."""
    explore: float = 0.1
    """Chance that a step of the learner is uniform random (0 in the paper): walks that are sure leave nothing new."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choose("beta", self.beta, BETAS)
        if self.beta == "exponential" and self.beta_rate > 1:
            raise ValueError(f"beta_rate must be at most 1 with beta='exponential', got {self.beta_rate}")
        if self.batch == "full":
            raise ValueError("dagger draws from a growing data set: batch must be a number, got 'full'")


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one round to the next.

    ``states`` and ``actions`` (``int32[capacity]``) are the aggregated data set, the first
    ``filled`` rows of it; every row after the demonstrations cost one query of the expert.
    """

    variables: Variables
    optimizer: Any
    key: jax.Array
    round: jax.Array
    walkers: Walk
    states: jax.Array
    actions: jax.Array
    filled: jax.Array


def beta(config: Config, i: jax.Array | int) -> jax.Array:
    """Share of the expert's actions in round ``i``.

    >>> [float(beta(Config(beta="exponential", beta_rate=0.5), i)) for i in range(3)]
    [1.0, 0.5, 0.25]
    """
    i = jnp.asarray(i, jnp.float32)
    if config.beta == "first":
        return (i == 0).astype(jnp.float32)
    if config.beta == "exponential":
        return jnp.float32(config.beta_rate) ** i
    return jnp.maximum(0.0, 1 - i / config.beta_rate)


def expert(data: Data) -> jax.Array:
    """One optimal action for every state, ``int32[S]``: the demonstrated one, elsewhere one drawn for good.

    It is -1 where nothing is optimal: at the goal, and where the goal can't be reached.
    """
    assert data.params.optimal is not None
    bits = data.params.optimal.reshape(-1).astype(jnp.int32)
    is_best = (bits[:, None] >> jnp.arange(grid.NUM_ACTIONS) & 1) == 1
    drawn = jnp.argmax(jnp.where(is_best, jax.random.uniform(jax.random.key(0), is_best.shape), -1.0), -1)
    shown = data.demonstrations
    chosen = jnp.where(is_best.any(-1), drawn, -1).astype(jnp.int32)
    return chosen.at[data.table.index(shown.maze, shown.mode, shown.cell)].set(shown.action)


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network, BC's."""
    return bc.network(config, env)


def num_epochs(config: Config, data: Data) -> int:
    """How many rounds a run has."""
    return _rounds(config)


def _rounds(config: Config) -> int:
    assert config.epochs is not None
    return config.epochs if config.updates is None else -(-config.updates // config.round_updates)


def _optimizer(config: Config) -> optax.GradientTransformation:
    assert config.learning_rate is not None and config.weight_decay is not None
    assert config.decay is not None and config.clip is not None
    updates = _rounds(config) * config.round_updates
    return learning.optimizer(
        config.learning_rate, updates, weight_decay=config.weight_decay, decay=config.decay, clip=config.clip
    )


def init(config: Config, data: Data, key: jax.Array) -> State:
    """A new run, whose data set begins with the demonstrations; the key is consumed.

    Where the encoder asks for a trial, that is one of BC: the expert is not asked for it.
    """
    start = bc.init(config, data, key)
    shown = data.demonstrations
    states = data.table.index(shown.maze, shown.mode, shown.cell)
    walkers = world.begin(world.make(data.env, data.params))
    room = jnp.zeros(_rounds(config) * config.steps * len(walkers.state), jnp.int32)
    return State(
        start.variables,
        _optimizer(config).init(start.variables.weights),
        start.key,
        jnp.int32(0),
        walkers,
        jnp.concatenate([states, room]),
        jnp.concatenate([shown.action, room]),
        jnp.int32(len(shown)),
    )


def collect(config: Config, data: Data, state: State, key: jax.Array) -> State:
    """Walk with the mixed policy and add what is visited; states without a way to the goal stay out."""
    rules, best = world.make(data.env, data.params), expert(data)
    logits = learning.everywhere(network(config, data.env), state.variables, data.table)
    share = beta(config, state.round)

    def act(key: jax.Array, at: jax.Array) -> jax.Array:
        key_own, key_random, key_explore, key_expert = jax.random.split(key, 4)
        own = jax.random.categorical(key_own, logits[at])
        explores = jax.random.uniform(key_explore, at.shape) < config.explore
        own = jnp.where(explores, world.at_random(key_random, at), own)
        return jnp.where((jax.random.uniform(key_expert, at.shape) < share) & (best[at] >= 0), best[at], own)

    walkers, steps = world.walk(rules, act, state.walkers, key, config.steps, config.limit)
    visited = steps.state.ravel()
    useful = best[visited] >= 0
    # Useful rows move to the front; what lies behind `filled` is never drawn.
    order = jnp.argsort(~useful, stable=True)
    visited = visited[order]
    put = lambda buffer, rows: jax.lax.dynamic_update_slice(buffer, rows, (state.filled,))  # noqa: E731
    return dataclasses.replace(
        state,
        walkers=walkers,
        states=put(state.states, visited),
        actions=put(state.actions, best[visited]),
        filled=state.filled + useful.sum(dtype=jnp.int32),
    )


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One round: walk and label (round 0 has the demonstrations), then `Config.round_updates` updates."""
    key, key_walk, key_draw, key_dropout = jax.random.split(state.key, 4)
    net, optimizer = network(config, data.env), _optimizer(config)
    if config.beta == "first":
        walks = state.round > 0
        state = jax.lax.cond(walks, lambda state: collect(config, data, state, key_walk), lambda state: state, state)
    else:
        state = collect(config, data, state, key_walk)
    assert config.batch is not None
    drawn = jax.random.randint(key_draw, (config.round_updates, int(config.batch)), 0, state.filled)
    variables, memory, metrics = bc.fit(
        net, optimizer, data, state.variables, state.optimizer, state.states[drawn], state.actions[drawn], key_dropout
    )
    state = dataclasses.replace(state, variables=variables, optimizer=memory, key=key, round=state.round + 1)
    known = jnp.zeros(data.table.num_states, bool).at[state.states].max(jnp.arange(len(state.states)) < state.filled)
    count = {"queries": state.filled - len(data.demonstrations), "states": known.sum()}
    return state, jax.tree.map(jnp.mean, metrics) | jax.tree.map(jnp.float32, count)


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The weights as they are used: batch-norm statistics of the aggregated data, or the running ones."""
    if not precise:
        return state.variables
    # As many rows as there are states, spread evenly over the data set.
    spread = jnp.arange(data.table.num_states) / data.table.num_states
    rows = state.states[(spread * state.filled).astype(jnp.int32)]
    return network(config, data.env).precise(state.variables, data.table.see(*data.table.state(rows)))


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[rounds]``."""
    return learning.run(init, epoch, num_epochs, config, learning.data(demonstrations, config.encoder, config.render))
