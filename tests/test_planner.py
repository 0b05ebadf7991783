import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import bc, evaluate, learning, networks, planner, table
from benchmarks import planner as measured
from benchmarks import planner_runs
from jaxlab import datasets, splits

ENV = jaxlab.Labyrinth((3, 3), observation="pixels")
SNAKE = jaxlab.from_edges([(0, 1), (1, 2), (2, 5), (5, 4), (4, 3), (3, 6), (6, 7), (7, 8)], (3, 3), start=0, goal=8)


def every_state(env, params):
    """(maze, mode, cell) of all states."""
    states = table.Table(env, "paper", params, None)
    return states.state(jnp.arange(states.num_states))


solve = jax.jit(planner.plan, static_argnames=("iterations", "temperature"))


def as_actions(env, params, q):
    return np.asarray(q.argmax(-1)).reshape(len(params.mazes), env.num_modes, env.num_cells)


@pytest.mark.parametrize("settings", [{}, {"key_and_door": True, "icy_floor": True}], ids=["plain", "key and ice"])
def test_with_true_beliefs_it_is_optimal_in_every_state_of_every_split(settings):
    env = jaxlab.Labyrinth((4, 4), **settings)
    for mazes in splits.make((4, 4), 12, 12, 12, seed=1, **settings).values():
        params = env.params(mazes)
        maze, mode, cell = every_state(env, params)
        beliefs = planner.truth(env, params.mazes[maze], mode, cell)
        actions = as_actions(env, params, solve(beliefs, temperature=1e-3))
        scored = evaluate.score(env, params, actions)
        assert scored["success"] == scored["optimal_rate_visited"] == 1
        assert scored["aer"] == pytest.approx(1)
        if not settings:
            assert scored["optimal_rate_all"] == 1


def test_values_are_distances():
    params = ENV.params(SNAKE)
    maze, mode, cell = every_state(ENV, params)
    q = solve(planner.truth(ENV, params.mazes[maze], mode, cell), temperature=1e-3)
    assert np.allclose(q.max(-1)[:8], -np.asarray(params.distance)[0, 0, :8], atol=0.05)


def test_one_iteration_looks_two_moves_ahead_only():
    params = ENV.params(SNAKE)
    maze, mode, cell = every_state(ENV, params)
    beliefs = planner.truth(ENV, params.mazes[maze], mode, cell)
    for rounds in (1, 3, 7):
        actions = as_actions(ENV, params, solve(beliefs, iterations=rounds, temperature=1e-3))
        scored = evaluate.score(ENV, params, actions)
        assert scored["success"] == (rounds >= 7)


def test_weights_know_no_sizes_and_are_few():
    trees = []
    for shape, pixels in (((3, 3), 64), ((5, 5), 64), ((8, 3), 102)):
        network = networks.policy("planner", jaxlab.Labyrinth(shape, observation="pixels", pixels=pixels))
        trees.append(jax.eval_shape(network.init, jax.random.key(0)).weights)
    assert 25_000 <= networks.num_parameters(trees[0]) <= 100_000
    assert all(jax.tree.map(jnp.shape, tree) == jax.tree.map(jnp.shape, trees[0]) for tree in trees)


def test_other_outputs_are_refused():
    with pytest.raises(ValueError, match="not 1 outputs"):
        networks.policy("planner", ENV, outputs=1).init(jax.random.key(0))


def test_a_turned_picture_has_turned_patches():
    shape, x = (2, 2), jax.random.randint(jax.random.key(0), (1, 40, 40, 3), 0, 256).astype(jnp.uint8)
    cut_cells, cut_borders = (jax.jit(f, static_argnums=1) for f in (planner.cells, planner.borders))

    def parts(picture):
        return cut_cells(picture, shape).reshape(1, 2, 2, 6, 6, 3), *jnp.split(cut_borders(picture, shape), 2, 1)

    cells, across, along = parts(x)
    mirrored, mirrored_across, mirrored_along = parts(x[:, :, ::-1])
    assert np.allclose(mirrored, cells[:, :, ::-1, :, ::-1], atol=1e-6)
    assert np.allclose(mirrored_across, across[:, :, ::-1], atol=1e-6)
    assert np.allclose(mirrored_along, along[:, ::-1, :, ::-1], atol=1e-6)
    # Rows count from the bottom and columns from the left: the transpose is about the other diagonal.
    turned = x[:, ::-1].swapaxes(1, 2)[:, ::-1]
    _, turned_across, turned_along = parts(turned)
    assert np.allclose(turned_across, along, atol=1e-6)
    assert np.allclose(turned_along, across, atol=1e-6)


