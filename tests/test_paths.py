"""Every solution: listed, iterated, counted, drawn; against the golden records and against each other."""

from __future__ import annotations

import collections
import itertools
import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxlab import Labyrinth, Tile, from_edges, generate, grid, maze, stack, to_edges
from jaxlab.solve import count, count_paths, graph, iter_paths, paths, routes, sample_paths
from jaxlab.solve.enumerate import enumerate_graphs, every_path

# OEIS A007764: simple paths from corner to corner of an open grid of n x n cells.
A007764 = [1, 2, 12, 184, 8512, 1262816, 575780564, 789360053252, 3266598486981642]


def open_grid(rows, cols, start=0, goal=None):
    return from_edges(grid.edges((rows, cols)), (rows, cols), start, rows * cols - 1 if goal is None else goal)


def random_mazes(seed, n, shape, chance):
    """Structures without any rule, some of them in pieces; start and goal anywhere."""
    rng = np.random.default_rng(seed)
    walls = maze.walls_from_edges(rng.random((n, len(grid.edges(shape)))) < chance, shape)
    start = rng.integers(shape[0] * shape[1], size=n)
    goal = (start + rng.integers(1, shape[0] * shape[1], size=n)) % (shape[0] * shape[1])
    return maze.make(walls, start, goal)


def by_brute_force(one):
    """All simple paths of the bare structure, by trying everything."""
    beside = collections.defaultdict(list)
    for a, b in to_edges(one):
        beside[a].append(b)
        beside[b].append(a)

    def walk(path):
        if path[-1] == int(one.goal):
            yield tuple(path)
            return
        for cell in beside[path[-1]]:
            if cell not in path:
                yield from walk([*path, cell])

    return set(walk([int(one.start)]))


def records(golden, *names):
    for name in names:
        yield from json.loads((golden / f"{name}.json").read_text())


def of_record(record, bare):
    tiles = {} if bare else {name: record[name] for name in ("key", "door", "ice")}
    return from_edges(record["edges"], (record["height"], record["width"]), record["start"], record["goal"], **tiles)


def test_golden_paths_of_the_bare_structure(golden):
    every = list(records(golden, "mazes3", "mazes4", "variants", "unbiased"))
    assert len(every) == 401
    by_shape = collections.defaultdict(list)
    for record in every:
        by_shape[record["height"]].append(record)
    for group in by_shape.values():
        mazes = stack([of_record(record, bare=True) for record in group])
        found = paths(mazes)
        assert found.complete.all()
        for record, one, listed in zip(group, mazes, found, strict=True):
            lists = listed.as_lists()
            assert len(set(map(tuple, lists))) == len(lists)
            assert sorted(lists) == sorted(record["all_paths"])
            assert count_paths(one) == len(lists)
            assert listed.lengths.min() - 1 == record["shortest_moves"]


def test_golden_safe_and_key_paths(golden):
    for record in records(golden, "variants"):
        if record["ice"]:
            one = of_record(record, bare=False)
            assert sorted(paths(one).as_lists()) == sorted(record["safe_paths"])
            assert count_paths(one) == len(record["safe_paths"])
        elif record["key"] is not None:
            one = of_record(record, bare=False)
            found = paths(one)
            assert found.complete
            assert found.lengths.min() == len(record["ref_solve"][0])
            assert count_paths(one) == len(found)


@pytest.mark.parametrize(("shape", "chance"), [((3, 4), 0.75), ((4, 3), 0.6), ((1, 5), 0.9)])
def test_against_brute_force(shape, chance):
    mazes = random_mazes(0, 60, shape, chance)
    found = paths(mazes)
    for one, listed in zip(mazes, found, strict=True):
        assert listed.complete
        assert set(map(tuple, listed.as_lists())) == by_brute_force(one)
        assert len(set(map(tuple, listed.as_lists()))) == len(listed)
        assert list(iter_paths(one)) == listed.as_lists()  # the same order too
        assert count_paths(one) == len(listed)


