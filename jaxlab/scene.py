"""What there is to see of one state, before it becomes a vector, a grid or a picture."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid, tiles
from jaxlab.maze import NONE, Maze


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """A tile of the user's own: where it lies, its memory, and its colours."""

    layer: jax.Array
    mode: jax.Array
    tile: tiles.Tile = dataclasses.field(metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """One state of one maze. A field that is None is switched off and costs nothing.

    Attributes:
        walls: ``uint8[H, W]``.
        cell, start, goal: ``int32``.
        key, door: ``int32``, -1 once taken or opened; None without the setting.
        ice: ``bool[H, W]``; None without the setting.
        visible: ``bool[H, W]``; None when everything is.
        own: the user's own tiles.
    """

    walls: jax.Array
    cell: jax.Array
    start: jax.Array
    goal: jax.Array
    key: jax.Array | None
    door: jax.Array | None
    ice: jax.Array | None
    visible: jax.Array | None
    own: tuple[Drawn, ...]


def make(active: tuple[tiles.Tile, ...], maze: Maze, cell: jax.Array, mode: jax.Array, *, occlusion: bool) -> Scene:
    """The scene of one maze with the agent on ``cell`` in ``mode``. ``active`` and ``occlusion`` are static."""
    key = door = ice = None
    own = []
    for tile, memory in zip(active, tiles.own_modes(active, mode), strict=True):
        if tile is tiles.KEY_AND_DOOR:
            key = jnp.where(memory == tiles.KEY_NOT_TAKEN, maze.key, NONE)
            door = jnp.where(memory == tiles.DOOR_OPENED, NONE, maze.door)
        elif tile is tiles.ICE:
            ice = maze.ice
        else:
            own.append(Drawn(maze.tiles[tile.name], memory, tile))
    visible = visible_cells(maze.walls, cell) if occlusion else None
    return Scene(maze.walls, cell, maze.start, maze.goal, key, door, ice, visible, tuple(own))


_DIRECTIONS = np.stack(np.divmod(np.arange(9, dtype=np.int32), 3)) - np.int32(1)


def visible_cells(walls: jax.Array, cell: jax.Array) -> jax.Array:
    """Which cells the agent sees: ``bool[H, W]``.

    A cell in the agent's row or column is seen when no wall stands between; a cell on one
    of its diagonals when the staircase that begins with a horizontal step is open; its own
    cell always; no other.
    """
    height, width = walls.shape
    row, col = cell // width, cell % width
    # Nine directions, with standing still in the middle; along each, the steps 0, 1, 2, ...
    row_step, col_step = jnp.asarray(_DIRECTIONS)[:, :, None]
    steps = jnp.arange(max(height, width), dtype=jnp.int32)
    r, c = row + row_step * steps, col + col_step * steps

    def is_open(r, c, action):
        # Outside of the maze anything may be read: its frame is walled, so the view is blocked before.
        return (walls.at[r, c].get(mode="clip").astype(jnp.int32) >> action & 1) == 0

    sideways = is_open(r, c, jnp.where(col_step > 0, grid.RIGHT, grid.LEFT)) | (col_step == 0)
    lengthways = is_open(r, c + col_step, jnp.where(row_step > 0, grid.UP, grid.DOWN)) | (row_step == 0)
    blocked = jnp.cumsum(~(sideways & lengthways), axis=1)
    clear = jnp.pad(blocked == 0, ((0, 0), (1, 0)), constant_values=True)  # [direction, distance]

    rows_off = jnp.arange(height, dtype=jnp.int32)[:, None] - row
    cols_off = jnp.arange(width, dtype=jnp.int32) - col
    in_line = (rows_off == 0) | (cols_off == 0) | (jnp.abs(rows_off) == jnp.abs(cols_off))
    direction = 3 * (jnp.sign(rows_off) + 1) + jnp.sign(cols_off) + 1
    return in_line & clear[direction, jnp.maximum(jnp.abs(rows_off), jnp.abs(cols_off))]


def lattice_position(cell: jax.Array | np.ndarray, width: int) -> jax.Array:
    """The number of a cell on the fine grid, ``2 row (2W-1) + 2 col``; -1 stays -1."""
    position = 2 * (cell // width) * (2 * width - 1) + 2 * (cell % width)
    return jnp.where(cell < 0, NONE, position)
