"""A policy that plans: it reads a map off the picture and iterates values on it.

Two small networks look at the picture. One sees the middle of a cell, the other the middle of
a border between two cells; each is one network for all cells, or borders, of all mazes. What
they believe - where the goal and the agent are, which borders are shut - goes into H*W rounds
of soft value iteration, and the agent's row of Q is the logits. All of it is differentiable,
so imitation trains it end to end; it never sees the walls.

What it knows in advance: the number of rows and columns, that cells look alike wherever they
are, and that four moves lead to the four neighbours. That is a far stronger prior than a
convolutional encoder has. No weight depends on the maze's shape, so the same weights run on
any size.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from baselines.networks import Network, Variables
from jaxlab import grid, tiles
from jaxlab.env import Labyrinth
from jaxlab.maze import Array, Maze, open_passages

WIDTH = 72
"""Hidden units of both layers of both networks."""
TAPS = np.arange(-2.5, 3)
"""Where a cell or a border is sampled along both axes, in pixels from its middle."""
SHIFT = 0.5
"""Training looks at a border from up to this many pixels beside it."""
TEMPERATURE = 0.1
"""Of the soft maximum over the moves; a move costs 1."""
WORTHLESS = 0.16
"""An end that is not the goal is worth minus this many times the square of what a wall costs.

That is less than any way to the goal, even past as many doubtful borders as there are cells. At
5x5 it is four times what a wall costs; with a quarter of it some seeds see no further than the
next cells for long.
"""
OPEN_AT_FIRST = -4.0
"""Bias of the border network at the start: shut with probability 0.02, so that values reach far from the first."""
SURE = 4.0
"""In use, without key, ice or own tiles, scores are multiplied by at least this (`certainty`)."""
LEARNED_ON = 25
"""Cells of a 5x5 maze: with more, scores are multiplied by at least H*W over this."""
SMALL = 0.1
"""Scale of the last layers at the start: nearly uniform beliefs, so that no softmax begins saturated."""


class Beliefs(NamedTuple):
    """What is read off a picture. ``B`` pictures of ``H x W`` cells.

    Attributes:
        goal: ``float32[B, H*W]``, chance that a cell is the goal; sums to 1.
        agent: ``float32[B, H*W]``, chance that the agent is there; sums to 1.
        across: ``float32[B, H, W-1]``, is there a wall between a cell and its right neighbour? 0..1.
        along: ``float32[B, H-1, W]``, the same for its upper neighbour.
        key: ``float32[B, H*W]``, chance that the key lies there; what lacks to 1: it is taken.
            None without the setting.
        door: ``float32[B, H*W]``, is it a door? 0..1; None without the setting.
        hazard: ``float32[B, H*W]``, must it not be entered? 0..1; None without ice or own tiles.
    """

    goal: jax.Array
    agent: jax.Array
    across: jax.Array
    along: jax.Array
    key: jax.Array | None = None
    door: jax.Array | None = None
    hazard: jax.Array | None = None


# -- planning --------------------------------------------------------------------------------------


def plan(beliefs: Beliefs, *, iterations: int | None = None, temperature: float = TEMPERATURE) -> jax.Array:
    """The agent's row of Q, ``float32[B, 4]``: minus the moves to the goal, after each move.

    A move costs 1; through a wall, into a hazard or (without the key) into the door it costs as
    much again as no detour ever does: H*W for every mode. A cell that is not the goal is worth
    less, as an end, than any way to the goal. With a key there are two maps: before, where its cell leads
    to the map after; and after, where the door is a cell like others.

    Args:
        beliefs: what is known of the maze.
        iterations: rounds of value iteration; default H*W for each mode, enough for any maze.
        temperature: of the soft maximum; towards 0 it becomes the maximum.
    """
    height, width = beliefs.across.shape[-2], beliefs.along.shape[-1]
    modes = 1 if beliefs.key is None else 2
    far = float(modes * height * width)
    iterations = height * width if iterations is None else iterations
    flat = (-1, height, width)

    price = 1 + far * _shut(beliefs.across, beliefs.along)
    if beliefs.hazard is not None:
        price = price + far * _ahead(beliefs.hazard.reshape(flat), 1.0)
    end = -WORTHLESS * far**2 * (1 - beliefs.goal.reshape(flat))
    after = _values(end, price, far, iterations, temperature)
    q = _moves(after, price, far)
    if beliefs.key is not None:
        assert beliefs.door is not None
        before_price = price + far * _ahead(beliefs.door.reshape(flat), 1.0)
        at_key = after - WORTHLESS * far**2 * (1 - beliefs.key.reshape(flat))
        before = _values(jnp.maximum(end, at_key), before_price, far, iterations, temperature)
        has_key = 1 - beliefs.key.sum(-1)[:, None, None, None]
        q = has_key * q + (1 - has_key) * _moves(before, before_price, far)
    return jnp.einsum("bn,bna->ba", beliefs.agent, q.reshape(-1, height * width, grid.NUM_ACTIONS))


def _values(end: jax.Array, price: jax.Array, far: float, iterations: int, temperature: float) -> jax.Array:
    """``float32[B, H, W]``: what each cell is worth, from what it is worth as an end."""

    def improve(value, _):
        q = _moves(value, price, far)
        return jnp.maximum(end, temperature * jax.nn.logsumexp(q / temperature, -1)), None

    return jax.lax.scan(improve, end, None, length=iterations)[0]


def _moves(value: jax.Array, price: jax.Array, far: float) -> jax.Array:
    """Q ``float32[B, H, W, 4]``: the neighbour's value less the price of going there."""
    return _ahead(value, -2 * WORTHLESS * far**2) - price


