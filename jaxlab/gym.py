"""Gymnasium: ``gym.make("Labyrinth-v0")`` with the calls of the paper's listing.

>>> import gymnasium as gym
>>> import jaxlab
>>> environment = gym.make("Labyrinth-v0", shape=(3, 3), observation="vector")
>>> environment.load(jaxlab.from_edges([(0, 1), (1, 2), (2, 5), (5, 8)], (3, 3), start=0, goal=8))
>>> obs, info = environment.reset(options={"agent": True})
>>> environment.solve(mode="shortest")
[[0, 1, 2, 5, 8]]
>>> obs, reward, done, truncated, info = environment.step(1)
>>> info["is_optimal"], info["distance"]
(True, 3)
"""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import draw, generate, grid, registration, show, text, tiles
from jaxlab.env import Labyrinth, Params, State
from jaxlab.errors import PlacementError, choose
from jaxlab.gym_shared import (
    FPS,
    PIXELS,
    RENDER_MODES,
    check_later,
    core,
    draw_mazes,
    gymnasium,
    keeps_maze,
    maze_seed,
    to_gymnasium,
    to_numpy,
)
from jaxlab.maze import NONE, Maze, marks, single
from jaxlab.render import of_state
from jaxlab.solve.enumerate import every_path
from jaxlab.text import Settings
from jaxlab.window import Window

registration.register()

SOLVE_MODES = ("shortest", "all")


