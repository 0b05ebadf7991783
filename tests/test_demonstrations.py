from collections import Counter

import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import datasets

OPEN = jaxlab.from_edges([(0, 1), (0, 2), (1, 3), (2, 3), (3, 5), (2, 4), (4, 5)], (3, 2), start=0, goal=5)
"""Three shortest solutions of three moves: right up up, up right up, up up right."""


def test_one_shortest_play_a_maze_without_a_terminal_row():
    env = jaxlab.Labyrinth((3, 2))
    shown = datasets.demonstrations(env, jaxlab.stack([OPEN] * 5))
    assert len(shown) == 15
    assert (shown.next_cell[2::3] == 5).all() and not (shown.cell == 5).any()
    assert (shown.cell[::3] == 0).all() and (shown.maze == np.repeat(np.arange(5), 3)).all()
    assert np.array_equal(shown.next_cell[:2], shown.cell[1:3])


def test_uniform_over_shortest_plays():
    count = 600
    shown = datasets.demonstrations(jaxlab.Labyrinth((3, 2)), jaxlab.stack([OPEN] * count), seed=3)
    plays = Counter(map(tuple, shown.action.reshape(count, 3).tolist()))
    assert plays.keys() == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    # A step-by-step coin would give the first a half; chi-square with 2 degrees, p = 0.001.
    assert sum((n - count / 3) ** 2 / (count / 3) for n in plays.values()) < 13.8


def test_seed_decides_and_nothing_else():
    env = jaxlab.Labyrinth((3, 2))
    mazes = jaxlab.stack([OPEN] * 20)
    one, two, other = (datasets.demonstrations(env, mazes, seed).action for seed in (1, 1, 2))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


def test_key_and_door_and_ice():
    env = jaxlab.Labyrinth((2, 3), key_and_door=True, icy_floor=True)
    edges = [(0, 1), (1, 2), (1, 4), (0, 3), (2, 5), (4, 5)]
    maze = jaxlab.from_edges(edges, (2, 3), start=0, goal=2, key=3, door=1, ice=[4])
    shown = datasets.demonstrations(env, jaxlab.stack([maze]))
    assert shown.cell.tolist() == [0, 3, 0, 1]
    assert shown.mode.tolist() == [0, 1, 1, 2]
    assert shown.action.tolist() == [0, 2, 1, 1]


def _wade(entering, before, move):
    return move.replace(cost=jnp.where(entering, 5, move.cost))


def test_own_tile_with_a_cost_is_walked_round():
    env = jaxlab.Labyrinth((2, 3), tiles=(jaxlab.Tile("mud", _wade),))
    edges = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)]
    mud = np.zeros((2, 3), bool)
    mud[0, 1] = True
    maze = jaxlab.from_edges(edges, (2, 3), start=0, goal=2).replace(tiles={"mud": mud})
    assert datasets.demonstrations(env, jaxlab.stack([maze])).cell.tolist() == [0, 3, 4, 5]


def test_no_solution_and_wrong_rows_are_refused():
    env = jaxlab.Labyrinth((3, 2))
    shut = jaxlab.from_edges([(0, 1)], (3, 2), start=0, goal=5)
    with pytest.raises(ValueError, match="maze 1 has no solution"):
        datasets.demonstrations(env, jaxlab.stack([OPEN, shut]))
    shown = datasets.demonstrations(env, jaxlab.stack([OPEN]))
    with pytest.raises(ValueError, match="action 3 is not optimal"):
        datasets.check_demonstrations(shown.replace(action=np.full(3, 3, np.int32)))
    with pytest.raises(ValueError, match=r"cell must lie in 0\.\.5"):
        datasets.check_demonstrations(shown.replace(cell=np.full(3, 6, np.int32)))
    with pytest.raises(ValueError, match="maze must be int32"):
        datasets.check_demonstrations(shown.replace(maze=np.zeros(3)))
