"""Observations: a scene as a vector, a grid of one-hot planes, or a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp

from jaxlab import grid, render, spaces, tiles
from jaxlab.maze import NONE, lattice
from jaxlab.scene import Scene, lattice_position

PLANES = ("wall_up", "wall_right", "wall_down", "wall_left", "agent", "start", "goal", "key", "door", "ice", "visible")
"""The planes of the grid observation; own tiles follow."""

WALL_VALUE, ICE_VALUE, OWN_VALUE = 1, 2, 3
"""Values on the fine grid of the vector; the i-th own tile shows as 3 + i."""


class Choices(Protocol):
    """What an observation may ask of the environment; all of it static."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def active_tiles(self) -> tuple[tiles.Tile, ...]:
        """All tiles in the order in which they act."""
        ...

    @property
    def pixels(self) -> int:
        """Side of the picture."""
        ...

    @property
    def view(self) -> int | None:
        """Side of the window, or None."""
        ...


class Observation(NamedTuple):
    """A way of seeing: the function of a scene, and the space of its values."""

    function: Callable[[Any, Scene], Any]
    space: Callable[[Any], spaces.Space]


def _own(env: Choices) -> list[tiles.Tile]:
    return [tile for tile in env.active_tiles if tile not in (tiles.KEY_AND_DOOR, tiles.ICE)]


# -- vector ----------------------------------------------------------------------------------------


def vector(env: Choices, seen: Scene) -> jax.Array:
    """``float32[3 + (2H-1)(2W-1)]``: agent, start, goal, then the fine grid row by row from the bottom.

    Positions count cells of the fine grid. With key and door the head goes on with both
    (-1 once taken or opened), then with the memory of own tiles that have one. Hidden
    cells are 1, as walls are.
    """
    height, width = env.shape
    places = [seen.cell, seen.start, seen.goal]
    if seen.key is not None and seen.door is not None:
        places += [seen.key, seen.door]
    head = lattice_position(jnp.stack(places), width).astype(jnp.float32)
    memory = [drawn.mode.astype(jnp.float32)[None] for drawn in seen.own if drawn.tile.modes > 1]
    fine = lattice(seen.walls)
    cells = jnp.zeros((height, width), jnp.uint8)
    if seen.ice is not None:
        cells = jnp.where(seen.ice, jnp.uint8(ICE_VALUE), cells)
    for i, drawn in enumerate(seen.own):
        cells = jnp.where(drawn.layer, jnp.uint8(OWN_VALUE + i), cells)
    if seen.visible is not None:
        fine, cells = _hide(fine, cells, seen)
    if seen.ice is not None or seen.own or seen.visible is not None:
        fine = fine.at[::2, ::2].set(cells)
    return jnp.concatenate([head, *memory, fine.ravel().astype(jnp.float32)])


def _hide(fine: jax.Array, cells: jax.Array, seen: Scene) -> tuple[jax.Array, jax.Array]:
    """Hidden cells become walls, and so do the passages between two of them; start and goal stay clear."""
    assert seen.visible is not None
    hidden = ~seen.visible
    wall = jnp.uint8(WALL_VALUE)
    fine = fine.at[::2, 1::2].set(jnp.where(hidden[:, :-1] & hidden[:, 1:], wall, fine[::2, 1::2]))
    fine = fine.at[1::2, ::2].set(jnp.where(hidden[:-1] & hidden[1:], wall, fine[1::2, ::2]))
    index = jnp.arange(hidden.size, dtype=jnp.int32).reshape(hidden.shape)
    ends = (index == seen.start) | (index == seen.goal)
    return fine, jnp.where(ends, jnp.uint8(0), jnp.where(hidden, wall, cells))


