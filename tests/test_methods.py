"""What all methods owe: the same bits, only what they are allowed to see, and success on one maze."""

import dataclasses
import functools
import json
import re
import types

import jax
import jax.numpy as jnp
import numpy as np
import pages
import pytest
from jax.test_util import check_grads

import jaxlab
from baselines import bc, bco, dagger, discriminator, evaluate, gail, inverse, iupe, learning, sqil, world
from benchmarks import one_maze
from jaxlab import datasets

SHAPE = (3, 3)
METHODS = {"bc": bc, "dagger": dagger, "bco": bco, "iupe": iupe, "sqil": sqil, "gail": gail}
SMALL = {
    "bc": bc.Config(encoder="mlp", epochs=3, batch=8),
    "dagger": dagger.Config(encoder="mlp", epochs=3, steps=20, round_updates=4, batch=8),
    "bco": bco.Config(encoder="mlp", epochs=3, batch=8, random_steps=20, model_updates=5, model_batch=8),
    "iupe": iupe.Config(
        encoder="mlp", epochs=4, batch=8, random_steps=20, limit=12, renewals=3, model_updates=5, renewal_updates=2
    ),
    "sqil": sqil.Config(encoder="mlp", epochs=3, epoch_updates=4, batch=16, replay=40, first_steps=2),
    "gail": gail.Config(encoder="mlp", epochs=3, steps=12, limit=12, passes=2, batch=16),
}


def some_mazes():
    other = jaxlab.from_edges([(0, 3), (3, 6), (6, 7), (7, 8), (0, 1), (1, 4), (2, 5), (5, 8)], SHAPE, start=0, goal=8)
    third = jaxlab.from_edges([(0, 1), (1, 2), (2, 5), (5, 8), (3, 4), (4, 5), (3, 6), (7, 8)], SHAPE, start=0, goal=8)
    return jaxlab.stack([one_maze.maze(0), other, third])


@functools.cache
def shown(reward="paper"):
    env = jaxlab.Labyrinth(SHAPE, reward=reward)
    return datasets.demonstrations(env, some_mazes())


@functools.cache
def data(reward="paper"):
    return learning.data(shown(reward), "mlp")


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def epochs(name, config, count, data, state):
    return jax.lax.scan(lambda state, _: METHODS[name].epoch(config, data, state), state, None, length=count)


@functools.partial(jax.jit, static_argnums=(0, 1))
def begin(name, config, data, key):
    return METHODS[name].init(config, data, key)


@functools.partial(jax.jit, static_argnums=(0, 1))
def finish(name, config, data, state):
    """The policy's variables, and its logits in every state."""
    variables = METHODS[name].policy(config, data, state)
    return variables, learning.everywhere(METHODS[name].network(config, data.env), variables, data.table)


def bits(tree):
    leaves = [
        jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in jax.tree.leaves(tree)
    ]
    return [np.asarray(leaf).tobytes() for leaf in leaves]


def trained(name, data, config=None, count=3, key=0):
    """(state, metrics) after some epochs; where only arrays differ, the compilation is shared."""
    config = SMALL[name] if config is None else config
    return epochs(name, config, count, data, begin(name, config, data, jax.random.key(key)))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_one_shape(name):
    config = SMALL[name]
    state, metrics = trained(name, data())
    assert {len(values) for values in metrics.values()} == {3}
    assert all(np.isfinite(values).all() for values in metrics.values())
    variables, logits = finish(name, config, data(), state)
    assert logits.shape == (27, 4) and np.isfinite(logits).all()
    fresh = begin(name, config, data(), jax.random.key(0))
    assert bits(finish(name, config, data(), fresh)[0]) != bits(variables), "it has learnt something"


@pytest.mark.parametrize("name", METHODS)
def test_the_reward_of_the_environment_is_never_used(name):
    """Under another reward rule, and with other time limits and shortest lengths, the run is the same to the bit."""
    given = data()
    params = given.params
    noise = dataclasses.replace(
        params, max_steps=jnp.int32(3), shortest=params.shortest + 100, distance=jnp.flip(params.distance)
    )
    changed = learning.Data(
        dataclasses.replace(given.demonstrations, params=noise), dataclasses.replace(given.table, params=noise)
    )
    assert bits(trained(name, given)) == bits(trained(name, changed))


