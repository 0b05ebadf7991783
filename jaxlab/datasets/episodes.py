"""Episodes as rows of integers, the state after the last action included (paper, Appendix A)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid, solve, text
from jaxlab.datasets.demonstrations import Demonstrations, demonstrations
from jaxlab.env import REWARDS, Labyrinth, Params
from jaxlab.errors import choose
from jaxlab.maze import Maze, stack
from jaxlab.solve import graph
from jaxlab.solve.enumerate import every_path
from jaxlab.text import Settings
from jaxlab.wrappers import episode_return

VARIANTS = ("shortest", "single-route", "all-routes")
NO_ACTION = -1
_CHUNK = 256

Progress = Callable[[int, int], None]
"""Called with (done, wanted)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Episodes:
    """Plays, one row a state, rows of a play in order; the last row of each is the state it ended in.

    Attributes:
        env: whose rules and observations count.
        params: its mazes.
        maze, mode, cell: ``int32[n]``, the state.
        action: ``int32[n]``, what was done in it, -1 in the last row of a play.
        reward: ``float32[n]``, what that action paid, 0 in the last row.
        starts: ``bool[n]``, the first row of a play.
        returns: ``float32[num_episodes]``, from integers: a shortest solution exactly 1.
        terminated: ``bool[num_episodes]``, the play ends at the goal or with a fall.
    """

    env: Labyrinth
    params: Params
    maze: np.ndarray
    mode: np.ndarray
    cell: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    starts: np.ndarray
    returns: np.ndarray
    terminated: np.ndarray

    def __len__(self) -> int:
        return len(self.maze)

    @property
    def num_episodes(self) -> int:
        """How many plays there are."""
        return len(self.returns)

    @property
    def settings(self) -> Settings:
        """The settings in the words of the file language."""
        return Settings(self.env.key_and_door, self.env.icy_floor, self.env.occlusion)

    def texts(self) -> list[str]:
        """Each maze of the set in the ``.labyrinth`` language."""
        mazes = jax.tree.map(np.asarray, self.params.mazes)
        return [text.format(maze, self.settings) for maze in mazes]

    def distinct(self) -> tuple[np.ndarray, np.ndarray]:
        """The different states, ``int32[k, 3]`` of (maze, mode, cell), and which of them each row is."""
        states, which = np.unique(np.stack([self.maze, self.mode, self.cell], 1), axis=0, return_inverse=True)
        return states, which.reshape(-1)

    def observe(self, states: np.ndarray) -> Any:
        """The observations of ``int32[k, 3]`` states, drawn in chunks of one size: one compilation."""
        parts = []
        for low in range(0, len(states), _CHUNK):
            part = states[low : low + _CHUNK]
            padded = np.concatenate([part, np.repeat(part[-1:], _CHUNK - len(part), 0)])
            seen = _observe(self.env, jnp.asarray(padded), self.params)
            parts.append(jax.tree.map(np.asarray, seen))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[: len(states)], *parts)

    def demonstrations(self) -> Demonstrations:
        """The same plays as (state, action, next state), for training; not checked for being optimal."""
        played = np.flatnonzero(self.action != NO_ACTION)
        return Demonstrations(
            self.env,
            self.params,
            maze=self.maze[played],
            mode=self.mode[played],
            cell=self.cell[played],
            action=self.action[played],
            next_mode=self.mode[played + 1],
            next_cell=self.cell[played + 1],
        )


def check_episodes(given: object) -> None:
    """Raise ``TypeError`` for what writers of data sets can't write."""
    if not isinstance(given, Episodes):
        raise TypeError(f"this writes jaxlab.datasets.episodes(...), got {type(given).__name__}")


