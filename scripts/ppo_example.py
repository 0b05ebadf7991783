"""PPO in one jit on 3x3 mazes, through the five-tuple adaptor of gymnax before 1.0.

    python scripts/ppo_example.py                # trains on fixed mazes, prints a curve
    python scripts/ppo_example.py --fresh        # new mazes in every update, made inside the training loop
    python scripts/ppo_example.py --curve ppo.png

Whoever brings a training loop written for gymnax finds the same calls here. With --fresh the
params are an argument of the loop, so other mazes never recompile.
"""

import argparse
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

import jaxlab
from jaxlab.wrappers import FiveTuple

SHAPE, ENVS, STEPS, EPOCHS, BATCHES = (3, 3), 256, 32, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY, RATE, MAX_STEPS = 0.95, 0.9, 0.2, 0.01, 1e-3, 40


class Row(NamedTuple):
    """What one step of every environment leaves; all of one leading axis."""

    obs: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    next_value: jax.Array
    reward: jax.Array
    done: jax.Array
    solved: jax.Array


class ActorCritic(nn.Module):
    """Logits and value of a state."""

    @nn.compact
    def __call__(self, obs):
        """Logits ``[..., 4]`` and value ``[...]``."""
        hidden = nn.relu(nn.Dense(128)(nn.relu(nn.Dense(128)(obs / 8.0))))
        return nn.Dense(4)(hidden), nn.Dense(1)(hidden)[..., 0]


def rollout(net, env, weights, params, states, obs, key):
    """Play STEPS steps in all environments: rows [STEPS, ENVS], and where they stopped."""

    def step(carry, key):
        states, obs = carry
        logits, value = net.apply(weights, obs)
        key_action, key_step = jax.random.split(key)
        action = jax.random.categorical(key_action, logits)
        keys = jax.random.split(key_step, ENVS)
        after, states, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(keys, states, action, params)
        log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        # The value of where the step itself led, which auto-reset replaces; 0 after a termination, not at the limit.
        next_value = info["discount"] * net.apply(weights, info["final_observation"])[1]
        return (states, after), Row(obs, action, log_prob, value, next_value, reward, done, info["success"])

    (states, obs), rows = jax.lax.scan(step, (states, obs), jax.random.split(key, STEPS))
    return states, obs, rows


def advantages(rows):
    """Generalised advantage estimates [STEPS, ENVS]."""

    def back(following, row):
        delta = row.reward + GAMMA * row.next_value - row.value
        advantage = delta + GAMMA * LAMBDA * jnp.where(row.done, 0.0, following)
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros(ENVS), rows, reverse=True)[1]


def loss(weights, net, rows, advantage, target):
    """The clipped objective of PPO with value and entropy terms."""
    logits, value = net.apply(weights, rows.obs)
    log_probs = jax.nn.log_softmax(logits)
    ratio = jnp.exp(jnp.take_along_axis(log_probs, rows.action[:, None], 1)[:, 0] - rows.log_prob)
    scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    policy = -jnp.minimum(ratio * scaled, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * scaled).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy + 0.5 * jnp.square(value - target).mean() - ENTROPY * entropy


def make_train(updates, fresh):
    """A function from (key, mazes) to the curve: the share of finished episodes that reached the goal."""
    core = jaxlab.Labyrinth(SHAPE, reward="released")
    net, optimiser = ActorCritic(), optax.chain(optax.clip_by_global_norm(0.5), optax.adam(RATE))

    def train(key, mazes):
        key_init, key_reset, key = jax.random.split(key, 3)
        params = core.bare_params(mazes, MAX_STEPS)
        env = FiveTuple(core, params)
        obs, states = jax.vmap(env.reset, (0, None))(jax.random.split(key_reset, ENVS), params)
        weights = net.init(key_init, obs)

        def update(carry, key):
            weights, memory, states, obs, params = carry
            key_mazes, key_reset, key_play, key_learn = jax.random.split(key, 4)
            if fresh:
                params = core.bare_params(jaxlab.generate.mazes(key_mazes, ENVS, SHAPE), MAX_STEPS)
                obs, states = jax.vmap(env.reset, (0, None))(jax.random.split(key_reset, ENVS), params)
            states, obs, rows = rollout(net, env, weights, params, states, obs, key_play)
            advantage = advantages(rows)
            data = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), (rows, advantage, advantage + rows.value))

            def minibatch(carry, picked):
                weights, memory = carry
                gradient = jax.grad(loss)(weights, net, *jax.tree.map(lambda x: x[picked], data))
                change, memory = optimiser.update(gradient, memory, weights)
                return (optax.apply_updates(weights, change), memory), None

            orders = jax.vmap(lambda k: jax.random.permutation(k, ENVS * STEPS))(jax.random.split(key_learn, EPOCHS))
            (weights, memory), _ = jax.lax.scan(
                minibatch, (weights, memory), orders.reshape(EPOCHS * BATCHES, -1)
            )  # fmt: skip
            solved = rows.solved.sum() / jnp.maximum(rows.done.sum(), 1)
            return (weights, memory, states, obs, params), solved

        carry = (weights, optimiser.init(weights), states, obs, params)
        return jax.lax.scan(update, carry, jax.random.split(key, updates))[1]

    return jax.jit(train)


def main(argv=None):
    """Train, print the curve and return it: float32[updates]."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--fresh", action="store_true", help="levels made inside the training loop")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--curve", metavar="PICTURE", help="draw the curve (needs matplotlib)")
    args = parser.parse_args(argv)
    train = make_train(args.updates, args.fresh)
    began = time.perf_counter()
    curve = np.asarray(train(jax.random.key(args.seed), jaxlab.splits.load("3x3-v1")["train"]))
    seconds = time.perf_counter() - began
    for i in np.unique(np.linspace(0, len(curve) - 1, 11).astype(int)):
        print(f"update {i:4d}: {curve[i]:6.1%} of the finished episodes reached the goal")
    print(f"{args.updates * ENVS * STEPS} steps in {seconds:.1f} s, compilation included")
    if args.curve:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots()
        axes.plot(np.arange(len(curve)) * ENVS * STEPS, curve)
        axes.set(xlabel="steps", ylabel="episodes that reach the goal", ylim=(0, 1))
        figure.savefig(args.curve)
    return curve


if __name__ == "__main__":
    main()
