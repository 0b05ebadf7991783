"""Every public function says at once what is wrong with what it was given, and what is allowed."""

import math
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import generate, solve, text

EDGES = [(0, 1), (1, 3), (2, 3)]
ONE = jaxlab.from_edges(EDGES, (2, 2), 0, 3)
SET = jaxlab.stack([ONE, ONE])
CELL = r"in 0\.\.3, got "
WHOLE = "must be a whole number "


def env(**choices):
    return jaxlab.Labyrinth((2, 2), **choices)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: jaxlab.from_edges([(0.9, 1.2)], (2, 2), 0, 3), "a cell of an edge " + WHOLE),
        (lambda: jaxlab.from_edges([(0, 1, 2)], (2, 2), 0, 3), r"an edge is two neighbouring cells \(a, b\), got \(0"),
        (lambda: jaxlab.from_edges([1], (2, 2), 0, 3), "an edge must be a list, got 1"),
        (lambda: jaxlab.from_edges(EDGES, (2, 2), None, 3), "start cell " + WHOLE + CELL + "None"),
        (lambda: jaxlab.from_edges(EDGES, (2, 2), 0, math.nan), "goal cell " + WHOLE + CELL + "nan"),
        (lambda: jaxlab.from_edges(EDGES, (2, 2), 0, 3, key=3), "key and goal are both on cell 3"),
        (lambda: jaxlab.from_edges(EDGES, (2, 2), 0, 3, ice=1), "ice must be a list, got 1"),
        (lambda: jaxlab.to_edges(SET), "takes one maze, got a set"),
        (lambda: jaxlab.to_edges("maze"), r"takes a jaxlab\.Maze, got str"),
        (lambda: jaxlab.stack(ONE), r"a single maze: stack\(\[maze\]\)"),
        (lambda: env(pixels="a"), "pixels " + WHOLE + "of at least 1, got 'a'"),
        (lambda: env(observation="grid", view="3"), "view " + WHOLE),
        (lambda: env(fall_return=math.nan), "fall_return must be a finite number, got nan"),
        (lambda: jaxlab.Labyrinth.from_settings((2, 2), None), r"settings must be jaxlab\.Settings, got None"),
        (lambda: env().params(ONE, max_steps="a"), "max_steps " + WHOLE),
        (lambda: env().params(ONE, max_steps=2**31), r"max_steps .* in 1\.\.1073741824"),
        (lambda: env().params(ONE, max_steps=jnp.int32(-3)), "max_steps .* got .*-3"),
        (lambda: generate.mazes(0, 4, (3, 3)), r"key must be a random key, jax\.random\.key\(seed\), got 0"),
        (lambda: generate.mazes(jax.random.key(0), 4, (3, 3), (0.5, 8)), r"start .* in 0\.\.8, got 0\.5"),
        (lambda: generate.mazes(jax.random.key(0), 4, (3, 3), "unbiased", math.nan), r"min_distance .* in 1\.\.4"),
        (lambda: generate.unique(0, 0, (3, 3)), "n " + WHOLE),
        (lambda: generate.unique(0, 3, (1, 30)), r"exactly 1 exists of shape \(1, 30\)"),
        (lambda: generate.change_walls(ONE, "a"), r"k, .* in 0\.\.4, got 'a'"),
        (lambda: generate.same_solutions(ONE, "a"), "seed " + WHOLE),
        (lambda: generate.furnish(None, text.Settings(True)), r"takes a jaxlab\.Maze, got NoneType"),
        (lambda: solve.paths(None), r"takes a jaxlab\.Maze, got NoneType"),
        (lambda: solve.paths(ONE, math.nan), "limit " + WHOLE),
        (lambda: solve.count_paths(SET), "takes one maze, got a set"),
        (lambda: solve.iter_paths(SET), "takes one maze, got a set"),
        (lambda: jaxlab.render(ONE, 0, -5), "size " + WHOLE + "of at least 1, got -5"),
        (lambda: jaxlab.render(ONE, 99, 64), "cell " + WHOLE + CELL + "99"),
        (lambda: jaxlab.render(ONE, 0, 64, mode=9), r"mode .* in 0\.\.2, got 9"),
        (lambda: text.format(ONE, True), r"settings must be jaxlab\.Settings, got True"),
    ],
)
def test_the_message_names_what_was_given_and_what_is_allowed(call, says):
    with pytest.raises((ValueError, TypeError), match=says):
        call()


