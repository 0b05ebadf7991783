"""Exact evaluation: what a policy does in every state decides every episode, with no rollouts.

A deterministic policy that comes back to a state loops for ever, so one walk of at most as
many steps as there are states tells success from failure. A policy that samples is a Markov
chain; its success within a time is a power of a matrix. Returns follow from integers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from baselines import table as tables
from baselines.networks import Network, Variables
from baselines.report import Report
from baselines.table import Table
from jaxlab import grid, solve
from jaxlab import splits as jaxlab_splits
from jaxlab.env import Labyrinth, Params
from jaxlab.maze import Maze

OUTCOMES = ("loop", "goal", "fall", "time")
"""How an episode ends: never (it runs out of time), at the goal, by a fall, or out of time on the way."""
LOOP, GOAL, FALL, TIME = range(4)
SHORT_LIMIT = 4
"""Sampled actions get this many times the shortest solution."""
_BATCH = 500
_MATRIX_ENTRIES = 2**25
"""Entries of the matrices of all mazes that are raised to a power at the same time: 128 MiB, held a few times."""

Policy = Callable[[Any], Any]
"""Observations ``[B, ...]`` (numpy) to actions ``[B]`` or logits ``[B, 4]``."""


class Episodes(NamedTuple):
    """One episode of each maze, from its start.

    Attributes:
        outcome: ``int32[N]``, index into `OUTCOMES`.
        steps: ``int32[N]``, time used; the step limit unless the outcome is goal or fall.
        visited: ``bool[N, num_modes * H*W]``, states in which the policy acted.
    """

    outcome: jax.Array
    steps: jax.Array
    visited: jax.Array


@functools.partial(jax.jit, static_argnums=0)
def episodes(env: Labyrinth, params: Params, actions: jax.Array) -> Episodes:
    """Play a deterministic policy in every maze, exactly.

    Args:
        env: the rules (static).
        params: the mazes.
        actions: ``int32[N, num_modes, H*W]``, the policy's action in every state.
    """
    num_mazes, num_cells = len(params.mazes), env.num_cells
    num_states = env.num_modes * num_cells
    move = solve.transitions(env, params)
    chosen = jax.tree.map(lambda leaf: jnp.take_along_axis(leaf, actions[..., None], -1)[..., 0], move)
    following = (chosen.mode * num_cells + chosen.cell).reshape(num_mazes, -1)
    cost, fell = chosen.cost.reshape(num_mazes, -1), chosen.fell.reshape(num_mazes, -1)
    every = jnp.arange(num_mazes)

    def act(carry, _):
        state, t, outcome, visited = carry
        going = outcome == LOOP
        after = following[every, state]
        visited = visited.at[every, state].max(going)
        t = jnp.where(going, t + cost[every, state], t)
        falls = fell[every, state]
        arrives = (after % num_cells == params.mazes.goal) & ~falls
        ended = jnp.where(falls, FALL, jnp.where(arrives, GOAL, jnp.where(t >= params.max_steps, TIME, LOOP)))
        return (jnp.where(going, after, state), t, jnp.where(going, ended, outcome), visited), None

    zero = jnp.zeros(num_mazes, jnp.int32)
    begin = params.mazes.start.astype(jnp.int32), zero, zero, jnp.zeros((num_mazes, num_states), bool)
    (_, t, outcome, visited), _ = jax.lax.scan(act, begin, None, length=num_states)
    in_time = (outcome == GOAL) | (outcome == FALL)
    return Episodes(outcome, jnp.where(in_time, t, params.max_steps), visited)


@functools.partial(jax.jit, static_argnums=(0, 3))
def sampled(env: Labyrinth, params: Params, probabilities: jax.Array, max_cost: int) -> tuple[jax.Array, jax.Array]:
    """Chance that a policy that samples its actions reaches the goal, by powers of its matrix.

    Args:
        env: the rules (static).
        params: solved mazes.
        probabilities: ``float32[N, num_modes, H*W, 4]``.
        max_cost: the largest cost of a move (static, `max_cost`).

    Returns:
        ``float32[N]`` within 4 L steps (L the shortest solution), and within the step limit.
    """
    num_mazes, num_cells = len(params.mazes), env.num_cells
    num_states = env.num_modes * num_cells
    move = solve.transitions(env, params)
    following = (move.mode * num_cells + move.cell).reshape(num_mazes, num_states, -1)
    arrives = ((move.cell == params.mazes.goal[:, None, None, None]) & ~move.fell).reshape(following.shape)
    stays = ~arrives & ~move.fell.reshape(following.shape)
    chance = probabilities.reshape(following.shape)
    # A move of cost c waits c - 1 steps on the way: state (waiting w, s) ticks to (w - 1, s).
    width = max_cost * num_states
    node = (move.cost.reshape(following.shape) - 1) * num_states + following
    every = jnp.arange(num_mazes)[:, None, None]
    source = jnp.arange(num_states)[None, :, None]
    matrix = jnp.zeros((num_mazes, width, width), jnp.float32)
    matrix = matrix.at[every, source, node].add(jnp.where(stays, chance, 0))
    waiting = jnp.arange(num_states, width)
    matrix = matrix.at[:, waiting, waiting - num_states].set(1)
    hit = jnp.where(arrives, chance, 0).sum(-1)
    hit = jnp.concatenate([hit, jnp.zeros((num_mazes, width - num_states), jnp.float32)], 1)

    # One more node, the goal, turns "hit by now" into a plain power of one matrix.
    matrix = jnp.concatenate([matrix, hit[..., None]], -1)
    goal = jnp.zeros((num_mazes, 1, width + 1), jnp.float32).at[..., -1].set(1)
    matrix = jnp.concatenate([matrix, goal], 1)
    assert params.shortest is not None
    limits = jnp.stack([SHORT_LIMIT * params.shortest, jnp.broadcast_to(params.max_steps, (num_mazes,))], -1)
    value = jnp.zeros((num_mazes, width + 1, 2), jnp.float32).at[:, -1].set(1)

    # Devices may multiply float32 with fewer bits unless told otherwise; chances would then exceed 1.
    product = functools.partial(jnp.matmul, precision="highest")

    def bit(carry):
        power, left, value = carry
        value = jnp.where((left & 1 == 1)[:, None, :], product(power, value), value)
        return product(power, power), left >> 1, value

    _, _, value = jax.lax.while_loop(lambda carry: (carry[1] > 0).any(), bit, (matrix, limits, value))
    reached = jnp.clip(value[jnp.arange(num_mazes), params.mazes.start], 0, 1)
    return reached[:, 0], reached[:, 1]


def max_cost(env: Labyrinth, params: Params) -> int:
    """The largest cost of any move (host)."""
    return int(solve.transitions(env, params).cost.max())


# -- scores ----------------------------------------------------------------------------------------


def returns(env: Labyrinth, params: Params, played: Episodes) -> np.ndarray:
    """Returns under Eq. 1, from integers: ``float64[N]`` (host).

    A shortest solution is exactly 1, a failure exactly ``-u * max_steps``.
    """
    outcome, steps = np.asarray(played.outcome), np.asarray(played.steps, np.int64)
    shortest, limit = np.asarray(params.shortest, np.int64), int(params.max_steps)
    unit, size = 1, 10 * env.num_cells  # u = 1 / (10 W H)
    lost = -(unit * limit) / size
    fell = lost if env.fall_return is None else env.fall_return
    return np.where(outcome == GOAL, 1 + (shortest - steps) / size, np.where(outcome == FALL, fell, lost))


def score(env: Labyrinth, params: Params, actions: Any, *, details: bool = True) -> dict[str, Any]:
    """Every figure of a deterministic policy on one split, as results.json has it (host).

    A rate of optimal actions is None where no state has one, because no maze has a solution.

    Args:
        env: the rules.
        params: solved mazes.
        actions: ``int[N, num_modes, H*W]``.
        details: with one entry for each episode.

    Raises:
        ValueError: actions of another shape or type, or that are none of the four.
    """
    actions = np.asarray(actions)
    shape = len(params.mazes), env.num_modes, env.num_cells
    if actions.shape != shape or not np.issubdtype(actions.dtype, np.integer):
        raise ValueError(
            f"actions must be int{list(shape)}, one for every state, got {actions.dtype}{list(actions.shape)}"
        )
    _check_actions(actions)
    played = jax.device_get(episodes(env, params, jnp.asarray(actions, jnp.int32)))
    gained = returns(env, params, played)
    success = played.outcome == GOAL
    bits = np.asarray(params.optimal)
    is_best = (bits >> actions.astype(np.uint8) & 1).astype(bool)
    known = bits != 0
    seen = played.visited.reshape(known.shape) & known
    out: dict[str, Any] = {
        "success": float(success.mean()),
        "aer": float(gained.mean()),
        "aer_std": float(gained.std()),
        "optimal_rate_all": float(is_best[known].mean()) if known.any() else None,
        "optimal_rate_visited": float(is_best[seen].mean()) if seen.any() else None,
    }
    if details:
        out["episodes"] = [
            {"maze": i, "success": bool(s), "return": float(r), "steps": int(t), "outcome": OUTCOMES[o]}
            for i, (s, r, t, o) in enumerate(zip(success, gained, played.steps, played.outcome, strict=True))
        ]
    return out


def score_sampled(env: Labyrinth, params: Params, logits: Any) -> dict[str, float]:
    """Exact success of actions sampled from ``softmax(logits)``, within 4 L steps and within the limit (host)."""
    chance = jax.nn.softmax(jnp.asarray(logits, jnp.float32))
    cost, number = max_cost(env, params), len(params.mazes)
    size = min(number, max(1, _MATRIX_ENTRIES // (cost * env.num_modes * env.num_cells + 1) ** 2))
    parts = []
    for low in range(0, number, size):
        begin = min(low, number - size)  # the last part overlaps the one before it: all are of one size
        some = jax.tree.map(lambda leaf, b=begin: leaf[b : b + size] if leaf.ndim else leaf, (params, chance))
        parts.append(np.stack(sampled(env, *some, cost))[:, low - begin :])
    short, long = np.concatenate(parts, 1)
    return {"success": float(short.mean()), "success_within_limit": float(long.mean())}


@functools.partial(jax.jit, static_argnums=0)
def all_logits(network: Network, variables: Variables, seen: Table) -> jax.Array:
    """What a network answers in every state of a table: ``float32[N, num_modes, H*W, 4]``."""
    batch = min(_BATCH, seen.num_states)
    count = -(-seen.num_states // batch)
    index = jnp.arange(count * batch, dtype=jnp.int32) % seen.num_states
    out = jax.lax.map(lambda i: network.apply(variables, seen.see(*seen.state(i))), index.reshape(count, batch))
    return out.reshape(count * batch, -1)[: seen.num_states].reshape(*_state_shape(seen), grid.NUM_ACTIONS)


@functools.partial(jax.jit, static_argnums=0)
def success(network: Network, variables: Variables, seen: Table) -> jax.Array:
    """Success of the argmax policy from the starts of a table's mazes, for watching training: ``float32``."""
    actions = all_logits(network, variables, seen).argmax(-1)
    return (episodes(seen.env, seen.params, actions).outcome == GOAL).mean()


