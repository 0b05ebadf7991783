"""The routes of one bare maze on the host: which cells they share, and which only one of them has.

Sets of cells are Python integers, bit ``c`` for cell ``c``: a flood of any maze is a few
shifts. A route is a simple path from start to goal. All routes run through the same chain
of biconnected blocks, so what they share is known without listing them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from jaxlab import grid
from jaxlab.maze import Maze

MAX_ROUTES = 20_000


@dataclasses.dataclass(frozen=True)
class Block:
    """A part of the maze that every route crosses from ``entry`` to ``exit``: a passage, or a knot of several ways."""

    entry: int
    exit: int
    cells: int

    @property
    def has_choice(self) -> bool:
        """Is there more than one way through?"""
        return self.cells.bit_count() > 2


class Passages:
    """The passages of one maze, for floods and walks."""

    def __init__(self, walls: np.ndarray) -> None:
        self.num_cells = walls.size
        self.cols = walls.shape[1]
        flat = walls.ravel()
        self._open = [bits_of((flat >> action & 1) == 0) for action in range(grid.NUM_ACTIONS)]
        step = (self.cols, 1, -self.cols, -1)
        opened = [[bits >> cell & 1 for bits in self._open] for cell in range(self.num_cells)]
        self.beside = [
            [cell + d for d, is_open in zip(step, row, strict=True) if is_open] for cell, row in enumerate(opened)
        ]
        self.all = (1 << self.num_cells) - 1

    def reach(self, cells: int, allowed: int) -> int:
        """What can be reached from any of ``cells`` through ``allowed`` (which need not hold ``cells``)."""
        up, right, down, left = self._open
        cols, seen, new = self.cols, cells, cells
        while new:
            new = (new & up) << cols | (new & right) << 1 | (new & down) >> cols | (new & left) >> 1
            new &= allowed & ~seen
            seen |= new
        return seen

    def chain(self, start: int, goal: int) -> list[Block]:
        """The blocks that every route crosses, in order; empty when the goal can't be reached.

        Their entries but the first are the cells that all routes share; the cells of all
        of them are those that lie on some route (Tarjan's biconnected components).
        """
        found: dict[int, int] = {start: 0}
        low: dict[int, int] = {start: 0}
        blocks: list[Block] = []
        open_cells = [start]
        trail = [(start, -1, iter(self.beside[start]))]
        target = goal
        while trail:
            cell, parent, ahead = trail[-1]
            for other in ahead:
                if other not in found:
                    found[other] = low[other] = len(found)
                    open_cells.append(other)
                    trail.append((other, cell, iter(self.beside[other])))
                    break
                if other != parent:
                    low[cell] = min(low[cell], found[other])
            else:
                trail.pop()
                if parent < 0:
                    break
                low[parent] = min(low[parent], low[cell])
                if low[cell] >= found[parent]:
                    cells = 1 << parent
                    while not cells >> cell & 1:
                        cells |= 1 << open_cells.pop()
                    if cells >> target & 1 and target != parent:
                        blocks.append(Block(parent, target, cells))
                        target = parent
        return blocks[::-1]

    def ways(self, block: Block) -> Iterator[int]:
        """Every simple path through a block as a set of cells, its ends included."""
        end = 1 << block.exit
        stack = [(block.entry, 1 << block.entry)]
        while stack:
            cell, trail = stack.pop()
            while cell != block.exit:
                free = block.cells & ~trail
                ahead = [other for other in self.beside[cell] if free >> other & 1]
                if len(ahead) > 1:
                    ahead = [other for other in ahead if self.reach(1 << other, free) & end]
                if not ahead:
                    break
                stack.extend((other, trail | 1 << other) for other in ahead[1:])
                cell = ahead[0]
                trail |= 1 << cell
            else:
                yield trail


class TooManyRoutesError(ValueError):
    """More than `MAX_ROUTES` routes: they are not listed."""


def own_cells(passages: Passages, chain: list[Block], limit: int = MAX_ROUTES) -> list[tuple[int, int]]:
    """The routes that have cells on no other route: (cells of the route, those that are its own).

    Where two blocks leave a choice, every cell is on several routes, and there are none.

    Raises:
        TooManyRoutesError: one block alone has more than ``limit`` ways.
    """
    knots = [block for block in chain if block.has_choice]
    if len(knots) != 1:
        return []
    common = 0
    for block in chain:
        if not block.has_choice:
            common |= block.cells
    ways, once, twice = [], 0, 0
    for way in passages.ways(knots[0]):
        ways.append(way)
        if len(ways) > limit:
            raise TooManyRoutesError(f"more than {limit} routes")
        twice |= once & way
        once |= way
    own = once & ~twice
    return [(common | way, way & own) for way in ways if way & own]


def of(maze: Maze) -> Passages:
    """The passages of a single maze."""
    return Passages(np.asarray(maze.walls))


def bits_of(layer: np.ndarray) -> int:
    """A set of cells from ``bool[...]``."""
    return int.from_bytes(np.packbits(layer.ravel(), bitorder="little").tobytes(), "little")


def cells_of(bits: int) -> list[int]:
    """The cells of a set, ascending."""
    cells = []
    while bits:
        least = bits & -bits
        cells.append(least.bit_length() - 1)
        bits ^= least
    return cells


def layer_of(bits: int, shape: tuple[int, int]) -> np.ndarray:
    """``bool[H, W]`` from a set of cells."""
    size = shape[0] * shape[1]
    raw = np.frombuffer(bits.to_bytes(-(-size // 8), "little"), np.uint8)
    return np.unpackbits(raw, count=size, bitorder="little").astype(bool).reshape(shape)
