"""Mazes that differ in one thing only, to see what an agent goes by: the key, or the ice (host)."""

from __future__ import annotations

import numpy as np

from jaxlab.errors import PlacementError
from jaxlab.generate import place, routes
from jaxlab.generate.dice import Dice
from jaxlab.maze import NONE, Maze, single

_KEY, _ICE = 31, 32  # purposes of `Dice`


def key_moves(maze: Maze) -> list[int]:
    """Every other cell where the key could lie: on no route, reachable before the door, the goal in reach alive."""
    single(maze)
    if NONE in (int(maze.key), int(maze.door)):
        raise PlacementError("the maze has no key and door")
    passages = routes.of(maze)
    chain = passages.chain(int(maze.start), int(maze.goal))
    places = place.key_places(maze, passages, chain, int(maze.door))
    return [cell for cell in routes.cells_of(places) if place.is_solvable(maze, passages, key=cell)]


def key_moved(maze: Maze, seed: int | Dice = 0) -> Maze:
    """The same maze with the key elsewhere: one of `key_moves`, uniform. Everything else stays bit for bit.

    Raises:
        PlacementError: there is no other place for it.
    """
    moves = key_moves(maze)
    if not moves:
        raise PlacementError("the key has no other place")
    return maze.replace(key=np.int32(Dice.of(seed, _KEY).pick(moves)))


def ice_moves(maze: Maze) -> list[list[int]]:
    """Every way to move the ice from the unsafe to a safe route: the cells that a safe route has for itself."""
    single(maze)
    frozen = routes.bits_of(np.asarray(maze.ice))
    if not frozen:
        raise PlacementError("the maze has no ice")
    passages = routes.of(maze)
    own = place.routes_with_own_cells(passages, passages.chain(int(maze.start), int(maze.goal)))
    taken = place.cells(maze.start, maze.goal, maze.key, maze.door)
    moves = [iced & ~taken for route, iced in own if not route & frozen and iced & ~taken]
    return [routes.cells_of(bits) for bits in moves if place.is_solvable(maze, passages, frozen=bits)]


def ice_moved(maze: Maze, seed: int | Dice = 0) -> Maze:
    """The same maze with the ice on a route that was safe: one of `ice_moves`, uniform. The unsafe one becomes safe.

    Raises:
        PlacementError: no safe route has a cell of its own.
    """
    moves = ice_moves(maze)
    if not moves:
        raise PlacementError("the ice has no other place: no safe route has a cell of its own")
    layer = np.zeros(maze.shape, bool)
    layer.ravel()[Dice.of(seed, _ICE).pick(moves)] = True
    return maze.replace(ice=layer)
