"""Tiles of one's own: the examples of docs/tiles.md, run, solved, drawn, and checked for what they do."""

from __future__ import annotations

import functools
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pages
import pytest
from plays import walk

import jaxlab
from jaxlab import DOWN, LEFT, RIGHT, UP, tiles

LINE = [(0, 1), (1, 2), (2, 3)]


@functools.cache
def docs() -> ModuleType:
    """The page's own tiles."""
    return pages.run("docs/tiles.md")


def build(tile: jaxlab.Tile, edges, shape, start, goal, cells, **choices):
    """An environment with one own tile on some cells, and its params."""
    layer = np.zeros(shape, bool)
    layer.ravel()[list(cells)] = True
    maze = jaxlab.from_edges(edges, shape, start, goal).replace(tiles={tile.name: layer})
    env = jaxlab.Labyrinth(shape, tiles=(tile,), **choices)
    return env, env.params(maze)


def brute_force(env, params) -> dict:
    """Least cost to the goal of every (mode, cell), by relaxing what `move` says, in a dictionary."""
    goal = int(params.mazes.goal[0])
    _, state = env.reset_to(0, params)
    moves, move_of = {}, jax.jit(env.move)
    for mode in range(env.num_modes):
        for cell in range(env.num_cells):
            for action in range(4):
                there = state.replace(cell=jnp.int32(cell), mode=jnp.int32(mode))
                moves[mode, cell, action] = jax.tree.map(int, move_of(there, action, params))
    far = 10**6
    best = {(mode, cell): 0 if cell == goal else far for mode, cell, _ in moves}
    for _ in range(len(best)):
        for (mode, cell, _), move in moves.items():
            if cell != goal and not move.fell:
                best[mode, cell] = min(best[mode, cell], move.cost + best[move.mode, move.cell])
    return {state: -1 if cost >= far else cost for state, cost in best.items()}


def assert_solved(env, params):
    """Table, brute force and play agree; an optimal play returns 1."""
    distance = np.asarray(jaxlab.solve.optimal(env, params).distance[0])
    for (mode, cell), cost in brute_force(env, params).items():
        assert distance[mode, cell] == cost, (mode, cell)
    _, state = env.reset_to(0, params)
    rewards = []
    while not bool(state.ended):
        bits = int(params.optimal[0, int(state.mode), int(state.cell)])
        out = env.step(None, state, (bits & -bits).bit_length() - 1, params)
        assert bool(out.info["is_optimal"])
        rewards.append(float(out.reward))
        state = out.state
    assert int(state.t) == int(params.shortest[0]) and sum(rewards) == pytest.approx(1, abs=1e-5)


def assert_drawn(env, params, color):
    picture = np.asarray(
        jaxlab.Labyrinth(env.shape, "pixels", tiles=env.tiles).observe(env.reset_to(0, params)[1], params)
    )
    assert (picture == np.array(color, np.uint8)).all(-1).any()


def test_mud_costs_five():
    # Two ways from 0 to 3 on a ring: through the mud 1, or round by 4, 5, 6, 7.
    ring = [(0, 1), (1, 2), (2, 3), (0, 4), (4, 5), (5, 6), (6, 7), (3, 7)]
    env, params = build(docs().MUD, ring, (2, 4), 0, 3, [1])
    assert int(params.shortest[0]) == 5, "going round (5) beats wading (7)"
    steps = walk(env, params, [RIGHT, RIGHT, RIGHT])
    assert [int(step.state.t) for step in steps] == [5, 6, 7]
    u = 0.1 / 8
    assert [float(step.reward) for step in steps] == pytest.approx([-5 * u, -u, 1 + (5 - 1) * u])
    assert_solved(env, params)
    assert_drawn(env, params, docs().MUD.color)
    # In a corridor there is no other way: then wading is optimal and returns 1.
    env, params = build(docs().MUD, LINE, (1, 4), 0, 3, [1, 3])
    assert int(params.shortest[0]) == 11
    assert_solved(env, params)


def test_mud_at_the_time_limit_counts_no_further_than_the_limit():
    env, _ = build(docs().MUD, LINE, (1, 4), 0, 3, [1])
    params = env.params(build(docs().MUD, LINE, (1, 4), 0, 3, [1])[1].mazes, max_steps=3)
    out = walk(env, params, [RIGHT])[0]
    assert bool(out.truncated) and int(out.state.t) == 3 and float(out.reward) == pytest.approx(-3 * 0.1 / 4)