def episodes(env: Labyrinth, mazes: Maze | Params, variant: str = "shortest", seed: int = 0) -> Episodes:
    """Play every maze of a set along its solutions (host).

    Args:
        env: whose rules count.
        mazes: a set, or the params made of it.
        variant: ``"shortest"``: one shortest solution, drawn uniformly among them;
            ``"single-route"``: one drawn uniformly among all solutions; ``"all-routes"``: all.
        seed: of the draws.

    Raises:
        ValueError: a maze without a solution, one with more solutions than can be listed
            (``"all-routes"``), or with one that takes longer than the time limit of the params.

    >>> from jaxlab import from_edges, stack
    >>> maze = from_edges([(0, 1), (1, 3), (2, 3), (0, 2)], (2, 2), start=0, goal=3)
    >>> played = episodes(Labyrinth((2, 2)), stack([maze]), "all-routes")
    >>> played.action.tolist(), played.cell.tolist(), played.returns.tolist()
    ([0, 1, -1, 1, 0, -1], [0, 2, 3, 0, 1, 3], [1.0, 1.0])
    """
    choose("variant", variant, VARIANTS)
    params = mazes if isinstance(mazes, Params) else env.params(mazes)
    if variant == "shortest":
        shown = demonstrations(env, params, seed)
        ends = np.flatnonzero(np.diff(shown.maze)) + 1
        plays = np.split(np.asarray(shown.action), ends)
        return _solving(replay(env, params, np.arange(len(plays)), plays))
    index: list[int] = []
    plays = []
    for i, maze in enumerate(jax.tree.map(np.asarray, params.mazes)):
        if variant == "single-route":
            routes = solve.sample_paths(maze, 1, seed=seed + i).as_lists()
        else:
            routes = every_path(maze, env, f"maze {i}")
        if not routes:
            raise ValueError(f"maze {i} has no solution: its goal can't be reached from its start")
        successors = graph.of_maze(graph.as_set(maze), env).successors[0].tolist()
        # Solutions that differ in nothing but the memory on the way are one route, met once.
        for route in dict.fromkeys(map(tuple, routes)):
            found = _plays(successors, env.num_cells, route)
            plays += [np.array(play, np.int32) for play in found]
            index += [i] * len(found)
    return _solving(replay(env, params, np.array(index), plays))


def _plays(successors: list[list[int]], num_cells: int, route: Sequence[int]) -> list[list[int]]:
    """The actions of every simple play along the cells of ``route``; see `jaxlab.solve.graph.StateGraph`.

    One, unless a tile of one's own remembers by which action the same cell was entered.
    """
    ways: list[tuple[list[int], list[int]]] = [([route[0]], [])]  # memory 0: the state is the cell
    for cell in route[1:]:
        ways = [
            ([*states, to], [*play, action])
            for states, play in ways
            for action, to in enumerate(successors[states[-1]])
            if to >= 0 and to % num_cells == cell and to not in states
        ]
    return [play for _, play in ways]


def _solving(played: Episodes) -> Episodes:
    """The episodes, each of which must have arrived at its goal."""
    last = np.append(np.flatnonzero(played.starts)[1:], len(played)) - 1
    goal = np.asarray(played.params.mazes.goal)[played.maze[last]]
    if (lost := np.flatnonzero(~played.terminated | (played.cell[last] != goal))).size:
        raise ValueError(f"maze {played.maze[last[lost[0]]]}: the play of a solution does not end at the goal")
    return played


def replay(env: Labyrinth, params: Params, maze: np.ndarray, plays: Sequence[np.ndarray]) -> Episodes:
    """Play actions from the start of each maze and write down what happens (host).

    Args:
        env: whose rules count.
        params: the mazes.
        maze: ``int[num_episodes]``, index of the maze of each play.
        plays: the actions of each, ``int[steps]``.

    Raises:
        ValueError: a play that goes on after its episode has ended, as one does that the time
            limit cuts short: nothing would happen in its last rows.
    """
    lengths = np.array([len(play) for play in plays], np.int32)
    longest = 1 << max(4, int(lengths.max()).bit_length())  # few lengths are ever compiled
    actions = np.zeros((len(plays), longest), np.int32)
    for row, play in zip(actions, plays, strict=True):
        row[: len(play)] = play
    parts = []
    for low in range(0, len(plays), _CHUNK):
        chunk = slice(low, low + _CHUNK)
        given = len(actions[chunk])
        fill = ((0, _CHUNK - given), (0, 0))
        made = _replay(
            env,
            params,
            jnp.asarray(np.pad(maze[chunk].astype(np.int32), fill[0])),
            jnp.asarray(np.pad(actions[chunk], fill)),
            jnp.asarray(np.pad(lengths[chunk], fill[0])),
        )
        parts.append([np.asarray(leaf)[:given] for leaf in made])
    cell, mode, reward, returns, terminated, over = (np.concatenate(leaves) for leaves in zip(*parts, strict=True))
    _refuse_overlong(params, maze, lengths, over)
    rows = np.arange(longest + 1) <= lengths[:, None]
    last = np.arange(longest + 1) == lengths[:, None]
    actions = np.pad(actions, ((0, 0), (0, 1)))
    starts = np.broadcast_to(np.arange(longest + 1) == 0, rows.shape)
    return Episodes(
        env,
        params,
        maze=np.repeat(maze.astype(np.int32), lengths + 1),
        mode=mode[rows],
        cell=cell[rows],
        action=np.where(last, NO_ACTION, actions)[rows].astype(np.int32),
        reward=np.where(last, np.float32(0), reward)[rows],
        starts=starts[rows],
        returns=returns,
        terminated=terminated,
    )


