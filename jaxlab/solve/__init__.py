"""Everything that can be known of a maze: optimal actions, all solutions, exact counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlab.solve import table as _table
from jaxlab.solve.count import count_paths, sample_paths
from jaxlab.solve.enumerate import Paths, PathSets, iter_paths, paths, routes
from jaxlab.solve.table import Solutions
from jaxlab.tiles import Move

if TYPE_CHECKING:
    from jaxlab.env import Labyrinth, Params


def optimal(env: Labyrinth, params: Params) -> Solutions:
    """Least cost to the goal and optimal actions of every state of every maze.

    Returns:
        `Solutions` with ``distance int32[N, num_modes, H*W]`` (-1: the goal can't be reached)
        and ``optimal uint8[N, num_modes, H*W]`` (bit ``a`` set: action ``a`` is optimal).
    """
    _check(env, params)
    if params.distance is not None and params.optimal is not None:
        return Solutions(params.distance, params.optimal)
    return _table.solve_many(env, params.mazes)


def transitions(env: Labyrinth, params: Params) -> Move:
    """Where every action leads from every state: a `Move` of arrays ``[N, num_modes, H*W, 4]``."""
    _check(env, params)
    return _table.transitions(env.rule, params.mazes, env.num_modes)


def _check(env: Labyrinth, params: Params) -> None:
    mazes = getattr(params, "mazes", None)
    if mazes is None:
        raise TypeError(f"params must be what env.params(mazes) gives, got {type(params).__name__}")
    if mazes.shape != env.shape:
        raise ValueError(f"params of mazes of shape {mazes.shape} given to an environment of shape {env.shape}")


__all__ = [
    "PathSets",
    "Paths",
    "Solutions",
    "count_paths",
    "iter_paths",
    "optimal",
    "paths",
    "routes",
    "sample_paths",
    "transitions",
]