def _state_shape(seen: Table) -> tuple[int, int, int]:
    return len(seen.params.mazes), seen.env.num_modes, seen.env.num_cells


# -- any policy --------------------------------------------------------------------------------------


def environment(splits: Mapping[str, Maze], **choices: Any) -> Labyrinth:
    """The environment that splits are played in: by their settings, or by what the mazes hold (host)."""
    if not splits:
        raise ValueError("there are no splits to score: give a mapping from names to mazes")
    settings = getattr(splits, "settings", None)
    first = next(iter(splits.values()))
    if settings is not None:
        return Labyrinth.from_settings(first.shape, settings, **choices)
    key = any((np.asarray(mazes.key) >= 0).any() for mazes in splits.values())
    ice = any(np.asarray(mazes.ice).any() for mazes in splits.values())
    return Labyrinth(first.shape, key_and_door=bool(key), icy_floor=bool(ice), **choices)


def read_splits(given: Mapping[str, Maze] | str | os.PathLike[str]) -> Mapping[str, Maze]:
    """Splits as they are, by the name of a frozen one, or from a folder of ``.labyrinth`` files (host).

    Raises:
        ValueError: a name that is neither.
    """
    return given if isinstance(given, Mapping) else jaxlab_splits.find(given)


def table(
    policy: Policy,
    splits: Mapping[str, Maze] | str | os.PathLike[str],
    *,
    observation: str | None = None,
    render: str = "paper",
    env: Labyrinth | None = None,
    batch: int = _BATCH,
) -> Report:
    """Score any policy on every split, exactly (host).

    Args:
        policy: observations (numpy, ``uint8[B, S, S, 3]`` or another ``observation``) to
            actions ``[B]`` or logits ``[B, 4]``: numpy, JAX or torch.
        splits: a mapping from names to mazes, the name of a frozen split, or a folder.
        observation: ``"pixels"``, ``"vector"`` or ``"grid"``; by default what a loaded policy
            was trained on, else pixels.
        render: how pixels are drawn, ``"paper"`` or ``"direct"``.
        env: the rules; by default the splits' own settings.
        batch: how many observations the policy gets at once.

    Returns:
        A `Report`; printing it gives the table, ``report.scores`` the figures.

    Raises:
        TypeError: a policy that can't be called.
        ValueError: an answer that is neither ``[B]`` actions nor ``[B, 4]`` logits.
    """
    if not callable(policy):
        raise TypeError(f"a policy is a callable from observations to actions or logits, not {policy!r:.80}")
    trained_on = getattr(policy, "observation", "pixels-paper" if render == "paper" else "pixels-direct")
    if observation is None:
        observation, _, how = trained_on.partition("-")
        render = how or render
    splits = read_splits(splits)
    env = environment(splits) if env is None else env
    report = Report()
    for name, mazes in splits.items():
        seen = tables.make(env, env.params(mazes), observation, render)
        given = answers(policy, seen, batch)
        if given.ndim == 4:
            report.add("sampled, within 4 L", name, score_sampled(seen.env, seen.params, given))
            given = given.argmax(-1)
        report.add("argmax", name, score(seen.env, seen.params, given))
        add_references(report, name, seen.env, seen.params)
    return report