def test_borders_are_read_between_pixels_and_go_on_beyond_the_edge():
    x = jnp.broadcast_to(jnp.arange(20, dtype=jnp.uint8)[None, None, :, None], (1, 20, 20, 3))
    border = planner.borders(x, (1, 4), 1.0, 0.25)  # at 5, 10, 15 px
    assert np.allclose(255 * (1 - border[0, 1, :, 0, 0]), np.arange(7, 13) + 0.25, atol=1e-3)
    assert np.allclose(planner.borders(x, (1, 4), -1.0, 0.25)[0, 1], planner.borders(x, (1, 4), 1.0, 0.25)[0, 1, ::-1])
    narrow = planner.borders(x, (1, 20))
    assert np.allclose(255 * (1 - narrow[0, 0, :, 0, 0]), [0, 0, 0, 1, 2, 3], atol=1e-3)


def test_a_wall_is_a_wall_from_both_sides():
    module = networks.encoder("planner").policy(ENV, outputs=4, norm=True, dropout=0, rngs=networks.nnx.Rngs(0))
    x = jax.random.randint(jax.random.key(1), (1, 60, 60, 3), 0, 256).astype(jnp.uint8)
    judge = jax.jit(module.judge)
    across = judge(x, None)[:, :6]
    mirrored_across = judge(x[:, :, ::-1], None)[:, :6]
    assert np.allclose(mirrored_across.reshape(3, 2), across.reshape(3, 2)[:, ::-1], atol=1e-4)
    in_training = judge(x, jax.random.key(2))
    assert in_training.shape == (1, 12) and not np.allclose(in_training[:, :6], across, atol=1e-4)


def test_beliefs_are_chances():
    env = jaxlab.Labyrinth((3, 3), observation="pixels", key_and_door=True, icy_floor=True)
    module = networks.encoder("planner").policy(env, outputs=4, norm=True, dropout=0, rngs=networks.nnx.Rngs(0))
    beliefs = jax.jit(module.believe)(jax.random.randint(jax.random.key(0), (2, 64, 64, 3), 0, 256).astype(jnp.uint8))
    assert np.allclose(beliefs.goal.sum(-1), 1, atol=1e-5) and np.allclose(beliefs.agent.sum(-1), 1, atol=1e-5)
    assert (beliefs.key.sum(-1) < 1).all()
    assert beliefs.across.shape == (2, 3, 2) and beliefs.along.shape == (2, 2, 3)
    for part in beliefs:
        assert (part >= 0).all() and (part <= 1).all()


def test_every_weight_has_a_gradient():
    params = ENV.params(jaxlab.stack([SNAKE]))
    seen = table.make(ENV, params).see(jnp.zeros(9, int), jnp.zeros(9, int), jnp.arange(9))
    network = networks.policy("planner", ENV)
    variables = network.init(jax.random.key(0))

    def loss(weights):
        return bc.loss(network, variables._replace(weights=weights), jax.random.key(1), seen, jnp.arange(9) % 4)[0]

    for path, slope in jax.tree_util.tree_leaves_with_path(jax.jit(jax.grad(loss))(variables.weights)):
        assert np.isfinite(slope).all() and np.abs(slope).max() > 0, path


# -- measuring -------------------------------------------------------------------------------------


