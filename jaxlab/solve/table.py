"""Exact distances and optimal actions of every state, from the rule that ``step`` itself uses."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Protocol

import jax
import jax.numpy as jnp

from jaxlab import grid
from jaxlab.maze import Maze
from jaxlab.tiles import Move

MoveRule = Callable[[Maze, jax.Array, jax.Array, jax.Array, jax.Array], Move]
"""(mazes, index, cell, mode, action) -> Move, all scalars."""


class Rules(Protocol):
    """What the solver needs of an environment."""

    @property
    def num_modes(self) -> int:
        """How many memories a state can have."""

    @property
    def rule(self) -> MoveRule:
        """Equal by value, so that environments with the same rules share a compilation."""


UNREACHABLE = -1
_FAR = 2**29  # larger than any sum of costs, and twice it still fits an int32


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Solutions:
    """What is best in every state of every maze.

    Attributes:
        distance: ``int32[N, num_modes, H*W]``, least total cost to the goal; -1: it can't be reached.
        optimal: ``uint8[N, num_modes, H*W]``, bit ``a`` set: action ``a`` is optimal; 0 at the
            goal and where it can't be reached.
    """

    distance: jax.Array
    optimal: jax.Array


def transitions(rule: MoveRule, mazes: Maze, num_modes: int) -> Move:
    """Run the rule for every state and action: a `Move` of arrays ``[N, num_modes, H*W, 4]``."""
    num_cells = mazes.shape[0] * mazes.shape[1]

    def one(index, mode, cell, action):
        return rule(mazes, index, cell, mode, action)

    every = jax.vmap(one, (None, None, None, 0))
    every = jax.vmap(every, (None, None, 0, None))
    every = jax.vmap(every, (None, 0, None, None))
    every = jax.vmap(every, (0, None, None, None))
    return every(*(jnp.arange(n, dtype=jnp.int32) for n in (len(mazes), num_modes, num_cells, grid.NUM_ACTIONS)))


def solve(rule: MoveRule, mazes: Maze, num_modes: int) -> Solutions:
    """Least cost to the goal and optimal actions of every state (works inside ``jit``).

    Values are relaxed over all states of all mazes at once until nothing changes: as many
    rounds as the longest optimal play has moves. Costs are at least 1.
    """
    num_mazes, num_cells = len(mazes), mazes.shape[0] * mazes.shape[1]
    move = transitions(rule, mazes, num_modes)
    following = (move.mode * num_cells + move.cell).reshape(num_mazes, -1)
    # A cost below 1 is an error that `solve_many` raises; here it must only not loop for ever.
    cost = jnp.where(move.fell, _FAR, jnp.maximum(move.cost, 1)).reshape(num_mazes, -1, grid.NUM_ACTIONS)
    at_goal = jnp.arange(num_cells, dtype=jnp.int32) == mazes.goal[:, None]
    at_goal = jnp.broadcast_to(at_goal[:, None], (num_mazes, num_modes, num_cells)).reshape(num_mazes, -1)

    def through(distance):
        ahead = jnp.take_along_axis(distance, following, 1).reshape(cost.shape)
        return jnp.minimum(cost + ahead, _FAR)

    def relax(carry):
        distance, _ = carry
        best = jnp.where(at_goal, 0, through(distance).min(-1))
        return best, jnp.any(best != distance)

    begin = jnp.where(at_goal, 0, _FAR).astype(jnp.int32)
    distance, _ = jax.lax.while_loop(lambda carry: carry[1], relax, (begin, jnp.array(True)))
    reachable = distance < _FAR
    is_best = (through(distance) == distance[..., None]) & (reachable & ~at_goal)[..., None]
    bits = (is_best.astype(jnp.uint8) << jnp.arange(grid.NUM_ACTIONS, dtype=jnp.uint8)).sum(-1, dtype=jnp.uint8)
    shape = (num_mazes, num_modes, num_cells)
    return Solutions(jnp.where(reachable, distance, UNREACHABLE).reshape(shape), bits.reshape(shape))


_CHUNK_STATES = 2**20


@functools.partial(jax.jit, static_argnums=(0, 2))
def _solve_chunk(rule, mazes, num_modes):
    move = transitions(rule, mazes, num_modes)
    extremes = {name: jnp.stack([value.min(), value.max()]) for name, value in vars(move).items() if name != "fell"}
    return solve(rule, mazes, num_modes), extremes


def _check_rule(extremes: dict[str, jax.Array], env: Rules, mazes: Maze) -> None:
    """Raise if a tile of the user's own leads out of the maze, out of its memory, or costs less than 1."""
    allowed = {"cell": mazes.shape[0] * mazes.shape[1] - 1, "mode": env.num_modes - 1, "cost": _FAR - 1}
    for name, most in allowed.items():
        low, high = (int(value) for value in extremes[name])
        least = 1 if name == "cost" else 0
        if low < least or high > most:
            raise ValueError(
                f"a tile gives a move a {name} of {low if low < least else high}: it must be {least}..{most}"
            )


def solve_many(env: Rules, mazes: Maze) -> Solutions:
    """`solve` for any number of mazes at bounded memory (host).

    Large sets go through in chunks of one size, so they share a compilation.

    Raises:
        ValueError: a tile leads out of the maze or of its memory, or costs less than 1.
    """
    per_maze = env.num_modes * mazes.shape[0] * mazes.shape[1]
    chunk = max(1, _CHUNK_STATES // per_maze)
    parts = []
    for low in range(0, len(mazes), chunk):
        # The last chunk overlaps the one before it, and gives only what is new.
        begin = max(0, min(low, len(mazes) - chunk))
        part, extremes = _solve_chunk(env.rule, mazes[begin : begin + chunk], env.num_modes)
        _check_rule(extremes, env, mazes)
        parts.append(jax.tree.map(lambda leaf, skip=low - begin: leaf[skip:], part))
    return parts[0] if len(parts) == 1 else jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
