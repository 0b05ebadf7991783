"""Observations beyond the recorded ones: grid planes, the egocentric window, shapes that are not square."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from strategies import random_maze

import jaxlab
from jaxlab import observe
from jaxlab.render import AGENT_GREEN, BLACK, GOAL_BLUE, START_RED, axis, diamond, render
from jaxlab.scene import lattice_position, visible_cells

MAZE = jaxlab.from_edges(
    [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)], (2, 3), start=0, goal=5, key=3, door=2, ice=[4]
)
ENV = jaxlab.Labyrinth((2, 3), "grid", key_and_door=True, icy_floor=True)


def test_grid_planes_are_named_and_hold_what_the_maze_holds():
    params = ENV.params(MAZE)
    obs, _ = ENV.reset_to(0, params)
    assert obs.shape == (2, 3, 11) and obs.dtype == np.uint8 and len(observe.PLANES) == 11
    planes = {name: np.flatnonzero(obs[..., i]).tolist() for i, name in enumerate(observe.PLANES)}
    for action, name in enumerate(observe.PLANES[:4]):
        assert planes[name] == np.flatnonzero(MAZE.walls >> action & 1).tolist()
    assert {name: planes[name] for name in observe.PLANES[4:]} == {
        "agent": [0], "start": [0], "goal": [5], "key": [3], "door": [2], "ice": [4], "visible": list(range(6))
    }  # fmt: skip
    after = np.asarray(ENV.step(None, ENV.reset_to(0, params)[1], jaxlab.UP, params).obs)
    assert after[..., 7].sum() == 0 and after[1, 0, 4] == 1, "the key is gone, the agent stands in its place"


def test_view_is_the_grid_round_the_agent():
    whole = jaxlab.Labyrinth((2, 3), "grid", key_and_door=True, icy_floor=True)
    env = jaxlab.Labyrinth((2, 3), "grid", view=3, key_and_door=True, icy_floor=True)
    params = env.params(MAZE)
    obs, state = env.reset_to(0, params)
    full = np.asarray(whole.observe(state, params))
    window = np.asarray(obs["grid"])
    assert np.array_equal(window[1:, 1:], full[:2, :2]), "the agent's cell is in the middle"
    assert (window[0, :, :4] == 1).all() and (window[0, :, 4:] == 0).all(), "outside there are only walls"
    assert obs["offsets"].tolist() == [0, 0, 1, 2], "rows and columns to the start and to the goal"
    assert env.observation_space.contains(jax.tree.map(np.asarray, obs))


@pytest.mark.parametrize("shape", [(4, 6), (1, 7)])
def test_visible_cells_follow_the_rule_on_any_shape(shape):
    """Straight lines without a wall, and staircases that begin with a horizontal step; nothing else."""
    seen = jax.jit(visible_cells)
    dice = np.random.default_rng(0)
    steps = {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}
    for _ in range(5):
        maze = random_maze(dice, shape)
        for cell in range(shape[0] * shape[1]):
            row, col = divmod(cell, shape[1])
            expected = np.zeros(shape, bool)
            for to_row in range(shape[0]):
                for to_col in range(shape[1]):
                    down, across = to_row - row, to_col - col
                    if down and across and abs(down) != abs(across):
                        continue
                    r, c, clear = row, col, True
                    while clear and (r, c) != (to_row, to_col):
                        for step in ((0, np.sign(across)), (np.sign(down), 0)):
                            if step != (0, 0):
                                clear = clear and not maze.walls[r, c] >> steps[step] & 1
                                r, c = r + step[0], c + step[1]
                                if not clear:
                                    break
                    expected[to_row, to_col] = clear
            assert np.array_equal(seen(maze.walls, cell), expected), (maze, cell)


def remember(entering, before, move):
    return move.replace(mode=jnp.where(entering, 1, move.mode))


def test_own_tiles_are_seen_with_their_memory():
    tile = jaxlab.Tile("lever", remember, modes=2, color=((1, 2, 3), (4, 5, 6)))
    maze = jaxlab.from_edges([(0, 1), (1, 2)], (1, 3), 0, 2).replace(tiles={"lever": np.array([[False, True, False]])})
    for observation, before, after in (("vector", 0, 1), ("pixels", (1, 2, 3), (4, 5, 6))):
        env = jaxlab.Labyrinth((1, 3), observation, tiles=(tile,))
        params = env.params(maze)
        first, state = env.reset_to(0, params)
        second = env.step(None, state, jaxlab.RIGHT, params).obs
        if observation == "vector":
            assert (first[3], second[3]) == (before, after)
        else:
            seen = [(np.asarray(obs) == color).all(-1).any() for obs, color in ((first, before), (second, after))]
            assert all(seen)


def test_positions_on_the_fine_grid():
    assert lattice_position(np.array([-1, 0, 2, 3, 5]), 3).tolist() == [-1, 0, 4, 10, 14]


def test_with_settings_combined_hidden_cells_hide_ice_but_not_the_head():
    env = jaxlab.Labyrinth((2, 3), occlusion=True, key_and_door=True, icy_floor=True)
    params = env.params(MAZE)
    obs = np.asarray(env.observe(env.place(env.reset_to(0, params)[1], 2), params))
    assert obs[3:5].tolist() == [10, 4], "key and door stay in the head"
    fine = obs[5:].reshape(3, 5)
    assert not visible_cells(params.mazes.walls[0], 2)[1, 1] and fine[2, 2] == 1, "a hidden cell is 1 even if icy"


@pytest.mark.parametrize("shape", [(2, 5), (2, 33), (3, 40)])  # one word of bits for a row of cells, and two
def test_a_picture_is_its_rectangles_however_many_cells_a_row_has(shape):
    size = 300
    maze, cell = random_maze(np.random.default_rng(3), shape), shape[1]
    rows, cols = (axis(cells, size).of_pixels() for cells in shape)
    expected = np.full((size, size, 3), 255, np.uint8)
    for place, color in ((maze.start, START_RED), (maze.goal, GOAL_BLUE)):
        row, col = divmod(int(place), shape[1])
        expected[np.ix_(rows.tile[:, row], cols.tile[:, col])] = color
    is_wall = np.zeros((size, size), bool)
    for row, col in np.ndindex(shape):
        if maze.walls[row, col] >> jaxlab.DOWN & 1:
            is_wall |= np.outer(rows.line[:, row], cols.span[:, col])
        if maze.walls[row, col] >> jaxlab.LEFT & 1:
            is_wall |= np.outer(rows.span[:, row], cols.line[:, col])
    expected[np.asarray(diamond(cell, shape, size))] = AGENT_GREEN
    expected[is_wall] = BLACK
    assert np.array_equal(render(maze, cell, size), expected[::-1])