def test_mazes_traced_by_jit_are_told_to_use_bare_params():
    with pytest.raises(TypeError, match="bare_params"):
        jax.jit(lambda maze: env().params(maze).distance)(ONE)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda state, params: env().step(None, state, 7, params), r"action .* in 0\.\.3, got 7"),
        (lambda state, params: env().step(None, state, "up", params), "action .* got 'up'"),
        (lambda state, params: env().step(None, state, 1.5, params), "action .* got 1.5"),
        (
            lambda state, params: env().step(None, state, jnp.float32(1), params),
            "action must be one integer, got float",
        ),
        (lambda state, params: env().step(None, state, jnp.zeros(3, jnp.int32), params), r"int32\[3\]; use jax\.vmap"),
        (lambda state, params: env().reset_to(2, params), r"index .* in 0\.\.1, got 2"),
        (lambda state, params: env().reset_to(-1, params), r"index .* in 0\.\.1, got -1"),
        (lambda state, params: env().reset(0, params), "key must be a random key"),
        (lambda state, params: env().place(state, 99), "cell " + WHOLE + CELL + "99"),
        (lambda state, params: jaxlab.Labyrinth((3, 3)).reset_to(0, params), r"shape \(2, 2\) given to an environment"),
        (lambda state, params: solve.optimal(jaxlab.Labyrinth((3, 3)), params), r"shape \(2, 2\) given to an environ"),
    ],
)
def test_numbers_of_the_host_are_checked_before_they_are_traced(call, says):
    params = env().params(SET)
    state = env().reset_to(0, params)[1]
    with pytest.raises((ValueError, TypeError), match=says):
        call(state, params)


def test_tiles_on_one_cell_are_refused():
    door = ONE.replace(key=np.int32(1), door=np.int32(3))
    with pytest.raises(ValueError, match="goal and door share cell 3 in maze 1"):
        env(key_and_door=True).params(jaxlab.stack([ONE.replace(key=np.int32(1), door=np.int32(2)), door]))
    everywhere = ONE.replace(ice=np.ones((2, 2), bool))
    with pytest.raises(ValueError, match="ice and start share cell 0 in maze 0"):
        env(icy_floor=True).params(everywhere)


def test_layers_that_are_not_of_bool_are_refused():
    """A layer of the number 2 would hold no tile, since 2 & True is 0."""
    with pytest.raises(ValueError, match=r"layer 'ice' must be bool\(1, 2, 2\), got int"):
        env(icy_floor=True).params(ONE.replace(ice=2 * np.ones((2, 2), int)))


def crumble(entering, before, move):
    return move.replace(fell=before.leaving & (move.cell != before.cell))


def test_whoever_falls_on_the_goal_has_no_success():
    tile = jaxlab.Tile("brittle", crumble)
    there = np.array([[False, True], [False, False]])
    environment = env(tiles=(tile,))
    params = environment.params(jaxlab.from_edges(EDGES, (2, 2), 0, 3).replace(tiles={"brittle": there}))
    _, state = environment.reset_to(0, params)
    for action in (jaxlab.RIGHT, jaxlab.UP, jaxlab.UP):
        out = environment.step(None, state, action, params)
        state = out.state
    assert out.terminated and out.info["fell"] and not out.info["success"]


def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.labyrinth")
    with pytest.raises(jaxlab.LabyrinthFileError, match="expected a regular file"):
        jaxlab.load(tmp_path / "pipe.labyrinth")


def test_a_nul_is_shown_where_it_stands():
    with pytest.raises(jaxlab.LabyrinthFileError, match=r"line 9, column 3: expected a cell.*got '\\x00'"):
        text.parse(text.format(ONE).replace("S", "\0"))