def _refuse_overlong(params: Params, maze: np.ndarray, lengths: np.ndarray, over: np.ndarray) -> None:
    """Raise ``ValueError`` where actions were left when the episode had ended: ``over bool[num_episodes]``."""
    if not over.any():
        return
    play = int(np.flatnonzero(over)[0])
    index = int(maze[play])
    best = "" if params.shortest is None else f"a shortest solution takes {int(params.shortest[index])}, "
    raise ValueError(
        f"maze {index}: the episode ends before the {lengths[play]} actions of play {play} are done; {best}"
        f"the limit max_steps is {int(params.max_steps)}"
    )


@functools.partial(jax.jit, static_argnums=0)
def _replay(env: Labyrinth, params: Params, maze: jax.Array, actions: jax.Array, lengths: jax.Array) -> Any:
    """Cells, modes and rewards ``[E, L+1]``; of each play its return, the flag of its end, and was it overlong?

    Nothing happens after the last action.
    """

    def one(index: jax.Array, moves: jax.Array, length: jax.Array) -> Any:
        first = env.reset_to(index, params)[1]

        def step(carry: Any, move: Any) -> Any:
            state, before = carry
            number, action = move
            out = env.step(None, state, action, params)
            plays = number < length
            after = jax.tree.map(lambda new, old: jnp.where(plays, new, old), out.state, state)
            left = jax.tree.map(lambda new, old: jnp.where(plays, new, old), state, before)
            return (after, left), (state.cell, state.mode, jnp.where(plays, out.reward, 0), plays & state.ended)

        (last, before), (*rows, over) = jax.lax.scan(step, (first, first), (jnp.arange(len(moves)), moves))
        value = episode_return(env, before, last, params)
        ends = (last.cell, last.mode, jnp.zeros((), jnp.float32))
        columns = (jnp.append(row, end) for row, end in zip(rows, ends, strict=True))
        return (*columns, value, last.terminated, over.any())

    return jax.vmap(one)(maze, actions, lengths)


@functools.partial(jax.jit, static_argnums=0)
def _observe(env: Labyrinth, states: jax.Array, params: Params) -> Any:
    def one(row: jax.Array) -> Any:
        state = env.reset_to(row[0], params)[1].replace(mode=row[1], cell=row[2])
        return env.observe(state, params)

    return jax.vmap(one)(states)


def from_rows(
    actions: np.ndarray,
    starts: np.ndarray,
    texts: Sequence[str],
    rewards: np.ndarray | None = None,
    env: Labyrinth | None = None,
    **choices: Any,
) -> Episodes:
    """Episodes from recorded actions and the maze text of each row: the play is done again (host).

    The last row of an episode is the state it ended in; its action is not read.

    Args:
        actions, starts: as in `Episodes`.
        texts: the maze of each row.
        rewards: what the actions paid, where that is recorded.
        env: what was played in. By default the texts' settings, with the one of `REWARDS` that pays
            what is recorded.
        choices: further ones of that environment, such as ``observation``.

    Raises:
        ValueError: rows that do not begin with an episode, an action that is none, mazes of
            different shape or settings, a text that is no maze, actions after an episode's end;
            without ``env``, rewards that no environment of these settings pays.
    """
    starts, actions = np.asarray(starts).astype(bool), np.asarray(actions)
    if len(starts) == 0 or not starts[0]:
        raise ValueError("the first row must begin an episode")
    first = np.flatnonzero(starts).tolist()
    ends = [*first[1:], len(starts)]
    last = np.zeros(len(starts), bool)
    last[[end - 1 for end in ends]] = True
    if (wrong := np.flatnonzero(~last & ~np.isin(actions, range(grid.NUM_ACTIONS)))).size:
        raise ValueError(f"row {wrong[0]}: an action is 0, 1, 2 or 3, got {actions[wrong[0]]}")
    known: dict[str, int] = {}
    mazes: list[Maze] = []
    settings: set[Settings] = set()
    for row in first:
        if texts[row] not in known:
            known[texts[row]] = len(mazes)
            maze, setting = text.parse(texts[row])
            mazes.append(maze)
            settings.add(setting)
    if len(settings) != 1:
        raise ValueError(f"mazes of one data set have the same settings, got {settings}")
    index = np.array([known[texts[row]] for row in first])
    plays = [actions[low : high - 1].astype(np.int32) for low, high in zip(first, ends, strict=True)]
    setting, played = settings.pop(), stack(mazes)
    if env is not None:
        return replay(env, env.params(played), index, plays)
    for reward in REWARDS:
        env = Labyrinth.from_settings(played.shape, setting, reward=reward, **choices)
        found = replay(env, env.params(played), index, plays)
        if rewards is None or np.allclose(found.reward[~last], np.asarray(rewards)[~last], rtol=1e-4, atol=1e-6):
            return found
    raise ValueError(
        f"the recorded rewards are those of no environment with {setting} and reward {' or '.join(REWARDS)}: "
        "give env, the one that was played in"
    )