def _ahead(layer: jax.Array, outside: float) -> jax.Array:
    """What lies on the four sides of each cell: ``[B, H, W] -> [B, H, W, 4]``."""
    wide = jnp.pad(layer, ((0, 0), (1, 1), (1, 1)), constant_values=outside)
    return jnp.stack([wide[:, 2:, 1:-1], wide[:, 1:-1, 2:], wide[:, :-2, 1:-1], wide[:, 1:-1, :-2]], -1)


def _shut(across: jax.Array, along: jax.Array) -> jax.Array:
    """Walls on the four sides of each cell, ``[B, H, W, 4]``; the frame is shut."""

    def side(layer, axis, after):
        widths = [(0, 0)] * 3
        widths[axis] = (0, 1) if after else (1, 0)
        return jnp.pad(layer, widths, constant_values=1.0)

    return jnp.stack([side(along, 1, True), side(across, 2, True), side(along, 1, False), side(across, 2, False)], -1)


def truth(env: Labyrinth, mazes: Maze, mode: Array, cell: Array) -> Beliefs:
    """Exact beliefs about states, from the mazes themselves: the reference that no network sees.

    Args:
        env: the settings.
        mazes: ``B`` mazes, one for each state.
        mode: ``int32[B]``.
        cell: ``int32[B]``, where the agent is.
    """
    across, along = (1.0 - jnp.asarray(part, jnp.float32) for part in open_passages(mazes.walls))
    cells = jnp.arange(env.num_cells)

    def at(where):
        return (jnp.asarray(where)[:, None] == cells).astype(jnp.float32)

    key = door = hazard = None
    if env.key_and_door:
        key = jnp.where((jnp.asarray(mode) == tiles.KEY_NOT_TAKEN)[:, None], at(mazes.key), 0)
        door = at(mazes.door)
    if env.icy_floor:
        hazard = jnp.asarray(mazes.ice, jnp.float32).reshape(-1, env.num_cells)
    return Beliefs(at(mazes.goal), at(cell), across, along, key, door, hazard)


# -- seeing ----------------------------------------------------------------------------------------


class Sight(nnx.Module):
    """Two hidden layers over one patch: ``float32[..., 6, 6, 3]`` to ``float32[..., outputs]``."""

    def __init__(self, outputs: int, bias: float, *, rngs: nnx.Rngs) -> None:
        sizes = (len(TAPS) ** 2 * 3, WIDTH, WIDTH, outputs)
        scales = (1.0, 1.0, SMALL)
        kernels, biases = [], []
        for inputs, units, scale in zip(sizes[:-1], sizes[1:], scales, strict=True):
            start = jax.random.normal(rngs.params(), (inputs, units)) * (scale * np.sqrt(2 / inputs))
            kernels.append(nnx.Param(start.astype(jnp.float32)))
            biases.append(nnx.Param(jnp.zeros(units, jnp.float32)))
        biases[-1] = nnx.Param(jnp.full(outputs, bias, jnp.float32))
        self.kernels, self.biases = nnx.List(kernels), nnx.List(biases)

    def __call__(self, patch: jax.Array) -> jax.Array:
        """Scores."""
        x = patch.reshape(*patch.shape[:-3], -1)
        for i, (kernel, bias) in enumerate(zip(self.kernels, self.biases, strict=True)):
            x = (x if i == 0 else jax.nn.relu(x)) @ kernel[...] + bias[...]
        return x


