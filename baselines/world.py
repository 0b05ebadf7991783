"""Interaction inside ``jit``: where every action leads, as one table, and walks over it.

A state is one integer, its row in `baselines.table.Table` (maze, mode, cell). A step is a
gather, so thousands of walkers cost next to nothing and every buffer holds integers. The world
is made from training mazes only; it holds neither rewards nor optimal actions, so a method that
is given no more than this can use no more than this.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from jaxlab import grid, solve
from jaxlab.env import Labyrinth, Params

Act = Callable[[jax.Array, jax.Array], jax.Array]
"""(key, states ``int32[W]``) -> actions ``int32[W]``."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class World:
    """The rules of a set of mazes, tabulated over ``S = N * num_modes * H*W`` states.

    Attributes:
        following: ``int32[S, 4]``, the state that each action leads to.
        reached: ``bool[S, 4]``, it is the goal: the episode ends well.
        fell: ``bool[S, 4]``, the agent fell: the episode ends badly.
        start: ``int32[N]``, where the episodes of each maze begin.
    """

    following: jax.Array
    reached: jax.Array
    fell: jax.Array
    start: jax.Array

    @property
    def num_states(self) -> int:
        """S."""
        return self.following.shape[0]


def make(env: Labyrinth, params: Params) -> World:
    """Tabulate what `jaxlab.solve.transitions` says of every state and action.

    >>> from jaxlab import from_edges, stack
    >>> env = Labyrinth((2, 2))
    >>> maze = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    >>> make(env, env.params(stack([maze]))).following[0].tolist()
    [0, 1, 0, 0]
    """
    move = solve.transitions(env, params)
    num_mazes, num_modes, num_cells = move.cell.shape[:3]
    first = jnp.arange(num_mazes, dtype=jnp.int32) * (num_modes * num_cells)
    following = first[:, None, None, None] + move.mode * num_cells + move.cell
    fell = jnp.broadcast_to(move.fell, move.cell.shape)
    reached = (move.cell == params.mazes.goal[:, None, None, None]) & ~fell
    flat = (num_mazes * num_modes * num_cells, grid.NUM_ACTIONS)
    return World(
        following.astype(jnp.int32).reshape(flat), reached.reshape(flat), fell.reshape(flat), first + params.mazes.start
    )


class Walk(NamedTuple):
    """Walkers between two calls: ``state int32[W]``, and ``t int32[W]`` moves into the episode."""

    state: jax.Array
    t: jax.Array


class Steps(NamedTuple):
    """What walkers did, each ``[T, W]``.

    Attributes:
        state, action, following: ``int32``; ``following`` is the state before any reset.
        reached, fell: ``bool``, how the episode ended with this step, if it did.
        cut: ``bool``, the episode was cut at its time limit: not an end, values go on.
    """

    state: jax.Array
    action: jax.Array
    following: jax.Array
    reached: jax.Array
    fell: jax.Array
    cut: jax.Array

    @property
    def ended(self) -> jax.Array:
        """``bool``: the episode ended by itself."""
        return self.reached | self.fell


def begin(world: World) -> Walk:
    """One walker at the start of every maze."""
    return Walk(world.start, jnp.zeros_like(world.start))


def walk(world: World, act: Act, walkers: Walk, key: jax.Array, steps: int, limit: int) -> tuple[Walk, Steps]:
    """Let one walker in each maze take ``steps`` steps; it starts again when its episode is over.

    Args:
        world: of N mazes.
        act: how actions are chosen.
        walkers: N of them, the i-th in maze i.
        key: consumed.
        steps: how many each takes, static.
        limit: moves after which an episode is cut.

    Returns:
        The walkers as they stand now, and `Steps` ``[steps, N]``.
    """

    def one(walkers: Walk, key: jax.Array) -> tuple[Walk, Steps]:
        state = walkers.state
        action = act(key, state).astype(jnp.int32)
        following, t = world.following[state, action], walkers.t + 1
        reached, fell = world.reached[state, action], world.fell[state, action]
        cut = ~(reached | fell) & (t >= limit)
        over = reached | fell | cut
        after = Walk(jnp.where(over, world.start, following), jnp.where(over, 0, t))
        return after, Steps(state, action, following, reached, fell, cut)

    return jax.lax.scan(one, walkers, jax.random.split(key, steps))


def at_random(key: jax.Array, state: jax.Array) -> jax.Array:
    """The uniform random policy."""
    return jax.random.randint(key, state.shape, 0, grid.NUM_ACTIONS, jnp.int32)


def sampled(logits: jax.Array) -> Act:
    """The policy that draws from softmax of a table of logits ``float32[S, 4]``."""
    return lambda key, state: jax.random.categorical(key, logits[state])


def reachable(world: World) -> jax.Array:
    """``bool[S]``: can the state be stood in, beginning at its maze's start (goal and falls excluded)?"""
    seen = jnp.zeros(world.num_states, bool).at[world.start].set(True)
    passes = ~(world.reached | world.fell)

    def spread(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        seen, _ = carry
        more = seen.at[world.following].max(passes & seen[:, None])
        return more, (more != seen).any()

    return jax.lax.while_loop(lambda carry: carry[1], spread, (seen, jnp.array(True)))[0]
