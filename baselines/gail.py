"""Generative adversarial imitation learning (Ho & Ermon 2016) with PPO as the generator.

A discriminator tells demonstrated (state, action) pairs from the policy's; what it says is the
policy's reward. Its logit l is high for demonstrations, D = sigmoid(l).

Episodes end at the goal, so the sign of the reward alone decides whether ending is good:
``-log(1 - D) >= 0`` pays for never arriving, ``log D <= 0`` for arriving by whatever way. Here the
episode goes on in an absorbing state that the discriminator judges too (Kostrikov et al. 2019), and
the reward is ``l - l_absorbing``, so an ended episode is worth 0. **Even so a good score is no
evidence of imitation**: -1 a step with no demonstrations at all solves most mazes. Report the two
controls beside it: `Config.control`.

All that a round needs of the networks is their output in every training state, once; walks
gather from it and losses need only sums by state, exactly, so longer walks cost nothing. A minibatch
is a share of the states of all mazes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from baselines import discriminator, learning, networks, ppo, ranges, table, world
from baselines.learning import Data, Metrics
from baselines.networks import Head, Network, Variables
from baselines.world import Steps, Walk
from jaxlab import grid
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth
from jaxlab.errors import choose

CONTROLS = ("none", "shuffled", "constant")
CAVEAT = (
    "GAIL: episodes end at the goal, so their horizon varies, and ending is rewarded or punished by itself: "
    "success is no evidence of imitation. Report --control shuffled and --control constant beside it."
)
"""Printed with every run and table."""


@dataclasses.dataclass(frozen=True)
class Config:
    """Every choice of a run."""

    encoder: str = "cnn"
    """One of `networks.ENCODERS`; without batch norm (`networks.normed`) and dropout."""
    render: str = "paper"
    """How pixels are drawn: "paper" (600 px resized to 64) or "direct" (at 64)."""
    epochs: int = 60
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
    batch: int = 100
    """States an update of the policy or of the discriminator takes, with all that was done in them."""
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
    judge_passes: int = 1
    """The discriminator's passes over a round's steps."""
    judge_memory: float = 0.95
    """What older rounds' pairs count for the discriminator, each round less by this factor; 0: only the newest."""
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
        choose("reward", self.reward, discriminator.REWARDS)
        choose("control", self.control, CONTROLS)
        ranges.check(self)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """What training carries from one round to the next; ``walked`` are the policy's pairs so far."""

    actor: Variables
    optimizer: Any
    judge: Variables
    judge_optimizer: Any
    key: jax.Array
    walkers: Walk
    spread: ppo.Spread
    walked: discriminator.Pairs


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


@functools.cache
def _actor_critic(name: str, env: Labyrinth) -> Network:
    return Network(lambda rngs: ActorCritic(name, env, rngs=rngs))


def network(config: Config, env: Labyrinth) -> Network:
    """The policy's network: the actor alone."""
    return networks.policy(config.encoder, env, norm=False, dropout=0.0)


# -- training --------------------------------------------------------------------------------------


def num_epochs(config: Config, data: Data) -> int:
    """How many rounds a run has."""
    return config.epochs


def _optimizers(config: Config, data: Data) -> tuple[optax.GradientTransformation, optax.GradientTransformation]:
    updates = config.epochs * config.passes * learning.num_batches(data.table.num_states, config.batch)
    rate = optax.linear_schedule(config.learning_rate, 0.0, updates)
    actor = optax.chain(optax.clip_by_global_norm(config.clip_gradient), optax.adam(rate, eps=1e-5))
    return actor, optax.adam(config.judge_rate)


def init(config: Config, data: Data, key: jax.Array) -> State:
    """A new run; the key is consumed."""
    key_actor, key_judge, key = jax.random.split(key, 3)
    actor = _actor_critic(config.encoder, data.env).init(key_actor)
    judge = discriminator.network(config.encoder, data.env).init(key_judge)
    walkers = world.begin(world.make(data.env, data.params))
    optimizer, judge_optimizer = _optimizers(config, data)
    return State(
        actor,
        optimizer.init(actor.weights),
        judge,
        judge_optimizer.init(judge.weights),
        key,
        walkers,
        ppo.no_spread(len(walkers.state)),
        discriminator.no_pairs(data.table.num_states),
    )


