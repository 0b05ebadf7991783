"""Soft Q imitation learning (Reddy, Dragan & Levine 2020): reward 1 for what was shown, 0 for what is tried.

Soft Q-learning on batches that are half demonstrations (reward 1) and half own steps (reward 0):
``y = r + gamma * V(s')`` with ``V(s) = alpha * logsumexp(Q(s) / alpha)`` of a slowly following copy.

Where episodes end at the goal, two things decide whether this works. The goal is absorbing and
worth the same for both halves, ``1 / (1 - gamma)``: with 0 there, walking to and fro over one
demonstrated passage is worth more than arriving. And alpha is small: an aimless walk is worth
``alpha * ln 4 / (1 - gamma)``, which has to stay below what the goal is worth.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from baselines import learning, networks, ranges, table, world
from baselines.learning import Data, Metrics
from baselines.networks import Network, Variables
from baselines.windows import Seen
from baselines.world import Steps, Walk
from jaxlab import grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose


@dataclasses.dataclass(frozen=True)
class Config:
    """Every choice of a run."""

    encoder: str = "cnn"
    """One of `networks.ENCODERS`; without batch norm (`networks.normed`) and dropout."""
    render: str = "paper"
    """How pixels are drawn: "paper" (600 px resized to 64) or "direct" (at 64)."""
    epochs: int = 12
    """Parts that a run is reported in."""
    epoch_updates: int = 100
    """Updates in each; before each, every walker takes one step."""
    batch: int = 256
    """Rows an update, half of them demonstrations."""
    learning_rate: float = 5e-4
    """Of Adam (paper: 5e-4 for all methods)."""
    gamma: float = 0.9
    """Discount: the episodes are about 12 steps long."""
    alpha: float = 0.1
    """Temperature; above about 0.3 it fails."""
    polyak: float = 0.02
    """Share of the new weights that the slow copy takes at each update."""
    center: float = 0.5
    """The network gives Q - center / (1 - gamma), which is near 0 at the start: without it a CNN needs far longer."""
    absorbing: bool = True
    """The goal is worth 1 / (1 - gamma); False: 0, as in the original, which fails here."""
    replay: int = 100_000
    """Own steps that are kept."""
    first_steps: int = 10
    """Steps of each walker before the first update."""
    limit: int = 100
    """Moves after which an episode is cut; its value goes on."""

    def __post_init__(self) -> None:
        networks.encoder(self.encoder)
        choose("render", self.render, table.RENDERS)
        ranges.check(self)
        if self.batch < 2 or self.batch % 2:
            raise ValueError(f"batch must be even, half of it demonstrations, got {self.batch}")
        ranges.number("alpha", self.alpha, 0.0, math.inf, "()")


class Replay(NamedTuple):
    """A ring of own steps, ``int32`` and ``bool`` ``[capacity]``; ``added`` counts all that ever came."""

    state: jax.Array
    action: jax.Array
    following: jax.Array
    reached: jax.Array
    fell: jax.Array
    added: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one epoch to the next; ``slow`` is the policy that is used in the end."""

    variables: Variables
    slow: Variables
    optimizer: Any
    key: jax.Array
    walkers: Walk
    replay: Replay


# -- the loss --------------------------------------------------------------------------------------


def soft_value(q: jax.Array, alpha: float) -> jax.Array:
    """``V = alpha * logsumexp(Q / alpha)``, towards max Q as alpha goes to 0: ``float[..., 4] -> float[...]``."""
    return alpha * jax.nn.logsumexp(q / alpha, -1)


def soft_target(
    reward: jax.Array | float,
    next_q: jax.Array,
    reached: jax.Array | bool,
    fell: jax.Array | bool,
    gamma: float,
    alpha: float,
    *,
    absorbing: bool = True,
) -> jax.Array:
    """``y = r + gamma * V(s')``; the goal is worth ``1 / (1 - gamma)`` if absorbing, else 0, a fall always 0.

    >>> soft_target(1.0, jnp.zeros(4), False, False, gamma=0.99, alpha=1.0).round(6)
    Array(2.372431, dtype=float32)
    """
    ended = 1 / (1 - gamma) if absorbing else 0.0
    value = jnp.where(reached, ended, jnp.where(fell, 0.0, soft_value(next_q, alpha)))
    return reward + gamma * value


