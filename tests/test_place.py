"""Placing key, door, ice, new starts and goals; moving key and ice."""

import itertools
import json

import jax
import numpy as np
import pytest

import jaxlab
from jaxlab import grid, maze, splits
from jaxlab.generate import ice_moved, ice_moves, key_moved, key_moves, mazes, place, routes
from jaxlab.generate.search import unique
from jaxlab.text import Settings


def all_routes(one):
    """Every simple path from start to goal, by plain search."""
    beside = routes.of(one).beside
    found, stack = [], [(int(one.start),)]
    while stack:
        trail = stack.pop()
        if trail[-1] == int(one.goal):
            found.append(trail)
            continue
        stack.extend((*trail, cell) for cell in beside[trail[-1]] if cell not in trail)
    return found


@pytest.fixture(scope="module")
def bare():
    return jax.tree.map(np.asarray, mazes(jax.random.key(5), 256, (4, 4), "unbiased"))


def test_chain_and_own_cells_equal_plain_search(bare):
    for one in bare:
        passages = routes.of(one)
        chain = passages.chain(int(one.start), int(one.goal))
        found = [set(path) for path in all_routes(one)]
        ends = {int(one.start), int(one.goal)}
        assert {block.entry for block in chain[1:]} == set.intersection(*found) - ends
        assert set().union(*(routes.cells_of(block.cells) for block in chain)) == set.union(*found)
        own = []
        for i, path in enumerate(found):
            alone = path.difference(*(other for k, other in enumerate(found) if k != i)) - ends
            if alone and len(found) > 1:
                own.append((sorted(path), sorted(alone)))
        assert sorted((routes.cells_of(a), routes.cells_of(b)) for a, b in routes.own_cells(passages, chain)) == sorted(
            own
        )


def test_golden_routes(golden):
    for record in json.loads((golden / "mazes4.json").read_text()):
        shape = (record["height"], record["width"])
        one = jaxlab.from_edges(record["edges"], shape, record["start"], record["goal"])
        found = [set(path) for path in record["all_paths"]]
        chain = routes.of(one).chain(record["start"], record["goal"])
        assert {block.entry for block in chain[1:]} == set.intersection(*found) - {record["start"], record["goal"]}
        assert set().union(*(routes.cells_of(block.cells) for block in chain)) == set.union(*found)


def test_key_and_door_follow_the_paper(bare):
    placed = 0
    for i, one in enumerate(bare):
        try:
            locked = place.key_and_door(one, seed=i)
        except jaxlab.PlacementError:
            continue
        placed += 1
        found = all_routes(one)
        shared = [cell for cell in found[0][1:-1] if all(cell in path for path in found)]
        assert int(locked.door) == shared[-1]
        assert all(int(locked.key) not in path for path in found)
        passages = routes.of(one)
        assert passages.reach(1 << int(one.start), passages.all & ~(1 << int(locked.door))) >> int(locked.key) & 1
        np.testing.assert_array_equal(locked.walls, one.walls)
    assert placed > 40


def test_given_tiles_are_kept(bare):
    for i, one in enumerate(bare[:100]):
        try:
            full = place.key_and_door(one, seed=i)
        except jaxlab.PlacementError:
            continue
        none = np.int32(maze.NONE)
        assert place.key_and_door(full, seed=i + 1) is full
        assert int(place.key_and_door(full.replace(door=none), seed=1).key) == int(full.key)
        assert int(place.key_and_door(full.replace(key=none), seed=1).door) == int(full.door)


def test_errors_are_honest():
    corridor = jaxlab.from_edges([(0, 1), (1, 2)], (1, 3), 0, 2)
    with pytest.raises(jaxlab.PlacementError, match="only one route"):
        place.ice(corridor)
    with pytest.raises(jaxlab.PlacementError, match="no cell for the key"):
        place.key_and_door(corridor)
    ring = jaxlab.from_edges([(0, 1), (1, 3), (0, 2), (2, 3)], (2, 2), 0, 3)
    with pytest.raises(jaxlab.PlacementError, match="no cell for the door"):
        place.key_and_door(ring)
    with pytest.raises(jaxlab.PlacementError, match="more than 20000 routes"):
        place.ice(jaxlab.from_edges(grid.edges((6, 6)).tolist(), (6, 6), 0, 35))
    with pytest.raises(jaxlab.PlacementError, match="can't be reached"):
        place.ice(jaxlab.from_edges([(0, 1)], (1, 3), 0, 2))
    with pytest.raises(ValueError, match="exactly 0 exist"):
        unique(0, 1, (2, 2), settings=Settings(key_and_lock=True, icy_floor=True))


