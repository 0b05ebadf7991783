"""The discriminator of GAIL: it tells demonstrated (state, action) pairs from the policy's own.

Its logit l is high for demonstrations, D = sigmoid(l), and what it says is the policy's reward.
A set of pairs is how often each state and action of the training mazes occurs, so a pair that was
walked a hundred times is computed once. After an end comes the absorbing state, which is judged too
(Kostrikov et al. 2019).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from baselines import learning, networks, windows
from baselines.learning import Data, Metrics
from baselines.networks import Linear, Network, Variables
from baselines.windows import Windows
from baselines.world import Steps
from jaxlab import grid
from jaxlab.env import Labyrinth

REWARDS = ("airl", "logD", "neg_log1mD")
_FEW = 1e-9  # a minibatch may hold no pair of a kind: then its share of right answers is 0, not 0 / 0


class Discriminator(nnx.Module):
    """Features and a one-hot action side by side, then 256, 256, 1 (405,409 parameters with the CNN)."""

    def __init__(self, name: str, env: Labyrinth, *, hidden: int = 256, rngs: nnx.Rngs) -> None:
        self.trunk = networks.trunk(networks.with_features(name), env, norm=False, rngs=rngs)
        self.first = Linear(self.trunk.features + grid.NUM_ACTIONS, hidden, rngs=rngs)
        self.second = Linear(hidden, hidden, rngs=rngs)
        self.last = Linear(hidden, 1, rngs=rngs)

    def __call__(
        self, x: jax.Array, action: jax.Array | None = None, *, train: bool = False, rngs: nnx.Rngs | None = None
    ) -> jax.Array:
        """Observations, and ``float32[B, 4]`` to logits ``float32[B]``; without an action, of all four: ``[B, 4]``."""
        features = self.trunk(x, train=train)
        if action is not None:
            hidden = self.first(jnp.concatenate([features, action], -1))
        else:
            # The first layer is linear in both parts: multiply the features once for all actions.
            kernel = self.first.kernel[...]
            hidden = (features @ kernel[: features.shape[-1]] + self.first.bias[...])[..., None, :]
            hidden = hidden + kernel[features.shape[-1] :]
        hidden = networks.leaky(self.second(networks.leaky(hidden)))
        return self.last(hidden)[..., 0]


@functools.cache
def network(name: str, env: Labyrinth) -> Network:
    """The discriminator's network; the same arguments give the same object."""
    return Network(lambda rngs: Discriminator(name, env, rngs=rngs))


# -- loss and reward -------------------------------------------------------------------------------


def loss(shown: jax.Array, own: jax.Array, shown_weight: Any = 1.0, own_weight: Any = 1.0) -> jax.Array:
    """Binary cross-entropy as a sum of two weighted means: demonstrations should get l > 0, own pairs l < 0.

    >>> float(loss(jnp.zeros(3), jnp.zeros(5)).round(6))  # 2 ln 2
    1.386294
    """

    def mean(losses: jax.Array, weight: Any) -> jax.Array:
        weight = jnp.broadcast_to(jnp.asarray(weight, losses.dtype), losses.shape)
        return (losses * weight).sum() / jnp.maximum(weight.sum(), 1e-9)

    return mean(jax.nn.softplus(-shown), shown_weight) + mean(jax.nn.softplus(own), own_weight)


def reward(logit: jax.Array, form: str) -> jax.Array:
    """What the policy is paid: ``"airl"`` log D - log(1 - D) = l, ``"logD"``, or ``"neg_log1mD"`` -log(1 - D)."""
    if form == "logD":
        return -jax.nn.softplus(-logit)
    return jax.nn.softplus(logit) if form == "neg_log1mD" else logit


def gradient_penalty(f: Callable[..., jax.Array], target: float, *inputs: jax.Array) -> jax.Array:
    """Mean of ``(|df/dx| - target)^2`` over rows; f maps ``[B, ...]`` inputs to ``[B]`` (Gulrajani et al. 2017)."""
    slopes = jax.grad(lambda *inputs: f(*inputs).sum(), argnums=tuple(range(len(inputs))))(*inputs)
    square = sum(jnp.square(slope).reshape(len(slope), -1).sum(-1) for slope in slopes)
    return jnp.square(jnp.sqrt(square + 1e-12) - target).mean()


# -- pairs -----------------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """How often each pair occurs: ``counts float32[S, 4]``, and ``ends float32[]``, rows of the absorbing state."""

    counts: jax.Array
    ends: jax.Array


def no_pairs(num_states: int) -> Pairs:
    """Before anything was done."""
    return Pairs(jnp.zeros((num_states, grid.NUM_ACTIONS)), jnp.zeros(()))


def demonstrated(data: Data, gamma: float, *, shuffled: bool = False) -> Pairs:
    """The demonstrations as counts; ``shuffled``: their actions are permuted."""
    shown = data.demonstrations
    action = shown.action
    if shuffled:
        action = jax.random.permutation(jax.random.key(0), action)
    at = data.table.index(shown.maze, shown.mode, shown.cell)
    counts = jnp.zeros((data.table.num_states, grid.NUM_ACTIONS)).at[at, action].add(1.0)
    arrived = shown.next_cell == data.params.mazes.goal[shown.maze]
    return Pairs(counts, arrived.sum(dtype=jnp.float32) / (1 - gamma))