@pytest.mark.parametrize("name", ["bco", "iupe", "gail", "sqil", "bc"])
def test_only_dagger_asks_the_expert(name):
    """With the table of optimal actions wiped, everything but DAgger trains as before."""
    given = data()
    blind = dataclasses.replace(given.params, optimal=jnp.zeros_like(given.params.optimal))
    changed = learning.Data(
        dataclasses.replace(given.demonstrations, params=blind), dataclasses.replace(given.table, params=blind)
    )
    assert bits(trained(name, given)) == bits(trained(name, changed))


@pytest.mark.parametrize("name", ["bco", "iupe"])
def test_expert_actions_are_never_read(name):
    given = data()
    hidden = given.demonstrations.replace(action=jnp.full_like(given.demonstrations.action, -1))
    first, metrics = trained(name, given)
    second, again = trained(name, dataclasses.replace(given, demonstrations=hidden))
    assert bits((first, metrics)) == bits((second, again))
    assert bits(trained("bc", given)) != bits(trained("bc", dataclasses.replace(given, demonstrations=hidden)))


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_seeds_together_equal_seeds_alone(name):
    method, config = METHODS[name], SMALL[name]
    train = method.make(config, shown())
    keys = jax.random.split(jax.random.key(0), 2)
    together, _ = jax.jit(jax.vmap(train))(keys)
    alone, _ = jax.jit(train)(keys[1])
    lane = method.policy(config, data(), jax.tree.map(lambda leaf: leaf[1], together))
    for a, b in zip(jax.tree.leaves(lane), jax.tree.leaves(method.policy(config, data(), alone)), strict=True):
        assert np.allclose(a, b, atol=2e-4)


@pytest.mark.parametrize("name", ["dagger", "gail", pytest.param("sqil", marks=pytest.mark.slow)])
def test_methods_play_with_key_door_and_ice(name):
    """The start lies before a door; the key is two cells off the route; one cell is ice, two lead nowhere alive."""
    edges = [(0, 1), (1, 2), (1, 4), (4, 7), (7, 8), (0, 3), (2, 5), (6, 7)]
    maze = jaxlab.from_edges(edges, SHAPE, start=0, goal=8, key=3, door=7, ice=[2])
    env = jaxlab.Labyrinth(SHAPE, key_and_door=True, icy_floor=True)
    given = learning.data(datasets.demonstrations(env, jaxlab.stack([maze, maze])), "mlp")
    state, metrics = trained(name, given)
    assert all(np.isfinite(values).all() for values in metrics.values())
    assert (given.demonstrations.mode == 2).any(), "the door is opened on the way"
    if name == "dagger":
        states, actions = (np.asarray(column)[: int(state.filled)] for column in (state.states, state.actions))
        assert (np.asarray(given.params.optimal).reshape(-1)[states] >> actions & 1).all()
        assert world.reachable(world.make(given.env, given.params))[states].all()


# -- one maze --------------------------------------------------------------------------------------


def test_the_winding_mazes_are_all_that_the_files_hold(golden):
    records = json.loads((golden / "mazes3.json").read_text())
    found = [record["edges"] for record in records if record["shortest_moves"] == 8]
    assert found == [[list(edge) for edge in edges] for edges in one_maze.EDGES]


@pytest.mark.parametrize("name", METHODS)
def test_each_winding_maze_is_solved(name):
    env = jaxlab.Labyrinth(SHAPE)
    method, config = METHODS[name], one_maze.config(name)
    for i in range(2):
        params = env.params(jaxlab.stack([one_maze.maze(i)]))
        assert params.shortest[0] == 8
        given = learning.data(datasets.demonstrations(env, params), "mlp")
        state, _ = trained(name, given, config, method.num_epochs(config, given))
        _, logits = finish(name, config, given, state)
        played = evaluate.episodes(env, params, logits.argmax(-1).reshape(1, 1, 9))
        assert (played.outcome == evaluate.GOAL).all()


@pytest.mark.slow
def test_survival_pays_without_the_absorbing_state():
    """-log(1 - D) is never negative: with nothing behind the end, the policy learns not to arrive (0 %, not 100 %)."""
    given = data()
    choices = {"epochs": 100, "steps": 128, "limit": 30, "passes": 10, "judge_passes": 5, "judge_memory": 0.0}
    default = gail.Config(encoder="mlp", **choices)
    arrivals, success = [], []
    for config in (default, dataclasses.replace(default, reward="neg_log1mD", absorbing=False)):
        state, metrics = trained("gail", given, config, config.epochs)
        _, logits = finish("gail", config, given, state)
        played = evaluate.episodes(given.env, given.params, logits.argmax(-1).reshape(3, 1, 9))
        arrivals.append(float(metrics["arrivals"][-10:].mean()))
        success.append(int((played.outcome == evaluate.GOAL).sum()))
    assert success[0] == 3 and arrivals[0] > 0.95
    assert success[1] <= 1 and arrivals[1] < float(metrics["arrivals"][0]), "less than the first, random walks"