def answers(policy: Policy, seen: Table, batch: int = _BATCH) -> np.ndarray:
    """What any policy answers in every state of a table (host).

    Returns:
        Actions ``int[N, num_modes, H*W]``, or logits with an axis of 4 more.

    Raises:
        ValueError: an answer that is neither.
    """
    lows = range(0, seen.num_states, batch)
    found = np.concatenate([_answers(policy, seen, low, min(low + batch, seen.num_states)) for low in lows])
    return found.reshape(*_state_shape(seen), *found.shape[1:])


def _answers(policy: Policy, seen: Table, low: int, high: int) -> np.ndarray:
    rows = seen.see(*seen.state(jnp.arange(low, high, dtype=jnp.int32)))
    answer: Any = policy(np.array(rows))
    if hasattr(answer, "detach"):  # a torch tensor, perhaps on another device
        answer = answer.detach().cpu()
    answer = np.asarray(answer)
    if answer.shape == (high - low, grid.NUM_ACTIONS) and jnp.issubdtype(answer.dtype, jnp.floating):
        if np.isnan(answer).any():
            raise ValueError(f"a policy's logits must be numbers, but {int(np.isnan(answer).sum())} of them are NaN")
        return answer
    if answer.shape != (high - low,) or not np.issubdtype(answer.dtype, np.integer):
        raise ValueError(
            f"a policy answers {high - low} observations with actions int[{high - low}] or logits "
            f"float[{high - low}, 4], not {answer.dtype}{list(answer.shape)}"
        )
    _check_actions(answer)
    return answer