class LabyrinthEnv(gymnasium.Env):
    """One Labyrinth behind Gymnasium's interface.

    ``reset(seed=s)`` draws the maze that ``s`` names; ``reset()`` keeps the maze, and so does
    ``options={"agent": True}``; ``options={"agent": False}`` draws the next maze of the stream
    that the seed began. A maze that was given or loaded stays until ``{"agent": False}``.

    Observations are numpy arrays of the declared type, rewards and flags Python's own.
    ``info`` always holds ``success``, ``fell``, ``is_optimal`` and ``distance``.

    Args:
        shape: (rows, columns).
        occlusion, key_and_door, icy_floor: the settings; they combine.
        render_mode: ``"rgb_array"``, ``"ansi"``, ``"human"`` (a pygame window; text
            in the terminal without pygame or display) or None.
        observation: ``"vector"``, ``"grid"`` or ``"pixels"``. By default the render mode decides,
            as in the paper: pixels with ``"rgb_array"``, the vector otherwise.
        pixels: side of pictures, observed or rendered.
        mazes: play these: one maze, or a set from which seeds draw. None: generated ones.
        start_goal: ``"biased"`` or ``"unbiased"``, for generated mazes.
        max_steps: time limit; default 40 * H * W.
        choices: further choices of `jaxlab.Labyrinth` (``reward``, ``view``, ``fall_return``, ``tiles``).
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012  (Gymnasium's own form)

    def __init__(
        self,
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
        **choices: Any,
    ) -> None:
        self.core = core(shape, occlusion, key_and_door, icy_floor, render_mode, observation, pixels, **choices)
        self.render_mode = render_mode
        check_later(self.core, start_goal, max_steps)
        self._start_goal = start_goal
        self._max_steps = max_steps
        self._window = Window("Labyrinth", FPS) if render_mode == "human" else None
        self._set = None if mazes is None else self._checked(mazes)
        self._fixed = False  # a maze that was loaded, and stays
        self._state: State | None = None
        self._over = False
        self._maze: Maze | None = None
        self._set_spaces()
        if self._set is not None and len(self._set) == 1:
            self._play(self._set[0], fixed=True)

    # -- Gymnasium ---------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: names a maze, and begins the stream of those to come.
            options: ``{"agent": True}`` keeps the maze (the default), ``{"agent": False}`` draws another.
        """
        super().reset(seed=seed)
        keep = keeps_maze(options)
        if self._maze is None or not keep or (seed is not None and not self._fixed):
            self._play(self._draw(), fixed=False)
        obs, self._state = self.core.reset_to(0, self._params)
        self._over = False
        return self._seen(obs), self._first_info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action: ``0..3``, up, right, down, left.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset, or after the episode's end.
            ValueError: another action.
        """
        state = self._running("step")
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() before the next step")
        obs, self._state, numbers = _step(self.core, state, checked_action(action), self._params)
        reward, terminated, truncated, success, fell, is_optimal, distance = np.asarray(numbers).tolist()
        self._over = bool(terminated or truncated)
        info = {
            "success": bool(success),
            "fell": bool(fell),
            "is_optimal": bool(is_optimal),
            "distance": int(distance),
        }
        return self._seen(obs), reward, bool(terminated), bool(truncated), info

    def render(self) -> Any:
        """A picture ``uint8[S, S, 3]``, a text, or a frame in the window, as ``render_mode`` says."""
        if self.render_mode is None:
            gymnasium.logger.warn('render() draws nothing: make the environment with render_mode="rgb_array"')
            return None
        state = self._running("render")
        if self.render_mode == "ansi":
            return self._text(state)
        picture = self._picture(state)
        if self._window is None:
            return picture
        self._window.show(picture, self._text(state))
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    # -- what the paper's listing calls ------------------------------------------------------------

    @property
    def maze(self) -> Maze:
        """The maze that is played (drawn at the first reset)."""
        return self._maze_now

    @property
    def settings(self) -> Settings:
        """The settings, in the words of the file language."""
        return Settings(self.core.key_and_door, self.core.icy_floor, self.core.occlusion)

    def solve(self, mode: str = "shortest") -> list[list[int]]:
        """Solutions from the start, each a list of cells with start and goal.

        Args:
            mode: ``"shortest"``: a list with one shortest solution; ``"all"``: every one (with ice
                every safe one, with key and door every one that fetches the key first). The
                time limit is left out of account.

        Raises:
            ValueError: another mode; ``"shortest"``: there is no solution; ``"all"``: there are
                more than can be listed (`jaxlab.solve.iter_paths` gives one after another).
        """
        maze = self._maze_now
        if choose("mode", mode, SOLVE_MODES) == "all":
            return every_path(maze, self.core)
        return [[cell for cell, _ in show.shortest(self.core, self._params)]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write maze and settings to a ``.labyrinth`` file."""
        text.save(path, self._maze_now, self.settings)

    def load(self, maze: Maze | str | os.PathLike[str], settings: Settings | None = None) -> None:
        """Play a maze from a file (or a `jaxlab.Maze`) from the next reset on.

        The file's settings replace the environment's, and a maze of another shape changes
        the spaces. The maze stays until another is loaded or ``reset(options={"agent": False})``.

        Raises:
            ValueError, TypeError: no single maze, or one that does not fit the settings: the
                environment is then left as it was.
        """
        if not isinstance(maze, Maze):
            maze, settings = text.load(maze)
        single(maze)
        chosen = settings or self.settings
        core = dataclasses.replace(
            self.core,
            shape=maze.shape,
            key_and_door=chosen.key_and_lock,
            icy_floor=chosen.icy_floor,
            occlusion=chosen.occlusion,
        )
        params = core.params(maze, self._max_steps)
        self.core, self._set = core, None
        self._set_spaces()
        self._begin(maze, params, fixed=True)

    def change_start(self) -> int:
        """Move the start: uniform over the other cells at least ``(H + W) // 2`` from the goal.

        Returns:
            The new start. It counts from the next reset on.

        Raises:
            PlacementError: no cell qualifies.
        """
        self._play(generate.new_start(self._maze_now, maze_seed(self.np_random)), fixed=self._fixed)
        return int(self.maze.start)

    def change_start_and_goal(self) -> tuple[int, int]:
        """Move start and goal by the unbiased rule: a start, then a goal far enough from it.

        Key, door and ice are placed anew, for their places follow from the two.

        Returns:
            The new start and goal. They count from the next reset on.

        Raises:
            PlacementError: no pair of cells qualifies.
        """
        moved = generate.new_start_and_goal(self._maze_now, self.settings, maze_seed(self.np_random))
        self._play(moved, fixed=self._fixed)
        return int(moved.start), int(moved.goal)

    def agent_random_position(self) -> Any:
        """Put the agent on a random cell from which the goal can be reached, and return the observation.

        The goal, ice and a door that is shut are left out. An episode that was over goes on
        from there, with the whole time limit before it.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
            PlacementError: no cell qualifies, as in a maze without a solution.
        """
        state = self._running("agent_random_position")
        alive = np.asarray(self._params.distance)[0, int(state.mode)] > 0
        alive &= ~np.asarray(self.maze.ice).ravel()
        if int(self.maze.door) != NONE and self._key_memory(state) != tiles.DOOR_OPENED:
            alive[int(self.maze.door)] = False
        if not alive.any():
            raise PlacementError(
                "no cell to put the agent on: from none besides the goal, ice and a shut door can the goal be reached"
            )
        if self._over:
            state = state.replace(t=jnp.zeros_like(state.t))
        self._state = self.core.place(state, int(self.np_random.choice(np.flatnonzero(alive))))
        self._over = False
        return self._seen(self.core.observe(self._state, self._params))

    # -- helpers -----------------------------------------------------------------------------------

    @property
    def _maze_now(self) -> Maze:
        if self._maze is None:
            self._play(self._draw(), fixed=False)
        assert self._maze is not None
        return self._maze

    def _checked(self, mazes: Maze) -> Maze:
        return jax.tree.map(np.asarray, self.core._check(mazes))

    def _draw(self) -> Maze:
        """The next maze of the seeded stream."""
        if self._set is not None:
            return self._set[int(self.np_random.integers(len(self._set)))]
        seed = np.array([maze_seed(self.np_random)], np.uint32)
        return jax.tree.map(lambda leaf: np.asarray(leaf)[0], draw_mazes(self.core, seed, self._start_goal))

    def _play(self, maze: Maze, *, fixed: bool) -> None:
        self._begin(maze, self.core.params(maze, self._max_steps), fixed=fixed)

    def _begin(self, maze: Maze, params: Params, *, fixed: bool) -> None:
        self._params = params
        self._maze, self._fixed, self._state = maze, fixed, None

    def _set_spaces(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(grid.NUM_ACTIONS)
        self.observation_space = to_gymnasium(self.core.observation_space)

    def _running(self, call: str) -> State:
        if self._state is None:
            raise gymnasium.error.ResetNeeded(f"call reset() before {call}()")
        return self._state

    def _first_info(self) -> dict[str, Any]:
        distance = int(np.asarray(self._params.shortest)[0])
        return {"success": False, "fell": False, "is_optimal": False, "distance": distance}

    def _seen(self, obs: Any) -> Any:
        """The observation as numpy arrays; the window shows what happened."""
        self._last = to_numpy(obs)
        if self._window is not None:
            self.render()
        return self._last

    def _picture(self, state: State) -> np.ndarray:
        if self.core.observation == "pixels":
            return self._last.copy()
        core = self.core
        return np.array(
            of_state(core.active_tiles, self._maze_now, state.cell, state.mode, core.pixels, core.occlusion)
        )

    def _key_memory(self, state: State) -> int:
        """The memory of key and door in a state, beside that of other tiles."""
        active = self.core.active_tiles
        memory = dict(zip(active, tiles.own_modes(active, state.mode), strict=True))
        return int(memory.get(tiles.KEY_AND_DOOR, tiles.KEY_NOT_TAKEN))

    def _text(self, state: State) -> str:
        letters = marks(self._maze_now)
        if self._key_memory(state) != tiles.KEY_NOT_TAKEN:
            letters.pop(int(self._maze_now.key), None)
        letters[int(state.cell)] = "A"
        return "\n".join(draw.rows(np.asarray(self._maze_now.walls), letters)) + "\n"


def convert_from_file(path: str | os.PathLike[str]) -> tuple[Maze, Settings]:
    """Read a ``.labyrinth`` file for ``environment.load(*convert_from_file(path))``."""
    return text.load(path)


def create_file_from_environment(environment: Any, path: str | os.PathLike[str]) -> None:
    """Write the maze and settings of an environment (wrapped or not) to a ``.labyrinth`` file."""
    environment.unwrapped.save(path)


def checked_action(action: Any) -> int:
    """The action as ``0..3``, or ``ValueError``."""
    try:
        number = int(action)
        if number == action and 0 <= number < grid.NUM_ACTIONS:
            return number
    except (TypeError, ValueError):
        pass
    raise ValueError(f"action must be 0 up, 1 right, 2 down or 3 left, got {action!r}")


@functools.partial(jax.jit, static_argnums=0)
def _step(env: Labyrinth, state: State, action: int, params: Params) -> tuple[Any, State, jax.Array]:
    """One step, with all that the host reads besides the observation in one array: one transfer."""
    out = env.step(None, state, action, params)
    info = out.info
    numbers = (out.reward, out.terminated, out.truncated, info["success"], info["fell"], info["is_optimal"])
    return out.obs, out.state, jnp.stack([jnp.float32(x) for x in (*numbers, info["distance"])])
