"""64 bits, strict promotion, keys used twice, NaN: what `scripts/numerics.sh` found once, and its own bookkeeping."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab.generate.trees import ALGORITHMS, tree_mazes

MAZE = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=3, key=2, door=1)
VIEWS = [{}, {"observation": "grid"}, {"observation": "grid", "view": 3}, {"observation": "pixels", "pixels": 16}]


@pytest.mark.parametrize("choices", VIEWS, ids=str)
def test_64_bits_widen_nothing_in_the_environment(choices):
    """With a view it did not even run: the window's corner was of two widths."""

    def play():
        env = jaxlab.Labyrinth((2, 2), key_and_door=True, occlusion=True, **choices)
        params = env.params(MAZE)
        obs, state = env.reset(jax.random.key(0), params)
        out = env.step(None, state, jaxlab.RIGHT, params)
        return params, obs, state, out

    narrow = play()
    with jax.enable_x64(True):
        wide = play()
    for one, other in zip(jax.tree.leaves(narrow), jax.tree.leaves(wide), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_64_bits_carve_the_same_trees(algorithm):
    """Wilson's and Prim's draws were wider then, and so other mazes."""
    narrow = tree_mazes(jax.random.key(3), 8, (4, 4), algorithm, loops=0.2)
    with jax.enable_x64(True):
        wide = tree_mazes(jax.random.key(3), 8, (4, 4), algorithm, loops=0.2)
    np.testing.assert_array_equal(narrow.walls, wide.walls)
    assert jnp.asarray(wide.start).dtype == jnp.int32
