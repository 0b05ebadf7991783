"""The inverse model: which action leads from one observation to the next.

Where the agent moves, the action can be told from the two observations alone, so a good model is
right on every such move of any maze. Where it bumps into a wall, all blocked actions are equally
likely and nothing better than 1 in (number of walls) is possible.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from baselines import bc, learning, networks, windows
from baselines.learning import Data, Metrics
from baselines.networks import Head, Network, Variables
from baselines.world import Steps
from jaxlab import grid
from jaxlab.env import Labyrinth

UPDATES = {"pixels": 300, "grid": 1500, "vector": 1500}
"""Updates until the model is right on moves, by what it sees; an update on vectors costs little."""


@dataclasses.dataclass(frozen=True)
class Config(bc.Config):
    """The choices of a method that labels with an inverse model; the policy's are inherited and mean what BC's do."""

    random_steps: int = 100
    """Uniform random steps in each training maze before anything else: 10,000 with 100 mazes."""
    limit: int = 100
    """Moves after which an episode is cut."""
    renewals: int = 10
    """How often the policy walks and the model goes on learning, evenly over the run."""
    model_updates: int | None = None
    """Updates of the inverse model before the first labels; None: 300 with pictures, 1500 with vectors."""
    renewal_updates: int = 30
    """Its updates at each renewal."""
    model_batch: int = 128
    """Moves an update of the model."""
    model_rate: float = 5e-4
    """Its learning rate (Adam)."""
    model_dropout: float = 0.0
    """Share of its hidden units dropped in training."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.model_updates is None:
            object.__setattr__(self, "model_updates", UPDATES[networks.encoder(self.encoder).observation])


class Inverse(nnx.Module):
    """One trunk for both observations, and a head on their features side by side."""

    def __init__(self, name: str, env: Labyrinth, *, dropout: float, rngs: nnx.Rngs) -> None:
        self.trunk = networks.trunk(networks.with_features(name), env, rngs=rngs)
        self.head = Head(2 * self.trunk.features, grid.NUM_ACTIONS, dropout=dropout, rngs=rngs)

    def __call__(
        self, pair: tuple[windows.Seen, windows.Seen], *, train: bool = False, rngs: nnx.Rngs | None = None
    ) -> jax.Array:
        """Observations before and after, ``[B, ...]`` each, to logits ``float32[B, 4]``."""
        before, after = pair
        features = self.trunk(windows.joined(before, after), train=train)
        return self.head(jnp.concatenate([features[: len(before)], features[len(before) :]], -1), rngs=rngs)


@functools.cache
def network(name: str, env: Labyrinth, *, dropout: float = 0.0) -> Network:
    """The model's network; the same arguments give the same object."""
    return Network(lambda rngs: Inverse(name, env, dropout=dropout, rngs=rngs))


def model(config: Config, env: Labyrinth) -> Network:
    """The network of a run's model."""
    return network(config.encoder, env, dropout=config.model_dropout)


def optimizer(config: Config) -> optax.GradientTransformation:
    """What trains it."""
    return optax.adam(config.model_rate)


# -- the agent's own moves -------------------------------------------------------------------------


class Moves(NamedTuple):
    """A buffer of fixed capacity: ``state``, ``action``, ``following`` (``int32[C]``), the first ``filled`` rows."""

    state: jax.Array
    action: jax.Array
    following: jax.Array
    filled: jax.Array


def room(steps: Steps, more: int) -> Moves:
    """A buffer that holds these steps, with room for ``more``."""
    state, action, following = (
        jnp.pad(column.ravel(), (0, more)) for column in (steps.state, steps.action, steps.following)
    )
    return Moves(state, action, following, jnp.int32(steps.state.size))


def has_room(moves: Moves) -> jax.Array:
    """``bool``: is the buffer not full?"""
    return moves.filled < len(moves.state)


def append(moves: Moves, steps: Steps) -> Moves:
    """The buffer with these steps behind what it holds."""

    def put(column: jax.Array, rows: jax.Array) -> jax.Array:
        return jax.lax.dynamic_update_slice(column, rows.ravel(), (moves.filled,))

    return Moves(
        put(moves.state, steps.state),
        put(moves.action, steps.action),
        put(moves.following, steps.following),
        moves.filled + steps.state.size,
    )


def usable(moves: Moves, *, keep_bumps: bool = True) -> jax.Array:
    """``bool[C]``: rows to train on."""
    held = jnp.arange(len(moves.state)) < moves.filled
    return held if keep_bumps else held & (moves.state != moves.following)


def draw(key: jax.Array, moves: Moves, allowed: jax.Array, shape: tuple[int, ...], *, balanced: bool) -> jax.Array:
    """Row numbers among those allowed, with replacement: uniform, or evenly over the actions."""
    if not balanced:
        order = jnp.argsort(~allowed, stable=True)
        return order[jax.random.randint(key, shape, 0, jnp.maximum(allowed.sum(), 1))]
    nowhere = jnp.zeros_like(allowed)
    return draw_evenly(key, moves, allowed, nowhere, jnp.float32(0), shape)