# -- equivalences ----------------------------------------------------------------------------------


def test_bco_with_a_perfect_model_is_bc_to_the_bit(monkeypatch):
    """The model's answer is taken from the demonstrations here; from then on nothing may differ."""
    given = data()
    perfect = lambda *_: 9.0 * jax.nn.one_hot(given.demonstrations.action, 4)  # noqa: E731
    monkeypatch.setattr(inverse, "logits", perfect)
    cloned, _ = trained("bc", given)
    config = dataclasses.replace(SMALL["bco"], model_updates=6)  # a compilation of its own
    observed, _ = trained("bco", given, config)
    assert bits(observed.policy) == bits(cloned)


def test_iupe_without_success_is_bco0_to_the_bit():
    """Walks cut after two moves never arrive, so w = 0; sampling and labels are then the only differences."""
    given = data()
    config = dataclasses.replace(SMALL["iupe"], limit=2, labels="argmax", renewal_updates=0)
    explored, metrics = trained("iupe", given, config)
    assert (metrics["walks_reached"] == 0).all()
    same = bco.Config(
        encoder="mlp",
        epochs=4,
        batch=8,
        random_steps=20,
        limit=2,
        model_updates=5,
        model_batch=128,
        balanced=True,
        keep_bumps=True,
    )
    observed, _ = trained("bco", given, same)
    assert bits(explored.policy) == bits(observed.policy)
    assert bits(explored.model.weights) == bits(observed.model.weights)


def test_dagger_with_the_expert_at_the_wheel_sees_only_the_demonstrations():
    given = data()
    config = dataclasses.replace(SMALL["dagger"], beta="linear", beta_rate=1e9)
    state, metrics = trained("dagger", given, config)
    pairs = lambda states, actions: set(zip(states.tolist(), actions.tolist(), strict=True))  # noqa: E731
    rows = given.demonstrations
    shown = pairs(np.asarray(given.table.index(rows.maze, rows.mode, rows.cell)), np.asarray(rows.action))
    filled = int(state.filled)
    assert pairs(np.asarray(state.states)[:filled], np.asarray(state.actions)[:filled]) == shown
    assert metrics["queries"].tolist() == [60.0, 120.0, 180.0]


def test_dagger_learns_of_new_states_and_labels_them_right():
    given = data()
    state, metrics = trained("dagger", given)
    states, actions = (np.asarray(column)[: int(state.filled)] for column in (state.states, state.actions))
    assert metrics["states"][0] < metrics["states"][2]
    assert (np.asarray(given.params.optimal).reshape(-1)[states] >> actions & 1).all()
    assert world.reachable(world.make(given.env, given.params))[states].all(), "training mazes, from their starts"


def test_beta_schedules():
    config = functools.partial(dagger.Config, encoder="mlp")
    take = lambda config: [round(float(dagger.beta(config, i)), 6) for i in range(4)]  # noqa: E731
    assert take(config()) == [1, 0, 0, 0]
    assert take(config(beta="exponential", beta_rate=0.5)) == [1, 0.5, 0.25, 0.125]
    assert take(config(beta="linear", beta_rate=15)) == [round(1 - i / 15, 6) for i in range(4)]


# -- hand values -----------------------------------------------------------------------------------


def test_soft_targets_by_hand():
    target = functools.partial(sqil.soft_target, next_q=jnp.zeros(4), gamma=0.99, alpha=1.0)
    y = target(1.0, reached=False, fell=False)
    assert y == pytest.approx(2.372431, abs=1e-6)
    assert jnp.square(2 - y) == pytest.approx(0.138705, abs=1e-6)
    assert target(1.0, reached=True, fell=False, absorbing=False) == 1
    assert target(1.0, reached=True, fell=False) == pytest.approx(100, rel=1e-5)
    assert target(0.0, reached=False, fell=True) == 0


def test_soft_value_goes_to_the_maximum():
    q = jnp.array([0.3, -1.0, 0.9, 0.2])
    assert sqil.soft_value(q, 1.0) == pytest.approx(np.log(np.exp(np.asarray(q)).sum()), abs=1e-6)
    assert sqil.soft_value(q, 1e-3) == pytest.approx(0.9, abs=1e-6)


