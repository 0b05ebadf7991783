"""Tiles: what a cell does to a move that enters it, as injected pure functions.

The environment proposes a `Move` (walk one cell, or stay at a wall) and shows it to
each tile in turn. Key-and-door and ice are tiles like any other; the core knows none.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid
from jaxlab.errors import whole
from jaxlab.maze import Maze

Color = tuple[int, int, int]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Move:
    """Where an action leads. Scalars (or any batch of them).

    Attributes:
        cell: ``int32``, the cell the agent ends on.
        mode: ``int32``, the memory after the move; inside a tile, that tile's own memory.
        cost: ``int32``, time that the move takes, at least 1.
        fell: ``bool``, the episode ends in failure.
    """

    cell: jax.Array
    mode: jax.Array
    cost: jax.Array
    fell: jax.Array

    def replace(self, **changes: Any) -> Move:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True)
class Before:
    """What a tile can see of the state before the move.

    Attributes:
        cell: ``int32``, the agent's cell.
        mode: ``int32``, this tile's own memory, ``0 .. modes - 1``.
        action: ``int32``, the action taken.
        leaving: ``bool``, the agent stands on a tile of this kind.
        mazes: the set of mazes, with a leading axis.
        index: ``int32``, which of them the agent is in.
    """

    cell: jax.Array
    mode: jax.Array
    action: jax.Array
    leaving: jax.Array
    mazes: Maze
    index: jax.Array

    def walk(self, cell: jax.Array, action: jax.Array) -> jax.Array:
        """The cell that ``action`` leads to from ``cell`` when only walls matter."""
        return walk(self.mazes, self.index, cell, action)

    def has(self, name: str, cell: jax.Array) -> jax.Array:
        """``bool``: does ``cell`` hold the tile (or layer of the maze's ``tiles``) called ``name``?"""
        return has(self.mazes.tiles[name], self.index, cell)

    def other(self, name: str, cell: jax.Array) -> jax.Array:
        """The first cell that holds ``name`` besides ``cell``; ``cell`` itself where there is none."""
        layer = self.mazes.tiles[name]
        flat = layer.reshape(layer.shape[0], -1)[self.index].at[cell].set(False)
        return jnp.where(flat.any(), jnp.argmax(flat).astype(jnp.int32), cell)


TileFunction = Callable[[jax.Array, Before, Move], Move]


@dataclasses.dataclass(frozen=True)
class Tile:
    """A kind of cell.

    Attributes:
        name: the layer of ``Maze.tiles`` that says where such cells lie.
        move: pure function ``(entering bool, before Before, move Move) -> Move``. It may
            change where the move ends, the tile's own memory, whether the agent falls,
            and the cost. It is compared by identity: pass a module-level function.
        modes: how many states of memory the tile has; it starts each episode in 0.
        color: RGB 0..255 of the picture, or one RGB for each mode, or None (not drawn).

    >>> def wade(entering, before, move):
    ...     return move.replace(cost=jnp.where(entering, 5, move.cost))
    >>> mud = Tile("mud", wade, color=(120, 90, 50))
    """

    name: str
    move: TileFunction
    modes: int = 1
    color: Color | tuple[Color, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"a tile's name must be a non-empty string, got {self.name!r}")
        if not callable(self.move):
            raise ValueError(f"tile {self.name!r}: move must be a function, got {self.move!r}")
        object.__setattr__(self, "modes", whole(f"tile {self.name!r}: modes", self.modes, 1))
        if self.color is not None:
            colors = self.colors  # raises on a bad colour
            # Lists become tuples: environments are hashed, and with them their tiles.
            one_each = isinstance(self.color[0], (tuple, list))
            object.__setattr__(self, "color", colors if one_each else colors[0])

    @property
    def colors(self) -> tuple[Color, ...]:
        """One RGB for each mode; empty when the tile is not drawn."""
        if self.color is None:
            return ()
        try:
            given = self.color if isinstance(self.color[0], (tuple, list)) else (self.color,) * self.modes
            colors = tuple((int(r), int(g), int(b)) for r, g, b in given)
        except (TypeError, ValueError, IndexError):
            raise ValueError(f"tile {self.name!r}: color must be (red, green, blue), got {self.color!r}") from None
        if len(colors) != self.modes or any(not 0 <= value <= 255 for color in colors for value in color):
            raise ValueError(
                f"tile {self.name!r}: color must be one RGB of 0..255, or one for each of its "
                f"{self.modes} modes, got {self.color!r}"
            )
        return colors


KEY_NOT_TAKEN, KEY_HELD, DOOR_OPENED = 0, 1, 2


def _unlock(entering: jax.Array, before: Before, move: Move) -> Move:
    """Take the key by stepping on it; the door lets in whoever holds it, and then stays open."""
    del entering  # key and door are single cells of the maze, not a layer
    key, door = before.mazes.key[before.index], before.mazes.door[before.index]
    at_door = move.cell == door
    shut_out = at_door & (before.mode == KEY_NOT_TAKEN)
    cell = jnp.where(shut_out, before.cell, move.cell)
    takes = (cell == key) & (before.mode == KEY_NOT_TAKEN)
    opens = at_door & (before.mode == KEY_HELD)
    mode = jnp.where(takes, KEY_HELD, jnp.where(opens, DOOR_OPENED, before.mode))
    return move.replace(cell=cell, mode=mode)


def _fall(entering: jax.Array, before: Before, move: Move) -> Move:
    """Thin ice: whoever enters falls, and the episode ends."""
    del before
    return move.replace(fell=move.fell | entering)


KEY_AND_DOOR = Tile("key_and_door", _unlock, modes=3)
ICE = Tile("ice", _fall)


def walk(mazes: Maze, index: jax.Array, cell: jax.Array, action: jax.Array) -> jax.Array:
    """The neighbour on side ``action`` of ``cell`` in maze ``index``, or ``cell`` itself behind a wall."""
    walls = look(mazes.walls, index, cell).astype(jnp.int32)
    # One lookup in 64 entries is more than twice as fast on CPU as shifting and selecting.
    # An action outside 0..3 counts modulo 4: nothing can be raised here, nor step through a wall.
    offset = jnp.asarray(_offsets(mazes.shape[1]))
    return cell + offset.at[walls * grid.NUM_ACTIONS + (action & 3)].get(mode="clip")


@functools.cache
def _offsets(cols: int) -> np.ndarray:
    """``int32[64]``: how the cell index changes, by ``4 * walls + action``."""
    table = [
        0 if walls >> action & 1 else grid.ROW_STEP[action] * cols + grid.COL_STEP[action]
        for walls in range(grid.ALL_WALLS + 1)
        for action in range(grid.NUM_ACTIONS)
    ]
    return np.array(table, np.int32)


def look(layer: jax.Array, index: jax.Array, cell: jax.Array) -> jax.Array:
    """The value of ``cell`` of maze ``index`` in a layer ``[N, H, W]``."""
    # Both indices are known to be at least 0: saying so spares the test for negative ones.
    return layer.reshape(layer.shape[0], -1).at[index, cell].get(mode="clip")


def has(layer: jax.Array, index: jax.Array, cell: jax.Array) -> jax.Array:
    """``bool``: is ``cell`` of maze ``index`` set in a layer ``bool[N, H, W]``?"""
    return look(layer, index, cell)


def layer_of(tile: Tile, mazes: Maze) -> jax.Array | None:
    """Where a tile lies: ``bool[N, H, W]``; None for key and door, which are cells and no layer."""
    if tile is KEY_AND_DOOR:
        return None
    return mazes.ice if tile is ICE else mazes.tiles[tile.name]


def propose(
    tiles: tuple[Tile, ...], mazes: Maze, index: jax.Array, cell: jax.Array, mode: jax.Array, action: jax.Array
) -> Move:
    """The rule of movement: walk, then let every tile change the move, in order.

    Args:
        tiles: static, in the order in which they act.
        mazes: with a leading axis.
        index, cell, mode, action: ``int32`` scalars. ``mode`` is mixed radix over the
            tiles' own memories, the first tile's fastest.
    """
    false = jnp.zeros((), bool)
    move = Move(walk(mazes, index, cell, action), mode, jnp.ones((), jnp.int32), false)
    radix = 1
    for tile in tiles:
        own = mode // radix % tile.modes if tile.modes > 1 else jnp.zeros_like(mode)
        layer = layer_of(tile, mazes)
        entering = leaving = false
        if layer is not None:
            entering = has(layer, index, move.cell) & (move.cell != cell)
            leaving = has(layer, index, cell)
        after = tile.move(entering, Before(cell, own, action, leaving, mazes, index), move.replace(mode=own))
        _check_move(tile, after)
        total = move.mode + (after.mode - own) * radix if tile.modes > 1 else move.mode
        move = Move(
            jnp.asarray(after.cell, jnp.int32),
            jnp.asarray(total, jnp.int32),
            jnp.asarray(after.cost, jnp.int32),
            jnp.asarray(after.fell, bool),
        )
        radix *= tile.modes
    return move


def _check_move(tile: Tile, after: Any) -> None:
    """Raise ``TypeError`` unless a tile gave a move in whole numbers: fractions would be cut off without a word."""
    if not isinstance(after, Move):
        raise TypeError(f"tile {tile.name!r}: move must return a jaxlab.Move, got {type(after).__name__}")
    for name in ("cell", "mode", "cost"):
        kind = jnp.result_type(getattr(after, name))
        if jnp.issubdtype(kind, jnp.inexact):
            raise TypeError(f"tile {tile.name!r} gives a move a {name} of {kind}: it must be a whole number (int32)")


@dataclasses.dataclass(frozen=True)
class Rule:
    """`propose` with its tiles, equal by value.

    So environments that differ only in what they show or pay share one compiled solver.
    """

    tiles: tuple[Tile, ...]

    def __call__(self, mazes: Maze, index: jax.Array, cell: jax.Array, mode: jax.Array, action: jax.Array) -> Move:
        """Where an action leads from (``cell``, ``mode``) of maze ``index``; all ``int32`` scalars."""
        return propose(self.tiles, mazes, index, cell, mode, action)


def own_modes(tiles: tuple[Tile, ...], mode: jax.Array) -> list[jax.Array]:
    """Split ``mode`` into each tile's own memory."""
    own, radix = [], 1
    for tile in tiles:
        own.append(mode // radix % tile.modes)
        radix *= tile.modes
    return own


def num_modes(tiles: tuple[Tile, ...]) -> int:
    """How many memories the tiles have together."""
    total = 1
    for tile in tiles:
        total *= tile.modes
    return total