def test_figures_are_saved_one_by_one_and_taken_up_again(tmp_path):
    file = tmp_path / "planner.json"
    first = planner_runs.Figures(file, ["main", "other"])
    first.add("other, test", 0, np.array([True, False, True, True]))
    first.add("main, test", 1, np.array([True, True]))
    again = planner_runs.Figures(file, ["main", "other"])
    assert not again.lacks("other, test", 0) and again.lacks("other, test", 1) and again.lacks("main, test", 0)
    again.add("other, test", 1, np.array([False, False, True, True]))
    entry = planner_runs.Figures(file, ["main", "other"]).figures["other, test"]
    assert entry["mean"] == 0.625 and entry["each"] == "0.75 0.5" and entry["unsolved"] == {"0": "1", "1": "0 1"}
    table_of_all = file.with_suffix(".md").read_text("utf-8")
    assert table_of_all.index("main, test") < table_of_all.index("| other, test | 4 | 62.5 |")


def test_what_is_left_out_comes_back():
    def state():
        constants = planner.TAPS.tolist(), planner.WORTHLESS, planner.OPEN_AT_FIRST, planner.SMALL, planner.SURE
        return *constants, planner.Planner.judge, networks.encoder("planner").recipe.trials

    before, network = state(), networks.policy("planner", ENV)
    for name, change in measured.LEFT_OUT.items():
        with measured.changed(change):
            assert sum(now != then for now, then in zip(state(), before, strict=True)) == len(change), name
            assert networks.policy("planner", ENV) is not network, "an older compilation would be used again"
        assert state() == before


# -- learning --------------------------------------------------------------------------------------


@functools.cache
def trainer():
    mazes = splits.make((5, 5), 100, 100, 100, seed=11)
    shown = datasets.demonstrations(jaxlab.Labyrinth((5, 5), observation="pixels"), mazes["train"])
    return mazes, shown, jax.jit(bc.make(bc.Config(encoder="planner"), shown))


@functools.cache
def trained(seed=5):
    mazes, shown, train = trainer()
    state, metrics = train(jax.random.key(seed))
    loss = float(metrics["loss"][-5:].mean())
    return mazes, bc.policy(bc.Config(encoder="planner"), learning.data(shown, "planner"), state), loss


def success(variables, mazes, pixels=64, change=lambda pictures: pictures):
    env = jaxlab.Labyrinth(mazes.shape, observation="pixels", pixels=pixels)
    params = env.params(mazes)
    pictures = table.make(env, params)
    apply = jax.jit(networks.policy("planner", env).apply)
    logits = [
        apply(variables, change(pictures.see(*pictures.state(jnp.arange(low, low + env.num_cells)))))
        for low in range(0, pictures.num_states, env.num_cells)
    ]
    return evaluate.score(env, params, as_actions(env, params, jnp.concatenate(logits)))["success"]


@pytest.mark.slow
def test_it_learns_to_navigate():
    mazes, variables, _ = trained()
    assert success(variables, mazes["test"]) >= 0.97
    assert success(variables, mazes["s0"]) >= 0.95
    assert success(variables, mazes["s0_g"]) >= 0.9
    other = splits.make((8, 8), 1, 1, 50, seed=12)["test"]
    assert success(variables, other, pixels=102) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_it_trains_from_every_seed(seed):
    mazes, variables, loss = trained(seed)
    assert loss < 0.04
    assert success(variables, mazes["valid"]) >= 0.97


@pytest.mark.slow
def test_with_the_cells_of_the_picture_permuted_it_is_lost():
    mazes, variables, _ = trained()
    order = np.random.default_rng(0).permutation(25)

    def shuffle(pictures):
        blocks = pictures.reshape(-1, 5, 13, 5, 13, 3).swapaxes(2, 3).reshape(-1, 25, 13, 13, 3)[:, order]
        return blocks.reshape(-1, 5, 5, 13, 13, 3).swapaxes(2, 3).reshape(pictures.shape)

    # Drawn a little larger than what it learned from, so that cells are whole pixels.
    assert success(variables, mazes["test"], pixels=65) >= 0.85
    assert success(variables, mazes["test"], pixels=65, change=shuffle) <= 0.15
