"""Proximal policy optimisation: advantages and the clipped loss (Schulman et al. 2017)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Weights(NamedTuple):
    """What the loss is made of."""

    clip: float = 0.2
    value: float = 0.5
    entropy: float = 0.01


def advantages(
    reward: jax.Array,
    value: jax.Array,
    next_value: jax.Array,
    carries_on: jax.Array,
    gamma: float,
    trace: float,
) -> jax.Array:
    """Generalised advantage estimates, backwards along the first axis (Schulman et al. 2016).

    ``delta = reward + gamma * next_value - value`` and ``A = delta + gamma * trace * A_next`` while
    the same episode carries on. What an ended episode is worth is the caller's: pass it as
    ``next_value`` (0 after an end; the value of the next state where only the time ran out).

    Args:
        reward, value, next_value: ``float32[T, ...]``.
        carries_on: ``bool[T, ...]``, the next row is the next step of the same episode.
        gamma: discount.
        trace: lambda, 0 one step, 1 the whole return.

    Returns:
        ``float32[T, ...]``.
    """
    delta = reward + gamma * next_value - value
    keep = gamma * trace * carries_on.astype(reward.dtype)

    def back(ahead: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        delta, keep = row
        now = delta + keep * ahead
        return now, now

    return jax.lax.scan(back, jnp.zeros_like(delta[0]), (delta, keep), reverse=True)[1]


class Spread(NamedTuple):
    """Discounted returns so far: each walker's own ``float32[N]``; how many, their mean, and squares about it."""

    running: jax.Array
    seen: jax.Array
    mean: jax.Array
    squares: jax.Array


def no_spread(walkers: int) -> Spread:
    """Nothing seen yet."""
    zero = jnp.float32(0)
    return Spread(jnp.zeros(walkers), zero, zero, zero)


def normalized(reward: jax.Array, over: jax.Array, spread: Spread, gamma: float) -> tuple[jax.Array, Spread]:
    """Rewards ``[T, N]`` over the running standard deviation of discounted returns, and the new `Spread`."""

    def step(running: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, over = row
        running = gamma * running + reward
        return jnp.where(over, 0.0, running), running

    running, returns = jax.lax.scan(step, spread.running, (reward, over))
    count = spread.seen + returns.size
    shift = returns.mean() - spread.mean
    mean = spread.mean + shift * returns.size / count
    squares = spread.squares + returns.var() * returns.size + shift**2 * spread.seen * returns.size / count
    return reward / jnp.sqrt(squares / count + 1e-8), Spread(running, count, mean, squares)


def clipped(ratio: jax.Array, advantage: jax.Array, clip: float) -> jax.Array:
    """The surrogate to maximise: ``min(r A, clip(r, 1 - c, 1 + c) A)``.

    >>> float(clipped(jnp.float32(1.5), jnp.float32(1), 0.2)), float(clipped(jnp.float32(1.5), jnp.float32(-1), 0.2))
    (1.2000000476837158, -1.5)
    """
    return jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage)


def entropy(logits: jax.Array) -> jax.Array:
    """Of softmax, in nats: ``float[..., A] -> float[...]``."""
    log = jax.nn.log_softmax(logits)
    return -(jnp.exp(log) * log).sum(-1)


def log_prob(logits: jax.Array, action: jax.Array) -> jax.Array:
    """log softmax(logits)[action]."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]


def loss(
    logits: jax.Array,
    value: jax.Array,
    action: jax.Array,
    old_log_prob: jax.Array,
    advantage: jax.Array,
    target: jax.Array,
    weights: Weights,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """Clipped surrogate, squared value error and entropy bonus, as means over all rows.

    Args:
        logits: ``float32[..., 4]`` of the policy that is trained.
        value: ``float32[...]``, its critic.
        action, old_log_prob: what was done, and how likely that was when it was done.
        advantage: standardised by the caller.
        target: what the critic should say.
        weights: of the three parts.

    Returns:
        The loss, and its parts (``ratio`` and ``kl`` included) for the log.
    """
    now = log_prob(logits, action)
    ratio = jnp.exp(now - old_log_prob)
    surrogate = clipped(ratio, advantage, weights.clip).mean()
    error = 0.5 * jnp.square(value - target).mean()
    spread = entropy(logits).mean()
    total = -surrogate + weights.value * error - weights.entropy * spread
    parts = {"surrogate": surrogate, "value_error": error, "entropy": spread, "ratio": ratio.mean()}
    return total, parts | {"kl": (ratio - 1 - (now - old_log_prob)).mean()}


class Tally(NamedTuple):
    """What `loss` needs to know of a walk, summed for each state. Leaves ``float32[S, 4]`` and ``float32[S]``.

    Attributes:
        taken: how often each action was taken.
        gains, losses: sums of the positive and of the negative advantages of each action.
        targets, squares: sums of what the critic should say, and of its squares.
    """

    taken: jax.Array
    gains: jax.Array
    losses: jax.Array
    targets: jax.Array
    squares: jax.Array


def tally(num_states: int, state: jax.Array, action: jax.Array, advantage: jax.Array, target: jax.Array) -> Tally:
    """Sum up a walk, ``[T, ...]`` each: its length then costs nothing in an update."""
    of_pair = jnp.zeros((num_states, 4)).at[state, action]
    of_state = jnp.zeros(num_states).at[state]
    return Tally(
        of_pair.add(1.0),
        of_pair.add(jnp.maximum(advantage, 0)),
        of_pair.add(jnp.minimum(advantage, 0)),
        of_state.add(target),
        of_state.add(jnp.square(target)),
    )


def tallied_loss(
    logits: jax.Array, value: jax.Array, old_log_prob: jax.Array, tally: Tally, weights: Weights
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """`loss` over all steps of some states, from their sums: equal to it, at a cost of one row a state.

    In one state the ratio of an action is one number r, so ``sum min(r A, clip(r) A)`` is
    ``min(r, 1 + c)`` times the sum of the gains plus ``max(r, 1 - c)`` times that of the losses.

    Args:
        logits: ``float32[S, 4]`` of the policy that is trained.
        value: ``float32[S]``, its critic.
        old_log_prob: ``float32[S, 4]``, how likely each action was on the walk.
        tally: of the same states.
        weights: of the three parts.
    """
    log_ratio = jax.nn.log_softmax(logits) - old_log_prob
    ratio, visits = jnp.exp(log_ratio), tally.taken.sum(-1)
    steps = jnp.maximum(visits.sum(), 1)
    gained = jnp.minimum(ratio, 1 + weights.clip) * tally.gains
    lost = jnp.maximum(ratio, 1 - weights.clip) * tally.losses
    surrogate = (gained + lost).sum() / steps
    error = 0.5 * (visits * jnp.square(value) - 2 * value * tally.targets + tally.squares).sum() / steps
    spread = (visits * entropy(logits)).sum() / steps
    total = -surrogate + weights.value * error - weights.entropy * spread
    mean = lambda x: (tally.taken * x).sum() / steps  # noqa: E731
    parts = {"surrogate": surrogate, "value_error": error, "entropy": spread, "ratio": mean(ratio)}
    return total, parts | {"kl": mean(ratio - 1 - log_ratio)}


def standardised(x: jax.Array) -> jax.Array:
    """Mean 0 and standard deviation 1 over all rows."""
    return (x - x.mean()) / (x.std() + 1e-8)