def _check_actions(actions: np.ndarray) -> None:
    if actions.min() < 0 or actions.max() >= grid.NUM_ACTIONS:
        raise ValueError(f"actions are 0..3 (up, right, down, left), got {actions.min()}..{actions.max()}")


def greedy_actions(params: Params, num_modes: int) -> np.ndarray:
    """Up where there is no wall, else right: ``int32[N, num_modes, H*W]`` (host)."""
    walls = np.asarray(params.mazes.walls).reshape(len(params.mazes), 1, -1)
    actions = np.where(walls >> grid.UP & 1, grid.RIGHT, grid.UP)
    return np.broadcast_to(actions, (len(walls), num_modes, walls.shape[-1])).astype(np.int32)


def optimal_actions(params: Params) -> np.ndarray:
    """The first optimal action of every state, 0 where there is none: ``int32[N, num_modes, H*W]`` (host)."""
    bits = np.asarray(params.optimal)[..., None] >> np.arange(grid.NUM_ACTIONS) & 1
    return bits.argmax(-1).astype(np.int32)


def add_references(report: Report, split: str, env: Labyrinth, params: Params) -> None:
    """What every figure stands beside: random and greedy walks, and the optimum."""
    uniform = np.zeros((len(params.mazes), env.num_modes, env.num_cells, grid.NUM_ACTIONS), np.float32)
    report.add("random, within 4 L", split, score_sampled(env, params, uniform))
    report.add("greedy (up, else right)", split, score(env, params, greedy_actions(params, env.num_modes)))
    report.add("optimal", split, score(env, params, optimal_actions(params)))
