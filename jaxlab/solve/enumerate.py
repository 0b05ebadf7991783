"""Every simple path from start to goal: as arrays, by a compiled kernel, or one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jaxlab.errors import needs_extra, whole
from jaxlab.maze import Maze, single
from jaxlab.solve import graph

if TYPE_CHECKING:
    from jaxlab.env import Labyrinth

DEFAULT_LIMIT = 1_000_000
"""Most paths of one maze that are listed when no limit is given."""
DEFAULT_MAX_CELLS = 2**28
"""Most entries of ``Paths.cells`` when no limit is given: 512 MiB as int16."""
PADDING = -1


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """The simple paths of one maze.

    Attributes:
        cells: ``int16[P, L]`` (int32 above 32,767 cells), one path a row, start and goal
            included, padded with -1. Rows stand in the order in which a depth-first search
            that tries up, right, down, left finds them.
        lengths: ``int32[P]``, cells of each path; its moves are one fewer.
        complete: False when a limit cut the list short.
    """

    cells: np.ndarray
    lengths: np.ndarray
    complete: bool

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        return f"Paths({len(self)} paths{'' if self.complete else ', more were not listed'})"

    def as_lists(self) -> list[list[int]]:
        """Each path as a list of cells."""
        return [row[:length] for row, length in zip(self.cells.tolist(), self.lengths.tolist(), strict=True)]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PathSets:
    """The simple paths of a set of N mazes, one table for all; ``sets[i]`` are the `Paths` of maze i.

    Attributes:
        cells, lengths: as in `Paths`, the paths of maze 0 first, then those of maze 1, ...
        offsets: ``int64[N + 1]``; the paths of maze i are rows ``offsets[i]`` to ``offsets[i + 1]``.
        complete: ``bool[N]``.
    """

    cells: np.ndarray
    lengths: np.ndarray
    offsets: np.ndarray
    complete: np.ndarray

    def __len__(self) -> int:
        return len(self.complete)

    def __getitem__(self, index: int) -> Paths:
        if not -len(self) <= index < len(self):
            raise IndexError(f"maze {index} of a set of {len(self)}")
        index %= len(self)
        rows = slice(self.offsets[index], self.offsets[index + 1])
        return Paths(self.cells[rows], self.lengths[rows], bool(self.complete[index]))

    def __iter__(self) -> Iterator[Paths]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        short = int((~self.complete).sum())
        return f"PathSets({len(self.lengths)} paths of {len(self)} mazes{f', {short} incomplete' if short else ''})"

    @property
    def counts(self) -> np.ndarray:
        """``int64[N]``: paths listed of each maze."""
        return np.diff(self.offsets)


def paths(maze: Maze, limit: int | None = None, *, env: Labyrinth | None = None) -> Paths | PathSets:
    """Every simple solution of a maze, or of each maze of a set.

    A solution is simple when it visits no state twice, a state being (cell, mode): with key and
    door a cell may come again once the key is taken or the door opened. Ice is never entered.

    Args:
        maze: one maze, or a set with one leading axis.
        limit: most paths to list of each maze. Without it at most 1,000,000 of each maze are
            listed, and at most 2**28 cells (512 MiB) in all. ``complete`` says whether all are there.
        env: whose rule to follow. By default key, door and ice count where the maze has
            them; tiles of your own need it.

    Returns:
        `Paths` for one maze, `PathSets` for a set.

    Raises:
        ImportError: numba (the extra ``solve``) is not installed.
        ValueError: a negative limit, more than one leading axis, or tiles and no ``env``.

    >>> from jaxlab import from_edges
    >>> square = from_edges([(0, 1), (0, 2), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    >>> paths(square).as_lists()
    [[0, 2, 3], [0, 1, 3]]
    """
    found = enumerate_graphs(graph.of_maze(graph.as_set(maze), env), limit)
    return found if maze.batch_shape else found[0]


def every_path(maze: Maze, env: Labyrinth, name: str = "the maze") -> list[list[int]]:
    """All simple solutions of one maze as lists of cells, and none left out.

    Args:
        maze: a single maze.
        env: whose rule to follow.
        name: of the maze, for the error.

    Raises:
        ImportError: numba (the extra ``solve``) is not installed.
        ValueError: more solutions than are listed without a limit of one's own.
    """
    single(maze)
    found = paths(maze, env=env)
    assert isinstance(found, Paths)
    if not found.complete:
        raise ValueError(
            f"{name} has more than {len(found)} solutions, and no more of them are listed: take a smaller maze, "
            "jaxlab.solve.paths with a limit of your own, or jaxlab.solve.iter_paths, which gives one after another"
        )
    return found.as_lists()


def routes(walls: np.ndarray, start: np.ndarray, goal: np.ndarray, limit: int | None = None) -> PathSets:
    """The simple paths of bare structures, key, door and ice left out of account.

    Args:
        walls: ``uint8[N, H, W]``.
        start, goal: ``int[N]``.
        limit: most paths to list of each maze; see `paths`.
    """
    return enumerate_graphs(graph.bare(walls, start, goal), limit)


def iter_paths(maze: Maze, *, env: Labyrinth | None = None) -> Iterator[list[int]]:
    """The paths of `paths`, in the same order, one after another as lists of cells.

    For one maze. It needs no numba and almost no memory: for mazes with too many paths to keep.
    """
    single(maze)
    states = graph.of_maze(graph.as_set(maze), env)
    return _johnson(states.successors[0].tolist(), int(states.source[0]), int(states.goal[0]), states.num_cells)


def enumerate_graphs(states: graph.StateGraph, limit: int | None = None) -> PathSets:
    """The simple paths of graphs that are already made; see `paths`."""
    limit = None if limit is None else whole("limit", limit, 0)
    try:
        from jaxlab.solve import johnson
    except ImportError as error:
        raise needs_extra("numba", "solve") from error
    most, max_cells = (DEFAULT_LIMIT, DEFAULT_MAX_CELLS) if limit is None else (limit, 2**62)
    dtype = np.int16 if states.num_cells <= np.iinfo(np.int16).max else np.int32
    cells, lengths, counts, complete = johnson.enumerate_paths(
        states.successors, states.source, states.goal, states.num_cells, most, max_cells, dtype
    )
    return PathSets(cells, lengths, np.concatenate([[0], np.cumsum(counts)]), complete)


def _johnson(successors: list[list[int]], source: int, goal: int, num_cells: int) -> Iterator[list[int]]:
    """The algorithm of `johnson.enumerate_paths` without its pruning, as a generator."""
    edges = [[to for to in row if to >= 0] for row in successors]
    blocked, found = {source}, {source: False}
    waiting: dict[int, set[int]] = {}
    stack, tries = [source], [iter(edges[source])]
    while stack:
        state = stack[-1]
        to = next(tries[-1], None)
        if to is not None:
            if to % num_cells == goal:
                found[state] = True
                yield [s % num_cells for s in stack] + [goal]
            elif to not in blocked:
                stack.append(to)
                tries.append(iter(edges[to]))
                blocked.add(to)
                found[to] = False
            continue
        stack.pop()
        tries.pop()
        if not found[state]:
            for to in edges[state]:
                waiting.setdefault(to, set()).add(state)
            continue
        if stack:
            found[stack[-1]] = True
        free = [state]
        while free:
            one = free.pop()
            blocked.discard(one)
            free.extend(other for other in waiting.pop(one, ()) if other in blocked)
