"""Gymnasium's vector environment: one jitted step for all sub-environments."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from jaxlab import grid
from jaxlab.env import Labyrinth, Params, State
from jaxlab.gym_shared import FPS, PIXELS, check_later, core, draw_mazes, keeps_maze, maze_seed, to_gymnasium, to_numpy
from jaxlab.maze import Maze
from jaxlab.render import of_state
from jaxlab.wrappers import restart

NEXT_STEP, SAME_STEP, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED


class LabyrinthVectorEnv(gymnasium.vector.VectorEnv):
    """Many Labyrinths stepped together: ``gym.make_vec("Labyrinth-v0", num_envs=1024)``.

    Sub-environment ``i`` behaves as `jaxlab.gym.LabyrinthEnv` reset with ``seed + i`` does, step
    by step: it plays its own maze again until ``reset(seed=)`` or ``options={"agent": False}``.
    ``metadata["autoreset_mode"]`` says when an episode that ended begins anew.

    Args:
        num_envs: how many.
        autoreset_mode: ``NextStep`` (the default: the step after an ending ignores its action and
            resets), ``SameStep`` (the ending resets; ``info["final_obs"]`` and ``info["final_info"]``
            hold what it led to) or ``Disabled`` (reset with ``options={"reset_mask": mask}``).
        shape, occlusion, key_and_door, icy_floor, render_mode, observation, pixels, mazes,
            start_goal, max_steps, choices: as for `LabyrinthEnv`; ``render_mode`` is
            ``"rgb_array"`` or None.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": FPS, "autoreset_mode": NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        shape: tuple[int, int] = (5, 5),
        occlusion: bool = False,
        key_and_door: bool = False,
        icy_floor: bool = False,
        render_mode: str | None = None,
        observation: str | None = None,
        pixels: int = PIXELS,
        mazes: Maze | None = None,
        start_goal: str = "biased",
        max_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = NEXT_STEP,
        **choices: Any,
    ) -> None:
        if isinstance(num_envs, bool) or int(num_envs) != num_envs or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number of at least 1, got {num_envs!r}")
        self.num_envs = int(num_envs)
        self.core = core(shape, occlusion, key_and_door, icy_floor, render_mode, observation, pixels, **choices)
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = gymnasium.spaces.Discrete(grid.NUM_ACTIONS)
        self.single_observation_space = to_gymnasium(self.core.observation_space)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        check_later(self.core, start_goal, max_steps)
        self._start_goal, self._max_steps = start_goal, max_steps
        self._randoms: list[np.random.Generator | None] = [None] * self.num_envs
        self._set = None if mazes is None else self.core.params(mazes, max_steps)
        self._params: Params | None = None
        self._index = np.zeros(self.num_envs, np.int32)
        self._state: State | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every sub-environment, or in those of ``options["reset_mask"]``.

        Args:
            seed: sub-environment ``i`` gets ``seed + i``; or one for each (None: its stream goes on).
            options: ``agent`` as for the single environment; ``reset_mask``, ``bool[num_envs]``.
        """
        options = dict(options or {})
        mask = self._mask(options.pop("reset_mask", None))
        keep = keeps_maze(options)
        seeds = self._seeds(seed)
        redraw = np.zeros(self.num_envs, bool)
        for i in np.flatnonzero(mask).tolist():
            if seeds[i] is not None or self._randoms[i] is None:
                self._randoms[i] = seeding.np_random(seeds[i])[0]
            redraw[i] = not keep or self._params is None or (seeds[i] is not None and not self._stays)
        if redraw.any():
            self._redraw(redraw)
        begun, obs, info = _reset(self.core, self._state, jnp.asarray(self._index), jnp.asarray(mask), self._params)
        self._state = begun
        return to_numpy(obs), _infos(np.asarray(info), mask)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one action in each sub-environment; ``actions`` are integers ``0..3``, ``[num_envs]``."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        actions = self._checked(actions)
        if self.autoreset_mode is DISABLED and np.asarray(self._state.ended).any():
            raise gymnasium.error.ResetNeeded('an episode is over: reset it with options={"reset_mask": mask}')
        same = self.autoreset_mode is SAME_STEP
        out = _step(self.core, same, self._state, actions, self._params)
        self._state, final = out.state, out.final
        numbers = np.array(out.numbers)
        reward, terminated, truncated = numbers[0], numbers[1] > 0, numbers[2] > 0
        infos = _infos(numbers[3:], np.ones(self.num_envs, bool))
        done = terminated | truncated
        if same and done.any():
            final_obs = to_numpy(_observe(self.core, final, self._params))
            infos |= {"final_obs": final_obs, "_final_obs": done, "_final_info": done.copy()}
            infos["final_info"] = _infos(np.array(out.final_numbers), done)
        return to_numpy(out.obs), reward, terminated, truncated, infos

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture ``uint8[S, S, 3]`` of each sub-environment."""
        if self.render_mode is None:
            return None
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        return tuple(np.array(_pictures(self.core, self._state, self._params)))

    @property
    def mazes(self) -> Maze:
        """The maze of each sub-environment."""
        if self._params is None:
            raise gymnasium.error.ResetNeeded("call reset() first: it draws the mazes")
        return jax.tree.map(lambda leaf: np.asarray(leaf)[self._index], self._params.mazes)

    # -- helpers -----------------------------------------------------------------------------------

    @property
    def _stays(self) -> bool:
        """A single maze was given, and every seed plays it."""
        return self._set is not None and len(self._set.mazes) == 1

    def _redraw(self, where: np.ndarray) -> None:
        randoms = [random for random, wanted in zip(self._randoms, where, strict=True) if wanted and random is not None]
        if self._set is not None:
            self._params = self._set
            if not self._stays:
                self._index[where] = [random.integers(len(self._set.mazes)) for random in randoms]
            return
        seeds = np.array([maze_seed(random) for random in randoms], np.uint32)
        drawn = draw_mazes(self.core, seeds, self._start_goal)
        if self._params is not None and not where.all():
            old = jax.tree.map(np.array, self._params.mazes)
            for kept, new in zip(jax.tree.leaves(old), jax.tree.leaves(drawn), strict=True):
                kept[where] = new
            drawn = old
        self._params = self.core.params(drawn, self._max_steps)
        self._index = np.arange(self.num_envs, dtype=np.int32)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"one seed for each of {self.num_envs} sub-environments, got {len(seed)}")
        return seed

    def _mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"reset_mask must be bool[{self.num_envs}] with at least one True, got {mask!r}")
        if self._state is None and not mask.all():
            raise gymnasium.error.ResetNeeded("the first reset is one of all sub-environments")
        return mask

    def _checked(self, actions: Any) -> np.ndarray:
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(
                f"actions must be integers of shape {(self.num_envs,)}, got {actions.dtype}{actions.shape}"
            )
        if actions.min() < 0 or actions.max() >= grid.NUM_ACTIONS:
            raise ValueError(f"actions must be 0 up, 1 right, 2 down or 3 left, got {actions}")
        return actions.astype(np.int32)


