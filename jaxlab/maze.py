"""The maze: one frozen pytree, alone or with leading axes, and its conversions.

One maze and a set of 100,000 are the same type: every field may carry any leading
axes. Functions that take ``walls`` work on numpy and JAX arrays alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import draw, grid
from jaxlab.errors import whole

Array: TypeAlias = Any
"""A numpy or a JAX array: host functions give the former, traced ones the latter."""

NONE = -1
"""Cell index of a key or door that is not there."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Maze:
    """Mazes as arrays. ``...`` stands for the same leading axes in every field.

    Attributes:
        walls: ``uint8[..., H, W]``, bit ``a`` set: a wall on side ``a`` (0 up, 1 right,
            2 down, 3 left). Both sides of a wall agree; the outer boundary is walled.
        start: ``int32[...]``, the agent's first cell, ``row * W + col``, row 0 at the bottom.
        goal: ``int32[...]``, the cell to reach.
        key: ``int32[...]``, cell of the key, -1 none.
        door: ``int32[...]``, cell of the door, -1 none.
        ice: ``bool[..., H, W]``, cells that break when entered.
        tiles: ``{name: bool[..., H, W]}``, where tiles of the user's own lie.

    >>> maze = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    >>> maze
    Maze 2x2
    ---------
    |     E |
    | - +   |
    | S     |
    ---------
    """

    walls: Array
    start: Array
    goal: Array
    key: Array
    door: Array
    ice: Array
    tiles: dict[str, Array] = dataclasses.field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.walls.shape[-2:]

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The leading axes; ``()`` for a single maze."""
        return self.walls.shape[:-2]

    def replace(self, **changes: Any) -> Maze:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def __getitem__(self, index: Any) -> Maze:
        if not self.batch_shape:
            raise TypeError("this is a single maze, not a set: it has no leading axis to index")
        if isinstance(index, (int, np.integer)) and not -len(self) <= index < len(self):
            raise IndexError(f"maze {index} of a set of {len(self)}")
        return jax.tree.map(lambda leaf: leaf[index], self)

    def __len__(self) -> int:
        if not self.batch_shape:
            raise TypeError("this is a single maze, not a set: it has no length")
        return self.batch_shape[0]

    def __iter__(self) -> Iterator[Maze]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        leaves = jax.tree.leaves(self)
        if not all(isinstance(leaf, (np.ndarray, np.generic, jax.Array)) for leaf in leaves) or any(
            isinstance(leaf, jax.core.Tracer) for leaf in leaves
        ):
            return f"Maze(walls={self.walls}, start={self.start}, goal={self.goal})"
        name = "Maze {}x{}".format(*self.shape)
        if self.batch_shape:
            return f"{len(self) if len(self.batch_shape) == 1 else self.batch_shape} x {name}"
        return "\n".join([name, *draw.rows(np.asarray(self.walls), marks(self))])


def marks(maze: Maze) -> dict[int, str]:
    """The letter drawn in each special cell of a single maze: S, E, K, D, I (host)."""
    letters = {int(cell): "I" for cell in np.flatnonzero(maze.ice)}
    for letter, cell in (("K", maze.key), ("D", maze.door), ("S", maze.start), ("E", maze.goal)):
        if int(cell) != NONE:
            letters[int(cell)] = letter
    return letters


def make(walls: Array, start: Array, goal: Array, **fields: Any) -> Maze:
    """A maze (or set) from walls, starts and goals; other fields default to nothing there."""
    xp = _namespace(walls)
    none = xp.full(walls.shape[:-2], NONE, xp.int32)
    defaults = {"key": none, "door": none, "ice": xp.zeros(walls.shape, bool), "tiles": {}}
    return Maze(walls, xp.asarray(start, xp.int32), xp.asarray(goal, xp.int32), **{**defaults, **fields})


def stack(mazes: Iterable[Maze]) -> Maze:
    """Join mazes of one shape into a set with a leading axis (host)."""
    if isinstance(mazes, Maze) and not mazes.batch_shape:
        raise TypeError("stack takes a list of mazes, got a single maze: stack([maze])")
    mazes = list(_items("mazes", mazes))
    if not mazes:
        raise ValueError("an empty list of mazes cannot be stacked: the shape would be unknown")
    for i, maze in enumerate(mazes):
        if not isinstance(maze, Maze):
            raise TypeError(f"stack takes mazes, item {i} is a {type(maze).__name__}")
        if maze.walls.shape != mazes[0].walls.shape:
            raise ValueError(
                f"mazes of one set have one shape: maze 0 is {mazes[0].walls.shape}, maze {i} is {maze.walls.shape}"
            )
        if maze.tiles.keys() != mazes[0].tiles.keys():
            raise ValueError(
                f"mazes of one set have the same tiles: maze 0 has {sorted(mazes[0].tiles)}, "
                f"maze {i} has {sorted(maze.tiles)}"
            )
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *mazes)


def concatenate(sets: Iterable[Maze]) -> Maze:
    """Join sets of mazes of one shape along their first axis (host)."""
    sets = list(_items("sets", sets))
    if not sets or not all(isinstance(one, Maze) and one.batch_shape for one in sets):
        raise TypeError(f"concatenate takes at least one set of mazes, got {sets!r:.80}")
    kinds = [(one.shape, sorted(one.tiles)) for one in sets]
    if different := [kind for kind in kinds if kind != kinds[0]]:
        raise ValueError(f"sets that are joined have one shape and the same tiles, got {kinds[0]} and {different[0]}")
    return jax.tree.map(lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]), *sets)


# -- walls and passages ------------------------------------------------------------------------


def walls_from_open(across: Array, along: Array) -> Array:
    """Wall bytes ``uint8[..., H, W]`` from open passages.

    Args:
        across: ``bool[..., H, W-1]``, passage between a cell and its right neighbour.
        along: ``bool[..., H-1, W]``, passage between a cell and its upper neighbour.
    """
    xp = _namespace(across)
    right = _pad(~across, -1, after=True)
    left = _pad(~across, -1, after=False)
    up = _pad(~along, -2, after=True)
    down = _pad(~along, -2, after=False)
    bits = [side.astype(xp.uint8) << action for action, side in enumerate((up, right, down, left))]
    return bits[0] | bits[1] | bits[2] | bits[3]


def open_passages(walls: Array) -> tuple[Array, Array]:
    """(across ``bool[..., H, W-1]``, along ``bool[..., H-1, W]``): the inverse of `walls_from_open`."""
    return (walls[..., :, :-1] >> grid.RIGHT & 1) == 0, (walls[..., :-1, :] >> grid.UP & 1) == 0


def open_edges(walls: Array) -> Array:
    """``bool[..., E]``: which of `grid.edges` (in that order) are open."""
    low, action = _edge_sides(walls.shape[-2:])
    flat = walls.reshape(*walls.shape[:-2], walls.shape[-2] * walls.shape[-1])
    return (flat[..., low] >> action & 1) == 0


def walls_from_edges(is_open: Array, shape: tuple[int, int]) -> Array:
    """Wall bytes from an edge vector ``bool[..., E]``: the inverse of `open_edges`."""
    rows, cols = shape
    is_across = _edge_sides(shape)[1] == grid.RIGHT
    lead = is_open.shape[:-1]
    across = is_open[..., is_across].reshape(*lead, rows, cols - 1)
    along = is_open[..., ~is_across].reshape(*lead, rows - 1, cols)
    return walls_from_open(across, along)


def lattice(walls: Array) -> Array:
    """``uint8[..., 2H-1, 2W-1]``: the fine grid without its frame, 1 for walls and posts.

    Cell (row, col) lies at (2 row, 2 col); posts at (odd, odd).
    """
    xp = _namespace(walls)
    across, along = open_passages(walls)
    lead, (rows, cols) = walls.shape[:-2], walls.shape[-2:]
    even = _interleave(xp.zeros(walls.shape, xp.uint8), 1 - across.astype(xp.uint8))
    odd = _interleave(1 - along.astype(xp.uint8), xp.ones((*lead, rows - 1, cols - 1), xp.uint8))
    return xp.swapaxes(_interleave(xp.swapaxes(even, -1, -2), xp.swapaxes(odd, -1, -2)), -1, -2)


def walls_from_lattice(fine: Array) -> Array:
    """Wall bytes from the fine grid: the inverse of `lattice`."""
    return walls_from_open(fine[..., ::2, 1::2] == 0, fine[..., 1::2, ::2] == 0)


def from_edges(
    edges: Iterable[Sequence[int]],
    shape: tuple[int, int],
    start: int,
    goal: int,
    key: int | None = None,
    door: int | None = None,
    ice: Iterable[int] = (),
) -> Maze:
    """One maze from its open passages ``(a, b)`` between neighbouring cells (host).

    Raises:
        ValueError: a passage between cells that are not neighbours, a cell outside the
            maze, the goal on the start, or tiles that share a cell.
    """
    shape = grid.check_shape(shape)
    last = shape[0] * shape[1] - 1
    order = {tuple(pair): i for i, pair in enumerate(grid.edges(shape).tolist())}
    is_open = np.zeros(len(order), bool)
    for edge in _items("edges", edges):
        if len(ends := list(_items("an edge", edge))) != 2:
            raise ValueError(f"an edge is two neighbouring cells (a, b), got {edge!r}")
        a, b = sorted(whole("a cell of an edge", cell, 0, last) for cell in ends)
        if (a, b) not in order:
            raise ValueError(f"edge {(a, b)} joins no two neighbouring cells of a {shape[0]}x{shape[1]} maze")
        is_open[order[a, b]] = True
    named = {"start": start, "goal": goal, "key": key, "door": door}
    optional = ("key", "door")
    present = [
        (name, whole(f"{name} cell", cell, 0, last))
        for name, cell in named.items()
        if cell is not None or name not in optional
    ]
    taken: dict[int, str] = {}
    for name, cell in [
        *present,
        *(("ice", cell) for cell in sorted({whole("ice cell", c, 0, last) for c in _items("ice", ice)})),
    ]:
        if cell in taken:
            raise ValueError(f"{name} and {taken[cell]} are both on cell {cell}")
        taken[cell] = name
    frozen = np.zeros(shape[0] * shape[1], bool)
    frozen[[cell for cell, name in taken.items() if name == "ice"]] = True
    place: dict[str, Any] = {name: np.asarray(dict(present).get(name, NONE), np.int32) for name in named}
    return Maze(walls_from_edges(is_open, shape), ice=frozen.reshape(shape), **place)


def to_edges(maze: Maze) -> list[tuple[int, int]]:
    """The open passages of one maze: sorted ``(a, b)``, ``a < b`` (host)."""
    single(maze)
    is_open = open_edges(np.asarray(maze.walls))
    return [(a, b) for a, b in grid.edges(maze.shape)[is_open].tolist()]


def check(maze: Maze) -> None:
    """Raise ``ValueError`` unless walls agree on both sides, the frame is closed and cells are inside (host)."""
    walls = np.asarray(maze.walls)
    if walls.dtype != np.uint8:
        raise ValueError(f"walls must be uint8, got {walls.dtype}")
    if walls.ndim < 2:
        raise ValueError(f"walls must be [..., H, W], got shape {walls.shape}")
    shape = grid.check_shape(walls.shape[-2:])
    if not np.array_equal(walls, walls_from_open(*open_passages(walls))):
        raise ValueError("walls do not agree: a wall is set on one side only, or the outer boundary is open")
    for name, low in (("start", 0), ("goal", 0), ("key", NONE), ("door", NONE)):
        cells = np.asarray(getattr(maze, name))
        if cells.shape != walls.shape[:-2] or not np.issubdtype(cells.dtype, np.integer):
            raise ValueError(f"{name} must be integers of shape {walls.shape[:-2]}, got {cells.dtype}{cells.shape}")
        if cells.size and (cells.min() < low or cells.max() >= shape[0] * shape[1]):
            raise ValueError(f"{name} must lie in {low}..{shape[0] * shape[1] - 1}, got {cells.min()}..{cells.max()}")
    for name, layer in {"ice": maze.ice, **maze.tiles}.items():
        if np.shape(layer) != walls.shape or np.asarray(layer).dtype != bool:
            raise ValueError(
                f"layer {name!r} must be bool{walls.shape}, got {np.asarray(layer).dtype}{np.shape(layer)}"
            )
    _check_own_cells(maze)


def _check_own_cells(maze: Maze) -> None:
    """Raise unless start, goal, key, door and ice are on cells of their own."""
    names = ("start", "goal", "key", "door")
    cells = np.stack([np.asarray(getattr(maze, name)) for name in names], -1).reshape(-1, len(names))
    frozen = np.asarray(maze.ice).reshape(len(cells), maze.shape[0] * maze.shape[1])
    every = np.arange(len(cells))
    for i, name in enumerate(names):
        here = cells[:, i]
        on = {other: here == cells[:, k] for k, other in enumerate(names[:i])} | {"ice": frozen[every, here]}
        for other, same in on.items():
            if (shared := np.flatnonzero(same & (here != NONE))).size:
                where = f" in maze {shared[0]} of the set" if maze.batch_shape else ""
                raise ValueError(f"{other} and {name} share cell {here[shared[0]]}{where}: each needs its own")


def single(maze: Maze) -> None:
    """Raise ``TypeError`` unless this is one maze."""
    if not isinstance(maze, Maze):
        raise TypeError(f"this takes a jaxlab.Maze, got {type(maze).__name__}")
    if maze.batch_shape:
        raise TypeError(f"this takes one maze, got a set of {maze.batch_shape}: index it, or loop over it")


# -- exact structure and symmetry ----------------------------------------------------------------


def structure(walls: Array) -> np.ndarray:
    """Exact structure of each maze as bytes, ``uint8[..., ceil(E/8)]``: equal iff the walls are (host)."""
    return np.packbits(open_edges(np.asarray(walls)), axis=-1)


def symmetries(shape: tuple[int, int]) -> list[int]:
    """Indices of the symmetries of a maze shape: 8 for squares, the 4 that keep the shape otherwise."""
    return list(range(8)) if shape[0] == shape[1] else [0, 2, 4, 6]


def transform(maze: Maze, symmetry: int) -> Maze:
    """Turn and mirror: ``symmetry % 4`` quarter turns anticlockwise after a left-right mirror if ``symmetry >= 4``.

    Start, goal and every tile are carried along. Odd symmetries swap rows and columns.
    """
    if not 0 <= symmetry < 8:
        raise ValueError(f"symmetry must lie in 0..7, got {symmetry}")
    source = _source_cells(maze.shape, symmetry)
    xp = _namespace(maze.walls)
    moved = source.shape
    where = np.argsort(source.ravel()).astype(np.int32)

    def layer(field):
        return field.reshape(*field.shape[:-2], source.size)[..., source.ravel()].reshape(*field.shape[:-2], *moved)

    def cell(field):
        return xp.where(field < 0, NONE, xp.asarray(where)[field]).astype(xp.int32)

    turned = layer(maze.walls)
    walls = xp.zeros_like(turned)
    for action in range(grid.NUM_ACTIONS):
        walls = walls | ((turned >> action & 1) << _turned_action(action, symmetry)).astype(xp.uint8)
    tiles = {name: layer(field) for name, field in maze.tiles.items()}
    return Maze(walls, cell(maze.start), cell(maze.goal), cell(maze.key), cell(maze.door), layer(maze.ice), tiles)


def canonical(walls: Array) -> np.ndarray:
    """The least `structure` over all symmetries (host): equal iff mazes are mirror images or rotations."""
    walls = np.asarray(walls)
    zero = np.zeros(walls.shape[:-2], np.int32)
    maze = make(walls, zero, zero)
    forms = np.stack([structure(transform(maze, k).walls) for k in symmetries(maze.shape)])
    flat = forms.reshape(len(forms), -1, forms.shape[-1])
    least = [
        min(range(len(flat)), key=[form.tobytes() for form in forms_of].__getitem__) for forms_of in flat.swapaxes(0, 1)
    ]
    return flat[least, np.arange(flat.shape[1])].reshape(forms.shape[1:])


# -- helpers ---------------------------------------------------------------------------------------


def _namespace(array: Array) -> Any:
    return jnp if isinstance(array, jax.Array) else np


def _items(name: str, given: Any) -> Iterator[Any]:
    try:
        return iter(given)
    except TypeError:
        raise TypeError(f"{name} must be a list, got {given!r}") from None


def _pad(side: Array, axis: int, *, after: bool) -> Array:
    widths = [(0, 0)] * side.ndim
    widths[axis] = (0, 1) if after else (1, 0)
    return _namespace(side).pad(side, widths, constant_values=True)


def _interleave(even: Array, odd: Array) -> Array:
    """Alternate the columns of two arrays along the last axis, beginning and ending with ``even``."""
    xp = _namespace(even)
    # The length is spelt out: -1 can't be inferred where there are no rows (a 1xN maze).
    pairs = xp.stack([even[..., :-1], odd], -1).reshape(*even.shape[:-1], 2 * odd.shape[-1])
    return xp.concatenate([pairs, even[..., -1:]], -1)


def _edge_sides(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """(lower cell, side of it) of every edge in the order of `grid.edges`."""
    pairs = grid.edges((int(shape[0]), int(shape[1])))
    low, high = pairs[:, 0], pairs[:, 1]
    same_row = low // shape[1] == high // shape[1]
    return low, np.where(same_row, grid.RIGHT, grid.UP).astype(np.uint8)


def _source_cells(shape: tuple[int, int], symmetry: int) -> np.ndarray:
    """For every cell of the transformed maze, the cell of the original that lies there."""
    cells = np.arange(shape[0] * shape[1]).reshape(shape)
    if symmetry >= 4:
        cells = cells[:, ::-1]
    # Row 0 is the bottom row, so a turn that numpy calls anticlockwise is clockwise on the page.
    return np.rot90(cells, -(symmetry % 4))


def _turned_action(action: int, symmetry: int) -> int:
    if symmetry >= 4 and action in (grid.RIGHT, grid.LEFT):
        action = grid.RIGHT + grid.LEFT - action
    return (action - symmetry % 4) % grid.NUM_ACTIONS