def test_counts_and_draws_with_key_door_and_ice_in_small():
    """As below, in few mazes: quick, so that a fault is seen soon."""
    for one in with_tiles(random_mazes(2, 40, (3, 4), 0.8), 2):
        every = list(iter_paths(one))
        assert count_paths(one) == len(every)
        if every:
            assert all(path in every for path in sample_paths(one, 3, seed=1).as_lists())


def with_tiles(mazes, seed):
    """Key, door and ice anywhere: solvable or not."""
    rng = np.random.default_rng(seed)
    made = []
    for one in mazes:
        rest = [c for c in rng.permutation(one.walls.size) if c not in (int(one.start), int(one.goal))]
        ice = np.zeros(one.shape, bool)
        ice.ravel()[rest[2 : 2 + rng.integers(3)]] = True
        made.append(one.replace(key=np.int32(rest[0]), door=np.int32(rest[1]), ice=ice))
    return stack(made)


def replay(env, params, index, path):
    """Walk a path by the rule of the environment: the modes on the way, and whether the agent fell."""
    cell, mode, modes = path[0], 0, [0]
    for to in path[1:]:
        moves = [env.rule(params, index, cell, mode, action) for action in range(4)]
        move = next(move for move in moves if int(move.cell) == to)
        assert not move.fell
        cell, mode = int(move.cell), int(move.mode)
        modes.append(mode)
    return modes


def test_key_door_and_ice_together():
    mazes = with_tiles(random_mazes(1, 150, (4, 4), 0.75), 1)
    env = Labyrinth((4, 4), key_and_door=True, icy_floor=True)
    found = paths(mazes, env=env)
    assert found.counts.max() > 20 and found.counts.min() == 0
    shortest = np.asarray(env.params(mazes).shortest)
    for i, (one, listed) in enumerate(zip(mazes, found, strict=True)):
        lists = listed.as_lists()
        assert list(iter_paths(one)) == lists
        assert count_paths(one) == len(lists)
        assert (min(map(len, lists)) - 1 if lists else -1) == shortest[i]
    with jax.disable_jit():
        for i in np.argsort(-found.counts)[:3]:
            for path in found[i].as_lists()[-1:]:
                modes = replay(env, jax.tree.map(jnp.asarray, mazes), int(i), path)
                assert len(set(zip(path, modes, strict=True))) == len(path)


def test_counts_equal_enumeration_on_two_thousand_mazes():
    carved = jax.tree.map(np.asarray, generate.mazes(jax.random.key(3), 1000, (5, 5)))
    for mazes in (carved, random_mazes(4, 500, (4, 6), 0.8), random_mazes(5, 500, (6, 4), 0.6)):
        found = paths(mazes)
        assert found.complete.all()
        assert [count_paths(one) for one in mazes] == found.counts.tolist()


@pytest.mark.parametrize("n", range(2, 10))
def test_open_grids_have_the_known_numbers(n):
    assert count_paths(open_grid(n, n)) == A007764[n - 1]
    if n <= 5:
        assert len(paths(open_grid(n, n))) == A007764[n - 1]


def test_count_is_the_same_for_every_symmetry_and_shape():
    one = random_mazes(8, 1, (4, 6), 0.9)[0]
    counts = {count_paths(maze.transform(one, k)) for k in range(8)}
    assert counts == {len(paths(one))}
    assert count_paths(open_grid(1, 300)) == 1
    assert count_paths(open_grid(2, 100)) == count_paths(open_grid(100, 2)) > 2**90


def test_a_limit_is_reported_and_keeps_the_first():
    one = open_grid(4, 4)
    everything = paths(one).as_lists()
    cut = paths(one, limit=10)
    assert not cut.complete and cut.as_lists() == everything[:10] and "not listed" in repr(cut)
    exact = paths(one, limit=184)
    assert exact.complete and len(exact) == 184
    none = paths(one, limit=0)
    assert not none.complete and none.as_lists() == []
    both = paths(stack([one, one]), limit=10)
    assert repr(both) == "PathSets(20 paths of 2 mazes, 2 incomplete)"
    assert repr(paths(stack([one]))) == "PathSets(184 paths of 1 mazes)" and repr(exact) == "Paths(184 paths)"
    assert both[1].as_lists() == everything[:10] and not both.complete.any()
    assert paths(open_grid(1, 4), limit=1).complete
    for limit in (-1, 2.5, True):
        with pytest.raises(ValueError, match="limit"):
            paths(one, limit=limit)


