"""Mazes that are alike: k walls changed, the same solutions, distances, mirror images."""

from __future__ import annotations

import itertools

import jax
import numpy as np
import pytest

from jaxlab import PlacementError, from_edges, generate, maze, stack
from jaxlab.generate import support
from jaxlab.generate.walls import change_walls, edge_distances, farthest, images, nearest, same_solutions
from jaxlab.solve import paths

CARVED = (4, 5)


@pytest.fixture(scope="module")
def mazes():
    return jax.tree.map(np.asarray, generate.mazes(jax.random.key(2), 30, CARVED))


def solutions(one):
    return {tuple(path) for path in paths(one).as_lists()}


def walls_apart(one, other):
    return int((maze.open_edges(np.asarray(one.walls)) != maze.open_edges(np.asarray(other.walls))).sum())


def test_edge_distances_nearest_and_farthest(mazes):
    distance = edge_distances(mazes.walls, mazes.walls)
    assert distance.dtype == np.int32 and (np.diag(distance) == 0).all() and (distance == distance.T).all()
    for i, j in itertools.product(range(5), range(30)):
        assert distance[i, j] == walls_apart(mazes[i], mazes[j])
    rest = mazes[1:]
    assert nearest(mazes[0], rest) == (int(distance[0, 1:].argmin()), int(distance[0, 1:].min()))
    assert farthest(mazes[0], rest) == (int(distance[0, 1:].argmax()), int(distance[0, 1:].max()))


def test_changing_k_walls_changes_k_and_leaves_the_maze_solvable(mazes):
    for k, one in zip([0, 1, 2, 5, 9, 15, 18], mazes, strict=False):
        changed = change_walls(one, k, seed=k)
        maze.check(changed)
        assert walls_apart(one, changed) == k and len(paths(changed)) > 0
        assert (changed.start, changed.goal) == (one.start, one.goal)
        assert np.array_equal(changed.walls, change_walls(one, k, seed=k).walls)
    draws = {change_walls(mazes[0], 2, seed=s).walls.tobytes() for s in range(20)}
    assert len(draws) > 10


def test_changes_with_tiles_leave_the_goal_reachable_alive():
    one = from_edges([(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (2, 5)], (3, 3), 0, 8, key=3, door=5, ice=[2])
    for seed in range(10):
        changed = change_walls(one, 2, seed=seed)
        assert walls_apart(one, changed) == 2 and len(paths(changed)) > 0


def test_a_change_that_is_not_possible_is_refused():
    corridor = from_edges([(0, 1), (1, 2)], (1, 3), 0, 2)
    with pytest.raises(ValueError, match=r"0\.\.2"):
        change_walls(corridor, 3)
    with pytest.raises(PlacementError):
        change_walls(corridor, 1)


def test_same_solutions_other_walls(mazes):
    changed_walls = []
    for one in mazes:
        other = same_solutions(one, seed=1)
        maze.check(other)
        assert solutions(other) == solutions(one)
        changed_walls.append(walls_apart(one, other))
    assert np.mean(changed_walls) > 5
    assert np.array_equal(same_solutions(mazes[0], seed=1).walls, same_solutions(mazes[0], seed=1).walls)


def test_same_solutions_changes_as_many_walls_as_possible():
    """Against every structure of 3x3 there is: 2**12 of them."""
    every = ((np.arange(2**12)[:, None] >> np.arange(12)) & 1).astype(bool)
    everything = maze.make(maze.walls_from_edges(every, (3, 3)), np.zeros(2**12), np.full(2**12, 8))
    by_solutions: dict[frozenset, list[int]] = {}
    for i, found in enumerate(paths(everything)):
        by_solutions.setdefault(frozenset(map(tuple, found.as_lists())), []).append(i)
    walls = support.structures((3, 3), 0, 8)
    for one in maze.make(walls, np.zeros(len(walls)), np.full(len(walls), 8)):
        alike = everything.walls[by_solutions[frozenset(solutions(one))]]
        most = int(edge_distances(one.walls[None], alike).max())
        assert walls_apart(one, same_solutions(one, tries=8)) == most


def test_same_solutions_with_key_door_and_ice():
    kinds = 0
    for seed in range(40):
        one = jax.tree.map(np.asarray, generate.mazes(jax.random.key(100 + seed), 1, (5, 5)))[0]
        try:
            one = generate.key_and_door(one, seed) if seed % 2 else generate.ice(one, seed)
        except PlacementError:
            continue
        kinds |= 1 << seed % 2
        other = same_solutions(one)
        assert solutions(other) == solutions(one)
        assert (other.key, other.door) == (one.key, one.door) and np.array_equal(other.ice, one.ice)
    assert kinds == 3
    with pytest.raises(PlacementError, match="no solution"):
        same_solutions(from_edges([], (2, 2), 0, 3))


def test_images_carry_start_and_goal(mazes):
    assert len(images(mazes[0])) == 4
    square = from_edges([(0, 1), (1, 2), (2, 5), (5, 8), (3, 4)], (3, 3), 0, 8)
    turned = images(square)
    assert len(turned) == 8 and np.array_equal(turned[0].walls, square.walls)
    assert len({one.walls.tobytes() for one in turned}) == 8
    assert {(int(one.start), int(one.goal)) for one in turned} == {(0, 8), (8, 0), (2, 6), (6, 2)}
    for one in turned:
        assert [len(path) for path in solutions(one)] == [5]
    assert len(set(map(bytes, maze.canonical(stack(turned).walls)))) == 1