class _Stepped(NamedTuple):
    """What a step of all sub-environments leaves.

    Few arrays, for each costs the host some microseconds: ``numbers`` is ``float32[7, num_envs]``,
    reward, terminated, truncated and the four of `INFO`; ``final`` and ``final_numbers``
    (``float32[4, num_envs]``) are of the moment before any reset.
    """

    obs: Any
    state: State
    numbers: jax.Array
    final: State
    final_numbers: jax.Array


INFO: dict[str, Any] = {"success": np.bool_, "fell": np.bool_, "is_optimal": np.bool_, "distance": np.int64}


def _numbers(*values: jax.Array) -> jax.Array:
    return jnp.stack([value.astype(jnp.float32) for value in values])


def _infos(numbers: np.ndarray, where: np.ndarray) -> dict[str, Any]:
    """Arrays by name, each with the mask of where it counts, as Gymnasium has them."""
    infos: dict[str, Any] = {}
    for (name, dtype), row in zip(INFO.items(), numbers, strict=True):
        infos[name], infos[f"_{name}"] = row.astype(dtype), where.copy()
    return infos


def _first_info(state: State, params: Params) -> dict[str, jax.Array]:
    """What ``info`` holds after a reset."""
    no = jnp.zeros(state.cell.shape, bool)
    assert params.shortest is not None
    return {"success": no, "fell": no, "is_optimal": no, "distance": params.shortest[state.maze]}


@functools.partial(jax.jit, static_argnums=0)
def _observe(env: Labyrinth, state: State, params: Params) -> Any:
    return jax.vmap(env.observe, (0, None))(state, params)


@functools.partial(jax.jit, static_argnums=0)
def _reset(env: Labyrinth, state: State | None, index: jax.Array, mask: jax.Array, params: Params) -> Any:
    begun = jax.vmap(lambda i: env.reset_to(i, params)[1])(index)
    if state is not None:
        begun = jax.tree.map(lambda new, old: jnp.where(mask, new, old), begun, state)
    info = _first_info(begun, params)
    return begun, jax.vmap(env.observe, (0, None))(begun, params), _numbers(*(info[name] for name in INFO))


@functools.partial(jax.jit, static_argnums=(0, 1))
def _step(env: Labyrinth, same: bool, state: State, actions: jax.Array, params: Params) -> Any:
    """All sub-environments at once; the observation of an ending is left to whoever reads it."""
    over = state.ended
    out = jax.vmap(env.step, (None, 0, 0, None))(None, state, actions, params)
    where = out.state.ended if same else over
    after = jax.vmap(restart, (0, 0, 0, None))(out.state, out.state.maze, where, params)
    begun = _first_info(after, params)
    info = {name: jnp.where(where, begun[name], value) for name, value in out.info.items()}
    obs = jax.vmap(env.observe, (0, None))(after, params)
    flags = out.reward, out.terminated & ~over, out.truncated & ~over
    numbers = _numbers(*flags, *(info[name] for name in INFO))
    return _Stepped(obs, after, numbers, out.state, _numbers(*(out.info[name] for name in INFO)))


@functools.partial(jax.jit, static_argnums=0)
def _pictures(env: Labyrinth, state: State, params: Params) -> jax.Array:
    def picture(one: State) -> jax.Array:
        maze = jax.tree.map(lambda leaf: leaf[one.maze], params.mazes)
        return of_state(env.active_tiles, maze, one.cell, one.mode, env.pixels, env.occlusion)

    return jax.vmap(picture)(state)
