"""How many simple paths there are, exactly, without walking them; and uniform samples of them.

Frontier dynamic programming: the maze is scanned cell by cell, row after row along its
shorter side. What is left open between the scanned and the unscanned part is a row of
plugs: places where a path crosses. Two plugs that belong to one piece of path are a pair
of brackets; a plug whose piece ends in the source or the target is an END. How many ways
lead to each pattern is all that has to be remembered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import reduce

import numpy as np

from jaxlab import grid
from jaxlab.errors import whole
from jaxlab.maze import NONE, Maze, single
from jaxlab.solve.enumerate import PADDING, Paths

_FREE, _OPEN, _CLOSE, _END = 0, 1, 2, 3  # two bits of a pattern for each plug
_DONE = -1  # the pattern of a finished path


def count_paths(maze: Maze) -> int:
    """The exact number of paths that `paths` would list, as a Python integer.

    The time grows exponentially with the shorter side of the maze only: an open 9x9 maze
    takes seconds, a 5x1000 maze too.

    Args:
        maze: one maze; key, door and ice count where it has them.

    Raises:
        ValueError: a set of mazes, or tiles of your own (their paths can be listed, not counted).

    >>> from jaxlab import from_edges, grid
    >>> count_paths(from_edges(grid.edges((4, 4)), (4, 4), start=0, goal=15))
    184
    """
    return sum(_product(_count(maze, leg) for leg in legs) for legs in _ways(maze))


def sample_paths(maze: Maze, n: int, seed: int = 0) -> Paths:
    """Draw ``n`` paths uniformly and independently among all those that `paths` would list.

    Args:
        maze: one maze.
        n: how many.
        seed: the same seed gives the same paths on every platform.

    Returns:
        `Paths` with ``n`` rows and ``complete`` False.

    Raises:
        ValueError: as `count_paths`, or a maze without a solution.
    """
    n = whole("n", n, 1)
    ways = [[_Scan(maze, leg, remember=True) for leg in legs] for legs in _ways(maze)]
    counts = [_product(scan.total for scan in scans) for scans in ways]
    if not sum(counts):
        raise ValueError("the maze has no solution to draw")
    raw = np.random.PCG64(np.random.SeedSequence(seed)).random_raw
    drawn = []
    for _ in range(n):
        scans = ways[_pick(counts, raw)]
        legs = [scan.draw(raw) for scan in scans]
        drawn.append(reduce(lambda path, leg: path + leg[1:], legs))
    lengths = np.array([len(path) for path in drawn], np.int32)
    num_cells = maze.shape[0] * maze.shape[1]
    dtype = np.int16 if num_cells <= np.iinfo(np.int16).max else np.int32
    cells = np.full((n, lengths.max()), PADDING, dtype)
    for row, path in zip(cells, drawn, strict=True):
        row[: len(path)] = path
    return Paths(cells, lengths, complete=False)


@dataclasses.dataclass(frozen=True)
class _Leg:
    """A simple path from one cell to another that keeps off some cells."""

    source: int
    target: int
    avoid: tuple[int, ...]


def _ways(maze: Maze) -> list[list[_Leg]]:
    """Every solution is one path for each leg of exactly one of these ways.

    A path begins anew where the mode changes: at the key, and at the door once it is opened.
    """
    single(maze)
    if maze.tiles:
        raise ValueError(f"paths over tiles of your own ({sorted(maze.tiles)}) can be listed, but not counted or drawn")
    start, goal, key, door = (int(cell) for cell in (maze.start, maze.goal, maze.key, maze.door))
    if start in (goal, key):
        raise ValueError(f"the start shares cell {start} with the goal or the key")
    ways = [[_Leg(start, goal, (key, door))]]
    if key != NONE:
        first = _Leg(start, key, (door, goal))
        ways.append([first, _Leg(key, goal, (door,))])
        if door != NONE:
            ways.append([first, _Leg(key, door, (goal,)), _Leg(door, goal, ())])
    return ways


def _count(maze: Maze, leg: _Leg) -> int:
    return _Scan(maze, leg, remember=False).total


class _Scan:
    """One run of the dynamic programme.

    Attributes:
        total: the number of paths.
    """

    def __init__(self, maze: Maze, leg: _Leg, remember: bool) -> None:
        walls = np.asarray(maze.walls)
        self.numbers = np.arange(walls.size).reshape(walls.shape)
        usable = ~np.asarray(maze.ice, bool).ravel()
        usable[[cell for cell in leg.avoid if cell != NONE]] = False
        usable[[leg.source, leg.target]] = True
        usable = _without_dead_ends(walls, usable, leg)
        along, across = grid.UP, grid.RIGHT
        if walls.shape[1] > walls.shape[0]:
            self.numbers, walls, along, across = self.numbers.T, walls.T, across, along
        self.source = leg.source
        self.width = walls.shape[1]
        self.cells = self.numbers.ravel().tolist()
        above = np.pad(usable[self.numbers], ((0, 1), (0, 1)))
        self.up = (((walls >> along & 1) == 0) & above[1:, :-1]).ravel().tolist()
        self.right = (((walls >> across & 1) == 0) & above[:-1, 1:]).ravel().tolist()
        self.usable = [bool(usable[cell]) for cell in self.cells]
        self.ends = {leg.source, leg.target}
        self.counts: list[dict[int, int]] = []
        self.parents: list[dict[int, list[int]]] = []
        self.total = self._run(remember)
        self.finishes = [(i, pattern) for i, step in enumerate(self.parents) for pattern in step.get(_DONE, ())]

    def _run(self, remember: bool) -> int:
        if len(self.ends) < 2:
            return 0
        patterns, total = {0: 1}, 0
        for i in range(len(self.cells)):
            after: dict[int, int] = {}
            parents: dict[int, list[int]] = {}
            for pattern, count in patterns.items():
                for new in self._step(i, pattern):
                    after[new] = after.get(new, 0) + count
                    if remember:
                        parents.setdefault(new, []).append(pattern)
            total += after.pop(_DONE, 0)
            if remember:
                self.counts.append(patterns)
                self.parents.append(parents)
            patterns = after
        return total

    def _step(self, i: int, pattern: int) -> Iterator[int]:
        """The patterns that can follow once cell ``i`` is scanned.

        Plugs ``0 .. column - 1`` point up from this row, plug ``column`` comes from the left,
        those above it from the row below.
        """
        column = i % self.width
        if column == 0:
            pattern <<= 2
        at = 2 * column
        here = pattern >> at & 0b1111
        rest = pattern ^ here << at
        left, below = here & 3, here >> 2
        up, right = self.up[i], self.right[i]
        if not self.usable[i]:
            if not here:
                yield rest
        elif self.cells[i] in self.ends:
            if not here:
                yield from _go_on(rest, at, _END, up, right)
            elif not (left and below):
                yield from _end(rest, at, left, below)
        elif not here:
            yield rest
            if up and right:
                yield rest | (_OPEN | _CLOSE << 2) << at
        elif not (left and below):
            yield from _go_on(rest, at, left or below, up, right)
        elif left == _END:
            yield from _end(rest, at, _FREE, below)
        elif below == _END:
            yield from _end(rest, at, left, _FREE)
        elif left == below:
            # Two openings (or closings): the partner of the inner one takes the outer one's part.
            partner = _partner(rest, at, left)
            yield rest ^ (_OPEN | _CLOSE) << partner
        elif left == _CLOSE:
            yield rest  # two pieces become one; an opening and a closing would become a ring

    def draw(self, raw) -> list[int]:
        """One path, uniform: the scan is walked back, each step as often as it was taken."""
        i, pattern = self.finishes[_pick([self.counts[i][pattern] for i, pattern in self.finishes], raw)]
        beside: dict[int, list[int]] = {}
        while i > 0:
            i -= 1
            before = self.parents[i][pattern]
            at = 2 * (i % self.width)
            for step, plug in ((self.width, pattern >> at & 3), (1, pattern >> at + 2 & 3)):
                if plug:
                    a, b = self.cells[i], self.cells[i + step]
                    beside.setdefault(a, []).append(b)
                    beside.setdefault(b, []).append(a)
            pattern = before[_pick([self.counts[i][p] for p in before], raw)]
        path, last = [self.source], NONE
        while len(path) < 2 or path[-1] not in self.ends:
            ahead = next(cell for cell in beside[path[-1]] if cell != last)
            last = path[-1]
            path.append(ahead)
        return path


def _go_on(rest: int, at: int, plug: int, up: bool, right: bool) -> Iterator[int]:
    if up:
        yield rest | plug << at
    if right:
        yield rest | plug << at + 2


def _end(rest: int, at: int, left: int, below: int) -> Iterator[int]:
    """Join the one plug of a cell with an end: its partner now leads to an end, or the path is done."""
    plug = left or below
    if plug == _END:
        if not rest:
            yield _DONE
        return
    partner = _partner(rest, at, plug)
    yield rest | _END << partner  # both bits


def _partner(pattern: int, at: int, plug: int) -> int:
    """Where the bracket lies that belongs to the one of kind ``plug`` at ``at``; the bits there are cleared."""
    step = 2 if plug == _OPEN else -2
    depth = 1
    while depth:
        at += step
        here = pattern >> at & 3
        if here == plug:
            depth += 1
        elif here and here != _END:
            depth -= 1
    return at


def _without_dead_ends(walls: np.ndarray, usable: np.ndarray, leg: _Leg) -> np.ndarray:
    """Cells in dead ends made unusable: fewer patterns to follow."""
    beside = grid.neighbours((walls.shape[0], walls.shape[1]))
    is_open = (walls.ravel()[:, None] >> np.arange(grid.NUM_ACTIONS) & 1) == 0
    to = np.where(is_open, beside, NONE).tolist()
    live = usable.tolist()
    waiting = list(range(len(live)))
    while waiting:
        cell = waiting.pop()
        if not live[cell] or cell in (leg.source, leg.target):
            continue
        ways = [other for other in to[cell] if other != NONE and live[other]]
        if len(ways) < 2:
            live[cell] = False
            waiting.extend(ways)
    return np.array(live, bool)


def _product(numbers) -> int:
    return reduce(lambda a, b: a * b, numbers, 1)


def _pick(weights: list[int], raw) -> int:
    """An index drawn with these weights, exactly, however large they are."""
    total = sum(weights)
    bits = total.bit_length()
    while True:
        drawn = 0
        for _ in range(-(-bits // 64)):
            drawn = drawn << 64 | int(raw())
        drawn &= (1 << bits) - 1
        if drawn < total:
            break
    for index, weight in enumerate(weights):
        drawn -= weight
        if drawn < 0:
            return index
    raise AssertionError("weights do not add up")