def judge(config: Config, data: Data, state: State, own: discriminator.Pairs, key: jax.Array) -> Any:
    """The discriminator's updates of one round: (variables, optimiser's memory, metrics)."""
    _, optimizer = _optimizers(config, data)
    shown = discriminator.demonstrated(data, config.gamma, shuffled=config.control == "shuffled")
    key_order, key_mix = jax.random.split(key)
    return discriminator.fit(
        discriminator.network(config.encoder, data.env),
        optimizer,
        data,
        state.judge,
        state.judge_optimizer,
        shown,
        own,
        _minibatches(key_order, data.table.num_states, config.batch, config.judge_passes),
        key_mix,
        absorbing=config.absorbing,
        penalty=config.penalty,
    )


def rewards(config: Config, data: Data, judge: Variables, steps: Steps) -> jax.Array:
    """What the steps are paid, ``float32[T, N]``, before it is normalised."""
    if config.control == "constant":
        return jnp.full(steps.state.shape, -1.0)
    net = discriminator.network(config.encoder, data.env)
    return discriminator.rewards(net, data, judge, steps, config.reward, absorbing=config.absorbing)


def improve(config: Config, data: Data, state: State, steps: Steps, before: Any, paid: jax.Array, key: Any) -> Any:
    """PPO's updates of one round: (variables, optimiser's memory, metrics)."""
    net = _actor_critic(config.encoder, data.env)
    optimizer, _ = _optimizers(config, data)
    logits, values = before
    likely = jax.nn.log_softmax(logits)
    value, after = values[steps.state], jnp.where(steps.ended, 0.0, values[steps.following])
    over = steps.ended | steps.cut
    advantage = ppo.advantages(paid, value, after, ~over, config.gamma, config.trace)
    target, advantage = advantage + value, ppo.standardised(advantage)
    done = ppo.tally(data.table.num_states, steps.state, steps.action, advantage, target)
    shares = ppo.Weights(config.clip, config.value_weight, config.entropy_weight)

    def update(carry: Any, rows: jax.Array) -> Any:
        variables, memory = carry
        seen, here = data.table.see(*data.table.state(rows)), jax.tree.map(lambda leaf: leaf[rows], done)

        def objective(weights: Any) -> Any:
            logits, values = net.apply(variables._replace(weights=weights), seen)
            return ppo.tallied_loss(logits, values, likely[rows], here, shares)

        (value, parts), slope = jax.value_and_grad(objective, has_aux=True)(variables.weights)
        change, memory = optimizer.update(slope, memory, variables.weights)
        weights = optax.apply_updates(variables.weights, change)
        return (variables._replace(weights=weights), memory), {"loss": value} | parts

    rows = _minibatches(key, data.table.num_states, config.batch, config.passes)
    (variables, memory), metrics = jax.lax.scan(update, (state.actor, state.optimizer), rows)
    return variables, memory, jax.tree.map(jnp.mean, metrics)


def _minibatches(key: jax.Array, num_states: int, batch: int, passes: int) -> jax.Array:
    """States of every update, ``int32[updates, batch]``: each pass deals all of them out anew."""
    deal = jax.vmap(lambda key: learning.minibatches(key, num_states, batch))(jax.random.split(key, passes))
    return deal.reshape(-1, deal.shape[-1])


def epoch(config: Config, data: Data, state: State) -> tuple[State, Metrics]:
    """One round."""
    key, key_walk, key_judge, key_actor = jax.random.split(state.key, 4)
    rules = world.make(data.env, data.params)
    before = learning.everywhere(_actor_critic(config.encoder, data.env), state.actor, data.table)
    walkers, steps = world.walk(rules, world.sampled(before[0]), state.walkers, key_walk, config.steps, config.limit)
    own = discriminator.walked(steps, rules.num_states, config.gamma)
    own = jax.tree.map(lambda old, new: config.judge_memory * old + new, state.walked, own)
    variables, memory, heard = state.judge, state.judge_optimizer, {}
    if config.control != "constant":
        variables, memory, heard = judge(config, data, state, own, key_judge)
    paid, spread = rewards(config, data, variables, steps), state.spread
    if config.normalize:
        paid, spread = ppo.normalized(paid, steps.ended | steps.cut, spread, config.gamma)
    actor, actor_memory, metrics = improve(config, data, state, steps, before, paid, key_actor)
    episodes = jnp.maximum((steps.ended | steps.cut).sum(), 1)
    metrics |= heard | {"arrivals": steps.reached.sum() / episodes, "steps": jnp.float32(steps.state.size)}
    return State(actor, actor_memory, variables, memory, key, walkers, spread, own), metrics


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
