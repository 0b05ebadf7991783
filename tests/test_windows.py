"""Pictures held as windows are the same pictures, and the first layer makes the same of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from baselines import discriminator, inverse, learning, networks, resnet, table, windows
from jaxlab import Labyrinth, datasets, splits

ENV = Labyrinth((3, 3))
MAZES = splits.load("3x3-v1")["train"][:4]
SIZE, STRIDE = 8, 4


@pytest.fixture(scope="module")
def drawn():
    return table.make(ENV, ENV.params(MAZES))


@pytest.fixture(scope="module")
def cut(drawn):
    return windows.cut(np.asarray(drawn.rows), SIZE, STRIDE)


@pytest.fixture(scope="module")
def data():
    return learning.data(datasets.demonstrations(ENV, MAZES), "cnn")


def test_the_pictures_come_back(drawn, cut):
    assert np.array_equal(cut.pictures(), drawn.rows)
    rows = jnp.array([5, 0, 5])
    assert np.array_equal(cut.take(rows).pictures(), drawn.rows[rows])
    assert cut.num_bytes < drawn.rows.nbytes


def test_each_window_is_held_once_and_the_first_is_blank(cut):
    held = np.asarray(cut.windows).reshape(len(cut.windows), -1)
    used = held[: int(cut.index.max()) + 1]
    assert not held[0].any()
    assert len(np.unique(used, axis=0)) == len(used)
    assert not held[len(used) :].any()
    assert not np.asarray(cut.blank(2).pictures()).any()


def test_many_chunks_cut_as_one(drawn, cut, monkeypatch):
    monkeypatch.setattr(windows, "_CHUNK", 5)
    again = windows.cut(np.asarray(drawn.rows), SIZE, STRIDE)
    assert np.array_equal(again.windows, cut.windows) and np.array_equal(again.index, cut.index)


def test_what_would_not_be_smaller_or_does_not_fit_stays_as_it_is():
    noise = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    assert windows.cut(noise, SIZE, STRIDE) is None
    assert windows.cut(np.zeros((2, 62, 64, 3), np.uint8), SIZE, STRIDE) is None
    assert windows.cut(np.zeros((2, 4, 4, 3), np.uint8), SIZE, STRIDE) is None
    assert windows.cut(np.zeros((2000, 5, 5, 3), np.uint8), 2, 3) is None
    assert windows.cut(np.zeros((0, 64, 64, 3), np.uint8), SIZE, STRIDE) is None


@pytest.mark.parametrize("count", [2, 36])  # fewer windows than there are different ones, and more
@pytest.mark.parametrize("norm", [True, False])
def test_the_network_makes_the_same_of_windows(drawn, cut, count, norm):
    net = networks.policy("cnn", drawn.env, norm=norm)
    variables = net.init(jax.random.key(0))
    rows = jnp.arange(count)
    assert (count * 15 * 15 <= len(cut.windows)) == (count == 2)

    @jax.jit
    def answer(seen):
        def total(weights):
            logits, stats = net.train(variables._replace(weights=weights), None, seen)
            return jnp.square(logits).sum(), (logits, stats)

        slope, out = jax.grad(total, has_aux=True)(variables.weights)
        return slope, out

    got, expected = answer(cut.take(rows)), answer(drawn.rows[rows])
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5), got, expected)


@pytest.mark.parametrize(("pixels", "after"), [(64, 2), (63, 3)])  # is the last row of padding read?
def test_padded_windows_are_the_same_pictures(pixels, after):
    pictures = np.random.default_rng(0).integers(0, 2, (3, pixels, pixels, 3), dtype=np.uint8)
    pictures = np.repeat(pictures, 40, 0)
    held = windows.cut(pictures, 7, 2, 3)
    assert held.index.shape == (120, 32, 32) and held.pads == ((3, after), (3, after))
    assert np.array_equal(held.pictures(), pictures)
    assert np.array_equal(held.take(jnp.array([41])).pictures()[0], pictures[41])


@pytest.mark.parametrize("norm", [True, False])
def test_resnets_first_layer_makes_the_same_of_padded_windows(drawn, norm):
    pictures = np.tile(np.asarray(drawn.rows), (4, 1, 1, 1))  # windows of fewer are no smaller
    held = windows.cut(pictures, *networks.encoder("resnet18").windows)
    stem = resnet.ResNetTrunk(drawn.env, norm=norm, rngs=nnx.Rngs(0))._stem
    rows = jnp.arange(36)
    assert held.take(rows).index.size > len(held.windows)
    got, expected = stem(held.take(rows)), stem(drawn.rows[rows])
    assert got.shape == (36, 32, 32, 64)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    np.testing.assert_allclose(stem(held.take(rows[:2])), expected[:2], atol=1e-5)


def test_resnets_first_kernel_has_the_same_gradient_from_padded_windows(drawn):
    held = windows.cut(np.tile(np.asarray(drawn.rows), (4, 1, 1, 1)), *networks.encoder("resnet18").windows)
    structure, weights, rest = nnx.split(resnet.ResNetTrunk(drawn.env, rngs=nnx.Rngs(0)), nnx.Param, ...)
    rows = jnp.arange(36)

    def slope(seen):
        return jax.grad(lambda weights: jnp.square(nnx.merge(structure, weights, rest)._stem(seen)).mean())(weights)

    got, expected = slope(held.take(rows)), slope(drawn.rows[rows])
    assert np.abs(expected["stem"]["kernel"][...]).max() > 1e-3
    np.testing.assert_allclose(got["stem"]["kernel"][...], expected["stem"]["kernel"][...], rtol=1e-3, atol=1e-5)


def test_methods_look_at_windows_where_the_encoder_reads_them(data):
    assert isinstance(data.table.rows, windows.Windows) and data.table.rows.pads == ((0, 0), (0, 0))
    many = datasets.demonstrations(ENV, splits.load("3x3-v1")["train"])
    padded = learning.data(many, "resnet18").table.rows
    assert padded.pads == ((3, 2), (3, 2)) and padded.stride == 2
    planned = learning.data(data.demonstrations, "planner")
    assert planned.table.rows.dtype == jnp.uint8 and planned.table.rows.shape[1:] == (64, 64, 3)


def test_pairs_of_pictures_and_the_absorbing_state(data, drawn):
    rows = jnp.arange(3)
    net = inverse.network("cnn", drawn.env)
    model = net.init(jax.random.key(0))
    pairs = inverse.see_pair(data, rows, rows + 1)
    plain = drawn.rows[rows], drawn.rows[rows + 1]
    np.testing.assert_allclose(net.apply(model, pairs), net.apply(model, plain), rtol=1e-4, atol=1e-5)
    blank, _ = discriminator.nothing(data)
    assert not np.asarray(blank.pictures()).any()
