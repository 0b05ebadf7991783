import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import table
from jaxlab.render import render

MAZE = jaxlab.from_edges([(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)], (2, 3), start=0, goal=2)
MAZES = jaxlab.stack([MAZE, jaxlab.from_edges([(0, 1), (0, 3), (3, 4), (4, 5), (2, 5)], (2, 3), start=0, goal=2)])
ENV = jaxlab.Labyrinth((2, 3))
HARD = jaxlab.Labyrinth((2, 3), key_and_door=True, icy_floor=True, occlusion=True)
HARD_MAZES = jaxlab.stack(
    [jaxlab.from_edges([(0, 1), (1, 2), (1, 4), (0, 3), (4, 5)], (2, 3), start=0, goal=2, key=3, door=1, ice=[4])]
)


def resized(picture, size=64):
    """The paper's way, without short cuts: the 600 px picture, antialiased bilinear, rounded."""
    small = jax.image.resize(picture.astype(jnp.float32), (size, size, 3), "linear", antialias=True)
    return np.asarray(jnp.round(small))


@pytest.mark.parametrize(("env", "mazes"), [(ENV, MAZES), (HARD, HARD_MAZES)], ids=["bare", "key, ice, occlusion"])
def test_paper_picture_is_the_600_px_picture_resized(env, mazes):
    seen = table.make(env, env.params(mazes))
    assert seen.rows.shape == (seen.num_states, 64, 64, 3) and seen.rows.dtype == jnp.uint8
    for index in range(seen.num_states):
        maze, mode, cell = (int(part) for part in seen.state(index))
        full = render(mazes[maze], cell, 600, occlusion=env.occlusion, mode=mode)
        assert np.abs(resized(full) - np.asarray(seen.rows[index], float)).max() <= 1


def test_direct_is_drawn_at_64():
    seen = table.make(ENV, ENV.params(MAZES), render="direct")
    assert seen.name == "pixels-direct"
    assert jnp.array_equal(seen.see(1, 0, 4), render(MAZES[1], 4, 64))
    assert not jnp.array_equal(seen.rows, table.make(ENV, ENV.params(MAZES)).rows)


def test_without_a_table_the_same_is_drawn_on_the_fly():
    params = HARD.params(HARD_MAZES)
    stored, drawn = table.make(HARD, params), table.make(HARD, params, max_bytes=1000)
    assert drawn.rows is None
    index = jnp.arange(stored.num_states).reshape(2, -1)
    assert jnp.array_equal(jax.jit(lambda i: drawn.see(*drawn.state(i)))(index), stored.see(*stored.state(index)))


def test_index_and_state_are_inverse_and_vectors_are_the_environments():
    seen = table.make(HARD, HARD.params(HARD_MAZES), observation="vector")
    index = jnp.arange(seen.num_states)
    assert jnp.array_equal(seen.index(*seen.state(index)), index)
    _, state = HARD.reset_to(0, seen.params)
    state = HARD.place(state, 5).replace(mode=jnp.int32(1))
    assert jnp.array_equal(seen.see(0, 1, 5), HARD.observe(state, seen.params))


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match="did you mean 'paper'"):
        table.make(ENV, ENV.params(MAZES), render="papr")
    with pytest.raises(ValueError, match="did you mean 'vector'"):
        table.make(ENV, ENV.params(MAZES), observation="vektor")
