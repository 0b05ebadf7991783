"""Behavioural cloning: choose the action that the demonstration chose.

The loss is the mean of ``-log softmax(f(s))[a]`` over the demonstrated pairs (s, a), nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import optax

from baselines import learning, networks, ranges, table
from baselines.learning import Data, Metrics
from baselines.networks import Network, Variables
from baselines.windows import Seen
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose


@dataclasses.dataclass(frozen=True)
class Config:
    """Every choice of a run. What is None becomes the encoder's own recipe (`networks.Recipe`)."""

    encoder: str = "cnn"
    """One of `networks.ENCODERS`."""
    render: str = "paper"
    """How pixels are drawn: "paper" (600 px resized to 64) or "direct" (at 64)."""
    epochs: int | None = None
    """Passes over the demonstrations."""
    updates: int | None = None
    """Updates in place of epochs; rounded up to whole passes."""
    batch: int | Literal["full"] | None = None
    """Examples an update; "full" is one update an epoch."""
    learning_rate: float | None = None
    """Of Adam (paper: 5e-4 for all methods)."""
    weight_decay: float | None = None
    """Decoupled (AdamW); 0 is plain Adam."""
    decay: str | None = None
    """"constant" or "cosine" (the learning rate reaches 0 at the last update)."""
    clip: float | None = None
    """Largest norm of the gradient; 0 for none."""
    dropout: float = networks.DROPOUT
    """Share of hidden units dropped in training (paper: 30 %)."""

    def __post_init__(self) -> None:
        recipe = networks.encoder(self.encoder).recipe
        for name in ("epochs", "batch", "learning_rate", "weight_decay", "decay", "clip"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, getattr(recipe, name))
        choose("render", self.render, table.RENDERS)
        choose("decay", self.decay, learning.DECAYS)
        if isinstance(self.batch, str) and self.batch != "full":
            raise ValueError(f"batch must be a whole number of at least 1, or 'full', got {self.batch!r}")
        ranges.check(self)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one epoch to the next."""

    variables: Variables
    optimizer: Any
    key: jax.Array


def loss(network: Network, variables: Variables, key: jax.Array | None, seen: Seen, actions: jax.Array) -> Any:
    """Mean cross-entropy, with (share of right choices, new statistics)."""
    logits, stats = network.train(variables, key, seen)
    right = (logits.argmax(-1) == actions).mean()
    return learning.cross_entropy(logits, actions).mean(), (right, stats)


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network."""
    return networks.policy(config.encoder, env, dropout=config.dropout)


def num_epochs(config: Config, data: Data) -> int:
    """How many epochs a run has."""
    if config.updates is None:
        assert config.epochs is not None
        return config.epochs
    return -(-config.updates // _num_batches(config, data))


def _num_batches(config: Config, data: Data) -> int:
    assert config.batch is not None
    return learning.num_batches(len(data.demonstrations), config.batch)


def _optimizer(config: Config, data: Data) -> optax.GradientTransformation:
    updates = (num_epochs(config, data) + networks.encoder(config.encoder).recipe.trial_epochs) * _num_batches(
        config, data
    )
    assert config.learning_rate is not None and config.weight_decay is not None
    assert config.decay is not None and config.clip is not None
    return learning.optimizer(
        config.learning_rate, updates, weight_decay=config.weight_decay, decay=config.decay, clip=config.clip
    )


def init(config: Config, data: Data, key: jax.Array) -> State:
    """A new run, past its trial where the encoder asks for one; the key is consumed.

    A trial is the beginning of a run. Where its training loss is too high at one of its checks, it
    starts again from other weights (`networks.Recipe`): nothing but the loss on the demonstrations
    is looked at.
    """
    recipe = networks.encoder(config.encoder).recipe
    if not recipe.checks:
        return begin(config, data, key)

    def start(count: jax.Array) -> State:
        return begin(config, data, jax.random.fold_in(key, count))

    def advance(carry: Any) -> Any:
        count, passed, state = carry
        state, metrics = epoch(config, data, state)
        passed = passed + 1
        lost = jnp.stack([(passed == at) & ~(metrics["loss"] < limit) for at, limit in recipe.checks]).any()
        again = lost & (count < recipe.trials)
        state = jax.lax.cond(again, lambda: start(count), lambda: state)
        return jnp.where(again, count + 1, count), jnp.where(again, 0, passed), state

    carry = jnp.int32(1), jnp.int32(0), start(jnp.int32(0))
    return jax.lax.while_loop(lambda carry: carry[1] < recipe.trial_epochs, advance, carry)[2]


def labelled(config: Config, data: Data, state: State, actions: jax.Array) -> State:
    """A run whose labels ``actions int32[n]`` have come after its start: past its trial, where there is one."""
    if not networks.encoder(config.encoder).recipe.checks:
        return state
    shown = data.demonstrations.replace(action=actions)
    return init(config, dataclasses.replace(data, demonstrations=shown), state.key)


def begin(config: Config, data: Data, key: jax.Array) -> State:
    """A new run with no trial; the key is consumed."""
    key_weights, key = jax.random.split(key)
    variables = network(config, data.env).init(key_weights)
    return State(variables, _optimizer(config, data).init(variables.weights), key)


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One pass over the demonstrations in random order."""
    shown, net, optimizer = data.demonstrations, network(config, data.env), _optimizer(config, data)
    key, key_order, key_dropout = jax.random.split(state.key, 3)
    assert config.batch is not None
    batches = learning.minibatches(key_order, len(shown), config.batch)

    rows = data.table.index(shown.maze, shown.mode, shown.cell)[batches]
    variables, memory, metrics = fit(
        net, optimizer, data, state.variables, state.optimizer, rows, shown.action[batches], key_dropout
    )
    return State(variables, memory, key), jax.tree.map(jnp.mean, metrics)


def fit(
    net: Network,
    optimizer: optax.GradientTransformation,
    data: Data,
    variables: Variables,
    memory: Any,
    rows: jax.Array,
    actions: jax.Array,
    key: jax.Array,
) -> tuple[Variables, Any, Metrics]:
    """One update for each minibatch of states ``rows int32[K, B]`` and labels ``actions int32[K, B]``.

    Returns the variables, the optimiser's memory and metrics ``[K]``; the key is consumed.
    """

    def update(carry, given):
        variables, memory = carry
        rows, actions, key = given
        seen = data.table.see(*data.table.state(rows))

        def objective(weights):
            return loss(net, variables._replace(weights=weights), key, seen, actions)

        (value, (right, stats)), slope = jax.value_and_grad(objective, has_aux=True)(variables.weights)
        change, memory = optimizer.update(slope, memory, variables.weights)
        weights = optax.apply_updates(variables.weights, change)
        return (Variables(weights, stats), memory), {"loss": value, "accuracy": right}

    keys = jax.random.split(key, len(rows))
    (variables, memory), metrics = jax.lax.scan(update, (variables, memory), (rows, actions, keys))
    return variables, memory, metrics


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The weights as they are used: batch-norm statistics of all demonstrations, or the running ones."""
    if not precise:
        return state.variables
    shown = data.demonstrations
    return network(config, data.env).precise(state.variables, data.table.see(shown.maze, shown.mode, shown.cell))


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[epochs]``."""
    data = learning.data(demonstrations, config.encoder, config.render)

    def train(key: jax.Array) -> tuple[State, Metrics]:
        begin = init(config, data, key)
        return jax.lax.scan(lambda state, _: epoch(config, data, state), begin, None, length=num_epochs(config, data))

    return train