class Planner(nnx.Module):
    """Pictures ``uint8[B, S, S, 3]`` to logits ``float32[B, 4]``.

    The shape of the maze and the settings come from ``env``; the weights hold neither walls nor
    sizes. Distances are in pixels, so weights carry over best between pictures with equally
    thick lines.

    Args:
        env: shape and settings.
        outputs: 4, or an error: what it computes is a value for each move.
        norm: not used (there is no batch norm).
        dropout: not used.
        rngs: of the weights.
    """

    def __init__(self, env: Labyrinth, *, outputs: int, norm: bool, dropout: float, rngs: nnx.Rngs) -> None:
        del norm, dropout
        if outputs != grid.NUM_ACTIONS:
            raise ValueError(f"the planner gives a value for each of {grid.NUM_ACTIONS} moves, not {outputs} outputs")
        self.shape = env.shape
        self.has_key = env.key_and_door
        self.has_hazard = env.icy_floor or bool(env.tiles)
        self.cell = Sight(2 + 2 * self.has_key + self.has_hazard, 0.0, rngs=rngs)
        self.border = Sight(1, OPEN_AT_FIRST, rngs=rngs)
        self.sharpness = nnx.Param(jnp.zeros((), jnp.float32))

    def __call__(self, x: jax.Array, *, train: bool = False, rngs: nnx.Rngs | None = None) -> jax.Array:
        """Pictures to logits. In training, with ``rngs``, borders are looked at shifted and mirrored."""
        return self.logits(plan(self.believe(x, rngs if train else None)))

    def logits(self, q: jax.Array) -> jax.Array:
        """Q as logits: a learned scale."""
        return q * jax.nn.softplus(self.sharpness[...] + 0.5)

    def believe(self, x: jax.Array, rngs: nnx.Rngs | None = None) -> Beliefs:
        """What the networks read off pictures."""
        (height, width), batch = self.shape, x.shape[0]
        bare = not (self.has_key or self.has_hazard)
        sure = certainty(self.shape, bare=bare) if rngs is None else 1.0
        score = sure * self.cell(cells(x, self.shape))
        goal, agent, *others = jnp.moveaxis(score, -1, 0)
        key = door = hazard = None
        if self.has_key:
            none = jnp.zeros((batch, 1), jnp.float32)
            key = jax.nn.softmax(jnp.concatenate([others.pop(0), none], -1))[:, :-1]
            door = jax.nn.sigmoid(others.pop(0) + sure * OPEN_AT_FIRST)
        if self.has_hazard:
            hazard = jax.nn.sigmoid(others.pop(0) + sure * OPEN_AT_FIRST)
        shut = jax.nn.sigmoid(sure * self.judge(x, None if rngs is None else rngs.dropout()))
        count = height * (width - 1)
        return Beliefs(
            jax.nn.softmax(goal),
            jax.nn.softmax(agent),
            shut[:, :count].reshape(batch, height, width - 1),
            shut[:, count:].reshape(batch, height - 1, width),
            key,
            door,
            hazard,
        )

    def judge(self, x: jax.Array, key: jax.Array | None) -> jax.Array:
        """Scores of all borders, ``float32[B, E]``: positive where there seems to be a wall.

        A wall is a wall from both sides: mirror images count the same. In use the two are
        averaged; in training each border is seen from one side, at random, and a little beside
        its place. The drawing needs this: a coloured cell spills a fifth of a pixel to the right
        and up, and demonstrations never show the left side of a start.
        """
        if key is None:
            return (self.border(borders(x, self.shape))[..., 0] + self.border(borders(x, self.shape, -1.0))[..., 0]) / 2
        key_shift, key_side = jax.random.split(key)
        each = x.shape[0], len(grid.edges(self.shape))
        shift = jax.random.uniform(key_shift, each, minval=-SHIFT, maxval=SHIFT)
        side = jax.random.rademacher(key_side, each, jnp.float32)
        return self.border(borders(x, self.shape, side, shift))[..., 0]