def test_a_teleporter_carries_to_its_twin():
    env, params = build(docs().TELEPORTER, [(0, 1), (2, 3)], (1, 4), 0, 3, [1, 2])
    steps = walk(env, params, [RIGHT, LEFT, RIGHT])
    assert [int(step.state.cell) for step in steps] == [2, 2, 3], "off at 1, out at 2; a bump does not carry back"
    assert int(params.shortest[0]) == 2
    assert_solved(env, params)
    assert_drawn(env, params, docs().TELEPORTER.color)


def test_a_twin_is_looked_for_in_the_maze_of_the_agent():
    layers = np.zeros((2, 1, 6), bool)
    layers[0, 0, [1, 3]] = layers[1, 0, [1, 5]] = True
    mazes = jaxlab.stack([jaxlab.from_edges([(0, 1)], (1, 6), 0, 4)] * 2)
    mazes = mazes.replace(tiles={docs().TELEPORTER.name: layers})
    env = jaxlab.Labyrinth((1, 6), tiles=(docs().TELEPORTER,))
    params = env.params(mazes)
    ends = [int(env.step(None, env.reset_to(maze, params)[1], RIGHT, params).state.cell) for maze in (0, 1)]
    assert ends == [3, 5]


def test_every_cell_is_left_on_its_open_sides_only():
    walls = np.arange(16, dtype=np.uint8).reshape(16, 1, 1) * np.ones((1, 3, 3), np.uint8)
    mazes = jax.tree.map(jnp.asarray, jaxlab.maze.make(walls, np.zeros(16), np.ones(16)))
    step = {UP: 3, RIGHT: 1, DOWN: -3, LEFT: -1}
    walked = jax.vmap(jax.vmap(tiles.walk, (None, None, None, 0)), (None, 0, None, None))
    every, actions = jnp.arange(16, dtype=jnp.int32), jnp.arange(4, dtype=jnp.int32)
    ends = walked(mazes, every, jnp.int32(4), actions)
    assert ends.tolist() == [
        [4 if bits >> action & 1 else 4 + step[action] for action in range(4)] for bits in range(16)
    ]


def test_a_one_way_cell_is_left_in_one_direction_only():
    env, params = build(docs().ONE_WAY, LINE, (1, 4), 0, 3, [1])
    assert [int(step.state.cell) for step in walk(env, params, [RIGHT, LEFT, RIGHT])] == [1, 1, 2]
    assert_drawn(env, params, docs().ONE_WAY.color)
    env, params = build(docs().ONE_WAY, LINE, (1, 4), 3, 0, [1])
    assert int(params.shortest[0]) == -1 and int(params.distance[0, 0, 2]) == -1
    assert int(params.distance[0, 0, 0]) == 0
    env, params = build(docs().ONE_WAY, LINE, (1, 4), 1, 3, [1])
    assert_solved(env, params)


def test_a_switch_opens_a_wall_for_good():
    shape = (1, 5)
    gate, lever = np.zeros(shape, bool), np.zeros(shape, bool)
    gate[0, 3] = lever[0, 0] = True
    maze = jaxlab.from_edges([(0, 1), (1, 2), (3, 4)], shape, start=2, goal=4)
    maze = maze.replace(tiles={"switch": lever, "gate": gate})
    env = jaxlab.Labyrinth(shape, tiles=(docs().SWITCH,))
    params = env.params(maze)
    assert env.num_modes == 2 and int(params.shortest[0]) == 6
    steps = walk(env, params, [RIGHT, LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT])
    assert [int(step.state.cell) for step in steps] == [2, 1, 0, 1, 2, 3, 4]
    assert [int(step.state.mode) for step in steps] == [0, 0, 1, 1, 1, 1, 1]
    assert_solved(env, params)
    off, on = (
        np.asarray(jaxlab.render(maze, 2, 64, mode=mode, own=env.tiles)) for mode in (0, 3)
    )  # fmt: skip
    assert (off != on).any(), "the switch shows its state"
    assert env.observation_space.shape == steps[0].obs.shape == (3 + 1 + 9,)
    assert steps[1].obs[3] == 0 and steps[2].obs[3] == 1, "the vector says what is remembered"


def _swap(entering, before, move):
    """On such a cell, up and right change places."""
    swapped = jnp.array([RIGHT, UP, DOWN, LEFT])[before.action]
    return move.replace(cell=jnp.where(before.leaving, before.walk(before.cell, swapped), move.cell))


