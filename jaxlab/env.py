"""The environment: frozen static choices, traced mazes, and pure reset, step and observe."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import grid, observe, scene, spaces
from jaxlab.errors import check_key, choose, whole
from jaxlab.maze import NONE, Array, Maze, check
from jaxlab.solve import table
from jaxlab.text import Settings
from jaxlab.tiles import ICE, KEY_AND_DOOR, Move, Rule, Tile
from jaxlab.tiles import num_modes as count_modes

MAX_MODES = 64
STEP_LIMIT_PER_CELL = 40
"""A failure then returns -40 * 0.1 = -4.00 at every size, as in the paper's tables."""
STEP_PENALTY = 0.1
"""Eq. 1 of the paper: u = 0.1 / (W * H) for each unit of time."""
RELEASED_GOAL = 1.0
RELEASED_FALL = -100.0
REWARDS = ("paper", "released")
MAX_STEPS = 2**30
"""The largest time limit: time and the cost of one more move then fit an int32."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Params:
    """What an environment plays on: traced, so that other mazes never recompile.

    Attributes:
        mazes: the set, one leading axis of N.
        max_steps: ``int32``, the time limit.
        distance: ``int32[N, num_modes, H*W]``, least cost to the goal, -1 unreachable; None
            when the mazes were not solved.
        optimal: ``uint8[N, num_modes, H*W]``, optimal-action bits; None when not solved.
        shortest: ``int32[N]``, L, the least cost from the start; None when not solved.
    """

    mazes: Maze
    max_steps: jax.Array
    distance: jax.Array | None
    optimal: jax.Array | None
    shortest: jax.Array | None


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """One episode at one moment.

    Attributes:
        maze: ``int32``, index into ``Params.mazes``.
        cell: ``int32``, where the agent is.
        mode: ``int32``, memory of the tiles; with key and door 0 key not taken, 1 key held
            and door shut, 2 door opened.
        t: ``int32``, time used.
        terminated: ``bool``, the goal is reached or the agent fell.
        truncated: ``bool``, the time limit is reached without that.
    """

    maze: jax.Array
    cell: jax.Array
    mode: jax.Array
    t: jax.Array
    terminated: jax.Array
    truncated: jax.Array

    @property
    def ended(self) -> jax.Array:
        """``bool``: the episode is over."""
        return self.terminated | self.truncated

    def replace(self, **changes: Any) -> State:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)


class Step(NamedTuple):
    """What `Labyrinth.step` returns.

    ``info`` always holds ``success`` and ``fell`` (``bool``), ``is_optimal`` (``bool``: was the
    action optimal in the state it was taken in) and ``distance`` (``int32``: least cost left
    to the goal, -1 when it can't be reached or the mazes were not solved).
    """

    obs: Any
    state: State
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: dict[str, jax.Array]


@dataclasses.dataclass(frozen=True)
class Labyrinth:
    """A maze to walk through: static, hashable, equal by value.

    Two equal environments built apart share one compilation. ``step`` never resets by itself.

    Attributes:
        shape: (rows, columns).
        observation: ``"vector"``, ``"grid"`` or ``"pixels"`` (`jaxlab.observe`).
        reward: ``"paper"`` (Eq. 1; a shortest solution returns 1) or ``"released"`` (goal 1, fall -100).
        occlusion: see only what is in line with the agent.
        key_and_door: a key must be fetched to open the door.
        icy_floor: some cells break when entered.
        tiles: the user's own, acting after key and door and ice unless those are listed among them.
        pixels: side of the picture in pixels.
        view: odd side of an egocentric window (grid observation); None for the whole maze.
        fall_return: return of an episode that ends by a fall; None: that of running out of time.

    Raises:
        ValueError: a choice that is not offered.

    >>> from jaxlab import from_edges, stack
    >>> maze = from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    >>> env = Labyrinth((2, 2))
    >>> params = env.params(stack([maze]))
    >>> obs, state = env.reset(jax.random.key(0), params)
    >>> out = env.step(jax.random.key(1), state, grid.RIGHT, params)
    >>> int(out.state.cell), bool(out.info["is_optimal"]), int(out.info["distance"])
    (1, True, 1)
    """

    shape: tuple[int, int]
    observation: str = "vector"
    reward: str = "paper"
    occlusion: bool = False
    key_and_door: bool = False
    icy_floor: bool = False
    tiles: tuple[Tile, ...] = ()
    pixels: int = 64
    view: int | None = None
    fall_return: float | None = None

    def __post_init__(self) -> None:
        set_ = functools.partial(object.__setattr__, self)
        set_("shape", grid.check_shape(self.shape))
        choose("observation", self.observation, observe.OBSERVATIONS)
        choose("reward", self.reward, REWARDS)
        for name in ("occlusion", "key_and_door", "icy_floor"):
            set_(name, _flag(name, getattr(self, name)))
        own = tuple(self.tiles) if isinstance(self.tiles, (tuple, list)) else (self.tiles,)
        for tile in own:
            if not isinstance(tile, Tile):
                raise TypeError(f"tiles must be jaxlab.Tile, got {tile!r}")
        set_("tiles", own)
        names = [tile.name for tile in self.active_tiles]
        if len(set(names)) < len(names):
            raise ValueError(f"two tiles share a name: {names}")
        if self.num_modes > MAX_MODES:
            raise ValueError(f"the tiles have {self.num_modes} modes together, at most {MAX_MODES} are allowed")
        set_("pixels", whole("pixels", self.pixels, 1))
        if self.view is not None:
            view = whole("view", self.view, 1)
            if view % 2 == 0:
                raise ValueError(f"view must be an odd whole number, got {self.view!r}: the agent is in its middle")
            if self.observation != "grid":
                raise ValueError(f"view is a window of the grid observation, not of {self.observation!r}")
            set_("view", view)
        if self.fall_return is not None:
            set_("fall_return", _finite("fall_return", self.fall_return))

    @classmethod
    def from_settings(cls, shape: tuple[int, int], settings: Settings, **choices: Any) -> Labyrinth:
        """The environment that the settings of a file ask for."""
        if not isinstance(settings, Settings):
            raise TypeError(f"settings must be jaxlab.Settings, got {settings!r}")
        return cls(
            shape,
            key_and_door=settings.key_and_lock,
            icy_floor=settings.icy_floor,
            occlusion=settings.occlusion,
            **choices,
        )

    # -- static facts ------------------------------------------------------------------------------

    @property
    def active_tiles(self) -> tuple[Tile, ...]:
        """All tiles in the order in which they act."""
        builtin = [(self.key_and_door, KEY_AND_DOOR), (self.icy_floor, ICE)]
        return (*(tile for wanted, tile in builtin if wanted and tile not in self.tiles), *self.tiles)

    @property
    def num_modes(self) -> int:
        """How many memories a state can have: 1, or 3 with key and door, times what own tiles add."""
        return count_modes(self.active_tiles)

    @property
    def num_cells(self) -> int:
        """H * W."""
        return self.shape[0] * self.shape[1]

    @property
    def step_penalty(self) -> float:
        """u = 0.1 / (W * H), what one unit of time costs (Eq. 1)."""
        return STEP_PENALTY / self.num_cells

    @property
    def action_space(self) -> spaces.Discrete:
        """0 up, 1 right, 2 down, 3 left."""
        return spaces.Discrete(grid.NUM_ACTIONS)

    @property
    def observation_space(self) -> spaces.Space:
        """Shape, type and range of an observation."""
        return self._observe.space(self)

    @property
    def _observe(self) -> observe.Observation:
        return observe.OBSERVATIONS[self.observation]

    # -- params ------------------------------------------------------------------------------------

    def params(self, mazes: Maze, max_steps: int | None = None) -> Params:
        """Solve a set of mazes once and keep what episodes need (host).

        Args:
            mazes: one maze or a set with one leading axis, of this environment's shape.
            max_steps: time limit; default 40 * W * H.

        Raises:
            ValueError: another shape, an empty set, walls that do not agree, or a key, door,
                ice or tile that this environment has switched off.
        """
        mazes = self._check(mazes)
        mazes = jax.tree.map(jnp.asarray, mazes)
        solutions = table.solve_many(self, mazes)
        starts = solutions.distance[jnp.arange(len(mazes)), 0, mazes.start]
        limit = self._limit(max_steps)
        return Params(mazes, limit, solutions.distance, solutions.optimal, starts)

    def bare_params(self, mazes: Maze, max_steps: int | Array | None = None) -> Params:
        """Params without solutions, for mazes made inside ``jit``: nothing is checked.

        The paper's reward needs the solution, so this takes ``reward="released"``.
        """
        if self.reward != "released":
            raise ValueError(
                'bare_params has no solutions, which reward="paper" needs: use reward="released" or params()'
            )
        if not mazes.batch_shape:
            mazes = jax.tree.map(lambda leaf: leaf[None], mazes)
        return Params(mazes, self._limit(max_steps), None, None, None)

    def _limit(self, max_steps: int | Array | None) -> jax.Array:
        if max_steps is None:
            max_steps = STEP_LIMIT_PER_CELL * self.num_cells
        if not isinstance(max_steps, jax.core.Tracer):
            max_steps = whole("max_steps", max_steps, 1, MAX_STEPS)
        return jnp.asarray(max_steps, jnp.int32)

    def _check(self, mazes: Maze) -> Maze:
        if not isinstance(mazes, Maze):
            raise TypeError(f"mazes must be a jaxlab.Maze, got {type(mazes).__name__}")
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(mazes)):
            raise TypeError(
                "params() solves mazes on the host, before jit: for mazes made inside jit use bare_params()"
            )
        if not mazes.batch_shape:
            mazes = jax.tree.map(lambda leaf: np.asarray(leaf)[None], mazes)
        if len(mazes.batch_shape) != 1 or mazes.batch_shape[0] == 0:
            raise ValueError(f"mazes need one leading axis with at least one maze, got {mazes.batch_shape}")
        if mazes.shape != self.shape:
            raise ValueError(f"mazes of shape {mazes.shape} given to an environment of shape {self.shape}")
        check(mazes)
        active = self.active_tiles
        has_key = np.asarray(mazes.key) != NONE, np.asarray(mazes.door) != NONE
        if KEY_AND_DOOR in active:
            if not (has_key[0].all() and has_key[1].all()):
                lacking = int(np.flatnonzero(~(has_key[0] & has_key[1]))[0])
                raise ValueError(f"key_and_door is on, but maze {lacking} has no key or no door")
        elif has_key[0].any() or has_key[1].any():
            raise ValueError("the mazes hold a key or a door: make the environment with key_and_door=True")
        if ICE not in active and np.asarray(mazes.ice).any():
            raise ValueError("the mazes hold ice: make the environment with icy_floor=True")
        own = {tile.name for tile in active} - {KEY_AND_DOOR.name, ICE.name}
        if missing := own - mazes.tiles.keys():
            raise ValueError(f"the mazes have no layer for the tiles {sorted(missing)}: give it in Maze.tiles")
        return mazes

    # -- episodes ----------------------------------------------------------------------------------

    def reset(self, key: jax.Array, params: Params) -> tuple[Any, State]:
        """Begin an episode in a maze drawn uniformly; the key is consumed. Returns (obs, state)."""
        check_key(key)
        return self._reset(key, params)

    @functools.partial(jax.jit, static_argnums=0)
    def _reset(self, key: jax.Array, params: Params) -> tuple[Any, State]:
        return self._reset_to(jax.random.randint(key, (), 0, len(params.mazes), jnp.int32), params)

    def reset_to(self, index: Array | int, params: Params) -> tuple[Any, State]:
        """Begin an episode in maze ``index`` of the set. Returns (obs, state)."""
        return self._reset_to(_index("index", index, len(params.mazes)), params)

    @functools.partial(jax.jit, static_argnums=0)
    def _reset_to(self, index: Array, params: Params) -> tuple[Any, State]:
        index = index.astype(jnp.int32)
        zero, false = jnp.zeros((), jnp.int32), jnp.zeros((), bool)
        state = State(index, params.mazes.start[index], zero, zero, false, false)
        return self.observe(state, params), state

    def place(self, state: State, cell: Array | int) -> State:
        """The same state with the agent on ``cell``, its episode open again."""
        if np.ndim(cell) == 0:
            cell = _index("cell", cell, self.num_cells)
        moved = jnp.broadcast_to(jnp.asarray(cell, jnp.int32), jnp.shape(state.cell))
        false = jnp.zeros(jnp.shape(state.cell), bool)
        return state.replace(cell=moved, terminated=false, truncated=false)

    @property
    def rule(self) -> Rule:
        """Where an action leads, as a function of (mazes, index, cell, mode, action): what the solver reads."""
        return Rule(self.active_tiles)

    def move(self, state: State, action: Array | int, params: Params) -> Move:
        """Where an action leads: cell, mode, cost and fall, with no reward and no time."""
        return self.rule(params.mazes, state.maze, state.cell, state.mode, jnp.asarray(action, jnp.int32))

    def step(self, key: jax.Array | None, state: State, action: Array | int, params: Params) -> Step:
        """Take one action.

        After the end a further step changes nothing, pays zero and keeps the flags.

        Args:
            key: not used (the rules are deterministic); it is there for the protocol's sake.
            state: where the agent is.
            action: ``0..3``: up, right, down, left.
            params: of `params` or `bare_params`.
        """
        del key
        return self._step(state, _index("action", action, grid.NUM_ACTIONS), params)

    @functools.partial(jax.jit, static_argnums=0)
    def _step(self, state: State, action: Array, params: Params) -> Step:
        after, reward = self.advance(state, action, params)
        ended = state.ended
        after = jax.tree.map(lambda old, new: old if new is old else jnp.where(ended, old, new), state, after)
        reward = jnp.where(ended, jnp.float32(0), reward)
        return self._to_step(state, action, after, reward, params)

    def _step_open(self, state: State, action: Array | int, params: Params) -> Step:
        """`step` for a state whose episode goes on: whether it has ended is not asked, which makes it cheaper."""
        action = _index("action", action, grid.NUM_ACTIONS)
        after, reward = self.advance(state, action, params)
        return self._to_step(state, action, after, reward, params)

    def _to_step(self, before: State, action: Array, after: State, reward: jax.Array, params: Params) -> Step:
        info = self.inform(before, action, after, params)
        return Step(self.observe(after, params), after, reward, after.terminated, after.truncated, info)

    def advance(self, state: State, action: Array | int, params: Params) -> tuple[State, jax.Array]:
        """The next state and its reward, for a state whose episode has not ended (nothing is frozen here)."""
        action = jnp.asarray(action, jnp.int32)
        move = self.move(state, action, params)
        at_goal = move.cell == params.mazes.goal[state.maze]
        reached = at_goal & ~move.fell
        terminated = reached | move.fell
        t = state.t + move.cost
        truncated = ~terminated & (t >= params.max_steps)
        # Time stops at the limit, so that every failure returns exactly -u * max_steps.
        t = jnp.where(terminated, t, jnp.minimum(t, params.max_steps))
        # A memory that never changes is passed on as it is, so that the compiler can tell.
        mode = move.mode if self.num_modes > 1 else state.mode
        reward = self._reward(state, move, reached, t, params)
        # Whoever falls on the goal never arrives: the cell is what tells success from a fall afterwards.
        cell = jnp.where(move.fell & at_goal, state.cell, move.cell)
        return State(state.maze, cell, mode, t, terminated, truncated), reward

    def _reward(self, state: State, move: Move, reached: jax.Array, t: jax.Array, params: Params) -> jax.Array:
        u = jnp.float32(self.step_penalty)
        passing = -u * (t - state.t).astype(jnp.float32)
        if self.reward == "released":
            goal, fall = jnp.float32(RELEASED_GOAL), jnp.float32(RELEASED_FALL)
        else:
            if params.shortest is None:
                raise ValueError('reward="paper" needs solved mazes: make the params with params(), not bare_params()')
            goal = 1 + u * (params.shortest[state.maze] - move.cost).astype(jnp.float32)
            if self.fall_return is None:
                fall = -u * (params.max_steps - state.t).astype(jnp.float32)
            else:
                fall = self.fall_return + u * state.t.astype(jnp.float32)
        return jnp.where(move.fell, fall, jnp.where(reached, goal, passing)).astype(jnp.float32)

    def inform(self, before: State, action: Array | int, after: State, params: Params) -> dict[str, jax.Array]:
        """The ``info`` of the step that led from ``before`` to ``after``."""
        action = jnp.asarray(action, jnp.int32)
        success = after.terminated & (after.cell == params.mazes.goal[after.maze])
        fell = after.terminated & ~success
        if params.distance is None or params.optimal is None:
            is_optimal, distance = jnp.zeros((), bool), jnp.full((), table.UNREACHABLE, jnp.int32)
        else:
            bits = params.optimal[before.maze, before.mode, before.cell].astype(jnp.int32)
            is_optimal = ((bits >> (action & 3) & 1) == 1) & ~before.ended
            distance = params.distance[after.maze, after.mode, after.cell]
        return {"success": success, "fell": fell, "is_optimal": is_optimal, "distance": distance}

    @functools.partial(jax.jit, static_argnums=0)
    def observe(self, state: State, params: Params) -> Any:
        """What the agent sees in a state: an array (or a dict of arrays with ``view``)."""
        if params.mazes.shape != self.shape:
            raise ValueError(f"params of mazes of shape {params.mazes.shape} given to an environment of {self.shape}")
        maze = jax.tree.map(lambda leaf: leaf[state.maze], params.mazes)
        seen = scene.make(self.active_tiles, maze, state.cell, state.mode, occlusion=self.occlusion)
        return self._observe.function(self, seen)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _finite(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number


def _index(name: str, given: Any, count: int) -> Array:
    """``given`` as a scalar array: a number of the host's is checked, the value of a device's can't be."""
    if not isinstance(given, jax.Array):
        return np.int32(whole(name, given, 0, count - 1))
    if given.ndim or not jnp.issubdtype(given.dtype, jnp.integer):
        many = "; use jax.vmap for many" if given.ndim else ""
        raise TypeError(f"{name} must be one integer, got {given.dtype}{list(given.shape)}{many}")
    return given