def test_a_maze_with_too_many_paths_can_be_iterated_counted_and_drawn():
    one = open_grid(12, 5)
    first = list(itertools.islice(iter_paths(one), 50))
    assert len(set(map(tuple, first))) == 50
    assert paths(one, limit=50).as_lists() == first
    assert count_paths(one) > 10**9
    for path in sample_paths(one, 5, seed=1).as_lists():
        assert path[0] == 0 and path[-1] == 59 and len(set(path)) == len(path)


def test_samples_are_uniform_and_reproducible():
    tiled = with_tiles(random_mazes(1, 150, (4, 4), 0.75), 1)
    for one in (open_grid(3, 4, 1, 10), tiled[int(np.flatnonzero(paths(tiled).counts > 15)[0])]):
        every = {tuple(path) for path in paths(one).as_lists()}
        assert len(every) > 5
        each = max(5, 2000 // len(every))
        drawn = sample_paths(one, each * len(every), seed=7)
        seen = collections.Counter(map(tuple, drawn.as_lists()))
        assert set(seen) <= every
        chi_square = sum((seen[path] - each) ** 2 / each for path in every)
        freedom = len(every) - 1
        assert chi_square < freedom + 4 * (2 * freedom) ** 0.5
    assert sample_paths(one, 9, seed=7).as_lists() == sample_paths(one, 9, seed=7).as_lists()


def test_draws_are_the_same_on_every_machine():
    drawn = sample_paths(open_grid(3, 4, 1, 10), 4, seed=7)
    assert drawn.as_lists() == [
        [1, 5, 6, 10],
        [1, 2, 3, 7, 6, 5, 4, 8, 9, 10],
        [1, 5, 9, 10],
        [1, 0, 4, 8, 9, 5, 6, 7, 11, 10],
    ]
    assert not drawn.complete and drawn.cells.dtype == np.int16 and drawn.lengths.tolist() == [4, 10, 4, 10]
    assert (drawn.cells[0, 4:] == -1).all() and drawn.cells.shape == (4, 10)
    (long,) = sample_paths(open_grid(2, 65), 1, seed=7).as_lists()  # of 2**64, a number of 65 bits
    assert (len(long), sum(long)) == (98, 6285)


def test_a_key_or_a_door_alone():
    whole = open_grid(3, 3)
    shut, with_key = whole.replace(door=np.int32(4)), whole.replace(key=np.int32(4))
    for one, number in ((shut, 2), (with_key, 34)):
        assert count_paths(one) == len(paths(one)) == number
        assert list(iter_paths(one)) == paths(one).as_lists()
    assert all(4 not in path for path in paths(shut).as_lists())
    on_goal = whole.replace(key=np.int32(8))
    assert count_paths(on_goal) == len(paths(on_goal)) == 12


def test_dead_ends_are_cut_before_counting():
    # A path 8 7 4; from 7 a dead end 6 3, whose tip comes first, from 4 another, 1 2, whose tip comes last.
    one = from_edges([(8, 7), (7, 4), (7, 6), (6, 3), (4, 1), (1, 2)], (3, 3), 8, 4)
    leg = count._Leg(8, 4, ())
    live = count._without_dead_ends(np.asarray(one.walls), np.ones(9, bool), leg)
    assert np.flatnonzero(live).tolist() == [4, 7, 8]
    ring = from_edges(grid.edges((2, 2)), (2, 2), 0, 1)
    assert count._without_dead_ends(np.asarray(ring.walls), np.ones(4, bool), count._Leg(0, 1, ())).all()


def test_what_is_no_maze_or_too_many_axes_is_refused():
    with pytest.raises(TypeError, match=r"takes a jaxlab\.Maze, got int"):
        graph.as_set(3)
    twice = jax.tree.map(lambda leaf: np.asarray(leaf)[None, None], open_grid(2, 2))
    with pytest.raises(ValueError, match="at most one leading axis"):
        paths(twice)
    with pytest.raises(ValueError, match="environment of shape"):
        paths(open_grid(2, 2), env=Labyrinth((3, 3)))
    with pytest.raises(TypeError, match="one maze"):
        count_paths(stack([open_grid(2, 2)]))
    with pytest.raises(TypeError, match="one maze"):
        iter_paths(stack([open_grid(2, 2)]))
    with pytest.raises(ValueError, match="shares cell 0"):
        count_paths(open_grid(2, 2).replace(goal=np.int32(0)))


def _both_ways(entering, before, move):
    """From here up and right, and down and left, lead to the same cell."""
    del entering
    to = jnp.where(before.action < 2, before.cell + 1, before.cell - 1)
    return move.replace(cell=jnp.where(before.leaving, to, move.cell))


def test_actions_that_do_the_same_are_one_way():
    layer = np.zeros((1, 3), bool)
    layer[0, 1] = True
    one = open_grid(1, 3).replace(tiles={"slide": layer})
    env = Labyrinth((1, 3), tiles=(Tile("slide", _both_ways),))
    assert graph.of_maze(graph.as_set(one), env).successors[0, 1].tolist() == [2, -1, 0, -1]
    assert paths(one, env=env).as_lists() == [[0, 1, 2]]


def test_shapes_and_dtypes():
    found = paths(open_grid(2, 2))
    assert found.cells.dtype == np.int16 and found.lengths.dtype == np.int32
    assert found.cells.tolist() == [[0, 2, 3], [0, 1, 3]]  # up is tried before right
    many = paths(random_mazes(2, 7, (3, 4), 0.7))
    assert len(many) == 7 and many.offsets[-1] == len(many.cells) == len(many.lengths)
    assert ((many.cells >= 0).sum(1) == many.lengths).all()
    assert many[-1].as_lists() == many[6].as_lists() and many[-7].as_lists() == many[0].as_lists()
    for beyond in (7, -8):
        with pytest.raises(IndexError, match=f"maze {beyond} of a set of 7"):
            many[beyond]


def test_cells_are_as_narrow_as_their_number_allows():
    longest = np.iinfo(np.int16).max
    for cells, dtype in ((longest, np.int16), (longest + 1, np.int32)):
        assert sample_paths(open_grid(1, cells), 1).cells.dtype == dtype


@pytest.mark.parametrize(("cells", "dtype"), [(2**15 - 1, np.int16), (2**15, np.int32)])
def test_listed_cells_are_as_narrow_as_their_number_allows(cells, dtype):
    states = np.array([[[1, -1, -1, -1], [-1] * 4]], np.int32)
    found = enumerate_graphs(graph.StateGraph(states, np.array([0]), np.array([1]), cells))
    assert found.cells.dtype == dtype and found[0].as_lists() == [[0, 1]]


def test_routes_are_the_paths_of_the_bare_structure():
    mazes = with_tiles(random_mazes(3, 5, (3, 4), 0.8), 3)
    bare = mazes.replace(key=np.full(5, -1), door=np.full(5, -1), ice=np.zeros_like(mazes.ice))
    listed, expected = routes(mazes.walls, mazes.start, mazes.goal), paths(bare)
    assert [one.as_lists() for one in listed] == [one.as_lists() for one in expected]
    assert not routes(mazes.walls, mazes.start, mazes.goal, limit=0).counts.any()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_graphs_of_any_number_of_mazes_are_those_of_each(n):
    mazes = with_tiles(random_mazes(4, 9, (2, 3), 0.8), 4)
    whole = graph.of_maze(graph.as_set(mazes)).successors
    assert np.array_equal(graph.of_maze(graph.as_set(mazes[:n])).successors, whole[:n])


def test_an_empty_set_has_no_paths():
    mazes = with_tiles(random_mazes(3, 2, (3, 4), 0.8), 3)[:0]
    assert len(paths(mazes)) == 0 and len(routes(mazes.walls, mazes.start, mazes.goal)) == 0


def test_every_path_is_listed_or_refused(monkeypatch):
    one, env = open_grid(3, 3), Labyrinth((3, 3))
    assert every_path(one, env) == paths(one).as_lists()
    monkeypatch.setattr("jaxlab.solve.enumerate.DEFAULT_LIMIT", 11)
    with pytest.raises(ValueError, match="maze 7 has more than 11 solutions"):
        every_path(one, env, "maze 7")
    with pytest.raises(TypeError, match="takes one maze"):
        every_path(stack([one]), env)


@pytest.mark.slow
def test_large_mazes_have_wider_cells():
    walls = np.asarray(open_grid(1, 40_000).walls)[None]
    assert routes(walls, [0], [39_999]).cells.dtype == np.int32


def test_compiled_and_run_by_python_the_search_finds_the_same(monkeypatch):
    """Machine code that overflowed or ran off an array would say nothing; Python and numpy raise."""
    from jaxlab.solve import johnson

    sets = [random_mazes(7, 20, (4, 4), 0.8), stack([open_grid(4, 4), open_grid(4, 4, 5, 3)])]
    compiled = [paths(mazes, limit) for mazes in sets for limit in (None, 3)]
    assert sum(len(found.lengths) for found in compiled) > 300  # more than the first sizes of the tables hold
    for name in ("_grown", "_prune", "_contract", "_search", "_run"):
        monkeypatch.setattr(johnson, name, getattr(johnson, name).py_func)
    for (mazes, limit), found in zip(itertools.product(sets, (None, 3)), compiled, strict=True):
        again = paths(mazes, limit)
        for field in ("cells", "lengths", "offsets", "complete"):
            np.testing.assert_array_equal(getattr(again, field), getattr(found, field))
            assert getattr(again, field).dtype == getattr(found, field).dtype


def test_the_goal_out_of_reach_has_no_path():
    one = from_edges([(0, 1)], (2, 2), 0, 3)
    assert paths(one).complete and paths(one).as_lists() == []
    assert list(iter_paths(one)) == [] and count_paths(one) == 0
    with pytest.raises(ValueError, match="no solution"):
        sample_paths(one, 1)


def _one_way(entering, before, move):
    """A cell that can only be left upwards or to the right."""
    del entering
    stays = before.leaving & (before.action >= 2)
    return move.replace(cell=jnp.where(stays, before.cell, move.cell))


def test_paths_over_a_tile_of_ones_own():
    valve = Tile("valve", _one_way)
    layer = np.zeros((3, 3), bool)
    layer[1, 1] = True
    one = open_grid(3, 3).replace(tiles={"valve": layer})
    env = Labyrinth((3, 3), tiles=(valve,))
    found = paths(one, env=env).as_lists()
    allowed = [p for p in paths(open_grid(3, 3)).as_lists() if 4 not in p or p[p.index(4) + 1] in (5, 7)]
    assert found == allowed and len(found) < 12
    assert list(iter_paths(one, env=env)) == found
    with pytest.raises(ValueError, match="valve"):
        paths(one)
    with pytest.raises(ValueError, match="valve"):
        count_paths(one)


def test_equal_environments_share_one_compilation():
    from jaxlab.solve import table

    mazes = random_mazes(6, 3, (3, 5), 0.8)
    Labyrinth((3, 5)).params(mazes)
    before = table._solve_chunk._cache_size()
    Labyrinth((3, 5)).params(mazes)
    assert table._solve_chunk._cache_size() == before


def test_without_the_compiled_search_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "jaxlab.solve.johnson", None)
    monkeypatch.delattr("jaxlab.solve.johnson")
    with pytest.raises(ImportError, match=r"jaxlab\[solve\]"):
        paths(open_grid(2, 2))


def test_without_numba_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from jaxlab import from_edges, solve\n"
        "one = from_edges([(0, 1)], (1, 2), 0, 1)\n"
        "assert list(solve.iter_paths(one)) == [[0, 1]] and solve.count_paths(one) == 1\n"
        "try: solve.paths(one)\n"
        "except ImportError as error: assert 'jaxlab[solve]' in str(error), error\n"
        "else: raise SystemExit('no error')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