def loss(q: jax.Array, action: jax.Array, target: jax.Array) -> jax.Array:
    """Squared error of Q(s, a): the mean over the demonstrations (the first half) plus that over the own steps."""
    chosen = jnp.take_along_axis(q, action[..., None], -1)[..., 0]
    error = jnp.square(chosen - jax.lax.stop_gradient(target))
    half = len(error) // 2
    return error[:half].mean() + error[half:].mean()


# -- training --------------------------------------------------------------------------------------


class Soft(nnx.Module):
    """A policy whose logits are ``output / alpha``: softmax of them is how SQIL acts."""

    def __init__(self, values: Any, alpha: float) -> None:
        self.values, self.alpha = values, alpha

    def __call__(self, x: jax.Array, *, train: bool = False, rngs: nnx.Rngs | None = None) -> jax.Array:
        """Observations to logits."""
        return self.values(x, train=train, rngs=rngs) / self.alpha


@functools.cache
def _network(encoder: str, env: Labyrinth, alpha: float) -> Network:
    values = networks.policy(encoder, env, norm=False, dropout=0.0)
    return Network(lambda rngs: Soft(values.build(rngs), alpha))


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network: logits ``(Q - center / (1 - gamma)) / alpha``."""
    return _network(config.encoder, env, config.alpha)


def q_values(config: Config, network: Network, variables: Variables, seen: Seen) -> jax.Array:
    """Q of every action: ``[B, ...] -> float32[B, 4]``."""
    return config.alpha * network.apply(variables, seen) + config.center / (1 - config.gamma)


def num_epochs(config: Config, data: Data) -> int:
    """How many epochs a run has."""
    return config.epochs


def _optimizer(config: Config) -> optax.GradientTransformation:
    return learning.optimizer(config.learning_rate, config.epochs * config.epoch_updates)


def init(config: Config, data: Data, key: jax.Array) -> State:
    """A new run; the replay begins with a few uniform random steps. The key is consumed."""
    key_weights, key_walk, key = jax.random.split(key, 3)
    variables = network(config, data.env).init(key_weights)
    rules = world.make(data.env, data.params)
    walkers, steps = world.walk(rules, world.at_random, world.begin(rules), key_walk, config.first_steps, config.limit)
    whole = jnp.zeros(config.replay, jnp.int32)
    ring = Replay(whole, whole, whole, whole.astype(bool), whole.astype(bool), jnp.int32(0))
    memory = _optimizer(config).init(variables.weights)
    return State(variables, jax.tree.map(jnp.copy, variables), memory, key, walkers, remember(ring, steps))


def remember(replay: Replay, steps: Steps) -> Replay:
    """Put steps in the ring, over the oldest; of more than it holds, the last."""
    capacity, number = len(replay.state), steps.state.size
    kept = min(capacity, number)
    rows = (replay.added + jnp.arange(number - kept, number)) % capacity
    columns = {
        name: getattr(replay, name).at[rows].set(getattr(steps, name).ravel()[-kept:])
        for name in ("state", "action", "following", "reached", "fell")
    }
    return Replay(**columns, added=replay.added + steps.state.size)


class Batch(NamedTuple):
    """Rows of one update: demonstrations first, then as many own steps."""

    state: jax.Array
    action: jax.Array
    following: jax.Array
    reached: jax.Array
    fell: jax.Array
    reward: jax.Array


def draw(config: Config, data: Data, replay: Replay, key: jax.Array) -> Batch:
    """Half demonstrations with reward 1, half own steps with reward 0 (at the goal too)."""
    key_shown, key_own = jax.random.split(key)
    shown, table, half = data.demonstrations, data.table, config.batch // 2
    i = jax.random.randint(key_shown, (half,), 0, len(shown))
    j = jax.random.randint(key_own, (half,), 0, jnp.minimum(replay.added, len(replay.state)))
    at_goal = shown.next_cell[i] == data.params.mazes.goal[shown.maze[i]]
    both = lambda a, b: jnp.concatenate([a, b])  # noqa: E731
    return Batch(
        both(table.index(shown.maze[i], shown.mode[i], shown.cell[i]), replay.state[j]),
        both(shown.action[i], replay.action[j]),
        both(table.index(shown.maze[i], shown.next_mode[i], shown.next_cell[i]), replay.following[j]),
        both(at_goal, replay.reached[j]),
        both(jnp.zeros(half, bool), replay.fell[j]),
        both(jnp.ones(half), jnp.zeros(half)),
    )


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """`Config.epoch_updates` times: one step of every walker, one update, and the slow copy follows."""
    net, optimizer, rules = network(config, data.env), _optimizer(config), world.make(data.env, data.params)

    def see(rows: jax.Array) -> Seen:
        return data.table.see(*data.table.state(rows))

    def act_on(variables: Variables) -> world.Act:
        return lambda key, at: jax.random.categorical(key, net.apply(variables, see(at)))

    def update(state: State, _: None) -> tuple[State, Metrics]:
        key, key_walk, key_draw = jax.random.split(state.key, 3)
        walkers, steps = world.walk(rules, act_on(state.variables), state.walkers, key_walk, 1, config.limit)
        replay = remember(state.replay, steps)
        rows = draw(config, data, replay, key_draw)
        target = soft_target(
            rows.reward,
            q_values(config, net, state.slow, see(rows.following)),
            rows.reached,
            rows.fell,
            config.gamma,
            config.alpha,
            absorbing=config.absorbing,
        )
        seen = see(rows.state)

        def objective(weights: Any) -> tuple[jax.Array, jax.Array]:
            q = q_values(config, net, state.variables._replace(weights=weights), seen)
            return loss(q, rows.action, target), q

        (value, q), slope = jax.value_and_grad(objective, has_aux=True)(state.variables.weights)
        change, memory = optimizer.update(slope, state.optimizer, state.variables.weights)
        weights = optax.apply_updates(state.variables.weights, change)
        slow = optax.incremental_update(weights, state.slow.weights, config.polyak)
        trained, slow = state.variables._replace(weights=weights), state.slow._replace(weights=slow)
        after = State(trained, slow, memory, key, walkers, replay)
        half = len(q) // 2
        right = (q[:half].argmax(-1) == rows.action[:half]).mean()
        arrived = steps.reached.mean()
        return after, {"loss": value, "accuracy": right, "q": q.mean(), "arrivals": arrived}

    state, metrics = jax.lax.scan(update, state, None, length=config.epoch_updates)
    return state, jax.tree.map(jnp.mean, metrics)


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The slow copy; ``precise=False`` gives the weights that are trained."""
    return state.slow if precise else state.variables


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[epochs]``."""
    return learning.run(init, epoch, num_epochs, config, learning.data(demonstrations, config.encoder, config.render))


# -- without a network -----------------------------------------------------------------------------


def tabular(config: Config, data: Data, weight: jax.Array, rounds: int = 1000) -> jax.Array:
    """The fixed point of the same loss with one number for each (state, action): ``float32[S, 4]``.

    A pair that is shown in a share p of its rows gets reward p. It says what the method converges
    to, networks apart.

    Args:
        config: gamma, alpha and absorbing count.
        data: the mazes and their demonstrations.
        weight: ``float32[S, 4]``, how often own steps take each pair, in rows for each row of the demonstrations.
        rounds: backups; the error shrinks by gamma each.
    """
    rules, shown = world.make(data.env, data.params), data.demonstrations
    pairs = (data.table.index(shown.maze, shown.mode, shown.cell), shown.action)
    demonstrated = jnp.zeros((rules.num_states, grid.NUM_ACTIONS)).at[pairs].add(1.0)
    reward = demonstrated / jnp.maximum(demonstrated + weight, 1e-9)

    def backup(q: jax.Array, _: None) -> tuple[jax.Array, None]:
        after = q[rules.following]
        return soft_target(
            reward, after, rules.reached, rules.fell, config.gamma, config.alpha, absorbing=config.absorbing
        ), None

    return jax.lax.scan(backup, jnp.zeros_like(reward), None, length=rounds)[0]
