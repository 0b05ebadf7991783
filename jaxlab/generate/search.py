"""Mazes that all differ, drawn from a seed: never fewer than asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxlab import grid, maze
from jaxlab.errors import PlacementError, choose, whole
from jaxlab.generate import carve, place, support
from jaxlab.generate.dice import Dice, check_seed
from jaxlab.maze import Maze
from jaxlab.text import Settings

MAX_MISSES = 10**6
"""Draws in a row without a new maze after which the search stops."""
MAX_REJECTED = 10_000
"""Structures in a row in which the tiles could not be placed, after which the search stops."""
_STALLED = 20_000  # draws in a row without a new maze, after which small shapes are listed instead
UNIQUE_UP_TO = ("structure", "symmetry")
_FILL, _PLACE = 1, 2  # purposes of `Dice`

Progress = Callable[[int, int], None]
"""Called with (mazes found, mazes wanted)."""


@dataclasses.dataclass
class Drawn:
    """What a search found.

    Attributes:
        mazes: all of different structure, in the order of drawing, host arrays.
        draws: mazes carved.
        rejected: how many new structures had no place for the tiles, by reason.
    """

    mazes: Maze
    draws: int
    rejected: dict[str, int]


def unique(
    seed: int,
    n: int,
    shape: tuple[int, int],
    *,
    settings: Settings | None = None,
    start_goal: str | tuple[int, int] = "biased",
    min_distance: int | None = None,
    unique_up_to: str | None = None,
    progress: Progress | None = None,
) -> Drawn:
    """Draw ``n`` mazes of different structure, with what the settings ask for placed in them (host).

    Args:
        seed: ``0 .. 2**32 - 1``.
        n: how many, at least 1.
        shape: (rows, columns).
        settings: key and door, ice: structures in which they can't be placed are drawn again.
        start_goal, min_distance: as in `jaxlab.generate.mazes`.
        unique_up_to: ``"symmetry"`` also takes mirror images and rotations for the same.
        progress: told how far the search is.

    Raises:
        ValueError: fewer mazes exist, or were found in 10^6 draws in a row without a new one.
        PlacementError: the tiles can't be placed in such mazes.
    """
    shape, seed, settings = grid.check_shape(shape), check_seed(seed), settings or Settings()
    up_to = choose("unique_up_to", unique_up_to or "structure", UNIQUE_UP_TO)
    n, choice = whole("n", n, 1), carve.check_start_goal(shape, start_goal, min_distance)
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be jaxlab.Settings, got {settings!r}")
    if settings.icy_floor and min(shape) == 1:
        raise PlacementError(f"icy floor needs a second route, and a {shape[0]}x{shape[1]} maze has only one")
    if n > 1 and min(shape) == 1:
        raise ValueError(f"{n} different mazes were asked for, but exactly 1 exists of shape {shape}: a corridor")
    search = _Search(seed, n, settings, up_to, progress)
    small = shape[0] * shape[1] <= support.MAX_CELLS
    if small and isinstance(choice, tuple):
        _check_enough(n, support.structures(shape, *choice), shape)
    key = jax.random.key(seed, impl="threefry2x32")
    listed = False
    while search.found < n:
        batch = carve.batch_for(n - search.found, n, shape)
        drawn = jax.tree.map(np.asarray, carve.carve_range(key, search.draws, batch, shape, choice))
        search.add(drawn)
        if search.found < n and small and not listed and search.misses >= _STALLED:
            listed = True
            _list_rest(search, shape, choice)
        if search.found < n and (search.misses >= MAX_MISSES or search.rejected_in_a_row >= MAX_REJECTED or listed):
            raise search.error(shape, exact=listed)
    return Drawn(maze.concatenate(search.parts), search.draws, search.rejected)


def _check_enough(n: int, walls: np.ndarray, shape: tuple[int, int]) -> None:
    exist = len(walls)
    if n > exist:
        raise ValueError(
            f"{n} different mazes were asked for, but the generator can make exactly {exist} of shape {shape}: "
            f"ask for at most {exist} in all splits together"
        )


def _list_rest(search: _Search, shape: tuple[int, int], choice: tuple[int, int] | int) -> None:
    """Go through every maze that exists, in a random order: what the draws missed comes to light."""
    pairs = [choice] if isinstance(choice, tuple) else np.argwhere(grid.manhattan(shape) >= choice).tolist()
    every = []
    for start, goal in pairs:
        walls = support.structures(shape, start, goal)
        every.append(maze.make(walls, np.full(len(walls), start), np.full(len(walls), goal)))
    everything = maze.concatenate(every)
    order = Dice(search.seed, _FILL).order(len(everything))
    search.add(everything[order], count=False)


class _Search:
    """The mazes found so far, and the structures seen."""

    def __init__(self, seed: int, n: int, settings: Settings, up_to: str, progress: Progress | None) -> None:
        self.seed, self.n, self.settings, self.up_to, self.progress = seed, n, settings, up_to, progress
        self.seen: set[bytes] = set()
        self.parts: list[Maze] = []
        self.found = self.draws = self.misses = self.rejected_in_a_row = 0
        self.rejected: dict[str, int] = {}

    def add(self, drawn: Maze, count: bool = True) -> None:
        """Keep what is new and can be furnished, until there are enough."""
        # Walls tell structures apart as well as their packed form does, and are there already.
        walls = drawn.walls.reshape(len(drawn), -1)
        forms = maze.canonical(drawn.walls) if self.up_to == "symmetry" else walls
        names = np.ascontiguousarray(forms).view(f"V{forms.shape[-1]}").ravel().tolist()
        # Backwards, so that the first of equal mazes stays; no loop of Python's touches a maze seen once.
        first = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
        if self.seen:
            first = {name: first[name] for name in first.keys() - self.seen}
        self.seen.update(first)
        fresh = sorted(first.values())
        if count:
            self.misses = len(drawn) - 1 - fresh[-1] if fresh else self.misses + len(drawn)
        new = drawn[np.asarray(fresh, np.intp)]
        if self.settings.key_and_lock or self.settings.icy_floor:
            new = self._furnish(new, fresh)
        new = new[: self.n - self.found]
        self.draws += len(drawn) if count else 0
        if len(new):
            self.parts.append(new)
            self.found += len(new)
        if self.progress:
            self.progress(self.found, self.n)

    def _furnish(self, new: Maze, index: list[int]) -> Maze:
        kept: list[Maze] = []
        for i, one in zip(index, new, strict=True):
            if self.found + len(kept) == self.n:
                break
            dice = Dice(self.seed, _PLACE, self.draws + i)
            try:
                kept.append(place.furnish(one, self.settings, dice))
                self.rejected_in_a_row = 0
            except PlacementError as error:
                self.rejected[str(error)] = self.rejected.get(str(error), 0) + 1
                self.rejected_in_a_row += 1
                if self.rejected_in_a_row >= MAX_REJECTED:
                    break
        return maze.stack(kept) if kept else new[:0]

    def error(self, shape: tuple[int, int], exact: bool) -> ValueError:
        """Why the search stopped, with the number found."""
        total = sum(self.rejected.values())
        reasons = "".join(f"; structures rejected {count}: {reason}" for reason, count in self.rejected.items())
        if exact:
            how = f"exactly {self.found} exist of shape {shape}"
        elif self.rejected_in_a_row >= MAX_REJECTED:
            how = f"{self.found} were found before {MAX_REJECTED} structures in a row had no place for the tiles"
        else:
            how = f"{self.found} were found before {MAX_MISSES} draws in a row brought no new one (shape {shape})"
        kind = PlacementError if total and not self.found else ValueError
        return kind(f"{self.n} different mazes were asked for, but {how}{reasons}")
