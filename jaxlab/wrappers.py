"""Wrappers in JAX: reset when an episode ends, count returns exactly, speak gymnax.

`jaxlab.Labyrinth.step` never resets by itself. Here are the wrappers that change that, or
the shape of what ``step`` returns. All are frozen and hashable like the environment, hold
no arrays of their own (the gymnax ones hold default params), and add no state.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp

from jaxlab.env import RELEASED_FALL, RELEASED_GOAL, STEP_PENALTY, Labyrinth, Params, State, Step
from jaxlab.errors import choose
from jaxlab.spaces import Discrete, Space

RESET_TO = ("same", "another")


def passing_cost(env: Labyrinth, time: jax.Array) -> jax.Array:
    """``u * time`` as ``float32``, rounded once: 40 * W * H units cost exactly 4."""
    return jnp.asarray(time).astype(jnp.float32) / jnp.float32(env.num_cells / STEP_PENALTY)


def episode_return(env: Labyrinth, before: State, after: State, params: Params) -> jax.Array:
    """The return up to ``after``, from integers alone: ``float32``.

    A shortest solution returns exactly 1 and a failure exactly ``-u * max_steps`` (Eq. 1),
    which added-up float32 rewards do not. ``before`` is the state that the last move left.
    """
    success = after.terminated & (after.cell == params.mazes.goal[after.maze])
    fell = after.terminated & ~success
    if env.reward == "released":
        passed = passing_cost(env, before.t)
        reached, fall = RELEASED_GOAL - passed, RELEASED_FALL - passed
    else:
        if params.shortest is None:
            raise ValueError('reward="paper" needs solved mazes: make the params with params(), not bare_params()')
        reached = 1 - passing_cost(env, after.t - params.shortest[after.maze])
        fall = -passing_cost(env, params.max_steps) if env.fall_return is None else jnp.float32(env.fall_return)
    running = -passing_cost(env, after.t)
    return jnp.where(success, reached, jnp.where(fell, fall, running)).astype(jnp.float32)


@dataclasses.dataclass(frozen=True)
class Wrapper:
    """Passes everything that it does not define on to the environment inside.

    Raises:
        TypeError: what is inside is neither a `Labyrinth` nor a wrapper.
    """

    env: Any

    def __post_init__(self) -> None:
        if not isinstance(self.env, (Labyrinth, Wrapper)):
            raise TypeError(f"{type(self).__name__} wraps a Labyrinth or a wrapper of one, not {self.env!r:.80}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.env, name)

    @property
    def unwrapped(self) -> Labyrinth:
        """The environment under all wrappers."""
        return self.env.unwrapped if isinstance(self.env, Wrapper) else self.env


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics(Wrapper):
    """Adds ``episode_return`` (``float32``) and ``episode_length`` (``int32``, time used) to ``info``.

    Both count up to the present step, so at the end they are those of the episode. They
    derive from the integers of the state (`episode_return`): exact at any length.
    """

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, key: jax.Array | None, state: State, action: jax.Array | int, params: Params) -> Step:
        """Take one action; see `Labyrinth.step`."""
        out = self.env.step(key, state, action, params)
        after = out.state
        # An episode that had ended before this step keeps what it returned; its last move is not known any more.
        before = state.replace(t=jnp.where(state.ended, state.t - 1, state.t))
        value = episode_return(self.unwrapped, before, after, params)
        return out._replace(info={**out.info, "episode_return": value, "episode_length": after.t})


@dataclasses.dataclass(frozen=True)
class AutoReset(Wrapper):
    """Begins the next episode in the step that ends one.

    ``obs`` and ``state`` are then those of the new episode; reward and flags are those of the
    ending; ``info["final_observation"]`` is what the step itself led to, in every step, so
    that values can be bootstrapped. A reset is a look-up of the start cell: no maze is made,
    and an observation that nobody reads is not computed.

    The state that goes in is one whose episode goes on, as every state is that ``reset`` and ``step``
    return; what happens in one that has ended is not defined.

    Attributes:
        env: a `Labyrinth`, or `EpisodeStatistics` of one.
        next_maze: ``"same"`` plays the maze again; ``"another"`` goes on to one drawn
            uniformly from the set. Then each environment of a batch needs a key of its own;
            with one key for all of them, all that end in this step move on by the same
            number of mazes (cheaper, and uniform for each).

    >>> from jaxlab import Labyrinth, from_edges
    >>> env = AutoReset(Labyrinth((1, 2)))
    >>> params = env.params(from_edges([(0, 1)], (1, 2), start=0, goal=1))
    >>> obs, state = env.reset(jax.random.key(0), params)
    >>> out = env.step(jax.random.key(1), state, 1, params)
    >>> bool(out.terminated), int(out.state.cell), out.info["final_observation"][0].item()
    (True, 0, 2.0)
    """

    next_maze: str = "same"

    def __post_init__(self) -> None:
        super().__post_init__()
        choose("next_maze", self.next_maze, RESET_TO)

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, key: jax.Array | None, state: State, action: jax.Array | int, params: Params) -> Step:
        """Take one action, and begin anew if it ended the episode; the key is consumed."""
        # No state that comes back has ended, so a bare environment need not ask. Its own ``step`` counts, where
        # somebody has written one.
        bare = getattr(type(self.env), "step", None) is Labyrinth.step
        out = self.env._step_open(state, action, params) if bare else self.env.step(key, state, action, params)
        maze = out.state.maze
        if self.next_maze == "another":
            if key is None:
                raise ValueError('next_maze="another" draws mazes: step needs a key')
            number = len(params.mazes)
            maze = (maze + jax.random.randint(key, (), 0, number, jnp.int32)) % number
        after = restart(out.state, maze, out.state.ended, params)
        info = {**out.info, "final_observation": out.obs}
        return out._replace(obs=self.env.observe(after, params), state=after, info=info)


def restart(state: State, maze: jax.Array, where: jax.Array, params: Params) -> State:
    """The state, or the beginning of an episode in ``maze`` where ``where`` is true."""
    zero, false = jnp.zeros((), jnp.int32), jnp.zeros((), bool)
    # The start of a maze that is not entered may be looked up too: one gather, whatever happens.
    begin = State(maze, params.mazes.start[maze], zero, zero, false, false)
    # What does not change is passed on as it is, so that the compiler can tell.
    return jax.tree.map(lambda new, old: old if new is old else jnp.where(where, new, old), begin, state)


# -- gymnax ------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Gymnax:
    """The contract of gymnax 1.0, so that code written for it runs unchanged.

    ``step(key, state, action, params=None)`` **resets by itself**, to a maze drawn from
    the set, and returns ``(obs, state, reward, terminated, truncated, info)`` with both flags
    and ``final_observation`` in ``info``. ``step_env`` and ``reset_env`` are the bare ones.

    Attributes:
        env: the environment.
        default_params: what ``params=None`` stands for. Under ``jit`` they become constants
            of the program; pass params as an argument where mazes change.

    >>> from jaxlab import Labyrinth, from_edges
    >>> env = Labyrinth((1, 2))
    >>> env = Gymnax(env, env.params(from_edges([(0, 1)], (1, 2), start=0, goal=1)))
    >>> obs, state = env.reset(jax.random.key(0))
    >>> obs, state, reward, terminated, truncated, info = env.step(jax.random.key(1), state, 1)
    >>> bool(terminated), bool(truncated), int(state.cell)
    (True, False, 0)
    """

    env: Labyrinth
    default_params: Params

    @property
    def name(self) -> str:
        """Name of the environment."""
        return "Labyrinth-v0"

    @property
    def num_actions(self) -> int:
        """4: up, right, down, left."""
        return self.env.action_space.n

    def action_space(self, params: Params | None = None) -> Discrete:
        """The actions; the same for all params."""
        del params
        return self.env.action_space

    def observation_space(self, params: Params | None = None) -> Space:
        """The observations; the same for all params."""
        del params
        return self.env.observation_space

    def reset(self, key: jax.Array, params: Params | None = None) -> tuple[Any, State]:
        """Begin in a maze drawn from the set; the key is consumed. Returns (obs, state)."""
        return self.env.reset(key, self._or_default(params))

    def reset_env(self, key: jax.Array, params: Params) -> tuple[Any, State]:
        """The same as `reset`."""
        return self.env.reset(key, params)

    def step(self, key: jax.Array, state: State, action: jax.Array | int, params: Params | None = None) -> Any:
        """Take one action, and reset at the end of an episode; the key is consumed."""
        out = AutoReset(EpisodeStatistics(self.env), "another").step(key, state, action, self._or_default(params))
        info = {**out.info, "terminated": out.terminated, "truncated": out.truncated}
        return out.obs, out.state, out.reward, out.terminated, out.truncated, info

    def step_env(
        self, key: jax.Array, state: State, action: jax.Array | int, params: Params
    ) -> tuple[Any, State, jax.Array, jax.Array, dict[str, Any]]:
        """Take one action without a reset. Returns (obs, state, reward, terminated, info)."""
        out = self.env.step(key, state, action, params)
        return out.obs, out.state, out.reward, out.terminated, out.info

    def observe(self, key: jax.Array, state: State, action: Any, params: Params) -> Any:
        """What the agent sees; key and action are not used."""
        del key, action
        return self.env.observe(state, params)

    def get_obs(self, state: State, params: Params | None = None, key: jax.Array | None = None) -> Any:
        """What the agent sees."""
        del key
        return self.env.observe(state, self._or_default(params))

    def is_terminated(self, state: State, params: Params | None = None) -> jax.Array:
        """``bool``: goal or fall."""
        del params
        return state.terminated

    is_terminal = is_terminated

    def is_truncated(self, state: State, params: Params | None = None) -> jax.Array:
        """``bool``: the time limit was reached without either."""
        del params
        return state.truncated

    def discount(self, state: State, params: Params | None = None) -> jax.Array:
        """``float32``: 0 after a termination, 1 otherwise (also at the time limit)."""
        del params
        return jnp.where(state.terminated, jnp.float32(0), jnp.float32(1))

    def _or_default(self, params: Params | None) -> Params:
        return self.default_params if params is None else params


class FiveTuple(Gymnax):
    """gymnax before 1.0: ``obs, state, reward, done, info``, resetting by itself.

    ``done`` joins both endings, so bootstrap with ``info["discount"]`` (0 only after a
    termination), ``info["terminated"]``, ``info["truncated"]`` and ``info["final_observation"]``.
    ``info`` also holds what purejaxrl's logging reads: ``returned_episode``,
    ``returned_episode_returns`` and ``returned_episode_lengths`` (valid where the first is true).
    """

    def step(self, key: jax.Array, state: State, action: jax.Array | int, params: Params | None = None) -> Any:
        """Take one action, and reset at the end of an episode; the key is consumed."""
        obs, state, reward, terminated, truncated, info = super().step(key, state, action, params)
        done = terminated | truncated
        info |= {
            "discount": jnp.where(terminated, jnp.float32(0), jnp.float32(1)),
            "returned_episode": done,
            "returned_episode_returns": info["episode_return"],
            "returned_episode_lengths": info["episode_length"],
        }
        return obs, state, reward, done, info

    def step_env(self, key: jax.Array, state: State, action: jax.Array | int, params: Params) -> Any:
        """Take one action without a reset. Returns (obs, state, reward, done, info)."""
        out = self.env.step(key, state, action, params)
        return out.obs, out.state, out.reward, out.terminated | out.truncated, out.info