def draw_evenly(
    key: jax.Array, moves: Moves, allowed: jax.Array, second: jax.Array, share: jax.Array, shape: tuple[int, ...]
) -> jax.Array:
    """Row numbers: first the source, then an action evenly among those it holds, then a row of that action.

    In expectation the same as drawing a mixed subset balanced over actions, with no shape that
    depends on the data.

    Args:
        key: consumed.
        moves: the rows, in two sources.
        allowed: ``bool[C]``, rows that count.
        second: ``bool[C]``, rows of the second source; the others are the first.
        share: chance that a draw is from the second.
        shape: of the answer.
    """
    groups = 2 * grid.NUM_ACTIONS
    group = jnp.where(allowed, second * grid.NUM_ACTIONS + moves.action, groups)
    order = jnp.argsort(group, stable=True)
    size = jnp.zeros(groups, jnp.int32).at[group].add(1, mode="drop")
    first = jnp.cumsum(size) - size
    key_source, key_action, key_row = jax.random.split(key, 3)
    from_second = jax.random.uniform(key_source, shape) < share
    there = jnp.log((size > 0).astype(jnp.float32)).reshape(2, grid.NUM_ACTIONS)
    action = jax.random.categorical(key_action, there[from_second.astype(jnp.int32)])
    chosen = from_second * grid.NUM_ACTIONS + action
    nth = (jax.random.uniform(key_row, shape) * size[chosen]).astype(jnp.int32)
    return order[first[chosen] + jnp.minimum(nth, size[chosen] - 1)]


def demonstrated(data: Data) -> tuple[jax.Array, jax.Array]:
    """The states before and after each demonstrated step: all that is read of the demonstrations."""
    shown, table = data.demonstrations, data.table
    return (
        table.index(shown.maze, shown.mode, shown.cell),
        table.index(shown.maze, shown.next_mode, shown.next_cell),
    )


# -- training --------------------------------------------------------------------------------------


def loss(network: Network, model: Variables, key: jax.Array | None, pair: Any, action: jax.Array) -> Any:
    """Mean cross-entropy of the action taken, with (share of right answers, new statistics)."""
    logits, stats = network.train(model, key, pair)
    return learning.cross_entropy(logits, action).mean(), ((logits.argmax(-1) == action).mean(), stats)


def see_pair(data: Data, state: jax.Array, following: jax.Array) -> tuple[windows.Seen, windows.Seen]:
    """The two observations of moves."""
    table = data.table
    return table.see(*table.state(state)), table.see(*table.state(following))


def fit(
    network: Network,
    optimizer: optax.GradientTransformation,
    data: Data,
    model: Variables,
    memory: Any,
    moves: Moves,
    drawn: jax.Array,
    key: jax.Array,
) -> tuple[Variables, Any, Metrics]:
    """One update for each row of ``drawn`` (``int32[K, B]``, row numbers of the moves); metrics ``[K]``."""

    def update(carry, given):
        model, memory = carry
        rows, key = given
        pair = see_pair(data, moves.state[rows], moves.following[rows])

        def objective(weights):
            return loss(network, model._replace(weights=weights), key, pair, moves.action[rows])

        (value, (right, stats)), slope = jax.value_and_grad(objective, has_aux=True)(model.weights)
        change, memory = optimizer.update(slope, memory, model.weights)
        return (Variables(optax.apply_updates(model.weights, change), stats), memory), {
            "model_loss": value,
            "model_accuracy": right,
        }

    keys = jax.random.split(key, len(drawn))
    (model, memory), metrics = jax.lax.scan(update, (model, memory), (drawn, keys))
    return model, memory, metrics


def precise(
    network: Network, data: Data, model: Variables, moves: Moves, allowed: jax.Array, rows: int = 1000
) -> Variables:
    """The model with the batch-norm statistics of ``rows`` moves, spread evenly over those allowed.

    With running statistics its labels are often wrong: they lag behind weights that still move.
    """
    order = jnp.argsort(~allowed, stable=True)
    spread = order[(jnp.arange(rows) / rows * allowed.sum()).astype(jnp.int32)]
    return network.precise(model, see_pair(data, moves.state[spread], moves.following[spread]))


def logits(
    network: Network, data: Data, model: Variables, state: jax.Array, following: jax.Array, batch: int = 200
) -> jax.Array:
    """What the model says of moves, ``float32[n, 4]``, ``batch`` at a time."""
    count = len(state)
    size = min(batch, count)
    rows = jnp.minimum(jnp.arange(-(-count // size) * size), count - 1).reshape(-1, size)
    out = jax.lax.map(lambda rows: network.apply(model, see_pair(data, state[rows], following[rows])), rows)
    return out.reshape(-1, grid.NUM_ACTIONS)[:count]
