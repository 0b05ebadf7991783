"""A maze in the hand: drawn in Unicode, as a picture, an animation or SVG (host)."""

from __future__ import annotations

import functools
import io
from collections.abc import Sequence

import jax
import numpy as np

from jaxlab import grid, tiles
from jaxlab.env import Labyrinth, Params, State
from jaxlab.errors import needs_extra
from jaxlab.maze import Maze, marks
from jaxlab.render import AGENT_GREEN, BLACK, DOOR_BROWN, GOAL_BLUE, ICE_BLUE, KEY_GOLD, START_RED, of_state

ARROWS = {grid.UP: "↑", grid.RIGHT: "→", grid.DOWN: "↓", grid.LEFT: "←"}
BOTH = {0b0011: "↗", 0b0110: "↘", 0b1100: "↙", 0b1001: "↖"}
CORNERS = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"
"""The sign that joins lines upwards (bit 0), to the right (1), downwards (2), to the left (3)."""


def arrow(bits: int) -> str:
    """The sign of a set of optimal actions: an arrow, a diagonal one for two, ``*`` for more, a dot for none."""
    if bits == 0:
        return "·"
    if bits & (bits - 1) == 0:
        return ARROWS[bits.bit_length() - 1]
    return BOTH.get(bits, "*")


def unicode(maze: Maze, optimal: np.ndarray | None = None) -> str:
    """Draw one maze with box signs, the top row first.

    Args:
        maze: a single maze; S, E, K, D and I stand for start, goal, key, door and ice.
        optimal: ``uint8[H*W]``, sets of optimal actions to draw as arrows in the free cells.

    >>> from jaxlab import from_edges
    >>> print(unicode(from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)))
    ┌───────┐
    │     E │
    ├───╴   │
    │ S     │
    └───────┘
    """
    height, width = maze.shape
    walls = np.asarray(maze.walls)
    letters = marks(maze)
    across = np.zeros((height + 1, width), bool)  # a wall along the bottom of row r, or the top of the last
    along = np.zeros((height, width + 1), bool)
    across[:height] = walls >> grid.DOWN & 1
    across[height] = walls[-1] >> grid.UP & 1
    along[:, :width] = walls >> grid.LEFT & 1
    along[:, width] = walls[:, -1] >> grid.RIGHT & 1
    lines = []
    for row in range(height, -1, -1):
        line = ""
        for col in range(width + 1):
            joins = (
                (row < height and along[row, col]) * 1
                + (col < width and across[row, col]) * 2
                + (row > 0 and along[row - 1, col]) * 4
                + (col > 0 and across[row, col - 1]) * 8
            )
            line += CORNERS[joins]
            if col < width:
                line += ("─" if across[row, col] else " ") * 3
        lines.append(line)
        if row:
            line = ""
            for col in range(width + 1):
                line += "│" if along[row - 1, col] else " "
                if col < width:
                    cell = (row - 1) * width + col
                    sign = letters.get(cell) or (" " if optimal is None else arrow(int(optimal[cell])))
                    line += f" {sign} "
            lines.append(line)
    return "\n".join(lines)


def shortest(env: Labyrinth, params: Params, index: int = 0) -> list[tuple[int, int]]:
    """The (cell, mode) of one shortest play, start and goal included, whatever the time limit.

    Raises:
        ValueError: the goal can't be reached.
    """
    if params.optimal is None:
        raise ValueError("unsolved mazes: make the params with params(), not bare_params()")
    bits, goal = np.asarray(params.optimal[index]), int(params.mazes.goal[index])
    state = env.reset_to(index, params)[1]
    play = [(int(state.cell), int(state.mode))]
    while play[-1][0] != goal:
        best = int(bits[play[-1][1], play[-1][0]])
        if best == 0:
            raise ValueError("this maze has no solution: the goal can't be reached from the start")
        state = _moved(env, state, (best & -best).bit_length() - 1, params)
        play.append((int(state.cell), int(state.mode)))
    return play


@functools.partial(jax.jit, static_argnums=0)
def _moved(env: Labyrinth, state: State, action: int, params: Params) -> State:
    move = env.move(state, action, params)
    return state.replace(cell=move.cell, mode=move.mode)