def test_a_tile_that_swaps_two_actions_is_solved_with_no_change_to_the_solver():
    square = [(0, 1), (1, 3), (2, 3)]
    env, params = build(jaxlab.Tile("swap", _swap), square, (2, 2), 0, 3, [0, 1])
    assert np.asarray(params.optimal[0, 0]).tolist() == [1 << UP, 1 << RIGHT, 1 << RIGHT, 0]
    assert [int(step.state.cell) for step in walk(env, params, [RIGHT, UP, RIGHT])] == [0, 1, 3]
    assert_solved(env, params)


def test_own_tiles_combine_with_key_door_and_ice():
    shape = (3, 3)
    tiles = (docs().MUD, docs().SWITCH)
    mud, lever, gate = (np.zeros(shape, bool) for _ in range(3))
    mud[0, 1] = lever[1, 0] = gate[2, 1] = True
    edges = jaxlab.grid.edges(shape).tolist()
    maze = jaxlab.from_edges(edges, shape, start=0, goal=8, key=6, door=5, ice=[4])
    env = jaxlab.Labyrinth(shape, tiles=tiles, key_and_door=True, icy_floor=True)
    params = env.params(maze.replace(tiles={"mud": mud, "switch": lever, "gate": gate}))
    assert env.num_modes == 3 * 2
    assert_solved(env, params)


def test_colors_and_memories_of_several_tiles():
    assert jaxlab.Tile("mud", _swap).colors == ()
    assert jaxlab.Tile("mud", _swap, modes=2, color=(0, 255, 1)).colors == ((0, 255, 1),) * 2
    assert jaxlab.Tile("mud", _swap, color=((0, 255, 1),)).colors == ((0, 255, 1),)
    several = tuple(jaxlab.Tile(name, _swap, modes=modes) for name, modes in (("a", 2), ("b", 3), ("c", 2)))
    assert [tiles.own_modes(several, mode) for mode in (5, 7)] == [[1, 2, 0], [1, 0, 1]]


def test_memories_of_two_tiles_do_not_mix():
    def counts(modes):
        return lambda entering, before, move: move.replace(mode=jnp.where(entering, (move.mode + 1) % modes, move.mode))

    two = jaxlab.Tile("two", counts(2), modes=2), jaxlab.Tile("three", counts(3), modes=3)
    layers = {"two": np.array([[False, True, False, False]]), "three": np.array([[False, False, True, False]])}
    maze = jaxlab.from_edges([(0, 1), (1, 2), (2, 3)], (1, 4), start=0, goal=3).replace(tiles=layers)
    env = jaxlab.Labyrinth((1, 4), tiles=two)
    params = env.params(maze)
    state, seen = env.reset_to(0, params)[1], []
    for action in (jaxlab.grid.RIGHT, jaxlab.grid.RIGHT, jaxlab.grid.LEFT, jaxlab.grid.RIGHT):
        state = env.step(None, state, action, params).state
        seen.append(int(state.mode))
    assert seen == [1, 3, 2, 4]  # the first tile's memory is the fastest


def test_a_tile_without_a_memory_changes_no_other():
    def meddle(entering, before, move):
        return move.replace(mode=move.mode + 1)

    counter = jaxlab.Tile("counter", lambda entering, before, move: move, modes=2)
    maze = jaxlab.from_edges([(0, 1)], (1, 2), start=0, goal=1)
    maze = maze.replace(tiles={name: np.zeros((1, 2), bool) for name in ("meddler", "counter")})
    env = jaxlab.Labyrinth((1, 2), tiles=(jaxlab.Tile("meddler", meddle), counter))
    params = env.params(maze)
    assert int(env.step(None, env.reset_to(0, params)[1], UP, params).state.mode) == 0


def test_tiles_say_what_is_wrong_with_them():
    for wrong in ((1, 2), (0, 0, 256), (0, -1, 0), "red"):
        with pytest.raises(ValueError, match="tile 'mud': color must be"):
            jaxlab.Tile("mud", _swap, color=wrong)
    with pytest.raises(ValueError, match="non-empty string"):
        jaxlab.Tile("", _swap)
    with pytest.raises(ValueError, match="must be a function"):
        jaxlab.Tile("mud", 5)
    with pytest.raises(ValueError, match="modes"):
        jaxlab.Tile("mud", _swap, modes=0)
    with pytest.raises(ValueError, match="color"):
        jaxlab.Tile("mud", _swap, color=(1, 2, 300))
    with pytest.raises(ValueError, match="color"):
        jaxlab.Tile("mud", _swap, modes=2, color=((1, 2, 3),))
    with pytest.raises(ValueError, match="share a name"):
        jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("mud", _swap), jaxlab.Tile("mud", _swap)))
    with pytest.raises(ValueError, match="at most 64"):
        jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("a", _swap, modes=65),))
    with pytest.raises(ValueError, match=r"no layer for the tiles \['mud'\]"):
        env = jaxlab.Labyrinth((1, 2), tiles=(jaxlab.Tile("mud", _swap),))
        env.params(jaxlab.from_edges([(0, 1)], (1, 2), 0, 1))