def _vector_space(env: Choices) -> spaces.Box:
    height, width = env.shape
    fine = (2 * height - 1) * (2 * width - 1)
    head = 5 if tiles.KEY_AND_DOOR in env.active_tiles else 3
    memory = [tile.modes for tile in _own(env) if tile.modes > 1]
    high = max(fine - 1, OWN_VALUE + len(_own(env)), *(modes - 1 for modes in memory), 0)
    return spaces.Box(NONE, high, (head + len(memory) + fine,), jnp.float32)


# -- grid ------------------------------------------------------------------------------------------


def one_hot_grid(env: Choices, seen: Scene) -> Any:
    """``uint8[H, W, 11]`` of 0 and 1, planes as in `PLANES`; row 0 is the bottom row.

    Hidden cells show no wall, key, door, ice or own tile. An own tile adds the plane of
    its layer, and one constant plane for each further mode of its memory. With ``view=k``:
    a dict of ``grid`` (``uint8[k, k, planes]``, the agent in the middle, walls outside the
    maze) and ``offsets`` (``int32[4]``: rows and columns from the agent to start and goal).
    """
    shape = env.shape
    visible = jnp.ones(shape, bool) if seen.visible is None else seen.visible
    index = jnp.arange(shape[0] * shape[1], dtype=jnp.int32).reshape(shape)
    nothing = jnp.zeros(shape, bool)

    def here(cell):
        return nothing if cell is None else index == cell

    walls = [(seen.walls >> action & 1 == 1) & visible for action in range(grid.NUM_ACTIONS)]
    ice = nothing if seen.ice is None else seen.ice & visible
    planes = [*walls, here(seen.cell), here(seen.start), here(seen.goal)]
    planes += [here(seen.key) & visible, here(seen.door) & visible, ice, visible]
    for drawn in seen.own:
        planes.append(drawn.layer & visible)
        planes += [jnp.broadcast_to(drawn.mode == mode, shape) for mode in range(1, drawn.tile.modes)]
    whole = jnp.stack(planes, -1).astype(jnp.uint8)
    return whole if env.view is None else _window(whole, seen, env.view)


def _window(whole: jax.Array, seen: Scene, view: int) -> dict[str, jax.Array]:
    """Crop the grid round the agent; what lies outside the maze is walled on all sides."""
    width, reach = whole.shape[1], view // 2
    outside = jnp.zeros(whole.shape[-1:], whole.dtype).at[: grid.NUM_ACTIONS].set(1)
    framed = jnp.pad(whole - outside, ((reach, reach), (reach, reach), (0, 0))) + outside
    row, col = seen.cell // width, seen.cell % width
    cut = jax.lax.dynamic_slice(framed, (row, col, jnp.int32(0)), (view, view, whole.shape[-1]))
    ends = jnp.stack([seen.start, seen.goal])
    offsets = jnp.stack([ends // width - row, ends % width - col], -1).ravel()
    return {"grid": cut, "offsets": offsets.astype(jnp.int32)}


def _grid_space(env: Choices) -> spaces.Space:
    planes = len(PLANES) + sum(tile.modes for tile in _own(env))
    if env.view is None:
        return spaces.Box(0, 1, (*env.shape, planes), jnp.uint8)
    window = spaces.Box(0, 1, (env.view, env.view, planes), jnp.uint8)
    far = max(env.shape) - 1
    return spaces.Dict((("grid", window), ("offsets", spaces.Box(-far, far, (4,), jnp.int32))))


# -- pixels ----------------------------------------------------------------------------------------


def pixels(env: Choices, seen: Scene) -> jax.Array:
    """``uint8[S, S, 3]``: the released picture (`jaxlab.render`)."""
    return render.picture(seen, env.pixels)


def _pixels_space(env: Choices) -> spaces.Box:
    return spaces.Box(0, 255, (env.pixels, env.pixels, 3), jnp.uint8)


OBSERVATIONS = {
    "vector": Observation(vector, _vector_space),
    "grid": Observation(one_hot_grid, _grid_space),
    "pixels": Observation(pixels, _pixels_space),
}
