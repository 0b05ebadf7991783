"""Where key, door, ice, and a new start or goal go: the paper's heuristics (host).

Every choice is drawn from a seed (or a `Dice`); where nothing fits, a `PlacementError` says why.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxlab.errors import PlacementError
from jaxlab.generate import routes
from jaxlab.generate.carve import has_far_goal
from jaxlab.generate.dice import Dice
from jaxlab.maze import NONE, Maze, single
from jaxlab.text import Settings

_KEY_AND_DOOR, _ICE, _BOTH = 21, 22, 23  # purposes of `Dice`


def key_and_door(maze: Maze, seed: int | Dice = 0) -> Maze:
    """Place the door on the last cell that all routes share, and the key off the routes.

    The key lies on a random cell that is on no route and can be reached without passing the
    door. A key or door that the maze has is kept.

    Raises:
        PlacementError: no cell is shared by all routes, or none is left for the key.
    """
    return furnish(maze, Settings(key_and_lock=True), Dice.of(seed, _KEY_AND_DOOR))


def ice(maze: Maze, seed: int | Dice = 0) -> Maze:
    """Turn the cells that a randomly chosen route has for itself into ice.

    One route is drawn among those with cells on no other route. Ice that the maze has is kept.

    Raises:
        PlacementError: a single route, more than 20,000, or none with a cell of its own.
    """
    return furnish(maze, Settings(icy_floor=True), Dice.of(seed, _ICE))


def furnish(maze: Maze, settings: Settings, seed: int | Dice = 0) -> Maze:
    """Place door, key and ice, in this order, as the settings ask; what the maze has is kept.

    The choices are tried in a random order until the goal can be reached alive.

    Raises:
        PlacementError: there is no such choice in this maze.
    """
    single(maze)
    wants_lock = settings.key_and_lock and NONE in (int(maze.key), int(maze.door))
    wants_ice = settings.icy_floor and not np.asarray(maze.ice).any()
    if not (wants_lock or wants_ice):
        return maze
    dice = Dice.of(seed, _BOTH)
    passages = routes.of(maze)
    chain = passages.chain(int(maze.start), int(maze.goal))
    if not chain:
        raise PlacementError("the goal can't be reached from the start")
    locks = list(_locks(maze, passages, chain, dice)) if wants_lock else [(int(maze.key), int(maze.door))]
    own = routes_with_own_cells(passages, chain) if wants_ice else []
    for key, door in locks:
        if not wants_ice:
            if is_solvable(maze, passages, key=key, door=door):
                return _with(maze, key, door)
            continue
        taken = cells(maze.start, maze.goal, key, door)
        frozen = [iced & ~taken for _, iced in own if iced & ~taken]
        for choice in dice.order(len(frozen)):
            if is_solvable(maze, passages, key=key, door=door, frozen=frozen[choice]):
                return _with(maze, key, door).replace(ice=routes.layer_of(frozen[choice], maze.shape))
    raise PlacementError("wherever the tiles are placed, the goal can't be reached alive")


def _locks(maze: Maze, passages: routes.Passages, chain: list[routes.Block], dice: Dice) -> Iterator[tuple[int, int]]:
    """(key, door) in a random order."""
    key, door = int(maze.key), int(maze.door)
    if door == NONE:
        taken = cells(maze.key) | routes.bits_of(np.asarray(maze.ice))
        shared = [block.entry for block in chain[1:] if not taken >> block.entry & 1]
        if not shared:
            raise PlacementError("no cell for the door: the routes share no cell besides start and goal")
        door = shared[-1]
    if key != NONE:
        yield key, door
        return
    places = routes.cells_of(key_places(maze, passages, chain, door))
    if not places:
        raise PlacementError("no cell for the key: none off the routes can be reached without passing the door")
    for choice in dice.order(len(places)):
        yield places[choice], door


def key_places(maze: Maze, passages: routes.Passages, chain: list[routes.Block], door: int) -> int:
    """Where a key may lie: on no route, no ice, no tile, reachable without passing the door."""
    on_route = 0
    for block in chain:
        on_route |= block.cells
    before = passages.reach(cells(maze.start), passages.all & ~cells(door, maze.goal))
    return before & ~on_route & ~cells(maze.start, maze.goal, door) & ~lying(maze)


def routes_with_own_cells(passages: routes.Passages, chain: list[routes.Block]) -> list[tuple[int, int]]:
    """`routes.own_cells`, or a `PlacementError` that says why there are none."""
    if not any(block.has_choice for block in chain):
        raise PlacementError("no place for ice: there is only one route")
    try:
        own = routes.own_cells(passages, chain)
    except routes.TooManyRoutesError:
        raise PlacementError(f"no place for ice: more than {routes.MAX_ROUTES} routes") from None
    if not own:
        raise PlacementError("no place for ice: no route has a cell that is on no other route")
    return own


# -- reaching the goal alive ------------------------------------------------------------------------------


def is_solvable(
    maze: Maze, passages: routes.Passages, *, key: int | None = None, door: int | None = None, frozen: int | None = None
) -> bool:
    """Can the goal be reached alive from the start, the key taken before the door? Given tiles replace the maze's."""
    return bool(alive(maze, passages, key=key, door=door, frozen=frozen) & cells(maze.start))


