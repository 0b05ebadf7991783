"""What the Gymnasium environment and its vector form share: arguments, seeds of mazes, arrays and spaces."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from jaxlab import generate, spaces
from jaxlab.env import MAX_STEPS, Labyrinth
from jaxlab.errors import choose, needs_extra, whole
from jaxlab.generate.carve import check_start_goal
from jaxlab.maze import Maze, concatenate
from jaxlab.text import Settings

try:
    import gymnasium as gymnasium
except ImportError:
    raise needs_extra("gymnasium", "gym") from None

RENDER_MODES = ("rgb_array", "ansi", "human")
FPS = 8
PIXELS = 600
"""Side of a picture, as in the released package and its datasets."""


def core(
    shape: tuple[int, int],
    occlusion: bool,
    key_and_door: bool,
    icy_floor: bool,
    render_mode: str | None,
    observation: str | None,
    pixels: int,
    **choices: Any,
) -> Labyrinth:
    """The environment in JAX that the arguments of ``gym.make`` ask for."""
    if render_mode is not None:
        choose("render_mode", render_mode, RENDER_MODES)
    if observation is None:
        observation = "pixels" if render_mode == "rgb_array" else "vector"
    return Labyrinth(
        shape,
        observation=observation,
        occlusion=occlusion,
        key_and_door=key_and_door,
        icy_floor=icy_floor,
        pixels=pixels,
        **choices,
    )


def check_later(env: Labyrinth, start_goal: str, max_steps: int | None) -> None:
    """Raise ``ValueError`` at once for what would be used only when a maze is drawn."""
    check_start_goal(env.shape, start_goal, None)
    if max_steps is not None:
        whole("max_steps", max_steps, 1, MAX_STEPS)


def keeps_maze(options: dict[str, Any] | None) -> bool:
    """What ``options`` of reset ask for: is the maze kept?"""
    options = dict(options or {})
    keep = options.pop("agent", True)
    for name in options:
        choose("an option of reset", name, ["agent"])
    if not isinstance(keep, (bool, np.bool_)):
        raise ValueError(f'options["agent"] must be True (keep the maze) or False (draw another), got {keep!r}')
    return bool(keep)


def maze_seed(random: np.random.Generator) -> int:
    """The next seed of a maze in a stream."""
    return int(random.integers(2**32))


def draw_mazes(env: Labyrinth, seeds: np.ndarray, start_goal: str) -> Maze:
    """One generated maze for each seed, with what the environment's settings need."""
    settings = Settings(env.key_and_door, env.icy_floor)
    if env.key_and_door or env.icy_floor:
        return concatenate(
            generate.unique(int(seed), 1, env.shape, settings=settings, start_goal=start_goal).mazes for seed in seeds
        )
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:, 0], _carve(seeds, env.shape, start_goal))


@functools.partial(jax.jit, static_argnums=(1, 2))
def _carve(seeds: jax.Array, shape: tuple[int, int], start_goal: str) -> Maze:
    """A maze for each seed, the same whether it is drawn alone or among others."""
    return jax.vmap(lambda seed: generate.mazes(jax.random.key(seed), 1, shape, start_goal))(seeds)


def to_numpy(obs: Any) -> Any:
    """An observation as numpy arrays that may be written to."""
    return np.array(obs) if isinstance(obs, jax.Array) else {name: np.array(value) for name, value in obs.items()}


def to_gymnasium(space: spaces.Space) -> gymnasium.Space:
    """A space of `jaxlab.spaces` as Gymnasium's."""
    if isinstance(space, spaces.Dict):
        return gymnasium.spaces.Dict({name: to_gymnasium(inner) for name, inner in space.items})
    if isinstance(space, spaces.Discrete):
        return gymnasium.spaces.Discrete(space.n)
    kind = np.dtype(space.dtype).type
    return gymnasium.spaces.Box(kind(space.low), kind(space.high), space.shape, kind)