def test_sqil_weighs_both_halves_alike_and_moves_only_the_chosen_action():
    q = jnp.array([[1.0, 2, 3, 4], [0, 0, 0, 0]])
    action, target = jnp.array([1, 3]), jnp.array([5.0, 0.5])
    assert sqil.loss(q, action, target) == 9.25
    slope = jax.grad(sqil.loss)(q, action, target)
    assert slope.tolist() == [[0, -6, 0, 0], [0, 0, 0, -1]]
    assert not jax.grad(sqil.loss, argnums=2)(q, action, target).any()


@pytest.mark.parametrize(("capacity", "added"), [(4, 0), (4, 3), (6, 5), (7, 6)])
def test_the_ring_keeps_the_last_steps_in_order(capacity, added):
    names = ("state", "action", "following", "reached", "fell")
    empty = sqil.Replay(*(jnp.full(capacity, -1) for _ in names), added=jnp.int32(added))
    steps = types.SimpleNamespace(**{name: jnp.arange(6).reshape(2, 3) for name in names})
    ring = sqil.remember(empty, steps)
    held = {(added + i) % capacity: i for i in range(6)}
    assert ring.state.tolist() == [held.get(place, -1) for place in range(capacity)]
    assert ring.action.tolist() == ring.fell.tolist() == ring.state.tolist() and int(ring.added) == added + 6


def test_a_batch_of_sqil_is_half_demonstrations():
    given, config = data(), SMALL["sqil"]
    state = begin("sqil", config, given, jax.random.key(0))
    rows = jax.jit(sqil.draw, static_argnums=0)(config, given, state.replay, jax.random.key(1))
    assert rows.reward.tolist() == [1] * 8 + [0] * 8, "0 also where the goal was reached: not the environment's reward"
    best = np.asarray(given.params.optimal).reshape(-1)[rows.state[:8]]
    assert (best >> np.asarray(rows.action[:8]) & 1).all()
    kept = set(np.asarray(state.replay.state)[: int(state.replay.added)].tolist())
    assert set(np.asarray(rows.state[8:]).tolist()) <= kept


def test_sqil_without_a_network_solves_every_maze_and_stays_bounded():
    given = data()
    weight = jnp.ones((27, 4))
    rules = world.make(given.env, given.params)

    def success(config):
        q = jax.jit(sqil.tabular, static_argnums=(0, 3))(config, given, weight, 300)
        at, arrived = rules.start, jnp.zeros(3, bool)
        for _ in range(9):
            action = q[at].argmax(-1)
            arrived |= rules.reached[at, action]
            at = rules.following[at, action]
        return arrived.mean(), jnp.abs(q).max()

    share, largest = success(sqil.Config(encoder="mlp"))
    assert share == 1
    assert largest <= 1 / (1 - 0.9) + 0.1 * np.log(4) / (1 - 0.9)
    assert success(sqil.Config(encoder="mlp", absorbing=False))[0] < 1, "the trap that METHODS derives"


def test_slopes_in_double_precision():
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 3)
        q, next_q, weight = (jax.random.normal(key, (6, 4), jnp.float64) for key in keys)
        action = jnp.array([0, 1, 2, 3, 0, 1])

        def soft(q):
            target = sqil.soft_target(1.0, next_q, jnp.arange(6) == 2, False, gamma=0.9, alpha=0.1)
            return sqil.loss(q, action, target)

        def judged(weight):
            f = lambda x: jnp.tanh(x @ weight).sum(-1)  # noqa: E731
            return discriminator.loss(f(q), f(next_q)) + 10 * discriminator.gradient_penalty(f, 1.0, q)

        check_grads(soft, (q,), 1, modes=["rev"], rtol=1e-6)
        check_grads(judged, (weight[:4],), 1, modes=["rev"], rtol=1e-5)
        check_grads(lambda q: learning.cross_entropy(q, action).mean(), (q,), 1, modes=["rev"], rtol=1e-6)


# -- the inverse model's data ----------------------------------------------------------------------


def some_moves():
    state = jnp.arange(12)
    action = jnp.array([0, 0, 0, 0, 1, 2, 0, 1, 1, 1, 1, 1])
    return inverse.Moves(state, action, state, jnp.int32(12)), jnp.arange(12) >= 6


def test_draws_are_even_over_actions_and_weighed_over_sources():
    moves, own = some_moves()
    allowed = jnp.ones(12, bool).at[3].set(False)
    rows = np.asarray(inverse.draw_evenly(jax.random.key(0), moves, allowed, own, jnp.float32(0.25), (6000,)))
    counts = np.bincount(rows, minlength=12)
    expected = 6000 * np.array([1, 1, 1, 0, 3, 3, 0, 0, 0, 0, 0, 0]) * 0.75 / 9
    expected[6:] = 6000 * 0.25 * np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert counts[3] == 0
    held = expected > 0
    assert ((counts - expected)[held] ** 2 / expected[held]).sum() < 29.6, "chi-square, 10 degrees, p = 0.001"


