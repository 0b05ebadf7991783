"""Generative adversarial imitation learning (Ho & Ermon 2016) with PPO as the generator.

A discriminator tells demonstrated (state, action) pairs from the policy's; what it says is the
policy's reward. Its logit l is high for demonstrations, D = sigmoid(l).

Episodes end at the goal, so the sign of the reward alone decides whether ending is good:
``-log(1 - D) >= 0`` pays for never arriving, ``log D <= 0`` for arriving by whatever way. Here the
episode goes on in an absorbing state that the discriminator judges too (Kostrikov et al. 2019), and
the reward is ``l - l_absorbing``, so an ended episode is worth 0. **Even so a good score is no
evidence of imitation**: -1 a step with no demonstrations at all solves most mazes. Report the two
controls beside it: `Config.control`.

All that a round needs of the networks is their output in every training state, once; walks and
losses gather from it, exactly, so longer walks cost nothing.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from baselines import learning, networks, ppo, table, world
from baselines.learning import Data, Metrics
from baselines.networks import Head, Linear, Network, Variables
from baselines.world import Steps, Walk
from jaxlab import grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose

REWARDS = ("airl", "logD", "neg_log1mD")
CONTROLS = ("none", "shuffled", "constant")


@dataclasses.dataclass(frozen=True)
class Config:
    """Every choice of a run."""

    encoder: str = "cnn"
    """One of `networks.ENCODERS`; without batch norm and dropout."""
    render: str = "paper"
    """How pixels are drawn: "paper" (600 px resized to 64) or "direct" (at 64)."""
    epochs: int = 100
    """Rounds: a walk, the discriminator's updates, the policy's updates."""
    steps: int = 256
    """Steps of the walker of each training maze in a round."""
    limit: int = 100
    """Moves after which an episode is cut; its value goes on."""
    gamma: float = 0.95
    """Discount."""
    trace: float = 0.95
    """Lambda of the advantages."""
    passes: int = 2
    """PPO's passes over a round's steps."""
    minibatches: int = 10
    """PPO's updates a pass, each with all steps of a share of the mazes."""
    clip: float = 0.2
    """How far PPO lets the ratio of probabilities go from 1."""
    value_weight: float = 0.5
    """Of the value error in PPO's loss."""
    entropy_weight: float = 0.01
    """Of the entropy bonus."""
    learning_rate: float = 5e-4
    """Of Adam, for the policy; falls linearly to 0."""
    clip_gradient: float = 0.5
    """Largest norm of the policy's gradient."""
    judge_passes: int = 3
    """The discriminator's passes over a round's steps."""
    judge_minibatches: int = 10
    """Its updates a pass, each with a share of the mazes."""
    judge_rate: float = 1e-3
    """Its learning rate (Adam, constant)."""
    penalty: float = 0.0
    """Weight of the gradient penalty ``(|dl/dx| - 1)^2`` on mixtures of shown and own pairs."""
    reward: str = "airl"
    """"airl" (l), "logD" or "neg_log1mD" (-log(1 - D))."""
    absorbing: bool = True
    """The discriminator judges the absorbing state after the end too; False: an end is worth 0."""
    normalize: bool = True
    """Divide rewards by the running standard deviation of the discounted return."""
    control: str = "none"
    """"shuffled": the demonstrations' actions are permuted; "constant": -1 a step, no demonstrations."""

    def __post_init__(self) -> None:
        networks.encoder(self.encoder)
        choose("render", self.render, table.RENDERS)
        choose("reward", self.reward, REWARDS)
        choose("control", self.control, CONTROLS)
        for name in ("epochs", "steps", "limit", "passes", "minibatches", "judge_passes", "judge_minibatches"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


class Spread(NamedTuple):
    """Discounted returns so far: each walker's own ``float32[N]``; how many, their mean, and squares about it."""

    running: jax.Array
    seen: jax.Array
    mean: jax.Array
    squares: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one round to the next."""

    actor: Variables
    optimizer: Any
    judge: Variables
    judge_optimizer: Any
    key: jax.Array
    walkers: Walk
    spread: Spread


# -- networks --------------------------------------------------------------------------------------


class ActorCritic(nnx.Module):
    """One trunk, a policy head and a value head; an encoder that is a whole policy acts beside a plain critic."""

    def __init__(self, name: str, env: Labyrinth, *, rngs: nnx.Rngs) -> None:
        whole = networks.encoder(name).policy
        self.trunk = networks.trunk(networks.with_features(name), env, norm=False, rngs=rngs)
        self.critic = Head(self.trunk.features, 1, dropout=0.0, rngs=rngs)
        if whole is not None:
            self.actor = whole(env, outputs=grid.NUM_ACTIONS, norm=False, dropout=0.0, rngs=rngs)
            return
        self.actor = None
        self.head = Head(self.trunk.features, grid.NUM_ACTIONS, dropout=0.0, rngs=rngs)
        # Logits begin near 0, so that the first walks are nearly uniform.
        last = self.head.layers[-1]
        last.kernel[...] = 0.01 * last.kernel[...]
        last.bias[...] = 0.01 * last.bias[...]

    def __call__(
        self, x: jax.Array, *, train: bool = False, rngs: nnx.Rngs | None = None
    ) -> tuple[jax.Array, jax.Array]:
        """Observations to (logits ``float32[B, 4]``, values ``float32[B]``)."""
        features = self.trunk(x, train=train)
        logits = self.head(features) if self.actor is None else self.actor(x, train=train)
        return logits, self.critic(features)[..., 0]


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
def _actor_critic(name: str, env: Labyrinth) -> Network:
    return Network(lambda rngs: ActorCritic(name, env, rngs=rngs))


@functools.cache
def discriminator(name: str, env: Labyrinth) -> Network:
    """The discriminator's network; the same arguments give the same object."""
    return Network(lambda rngs: Discriminator(name, env, rngs=rngs))


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network: the actor alone."""
    return networks.policy(config.encoder, env, norm=False, dropout=0.0)


# -- losses and rewards ----------------------------------------------------------------------------


def judge_loss(shown: jax.Array, own: jax.Array, shown_weight: Any = 1.0, own_weight: Any = 1.0) -> jax.Array:
    """Binary cross-entropy as a sum of two weighted means: demonstrations should get l > 0, own pairs l < 0.

    >>> float(judge_loss(jnp.zeros(3), jnp.zeros(5)).round(6))  # 2 ln 2
    1.386294
    """

    def mean(losses: jax.Array, weight: Any) -> jax.Array:
        weight = jnp.broadcast_to(jnp.asarray(weight, losses.dtype), losses.shape)
        return (losses * weight).sum() / jnp.maximum(weight.sum(), 1e-9)

    return mean(jax.nn.softplus(-shown), shown_weight) + mean(jax.nn.softplus(own), own_weight)


def reward_of(logit: jax.Array, form: str) -> jax.Array:
    """What the policy is paid: ``"airl"`` log D - log(1 - D) = l, ``"logD"``, or ``"neg_log1mD"`` -log(1 - D)."""
    if form == "logD":
        return -jax.nn.softplus(-logit)
    return jax.nn.softplus(logit) if form == "neg_log1mD" else logit


def gradient_penalty(f: Callable[..., jax.Array], target: float, *inputs: jax.Array) -> jax.Array:
    """Mean of ``(|df/dx| - target)^2`` over rows; f maps ``[B, ...]`` inputs to ``[B]`` (Gulrajani et al. 2017)."""
    slopes = jax.grad(lambda *inputs: f(*inputs).sum(), argnums=tuple(range(len(inputs))))(*inputs)
    square = sum(jnp.square(slope).reshape(len(slope), -1).sum(-1) for slope in slopes)
    return jnp.square(jnp.sqrt(square + 1e-12) - target).mean()


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


# -- training --------------------------------------------------------------------------------------


def num_epochs(config: Config, data: Data) -> int:
    """How many rounds a run has."""
    return config.epochs


def _optimizers(config: Config, num_mazes: int) -> tuple[optax.GradientTransformation, optax.GradientTransformation]:
    updates = config.epochs * config.passes * min(config.minibatches, num_mazes)
    rate = optax.linear_schedule(config.learning_rate, 0.0, updates)
    actor = optax.chain(optax.clip_by_global_norm(config.clip_gradient), optax.adam(rate, eps=1e-5))
    return actor, optax.adam(config.judge_rate)


def init(config: Config, data: Data, key: jax.Array) -> State:
    """A new run; the key is consumed."""
    key_actor, key_judge, key = jax.random.split(key, 3)
    actor = _actor_critic(config.encoder, data.env).init(key_actor)
    judge = discriminator(config.encoder, data.env).init(key_judge)
    walkers = world.begin(world.make(data.env, data.params))
    num_mazes = len(walkers.state)
    optimizer, judge_optimizer = _optimizers(config, num_mazes)
    zero = jnp.float32(0)
    return State(
        actor,
        optimizer.init(actor.weights),
        judge,
        judge_optimizer.init(judge.weights),
        key,
        walkers,
        Spread(jnp.zeros(num_mazes), zero, zero, zero),
    )


class Pairs(NamedTuple):
    """How often each pair occurs: ``counts float32[N, P, 4]``, and ``ends float32[N]``, rows of the absorbing state."""

    counts: jax.Array
    ends: jax.Array


def demonstrated(config: Config, data: Data) -> Pairs:
    """The demonstrations as counts; with ``control="shuffled"`` their actions are permuted."""
    shown = data.demonstrations
    action = shown.action
    if config.control == "shuffled":
        action = jax.random.permutation(jax.random.key(0), action)
    num_mazes = len(data.params.mazes)
    states = data.table.num_states
    at = data.table.index(shown.maze, shown.mode, shown.cell)
    counts = jnp.zeros((states, grid.NUM_ACTIONS)).at[at, action].add(1.0)
    arrived = shown.next_cell == data.params.mazes.goal[shown.maze]
    ends = jnp.zeros(num_mazes).at[shown.maze].add(arrived.astype(jnp.float32))
    return Pairs(counts.reshape(num_mazes, -1, grid.NUM_ACTIONS), ends / (1 - config.gamma))


def own(config: Config, steps: Steps, num_states: int) -> Pairs:
    """A round's steps as counts. After an end, ``1 / (1 - gamma)`` rows of the absorbing state: its discounted stay."""
    num_mazes = steps.state.shape[1]
    counts = jnp.zeros((num_states, grid.NUM_ACTIONS)).at[steps.state, steps.action].add(1.0)
    return Pairs(
        counts.reshape(num_mazes, -1, grid.NUM_ACTIONS), steps.ended.sum(0, dtype=jnp.float32) / (1 - config.gamma)
    )


def see_mazes(data: Data, mazes: jax.Array) -> jax.Array:
    """What every state of some mazes ``int32[G]`` looks like: ``[G * P, ...]``."""
    per_maze = data.table.num_states // len(data.params.mazes)
    rows = mazes[:, None] * per_maze + jnp.arange(per_maze)
    return data.table.see(*data.table.state(rows.ravel()))


def nothing(data: Data) -> tuple[jax.Array, jax.Array]:
    """The absorbing state: an empty observation and no action."""
    like = jax.eval_shape(lambda: data.table.see(*data.table.state(jnp.zeros(1, jnp.int32))))
    return jnp.zeros(like.shape, like.dtype), jnp.zeros((1, grid.NUM_ACTIONS))


def judge(config: Config, data: Data, state: State, shown: Pairs, walked: Pairs, key: jax.Array) -> Any:
    """The discriminator's updates of one round: (variables, optimiser's memory, metrics)."""
    net, (_, optimizer) = discriminator(config.encoder, data.env), _optimizers(config, len(shown.ends))

    def update(carry: Any, given: Any) -> Any:
        variables, memory = carry
        mazes, key = given
        seen, many = see_mazes(data, mazes), len(mazes)

        def objective(weights: Any) -> tuple[jax.Array, jax.Array]:
            now = variables._replace(weights=weights)
            logits = net.apply(now, seen).reshape(many, -1, grid.NUM_ACTIONS)
            shown_weight, own_weight = shown.counts[mazes], walked.counts[mazes]
            if config.absorbing:
                end = jnp.broadcast_to(net.apply(now, *nothing(data)), (many,))
                logits = jnp.concatenate([logits.ravel(), end])
                shown_weight = jnp.concatenate([shown_weight.ravel(), shown.ends[mazes]])
                own_weight = jnp.concatenate([own_weight.ravel(), walked.ends[mazes]])
            value = judge_loss(logits, logits, shown_weight, own_weight)
            right = ((logits > 0) * shown_weight).sum() / shown_weight.sum()
            wrong = ((logits > 0) * own_weight).sum() / own_weight.sum()
            if config.penalty:
                value += config.penalty * _penalty(net, now, seen, shown.counts[mazes], walked.counts[mazes], key)
            return value, (right + 1 - wrong) / 2

        (value, accuracy), slope = jax.value_and_grad(objective, has_aux=True)(variables.weights)
        change, memory = optimizer.update(slope, memory, variables.weights)
        weights = optax.apply_updates(variables.weights, change)
        return (variables._replace(weights=weights), memory), {"judge_loss": value, "judge_accuracy": accuracy}

    key_order, key_mix = jax.random.split(key)
    groups = _groups(key_order, len(shown.ends), config.judge_minibatches, config.judge_passes)
    keys = jax.random.split(key_mix, len(groups))
    (variables, memory), metrics = jax.lax.scan(update, (state.judge, state.judge_optimizer), (groups, keys))
    return variables, memory, jax.tree.map(jnp.mean, metrics)


def _penalty(
    net: Network, now: Variables, seen: jax.Array, shown: jax.Array, walked: jax.Array, key: jax.Array, rows: int = 64
) -> jax.Array:
    """The gradient penalty on mixtures of pairs drawn from both sides; pixels are mixed in [0, 1]."""
    key_shown, key_own, key_mix = jax.random.split(key, 3)
    scale = 255.0 if seen.dtype == jnp.uint8 else 1.0
    share = jax.random.uniform(key_mix, (rows,))

    def drawn(key: jax.Array, counts: jax.Array) -> tuple[jax.Array, jax.Array]:
        pair = jax.random.categorical(key, jnp.log(counts.ravel()), shape=(rows,))
        at, action = jnp.divmod(pair, grid.NUM_ACTIONS)
        return seen[at] / scale, jax.nn.one_hot(action, grid.NUM_ACTIONS)

    def mix(a: jax.Array, b: jax.Array) -> jax.Array:
        weight = share.reshape(-1, *[1] * (a.ndim - 1))
        return weight * a + (1 - weight) * b

    mixed = [mix(a, b) for a, b in zip(drawn(key_shown, shown), drawn(key_own, walked), strict=True)]
    return gradient_penalty(lambda x, action: net.apply(now, x * scale, action), 1.0, *mixed)


def rewards(config: Config, data: Data, variables: Variables, steps: Steps) -> jax.Array:
    """What the steps are paid, ``float32[T, N]``; an ended episode is worth 0 from then on."""
    if config.control == "constant":
        return jnp.full(steps.state.shape, -1.0)
    net = discriminator(config.encoder, data.env)
    paid = reward_of(learning.everywhere(net, variables, data.table), config.reward)[steps.state, steps.action]
    if not config.absorbing:
        return paid
    return paid - reward_of(net.apply(variables, *nothing(data))[0], config.reward)


def improve(config: Config, data: Data, state: State, steps: Steps, before: Any, paid: jax.Array, key: Any) -> Any:
    """PPO's updates of one round: (variables, optimiser's memory, metrics)."""
    net = _actor_critic(config.encoder, data.env)
    optimizer, _ = _optimizers(config, steps.state.shape[1])
    logits, values = before
    old = ppo.log_prob(logits[steps.state], steps.action)
    value, after = values[steps.state], jnp.where(steps.ended, 0.0, values[steps.following])
    over = steps.ended | steps.cut
    advantage = ppo.advantages(paid, value, after, ~over, config.gamma, config.trace)
    target, advantage = advantage + value, ppo.standardised(advantage)
    per_maze = data.table.num_states // steps.state.shape[1]
    shares = ppo.Weights(config.clip, config.value_weight, config.entropy_weight)

    def update(carry: Any, mazes: jax.Array) -> Any:
        variables, memory = carry
        seen, many = see_mazes(data, mazes), len(mazes)
        here = (jnp.arange(many), steps.state[:, mazes] - mazes * per_maze)

        def objective(weights: Any) -> Any:
            logits, values = net.apply(variables._replace(weights=weights), seen)
            logits = logits.reshape(many, per_maze, grid.NUM_ACTIONS)[here]
            values = values.reshape(many, per_maze)[here]
            action, likely, gain, goal = (column[:, mazes] for column in (steps.action, old, advantage, target))
            return ppo.loss(logits, values, action, likely, gain, goal, shares)

        (value, parts), slope = jax.value_and_grad(objective, has_aux=True)(variables.weights)
        change, memory = optimizer.update(slope, memory, variables.weights)
        weights = optax.apply_updates(variables.weights, change)
        return (variables._replace(weights=weights), memory), {"loss": value} | parts

    groups = _groups(key, steps.state.shape[1], config.minibatches, config.passes)
    (variables, memory), metrics = jax.lax.scan(update, (state.actor, state.optimizer), groups)
    return variables, memory, jax.tree.map(jnp.mean, metrics)


def _groups(key: jax.Array, num_mazes: int, minibatches: int, passes: int) -> jax.Array:
    """Mazes of every update, ``int32[updates, G]``: each pass deals all mazes out anew."""
    size = -(-num_mazes // min(minibatches, num_mazes))
    deal = jax.vmap(lambda key: learning.minibatches(key, num_mazes, size))(jax.random.split(key, passes))
    return deal.reshape(-1, size)


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One round."""
    key, key_walk, key_judge, key_actor = jax.random.split(state.key, 4)
    rules = world.make(data.env, data.params)
    before = learning.everywhere(_actor_critic(config.encoder, data.env), state.actor, data.table)
    walkers, steps = world.walk(rules, world.sampled(before[0]), state.walkers, key_walk, config.steps, config.limit)
    variables, memory, heard = state.judge, state.judge_optimizer, {}
    if config.control != "constant":
        pairs = demonstrated(config, data), own(config, steps, rules.num_states)
        variables, memory, heard = judge(config, data, state, *pairs, key_judge)
    paid, spread = rewards(config, data, variables, steps), state.spread
    if config.normalize:
        paid, spread = normalized(paid, steps.ended | steps.cut, spread, config.gamma)
    actor, actor_memory, metrics = improve(config, data, state, steps, before, paid, key_actor)
    episodes = jnp.maximum((steps.ended | steps.cut).sum(), 1)
    metrics |= heard | {"arrivals": steps.reached.sum() / episodes, "steps": jnp.float32(steps.state.size)}
    return State(actor, actor_memory, variables, memory, key, walkers, spread), metrics


def policy(config: Config, data: Data, state: State, *, precise: bool = True) -> Variables:
    """The actor's variables; there are no batch-norm statistics."""
    weights = state.actor.weights
    if "actor" in weights:
        return state.actor._replace(weights=weights["actor"])
    weights = {name: part for name, part in weights.items() if name != "critic"}
    return state.actor._replace(weights=weights)


def make(config: Config, demonstrations: Demonstrations) -> Callable[[jax.Array], tuple[State, Metrics]]:
    """A whole run as one function of a key, for ``jit`` and ``vmap``: the last state, and metrics ``[rounds]``."""
    return learning.run(init, epoch, num_epochs, config, learning.data(demonstrations, config.encoder, config.render))