SUBSETS = [flags for flags in itertools.product([False, True], repeat=3) if any(flags)]


@pytest.mark.parametrize("flags", SUBSETS)
def test_every_subset_of_the_settings(flags):
    settings = Settings(*flags)
    drawn = unique(3, 60, (5, 5), settings=settings).mazes
    assert len({form.tobytes() for form in maze.structure(drawn.walls)}) == 60
    env = jaxlab.Labyrinth.from_settings((5, 5), settings)
    params = env.params(drawn)
    assert (params.shortest > 0).all()
    assert (drawn.key >= 0).all() == settings.key_and_lock
    if settings.icy_floor:
        assert drawn.ice.any((1, 2)).all()
    for one in drawn[:10]:
        again = place.new_start(one, seed=1)
        anew = place.new_start_and_goal(one, settings, seed=1)
        for moved in (again, anew):
            assert (env.params(moved).shortest > 0).all()
            assert grid.manhattan((5, 5))[moved.start, moved.goal] >= 5
            assert not place.lying(moved) & place.cells(moved.start, moved.goal)


def test_alive_is_what_the_solver_says():
    for flags in ((True, False, False), (False, True, False), (True, True, False)):
        settings = Settings(*flags)
        drawn = unique(8, 60, (5, 5), settings=settings).mazes
        env = jaxlab.Labyrinth.from_settings((5, 5), settings)
        reachable = np.asarray(env.params(drawn).distance)[:, 0] >= 0
        for one, expected in zip(drawn, reachable, strict=True):
            free = ~routes.layer_of(place.lying(one), (5, 5)).ravel()
            alive = routes.layer_of(place.alive(one, routes.of(one)), (5, 5)).ravel()
            np.testing.assert_array_equal(alive[free], expected[free])


def test_only_the_key_moves():
    drawn = unique(4, 40, (5, 5), settings=Settings(key_and_lock=True)).mazes
    with_moves = [one for one in drawn if key_moves(one)]
    assert len(with_moves) > 20
    for one in with_moves:
        moved = key_moved(one, seed=9)
        assert int(moved.key) in key_moves(one) and int(moved.key) != int(one.key)
        jax.tree.map(np.testing.assert_array_equal, moved.replace(key=one.key), one)
        assert set(key_moves(moved)) | {int(moved.key)} == set(key_moves(one)) | {int(one.key)}
        assert all(int(moved.key) not in path for path in all_routes(one))


def test_only_the_ice_moves():
    drawn = unique(4, 60, (5, 5), settings=Settings(icy_floor=True)).mazes
    with_moves = [one for one in drawn if ice_moves(one)]
    assert len(with_moves) > 20
    for one in with_moves:
        moved = ice_moved(one, seed=9)
        before, after = (set(np.flatnonzero(m.ice).tolist()) for m in (one, moved))
        assert sorted(after) in ice_moves(one) and not before & after
        jax.tree.map(np.testing.assert_array_equal, moved.replace(ice=one.ice), one)
        found = [set(path) for path in all_routes(one)]
        assert any(after <= path and not before & path for path in found)
        assert any(before <= path and not after & path for path in found)


def test_file_without_its_tiles_gets_them(tmp_path):
    drawn = unique(6, 5, (5, 5), settings=Settings(key_and_lock=True, icy_floor=True)).mazes
    settings = Settings(key_and_lock=True, icy_floor=True)
    one = drawn[0]
    bare = one.replace(key=np.int32(maze.NONE), door=np.int32(maze.NONE), ice=np.zeros_like(one.ice))
    content = jaxlab.text.format(bare, settings)
    first, _ = jaxlab.text.parse(content, seed=1)
    again, _ = jaxlab.text.parse(content, seed=1)
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert int(first.door) == int(one.door) and first.ice.any()
    assert (jaxlab.Labyrinth.from_settings((5, 5), settings).params(first).shortest > 0).all()


def test_splits_carry_the_moved_tiles():
    frozen = splits.load("5x5-ice-v1")
    kept = {form.tobytes() for form in maze.structure(frozen["train"].walls)}
    assert {form.tobytes() for form in maze.structure(frozen["ice_moved"].walls)} <= kept
    assert any("ice_moved has" in note for note in frozen.notes)