def certainty(shape: tuple[int, int], *, bare: bool = True) -> float:
    """The factor of all scores in use, in mazes of ``shape`` (rows, columns); ``bare``: without key, ice or own tiles.

    Training leaves doubts: the agent is there with 0.95, a wall with 0.6. At 5x5 they do no harm but
    where a wall of 0.6 costs less than a long way round. With nine times as many cells they add up:
    the agent's softmax keeps half, and H*W times a small doubt is several moves. With key or ice
    some borders are misread, and then more certainty makes it worse.

    >>> certainty((3, 5)), certainty((30, 30)), certainty((3, 5), bare=False)
    (4.0, 36.0, 1.0)
    """
    return max(SURE if bare else 1.0, shape[0] * shape[1] / LEARNED_ON)


def cells(x: jax.Array, shape: tuple[int, int]) -> jax.Array:
    """The middle of every cell of pictures ``uint8[B, S, S, 3]``: ``float32[B, H*W, 6, 6, 3]``, white is 0, black 1."""
    rows, cols = (_nearest(_middles(cells, size), size) for cells, size in zip(shape, x.shape[1:3], strict=True))
    row, col = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
    return _look(x, rows[row][:, :, None], cols[col][:, None, :])


def borders(x: jax.Array, shape: tuple[int, int], side: Array | float = 1.0, shift: Array | float = 0.0) -> jax.Array:
    """The middle of every border between two cells: ``float32[B, E, 6, 6, 3]``, white is 0, black 1.

    First come the borders between left and right neighbours, then those between lower and upper
    ones, row by row. The first of the two axes of a patch goes across the border.

    Args:
        x: pictures ``uint8[B, S, S, 3]``.
        shape: (rows, columns) of the mazes.
        side: 1 or -1 (mirrored), ``float32[B, E]`` or one for all.
        shift: pixels beside the place, ``float32[B, E]`` or one for all.
    """
    (height, width), sizes, batch = shape, x.shape[1:3], x.shape[0]
    count = height * (width - 1)
    side, shift = (jnp.broadcast_to(part, (batch, len(grid.edges(shape))))[..., None] for part in (side, shift))
    split = [(side[:, :count], shift[:, :count]), (side[:, count:], shift[:, count:])]
    out = []
    for axis, (mirror, beside) in zip((1, 0), split, strict=True):
        line = np.indices((height - (axis == 0), width - (axis == 1))).reshape(2, -1)
        place = (line[axis] + 1) * (sizes[axis] / shape[axis])
        across = place[:, None] + mirror * TAPS.astype(np.float32) + beside - 0.5  # [B, edges, 6]
        across = jnp.clip(across, 0, sizes[axis] - 1)
        low = jnp.minimum(across.astype(jnp.int32), sizes[axis] - 2)
        weight = (across - low)[..., None, None]
        along = _nearest(_middles(shape[1 - axis], sizes[1 - axis]), sizes[1 - axis])[line[1 - axis]][:, None, :]
        near, far = (
            _look(x, *((along, pixel) if axis == 1 else (pixel, along)))
            for pixel in (low[..., None], low[..., None] + 1)
        )
        out.append(near * (1 - weight) + far * weight)
    return jnp.concatenate(out, 1)


def _middles(cells: int, size: int) -> np.ndarray:
    return (np.arange(cells) + 0.5) * (size / cells)


def _nearest(middle: np.ndarray, size: int) -> np.ndarray:
    """The pixels nearest to the taps, ``int32[len(middle), 6]``; pixel ``i`` has its middle at ``i + 0.5``."""
    pixel = np.floor(middle[:, None] + TAPS + 1e-6).astype(np.int32)
    return np.clip(pixel, 0, size - 1)


def _look(x: jax.Array, row: Array, col: Array) -> jax.Array:
    """Pixels of rows from the bottom and columns, ``[(B,) ...]`` each, of every picture: ``float32[B, ..., 3]``."""
    row, col = jnp.broadcast_arrays(row, col)
    picture = jnp.arange(x.shape[0]).reshape(-1, *(1,) * 3)
    seen = x.at[picture, x.shape[1] - 1 - row, col].get(mode="promise_in_bounds")
    return 1 - seen.astype(jnp.float32) / 255


def read(network: Network, variables: Variables, x: jax.Array) -> Beliefs:
    """What trained weights believe about pictures ``uint8[B, S, S, 3]``, before any planning."""
    return nnx.merge(network.structure, variables.weights, variables.stats).believe(x)