def pay_nothing(entering, before, move):
    return move.replace(cost=jnp.where(entering, 0, move.cost))


def leap_out(entering, before, move):
    return move.replace(cell=jnp.where(entering, 99, move.cell))


def leap_just_out(entering, before, move):
    return move.replace(cell=jnp.where(entering, 4, move.cell))


def pay_too_much(entering, before, move):
    return move.replace(cost=jnp.where(entering, 2**29, move.cost))


WRONG = [
    (pay_too_much, r"cost of 536870912: it must be 1\.\.536870911"),
    (pay_nothing, "cost of 0"),
    (leap_out, "cell of 99"),
    (leap_just_out, r"cell of 4: it must be 0\.\.3"),
]


@pytest.mark.parametrize(("function", "said"), WRONG)
def test_a_tile_that_breaks_the_rules_is_refused_when_the_mazes_are_solved(function, said):
    maze = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3)
    maze = maze.replace(tiles={"odd": np.array([[False, True], [False, False]])})
    env = jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("odd", function),))
    with pytest.raises(ValueError, match=said):
        env.params(maze)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            lambda entering, before, move: move.replace(cost=jnp.where(entering, 2.5, 1)),
            r"a cost of float\d+: it must be",
        ),
        (lambda entering, before, move: move.replace(cell=move.cell / 1), r"a cell of float\d+: it must be a whole"),
        (lambda entering, before, move: move.cell, r"must return a jaxlab\.Move, got .*Tracer"),
        (lambda entering, before, move: None, r"must return a jaxlab\.Move, got NoneType"),
    ],
)
def test_a_tile_that_gives_no_move_in_whole_numbers_is_refused(function, said):
    with pytest.raises(TypeError, match="tile 'odd'.*" + said):
        build(jaxlab.Tile("odd", function), [(0, 1)], (1, 2), 0, 1, [1])


def test_the_greatest_cost_is_allowed():
    def pay_most(entering, before, move):
        return move.replace(cost=jnp.where(entering, 2**29 - 1, move.cost))

    _, params = build(jaxlab.Tile("toll", pay_most), [(0, 1)], (1, 2), 0, 1, [1])
    assert int(params.shortest[0]) == 2**29 - 1


def test_a_memory_beyond_its_modes_is_refused():
    def too_much(entering, before, move):
        return move.replace(mode=jnp.where(entering, 2, move.mode))

    maze = jaxlab.from_edges([(0, 1)], (1, 2), start=0, goal=1).replace(tiles={"odd": np.array([[False, True]])})
    env = jaxlab.Labyrinth((1, 2), tiles=(jaxlab.Tile("odd", too_much, modes=2),))
    with pytest.raises(ValueError, match=r"mode of 2: it must be 0\.\.1"):
        env.params(maze)


def test_colors_may_be_lists():
    one, two = jaxlab.Tile("lamp", _swap, color=[1, 2, 3]), jaxlab.Tile("lamp", _swap, 2, [[1, 2, 3], [4, 5, 6]])
    assert one == jaxlab.Tile("lamp", _swap, color=(1, 2, 3)) and two.color == ((1, 2, 3), (4, 5, 6))
    assert hash(jaxlab.Labyrinth((1, 2), tiles=[one])) == hash(jaxlab.Labyrinth((1, 2), tiles=(one,)))
    with pytest.raises(ValueError, match="color must be one RGB"):
        jaxlab.Tile("lamp", _swap, color=[1, 2, 300])


def test_built_in_tiles_listed_as_own_are_drawn_once():
    maze = jaxlab.from_edges(LINE, (1, 4), start=1, goal=3, key=0, door=2)
    listed = jaxlab.render(maze, 1, 32, mode=2, own=(tiles.ICE, tiles.KEY_AND_DOOR))
    np.testing.assert_array_equal(listed, jaxlab.render(maze, 1, 32, mode=2))
    with pytest.raises(ValueError, match=r"mode .* in 0\.\.2, got 3"):
        jaxlab.render(maze, 1, 32, mode=3, own=(tiles.KEY_AND_DOOR,))
