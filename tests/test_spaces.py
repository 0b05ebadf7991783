import jax
import jax.numpy as jnp
import numpy as np

from jaxlab import spaces

CELLS = spaces.Box(0, 3, (2, 2), jnp.uint8)
SHARES = spaces.Box(-1.0, 1.0, (3,), jnp.float32)


def test_samples_are_members_and_reach_the_ends():
    both = spaces.Dict((("cells", CELLS), ("shares", SHARES), ("action", spaces.Discrete(4))))
    samples = [both.sample(key) for key in jax.random.split(jax.random.key(0), 40)]
    assert all(both.contains(sample) for sample in samples)
    assert {int(sample["action"]) for sample in samples} == {0, 1, 2, 3}
    assert set(np.unique([sample["cells"] for sample in samples])) == {0, 1, 2, 3}
    shares = np.array([sample["shares"] for sample in samples])
    assert -1 <= shares.min() < -0.8 and 0.8 < shares.max() <= 1


def test_other_shapes_types_values_and_names_are_no_members():
    cells = np.zeros((2, 2), np.uint8)
    assert CELLS.contains(cells)
    for wrong in (cells[0], cells.astype(np.int32), cells + 4):
        assert not CELLS.contains(wrong)
    four = spaces.Discrete(4)
    assert four.shape == () and four.contains(3)
    for wrong in (4, -1, 1.0, [1]):
        assert not four.contains(wrong)
    one = spaces.Dict((("cells", CELLS),))
    for wrong in ({"cells": cells[0]}, {"walls": cells}, cells):
        assert not one.contains(wrong)
