"""Compiled random rollouts: ours and those of other libraries, timed in the same way.

Random actions are drawn inside a ``lax.scan``, episodes reset automatically; reward, both
flags and the final state are summed and returned, so that nothing can be skipped. With an
observation, every value of it is summed as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import jaxlab
from benchmarks import timing
from jaxlab import devices
from jaxlab.wrappers import AutoReset


class Rollout(NamedTuple):
    """A rollout of a seed, how many environment steps one call takes, and the jitted function of a key."""

    run: Callable[[int], Any]
    steps: int
    program: Any


def random_actions(key: jax.Array, batch: int, number: int) -> jax.Array:
    """``int32[batch]`` in ``0 .. number - 1``; for four actions, sixteen are cut from one random word."""
    if number != 4:
        return jax.random.randint(key, (batch,), 0, number)
    words = jax.random.bits(key, (-(-batch // 16),), jnp.uint32)
    shifts = 2 * jnp.arange(16, dtype=jnp.uint32)
    return (words[None] >> shifts[:, None] & 3).astype(jnp.int32).ravel()[:batch]


def totals(
    reset: Callable, step: Callable, batch: int, length: int, *, observe: bool = False, actions: int = 4
) -> Rollout:
    """Roll ``batch`` environments out for ``length`` steps.

    Args:
        reset: ``(key) -> state`` of the whole batch.
        step: ``(key, state, action[batch]) -> (obs, state, reward, terminated, truncated)``.
        batch, length: static.
        observe: sum every value of the observation as well.
        actions: how many actions there are.
    """

    def body(carry, _):
        # The key is carried: an array of one key for each step would make memory grow with the steps.
        key, state, sums = carry
        key, key_action, key_step = jax.random.split(key, 3)
        obs, state, *paid = step(key_step, state, random_actions(key_action, batch, actions))
        if observe:
            paid.append(sum(leaf.astype(jnp.float32).sum() for leaf in jax.tree.leaves(obs)))
        return (key, state, tuple(old + new.sum() for old, new in zip(sums, paid, strict=True))), None

    @jax.jit
    def rollout(key):
        key_reset, key_steps = jax.random.split(key)
        sums = (jnp.float32(0), jnp.int32(0), jnp.int32(0), *([jnp.float32(0)] if observe else []))
        (_, state, sums), _ = jax.lax.scan(body, (key_steps, reset(key_reset), sums), length=length)
        return sums, [leaf.sum() for leaf in jax.tree.leaves(state) if jnp.issubdtype(leaf.dtype, jnp.number)]

    return Rollout(lambda seed: rollout(jax.random.key(seed)), batch * length, rollout)


def over_devices(make: Callable[[int], Rollout], batch: int, number: int) -> Rollout:
    """``make(batch)`` split over devices: each rolls its share out with a key of its own."""
    if batch % number:
        raise ValueError(f"a batch of {batch} can't be split over {number} devices")
    share, over = make(batch // number), devices.mesh(number)
    run = jax.jit(devices.each(lambda keys: jax.tree.map(lambda leaf: leaf[None], share.program(keys[0])), over))
    return Rollout(
        lambda seed: run(jax.random.split(jax.random.key(seed), number)), share.steps * number, share.program
    )


def ours(
    env: jaxlab.Labyrinth, params: jaxlab.Params, batch: int, length: int, *, observe: bool = False, resets: bool = True
) -> Rollout:
    """Ours, starting again in the same maze; without ``resets``, the bare step."""
    stepper = AutoReset(env) if resets else env

    def reset(key):
        maze = jax.random.randint(key, (batch,), 0, len(params.mazes))
        return jax.vmap(env.reset_to, (0, None))(maze, params)[1]

    def step(key, state, action):
        out = jax.vmap(stepper.step, (None, 0, 0, None))(key, state, action, params)
        return out.obs, out.state, out.reward, out.terminated, out.truncated

    return totals(reset, step, batch, length, observe=observe)


def gymnax_four_rooms(batch: int, length: int, *, observe: bool = False) -> Rollout:
    """gymnax FourRooms; its ``step`` resets by itself."""
    import gymnax

    env, params = gymnax.make("FourRooms-misc")

    def reset(key):
        return jax.vmap(env.reset, (0, None))(jax.random.split(key, batch), params)[1]

    def step(key, state, action):
        keys = jax.random.split(key, batch)
        obs, state, reward, terminated, truncated, _ = jax.vmap(env.step, (0, 0, 0, None))(keys, state, action, params)
        return obs, state, reward, terminated, truncated

    return totals(reset, step, batch, length, observe=observe)


def xminigrid_four_rooms(batch: int, length: int, *, observe: bool = False) -> Rollout:
    """xminigrid's FourRooms under its automatic reset; it always computes its observation."""
    import xminigrid
    from xminigrid.wrappers import GymAutoResetWrapper

    env, params = xminigrid.make("MiniGrid-FourRooms")
    env = GymAutoResetWrapper(env)

    def reset(key):
        return jax.vmap(env.reset, (None, 0))(params, jax.random.split(key, batch))

    def step(key, state, action):
        del key
        after = jax.vmap(env.step, (None, 0, 0))(params, state, action)
        ended = after.last()
        return after.observation, after, after.reward, ended & (after.discount == 0), ended & (after.discount != 0)

    return totals(reset, step, batch, length, observe=observe, actions=env.num_actions(params))


def jumanji_maze(batch: int, length: int, *, observe: bool = False) -> Rollout:
    """jumanji's Maze-v0 under its automatic reset, which makes a maze in every step."""
    import jumanji
    from jumanji.wrappers import AutoResetWrapper

    env = AutoResetWrapper(jumanji.make("Maze-v0"))

    def reset(key):
        return jax.vmap(env.reset)(jax.random.split(key, batch))[0]

    def step(key, state, action):
        del key
        state, after = jax.vmap(env.step)(state, action)
        ended = after.last()
        return after.observation, state, after.reward, ended & (after.discount == 0), ended & (after.discount != 0)

    return totals(reset, step, batch, length, observe=observe)


PEERS: dict[str, Callable[..., Rollout]] = {
    "gymnax": gymnax_four_rooms,
    "xminigrid": xminigrid_four_rooms,
    "jumanji": jumanji_maze,
}
"""Other libraries, by the name of their package."""


def installed_peers() -> dict[str, Callable[..., Rollout]]:
    """Those of `PEERS` that are installed."""
    return {name: make for name, make in PEERS.items() if timing.version(name) != "absent"}