@pytest.mark.parametrize(("success", "own"), [(0.0, False), (1.0, True)])
def test_nothing_is_drawn_from_a_source_of_no_weight(success, own):
    moves, is_own = some_moves()
    sources = iupe.Sources(moves, jnp.ones(12, bool), jnp.float32(success))
    rows = iupe.draw(jax.random.key(1), sources, 6, (500,), weighted=True)
    assert (is_own[rows] == own).all()


def test_the_share_of_own_walks():
    assert iupe.own_share(jnp.float32(0.5), jnp.int32(300), jnp.int32(100)) == 0.75
    assert iupe.own_share(jnp.float32(1), jnp.int32(0), jnp.int32(100)) == 0


def test_only_first_episodes_that_arrive_are_kept():
    column = lambda *rows: jnp.array(rows, bool)  # noqa: E731
    none = jnp.zeros((4, 2), jnp.int32)
    reached = column((0, 0), (1, 0), (0, 0), (1, 1))
    cut = column((0, 0), (0, 0), (0, 1), (0, 0))
    steps = world.Steps(none, none, none, reached, jnp.zeros((4, 2), bool), cut)
    kept, share = iupe.first_episodes(steps)
    assert kept[:, 0].tolist() == [True, True, False, False] and not kept[:, 1].any()
    assert share == 0.5


def test_the_inverse_model_labels_every_demonstrated_step_right():
    given = data()
    config = dataclasses.replace(one_maze.config("bco"), random_steps=500, keep_bumps=True)
    state, metrics = trained("bco", given, config, 1)
    assert (state.labels == given.demonstrations.action).all()
    # A step into one of b walls can't be told better than 1 in b; what is possible over all moves:
    moves = state.moves
    bumps = np.asarray(world.make(given.env, given.params).following == jnp.arange(27)[:, None]).sum(-1)
    stays = np.asarray(moves.state == moves.following)
    possible = np.where(stays, 1 / np.maximum(bumps[np.asarray(moves.state)], 1), 1.0).mean()
    assert abs(metrics["model_accuracy"][0] - possible) < 0.08, "ten batches of 64: three standard errors are 0.05"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dagger.Config(beta="liner"), "did you mean 'linear'"),
        (lambda: dagger.Config(batch="full"), "batch must be a number"),
        (lambda: gail.Config(reward="logd"), "did you mean 'logD'"),
        (lambda: gail.Config(control="shufled"), "did you mean 'shuffled'"),
        (lambda: sqil.Config(batch=5), "batch must be even"),
        (lambda: sqil.Config(alpha=0.0), "alpha must be above 0"),
        (lambda: bco.Config(alpha=-0.1), "alpha must be at least 0"),
        (lambda: iupe.Config(labels="max"), "labels must be one of"),
    ],
)
def test_bad_choices_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


# -- the page --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_the_page_has_every_choice_with_its_default_and_source(name):
    """Rows ``| `one`, `two` | default, default | source |`` of the method's section, against its Config."""
    title = {"bc": "BC", "dagger": "DAgger", "bco": "BCO", "iupe": "IUPE", "sqil": "SQIL", "gail": "GAIL"}[name]
    (section,) = re.findall(rf"^## {title}\b.*?(?=^## )", (pages.ROOT / "docs/methods.md").read_text(), re.M | re.S)
    words = {True: "yes", False: "no", None: "none"}
    config, told = METHODS[name].Config(), {"encoder", "render"}  # of the command line, for every method
    for names, defaults, source in re.findall(r"^\| (`.+?) \| (.+?) \| (.+) \|$", section, re.M):
        assert source.strip(), names
        for choice, said in zip(re.findall(r"`(\w+)`", names), defaults.split(", "), strict=True):
            default = getattr(config, choice)
            number = isinstance(default, (int, float)) and not isinstance(default, bool)
            assert float(said) == default if number else said == words.get(default, default), choice
            told.add(choice)
    inherited = {field.name for field in dataclasses.fields(bc.Config)} if name != "bc" else set()
    if name == "iupe":
        inherited |= {field.name for field in dataclasses.fields(inverse.Config)}
    assert {field.name for field in dataclasses.fields(config)} - inherited <= told
