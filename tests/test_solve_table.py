"""The table solver and the rules of play against an independent reading, over random mazes."""

from __future__ import annotations

import dataclasses
import functools

import chex
import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from reading import Reading
from strategies import BATCH, SHAPES, batches, random_maze

import jaxlab
from jaxlab import maze as mazes_
from jaxlab import text

LENGTH = 48
LIMIT = 40
ROOMY = tuple(shape for shape in SHAPES if shape[0] * shape[1] >= 4)
many = hypothesis.settings(max_examples=200, deadline=None, derandomize=True)


@functools.partial(jax.jit, static_argnums=0)
def random_and_optimal_plays(env, params, limited, key):
    """Actions and steps of a random play under a limit, and of an optimal play, in every maze."""
    key_random, key_ties = jax.random.split(key)
    actions = jax.random.randint(key_random, (BATCH, LENGTH), 0, 4)
    ties = jax.random.uniform(key_ties, (3 * env.num_cells, 4))

    def random_step(state, action):
        out = env.step(None, state, action, limited)
        return out.state, out._replace(obs=())

    def optimal_step(state, noise):
        best = params.optimal[state.maze, state.mode, state.cell] >> jnp.arange(4, dtype=jnp.uint8) & 1
        out = env.step(None, state, jnp.argmax(jnp.where(best == 1, 1 + noise, 0)), params)
        return out.state, (out.reward, out.info["is_optimal"] | out.state.ended)

    def one(index, actions):
        _, state = env.reset_to(index, params)
        return jax.lax.scan(random_step, state, actions)[1], jax.lax.scan(optimal_step, state, ties)

    return actions, *jax.vmap(one)(jnp.arange(BATCH), actions)


def check_against_reading(mazes: jaxlab.Maze, env: jaxlab.Labyrinth, seed: int) -> None:
    params = env.params(mazes)
    limited = dataclasses.replace(params, max_steps=jnp.int32(LIMIT))
    actions, steps, (last, (rewards, is_optimal)) = jax.tree.map(
        np.asarray, random_and_optimal_plays(env, params, limited, jax.random.key(seed))
    )
    distances, bits = np.asarray(params.distance).tolist(), np.asarray(params.optimal).tolist()
    places = [leaf.tolist() for leaf in (steps.state.cell, steps.state.mode, steps.terminated, steps.truncated)]
    for i, maze in enumerate(mazes):
        reading = Reading(maze)
        distance = reading.distances()
        for mode in range(env.num_modes):
            for cell in range(env.num_cells):
                if mode == 0 and cell == reading.key:
                    continue  # nobody stands on the key without taking it
                assert distances[i][mode][cell] == distance.get((mode, cell), -1), (maze, mode, cell)
                best = {a for a in range(4) if bits[i][mode][cell] >> a & 1}
                assert best == reading.optimal(distance, mode, cell), (maze, mode, cell)
        expected = reading.play(actions[i].tolist(), LIMIT, distance.get((0, reading.start), -1))
        got = list(zip(*(place[i] for place in places), strict=True))
        assert got == [(cell, mode, *flags) for cell, mode, _, *flags in expected], maze
        assert steps.reward[i] == pytest.approx([step[2] for step in expected], rel=1e-4, abs=1e-6)
        if reading.door >= 0:
            assert all(mode > 0 or cell != reading.door for cell, mode, *_ in got), "no way in without the key"
        if steps.info["fell"][i, -1]:
            lost = -env.step_penalty * LIMIT
            assert steps.reward[i].sum() == pytest.approx(lost, rel=2e-3), "a fall is like running out of time"
        shortest = distance.get((0, reading.start), -1)
        if shortest >= 0:
            assert last.terminated[i] and last.t[i] == shortest and is_optimal[i].all()
            assert rewards[i].sum() == pytest.approx(1, abs=1e-5), "a shortest solution returns 1"


@many
@given(batches(), hypothesis.strategies.integers(0, 2**31 - 1))
def test_navigation_follows_the_reading(mazes, seed):
    check_against_reading(mazes, jaxlab.Labyrinth(mazes.shape), seed)


@many
@given(batches(ROOMY, lock=True, icy=True), hypothesis.strategies.integers(0, 2**31 - 1))
def test_key_door_and_ice_together_follow_the_reading(mazes, seed):
    check_against_reading(mazes, jaxlab.Labyrinth(mazes.shape, key_and_door=True, icy_floor=True), seed)


@many
@given(batches(ROOMY, lock=True, icy=True))
def test_walls_agree_mazes_are_connected_and_texts_go_out_and_in(mazes):
    mazes_.check(mazes)
    across, along = mazes_.open_passages(mazes.walls)
    assert np.array_equal(mazes_.walls_from_open(across, along), mazes.walls)
    assert np.array_equal(mazes_.walls_from_edges(mazes_.open_edges(mazes.walls), mazes.shape), mazes.walls)
    assert np.array_equal(mazes_.walls_from_lattice(mazes_.lattice(mazes.walls)), mazes.walls)
    for maze in mazes:
        nothing = np.asarray(-1, np.int32)
        bare = Reading(maze.replace(key=nothing, door=nothing, ice=np.zeros_like(maze.ice)))
        assert len(bare.distances()) == maze.walls.size, "every cell reaches the goal"
        again, settings = text.parse(text.format(maze))
        assert settings == jaxlab.Settings(True, bool(maze.ice.any()))
        chex.assert_trees_all_equal(again, maze)


def test_unreachable_goals_are_minus_one_and_have_no_optimal_action():
    maze = jaxlab.from_edges([(0, 1)], (1, 3), start=0, goal=2)
    env = jaxlab.Labyrinth((1, 3))
    solved = jaxlab.solve.optimal(env, env.params(maze))
    assert solved.distance.tolist() == [[[-1, -1, 0]]] and solved.optimal.tolist() == [[[0, 0, 0]]]
    assert solved.distance.dtype == jnp.int32 and solved.optimal.dtype == jnp.uint8


def test_large_sets_are_solved_in_chunks_with_the_same_result(monkeypatch):
    from jaxlab.solve import table

    dice = np.random.default_rng(0)
    mazes = jaxlab.stack([random_maze(dice, (3, 3)) for _ in range(10)])
    env = jaxlab.Labyrinth((3, 3))
    whole = env.params(mazes)
    for chunk in (4, 5, 6):  # three, two that meet, two that overlap
        monkeypatch.setattr(table, "_CHUNK_STATES", chunk * 9)
        parts = env.params(mazes)
        chex.assert_trees_all_equal((whole.distance, whole.optimal), (parts.distance, parts.optimal))


@pytest.mark.parametrize(("limit", "sizes"), [(36, [3, 3, 3, 3]), (24, [2] * 5), (20, [1] * 10), (5, [1] * 10)])
def test_chunks_are_of_one_size_and_hold_no_more_states_than_allowed(monkeypatch, limit, sizes):
    from jaxlab.solve import table

    mazes = jaxlab.stack([random_maze(np.random.default_rng(0), (3, 4))] * 10)
    solved, seen = table._solve_chunk, []
    monkeypatch.setattr(table, "_CHUNK_STATES", limit)
    monkeypatch.setattr(table, "_solve_chunk", lambda *args: seen.append(len(args[1])) or solved(*args))
    assert len(jaxlab.Labyrinth((3, 4)).params(mazes).shortest) == 10
    assert seen == sizes