def pictures(env: Labyrinth, maze: Maze, play: Sequence[tuple[int, int]], size: int) -> list[np.ndarray]:
    """A picture ``uint8[size, size, 3]`` of each (cell, mode)."""
    return [np.asarray(of_state(env.active_tiles, maze, *state, size, env.occlusion)) for state in play]


def image(frames: Sequence[np.ndarray], kind: str, milliseconds: int = 250) -> bytes:
    """Pictures as one PNG (the first of them) or an animated GIF.

    Raises:
        ImportError: Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise needs_extra("pillow", "viz") from None
    drawn = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    if kind == "png":
        drawn[0].save(file, "PNG")
    else:
        drawn[0].save(file, "GIF", save_all=True, append_images=drawn[1:], duration=milliseconds, loop=0)
    return file.getvalue()


def svg(maze: Maze, play: Sequence[tuple[int, int]] = (), cell: int = 40, seconds: float = 0.25) -> str:
    """Draw one maze as SVG; with a play, the agent walks through it over and over."""
    height, width = maze.shape
    walls = np.asarray(maze.walls)

    def color(rgb: tuple[int, int, int]) -> str:
        return "#{:02x}{:02x}{:02x}".format(*rgb)

    def corner(number: int) -> tuple[int, int]:
        return number % width * cell, (height - 1 - number // width) * cell

    def tile(number: int, rgb: tuple[int, int, int], share: float = 1.0) -> str:
        x, y = corner(number)
        side, gap = cell * share, cell * (1 - share) / 2
        return f'<rect x="{x + gap:g}" y="{y + gap:g}" width="{side:g}" height="{side:g}" fill="{color(rgb)}"/>'

    parts = [tile(int(i), ICE_BLUE) for i in np.flatnonzero(maze.ice)]
    parts += [tile(int(maze.key), KEY_GOLD, 0.5)] if int(maze.key) >= 0 else []
    parts += [tile(int(maze.door), DOOR_BROWN)] if int(maze.door) >= 0 else []
    parts += [tile(int(maze.start), START_RED), tile(int(maze.goal), GOAL_BLUE)]
    lines = [f"M0 0H{width * cell}V{height * cell}H0Z"]
    for number in range(height * width):
        x, y = corner(number)
        bits = int(walls.flat[number])
        if bits >> grid.RIGHT & 1 and number % width < width - 1:
            lines.append(f"M{x + cell} {y}v{cell}")
        if bits >> grid.UP & 1 and number // width < height - 1:
            lines.append(f"M{x} {y}h{cell}")
    if play:
        half = cell / 2
        at = [corner(number) for number, _ in play]
        spots = ";".join(f"{x + half:g} {y + half:g}" for x, y in at)
        r = cell * 0.35
        diamond = f'<path d="M0 {-r:g}L{r:g} 0L0 {r:g}L{-r:g} 0Z" fill="{color(AGENT_GREEN)}"'
        if len(at) == 1:
            parts.append(f'{diamond} transform="translate({spots})"/>')
        else:
            walk = f'<animateTransform attributeName="transform" type="translate" calcMode="discrete" values="{spots}"'
            parts.append(f'{diamond}>{walk} dur="{seconds * len(at):g}s" repeatCount="indefinite"/></path>')
    parts.append(f'<path d="{"".join(lines)}" fill="none" stroke="{color(BLACK)}" stroke-width="2"/>')
    box = f"-1 -1 {width * cell + 2} {height * cell + 2}"
    size = f'width="{width * cell + 2}" height="{height * cell + 2}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {size}>'
    return "\n".join([head, '<rect x="-1" y="-1" width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])


def phases(env: Labyrinth) -> list[tuple[str, int]]:
    """The memories worth an arrow chart of their own: (title, mode)."""
    active = env.active_tiles
    if tiles.KEY_AND_DOOR in active:
        unit = tiles.num_modes(active[: active.index(tiles.KEY_AND_DOOR)])
        return [("without the key", tiles.KEY_NOT_TAKEN * unit), ("with the key", tiles.KEY_HELD * unit)]
    return [("", 0)]
