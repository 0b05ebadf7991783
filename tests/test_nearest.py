import numpy as np
import pytest

from baselines import nearest


def test_surroundings_by_hand():
    walls = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    around = nearest.surroundings(walls)
    assert around.shape == (1, 6, 9)
    assert around[0, 4].tolist() == [0, 1, 2, 3, 4, 5, 16, 16, 16]
    assert around[0, 0].tolist() == [16, 16, 16, 16, 0, 1, 16, 3, 4]


def test_the_nearest_is_the_one_by_brute_force():
    rng = np.random.default_rng(0)
    shown, asked = rng.normal(size=(300, 7)).astype(np.float32), rng.normal(size=(70, 7)).astype(np.float32)
    distance = ((asked[:, None] - shown) ** 2).sum(-1)
    assert (nearest.nearest(shown, asked) == distance.argmin(1)).all()


def test_features_that_are_the_walls_find_the_walls_and_features_that_are_the_cell_find_the_cell():
    rng = np.random.default_rng(1)
    cell, around = rng.integers(0, 25, 1000), rng.integers(0, 16, (1000, 9)).astype(np.uint8)

    def states(rows, features):
        return nearest.States(features[rows], cell[rows], around[rows])

    shown, asked = slice(0, 800), slice(800, 1000)
    bits = np.unpackbits(around[:, 4:5], axis=1).astype(np.float32)
    by_walls = nearest.compare(states(shown, bits), states(asked, bits))
    assert by_walls["same_walls"]["nearest"] == by_walls["same_walls_elsewhere"]["nearest"] == 1
    assert by_walls["same_walls"]["chance"] == pytest.approx(1 / 16, abs=0.02)
    assert by_walls["same_cell"]["nearest"] < 0.15
    place = np.eye(25, dtype=np.float32)[cell]
    by_cell = nearest.compare(states(shown, place), states(asked, place))
    assert by_cell["same_cell"]["nearest"] == 1
    assert by_cell["same_cell"]["chance"] == pytest.approx(1 / 25, abs=0.02)
    assert by_cell["same_walls_elsewhere"]["nearest"] is None
    assert by_cell["alike_around"]["chance"] == pytest.approx(0.5, abs=0.02)