def walked(steps: Steps, num_states: int, gamma: float) -> Pairs:
    """A round's steps as counts. After an end, ``1 / (1 - gamma)`` rows of the absorbing state: its discounted stay."""
    counts = jnp.zeros((num_states, grid.NUM_ACTIONS)).at[steps.state, steps.action].add(1.0)
    return Pairs(counts, steps.ended.sum(dtype=jnp.float32) / (1 - gamma))


def nothing(data: Data) -> tuple[jax.Array | Windows, jax.Array]:
    """The absorbing state: an empty observation and no action."""
    no_action = jnp.zeros((1, grid.NUM_ACTIONS))
    if isinstance(data.table.rows, Windows):
        return data.table.rows.blank(1), no_action
    like = jax.eval_shape(lambda: data.table.see(*data.table.state(jnp.zeros(1, jnp.int32))))
    return jnp.zeros(like.shape, like.dtype), no_action


# -- training --------------------------------------------------------------------------------------


def fit(
    net: Network,
    optimizer: optax.GradientTransformation,
    data: Data,
    variables: Variables,
    memory: Any,
    shown: Pairs,
    own: Pairs,
    rows: jax.Array,
    key: jax.Array,
    *,
    absorbing: bool,
    penalty: float,
) -> tuple[Variables, Any, Metrics]:
    """One update for each minibatch of states ``rows int32[K, G]``, with all pairs of these states.

    Args:
        net, optimizer, data, variables, memory: what to train, how, and what states look like.
        shown: pairs of the demonstrations.
        own: pairs of the policy.
        rows: whose pairs each update takes; of the absorbing state it takes the same share.
        key: consumed, for the mixtures of the gradient penalty.
        absorbing: judge the absorbing state too.
        penalty: weight of the gradient penalty.

    Returns:
        The variables, the optimiser's memory and metrics, means over the updates.
    """

    def update(carry: Any, given: Any) -> Any:
        variables, memory = carry
        rows, key = given
        seen, share = data.table.see(*data.table.state(rows)), len(rows) / data.table.num_states

        def objective(weights: Any) -> tuple[jax.Array, jax.Array]:
            now = variables._replace(weights=weights)
            logits, shown_weight, own_weight = net.apply(now, seen), shown.counts[rows], own.counts[rows]
            if absorbing:
                logits = jnp.concatenate([logits.ravel(), net.apply(now, *nothing(data))])
                shown_weight = jnp.append(shown_weight.ravel(), share * shown.ends)
                own_weight = jnp.append(own_weight.ravel(), share * own.ends)
            value = loss(logits, logits, shown_weight, own_weight)
            right = ((logits > 0) * shown_weight).sum() / jnp.maximum(shown_weight.sum(), _FEW)
            wrong = ((logits > 0) * own_weight).sum() / jnp.maximum(own_weight.sum(), _FEW)
            if penalty:
                value += penalty * _penalty(net, now, seen, shown.counts[rows], own.counts[rows], key)
            return value, (right + 1 - wrong) / 2

        (value, accuracy), slope = jax.value_and_grad(objective, has_aux=True)(variables.weights)
        change, memory = optimizer.update(slope, memory, variables.weights)
        weights = optax.apply_updates(variables.weights, change)
        return (variables._replace(weights=weights), memory), {"judge_loss": value, "judge_accuracy": accuracy}

    keys = jax.random.split(key, len(rows))
    (variables, memory), metrics = jax.lax.scan(update, (variables, memory), (rows, keys))
    return variables, memory, jax.tree.map(jnp.mean, metrics)


def _penalty(
    net: Network,
    now: Variables,
    seen: jax.Array | Windows,
    shown: jax.Array,
    own: jax.Array,
    key: jax.Array,
    rows: int = 64,
) -> jax.Array:
    """The gradient penalty on mixtures of pairs drawn from both sides; pixels are mixed in [0, 1]."""
    key_shown, key_own, key_mix = jax.random.split(key, 3)
    scale = 255.0 if isinstance(seen, Windows) or seen.dtype == jnp.uint8 else 1.0
    share = jax.random.uniform(key_mix, (rows,))

    def drawn(key: jax.Array, counts: jax.Array) -> tuple[jax.Array, jax.Array]:
        pair = jax.random.categorical(key, jnp.log(counts.ravel()), shape=(rows,))
        at, action = jnp.divmod(pair, grid.NUM_ACTIONS)
        return windows.plain(windows.take(seen, at)) / scale, jax.nn.one_hot(action, grid.NUM_ACTIONS)

    def mix(a: jax.Array, b: jax.Array) -> jax.Array:
        weight = share.reshape(-1, *[1] * (a.ndim - 1))
        return weight * a + (1 - weight) * b

    mixed = [mix(a, b) for a, b in zip(drawn(key_shown, shown), drawn(key_own, own), strict=True)]
    return gradient_penalty(lambda x, action: net.apply(now, x * scale, action), 1.0, *mixed)


def rewards(net: Network, data: Data, variables: Variables, steps: Steps, form: str, *, absorbing: bool) -> jax.Array:
    """What the steps are paid, ``float32[T, N]``; with ``absorbing`` an end is worth 0 from then on."""
    paid = reward(learning.everywhere(net, variables, data.table), form)[steps.state, steps.action]
    return paid - reward(net.apply(variables, *nothing(data))[0], form) if absorbing else paid