def alive(
    maze: Maze, passages: routes.Passages, *, key: int | None = None, door: int | None = None, frozen: int | None = None
) -> int:
    """The cells from which the goal can be reached alive by an agent without the key."""
    key = int(maze.key) if key is None else key
    door = int(maze.door) if door is None else door
    frozen = routes.bits_of(np.asarray(maze.ice)) if frozen is None else frozen
    safe = passages.all & ~frozen
    shut = safe & ~cells(door)
    goal = cells(maze.goal) & safe
    result = passages.reach(goal, shut)
    if cells(key) & safe and passages.reach(cells(key), safe) & goal:
        # Whoever enters the goal on the way to the key is done, but then the goal was in reach anyway.
        result |= passages.reach(cells(key), shut)
    return result & shut


# -- new starts and goals ----------------------------------------------------------------------------------


def new_start(maze: Maze, seed: int | Dice = 0) -> Maze:
    """The same maze with another start, uniform over the cells far enough from the goal.

    At least ``(H + W) // 2`` steps of Manhattan distance; never the old start, a key, a door or
    ice; the goal can be reached alive.

    Raises:
        PlacementError: there is no such cell.
    """
    single(maze)
    far = _is_far(maze.shape, int(maze.goal))
    places = routes.bits_of(far) & alive(maze, routes.of(maze)) & ~lying(maze) & ~cells(maze.start, maze.goal)
    if not places:
        raise PlacementError("no other start is far enough from the goal, free, and has a way to it")
    return maze.replace(start=np.int32(Dice.of(seed, _BOTH).pick(routes.cells_of(places))))


def new_start_and_goal(maze: Maze, settings: Settings | None = None, seed: int | Dice = 0) -> Maze:
    """The same walls with start and goal drawn by the unbiased rule, and the tiles placed anew.

    The rule does not know the old start and goal: now and then it draws one of them again, or both.

    Args:
        maze: a single maze.
        settings: which tiles are placed; default: those that the maze has.
        seed: of the draw.

    Raises:
        PlacementError: no start and goal of these walls leave room for the tiles.
    """
    single(maze)
    if settings is None:
        settings = Settings(key_and_lock=int(maze.key) != NONE, icy_floor=bool(np.asarray(maze.ice).any()))
    dice = Dice.of(seed, _BOTH)
    bare = maze.replace(key=np.int32(NONE), door=np.int32(NONE), ice=np.zeros(maze.shape, bool))
    passages = routes.of(maze)
    starts = np.flatnonzero(has_far_goal(maze.shape, sum(maze.shape) // 2))
    for start in starts[dice.order(len(starts))]:
        reachable = routes.layer_of(passages.reach(1 << int(start), passages.all), maze.shape).ravel()
        goals = np.flatnonzero(_is_far(maze.shape, start) & reachable)
        for goal in goals[dice.order(len(goals))]:
            try:
                return furnish(bare.replace(start=np.int32(start), goal=np.int32(goal)), settings, dice)
            except PlacementError:
                continue
    raise PlacementError("no start and goal of these walls are far enough apart and leave room for the tiles")


def _is_far(shape: tuple[int, int], cell: int) -> np.ndarray:
    """``bool[H*W]``: which cells are at least ``(H + W) // 2`` steps of Manhattan distance away."""
    row, col = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    return np.abs(row - cell // shape[1]) + np.abs(col - cell % shape[1]) >= sum(shape) // 2


# -- helpers ---------------------------------------------------------------------------------------------------


def cells(*given: int | np.ndarray) -> int:
    """A set of cells; -1 stands for none."""
    bits = 0
    for cell in given:
        if int(cell) != NONE:
            bits |= 1 << int(cell)
    return bits


def lying(maze: Maze) -> int:
    """The cells that hold a key, a door, ice or a tile of the user's own."""
    bits = cells(maze.key, maze.door) | routes.bits_of(np.asarray(maze.ice))
    for layer in maze.tiles.values():
        bits |= routes.bits_of(np.asarray(layer))
    return bits


def _with(maze: Maze, key: int, door: int) -> Maze:
    return maze.replace(key=np.int32(key), door=np.int32(door))
