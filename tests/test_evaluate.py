import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from baselines import evaluate, table
from jaxlab import grid

SPLITS = jaxlab.splits.load("3x3-v1")
TRAIN = SPLITS["train"]
ENV = jaxlab.Labyrinth((3, 3))
PARAMS = ENV.params(TRAIN)
ICE = jaxlab.Labyrinth((2, 3), icy_floor=True)
ICE_PARAMS = ICE.params(
    jaxlab.stack([jaxlab.from_edges([(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)], (2, 3), 0, 2, ice=[1])])
)


def rollout(env, params, index, actions):
    """Step by step through the environment itself: (outcome, time, summed reward)."""
    _, state = env.reset_to(index, params)
    total = 0.0
    while True:
        out = env.step(None, state, int(actions[index, int(state.mode), int(state.cell)]), params)
        state, total = out.state, total + float(out.reward)
        if out.terminated or out.truncated:
            name = "goal" if out.info["success"] else "fall" if out.info["fell"] else "out"
            return name, int(state.t), total


def test_exact_evaluation_equals_rollouts():
    env, params = ENV, ENV.params(TRAIN[:6], max_steps=30)
    actions = np.array(jax.random.randint(jax.random.key(5), (6, 1, 9), 0, 4))
    actions[:3] = evaluate.optimal_actions(params)[:3]
    played = evaluate.episodes(env, params, actions)
    returns = evaluate.returns(env, params, played)
    for i in range(6):
        name, steps, total = rollout(env, params, i, actions)
        outcome = evaluate.OUTCOMES[int(played.outcome[i])]
        assert outcome == name if name != "out" else outcome in ("loop", "time")
        assert int(played.steps[i]) == steps
        assert returns[i] == pytest.approx(total, rel=2e-3)


def test_optimal_returns_exactly_1_and_failure_exactly_minus_4():
    best = evaluate.score(ENV, PARAMS, evaluate.optimal_actions(PARAMS))
    assert best["success"] == best["aer"] == best["optimal_rate_all"] == best["optimal_rate_visited"] == 1
    assert best["aer_std"] == 0 and all(episode["return"] == 1 for episode in best["episodes"])
    left = evaluate.score(ENV, PARAMS, np.full((len(TRAIN), 1, 9), grid.LEFT))
    assert left["success"] == 0 and left["aer"] == -4 and left["episodes"][0]["steps"] == 360


def test_fall_ends_the_episode_and_returns_what_running_out_of_time_does():
    straight = np.full((1, 1, 6), grid.RIGHT)
    score = evaluate.score(ICE, ICE_PARAMS, straight)
    assert score["episodes"] == [{"maze": 0, "success": False, "return": -4.0, "steps": 1, "outcome": "fall"}]
    kind = jaxlab.Labyrinth((2, 3), icy_floor=True, fall_return=-1.5)
    assert evaluate.score(kind, ICE_PARAMS, straight)["aer"] == -1.5


def test_time_limit_on_the_way_is_a_failure():
    params = ENV.params(TRAIN, max_steps=3)
    score = evaluate.score(ENV, params, evaluate.optimal_actions(params))
    assert score["success"] == 0 and {e["outcome"] for e in score["episodes"]} == {"time"}


def test_sampled_success_equals_simulation_and_limits():
    env, params = ENV, ENV.params(TRAIN[:1])
    uniform = jnp.full((1, 1, 9, 4), 0.25)
    short, long = evaluate.sampled(env, params, uniform, 1)
    limit = evaluate.SHORT_LIMIT * int(params.shortest[0])
    keys = jax.random.split(jax.random.key(0), 20_000)

    def play(key):
        def step(state, key):
            out = env.step(None, state, jax.random.randint(key, (), 0, 4), params)
            return out.state, out.info["success"]

        return jax.lax.scan(step, env.reset_to(0, params)[1], jax.random.split(key, limit))[1].any()

    share = float(jax.jit(jax.vmap(play))(keys).mean())
    assert abs(share - float(short[0])) < 4 * np.sqrt(share * (1 - share) / len(keys))
    assert 0.95 < float(long[0]) <= 1


def test_sampled_success_of_a_sure_policy_is_its_argmax_success():
    actions = np.array(jax.random.randint(jax.random.key(1), (len(TRAIN), 1, 9), 0, 4))
    actions[::2] = evaluate.optimal_actions(PARAMS)[::2]
    _, long = evaluate.sampled(ENV, PARAMS, jax.nn.one_hot(actions, 4), 1)
    played = evaluate.episodes(ENV, PARAMS, actions)
    np.testing.assert_allclose(long, played.outcome == evaluate.GOAL, atol=1e-5)


def _wade(entering, before, move):
    return move.replace(cost=jnp.where(entering, 5, move.cost))


def test_sampled_success_of_many_mazes_is_found_in_parts(monkeypatch):
    params = ENV.params(TRAIN[:5])
    logits = np.random.default_rng(0).normal(size=(5, 1, ENV.num_cells, 4))
    whole = evaluate.score_sampled(ENV, params, logits)
    sizes, found = [], evaluate.sampled
    monkeypatch.setattr(evaluate, "_MATRIX_ENTRIES", 2 * (ENV.num_cells + 1) ** 2 + 1)
    monkeypatch.setattr(evaluate, "sampled", lambda *args: sizes.append(len(args[1].mazes)) or found(*args))
    assert evaluate.score_sampled(ENV, params, logits) == pytest.approx(whole, abs=1e-6)
    assert sizes == [2, 2, 2]


def test_costs_count_as_time_in_sampled_success():
    env = jaxlab.Labyrinth((1, 3), tiles=(jaxlab.Tile("mud", _wade),))
    mud = np.array([[False, True, False]])
    params = env.params(
        jaxlab.stack([jaxlab.from_edges([(0, 1), (1, 2)], (1, 3), 0, 2).replace(tiles={"mud": mud})]), max_steps=6
    )
    assert evaluate.max_cost(env, params) == 5
    # Right, right takes 5 + 1: only the first two moves count in six steps of time, or one bump before, too late.
    uniform = jnp.full((1, 1, 3, 4), 0.25)
    assert float(evaluate.sampled(env, params, uniform, 5)[1][0]) == pytest.approx(1 / 16)


def test_random_and_greedy_rows_are_those_of_the_specification(golden):
    report = evaluate.table(lambda seen: np.zeros(len(seen), int), golden / "mazes" / "labyrinths3")
    assert report.value("random, within 4 L", "train") == pytest.approx(0.21, abs=0.01)
    rows = [round(100 * report.value("greedy (up, else right)", s)) for s in ("train", "valid", "test")]
    assert rows == [72, 53, 75]
    assert report.value("optimal", "s0_g") == 1


def test_any_callable_is_scored_by_actions_or_logits():
    some = {"train": TRAIN[:3]}
    seen = table.make(ENV, ENV.params(TRAIN[:3]), "vector")
    best = {
        tuple(map(float, row)): int(a)
        for row, a in zip(seen.rows, evaluate.optimal_actions(seen.params).ravel(), strict=True)
    }

    def act(vectors):
        assert vectors.dtype == np.float32 and vectors.shape[1:] == (28,)
        return np.array([best[tuple(map(float, row))] for row in vectors])

    report = evaluate.table(act, some, observation="vector", batch=10)
    assert report.value("argmax", "train") == 1 and "sampled, within 4 L" not in report.scores
    sure = evaluate.table(lambda seen: np.eye(4)[act(seen)] * 50, some, observation="vector")
    assert sure.value("argmax", "train") == 1 and sure.value("sampled, within 4 L", "train") > 0.999
    assert "optimal" in str(sure) and "100.0" in str(sure)


def test_torch_tensors_are_taken():
    torch = pytest.importorskip("torch")
    weight = torch.zeros(28, 4, requires_grad=True)
    report = evaluate.table(lambda seen: torch.from_numpy(seen) @ weight, {"a": TRAIN[:2]}, observation="vector")
    assert report.value("argmax", "a") in (0, 0.5, 1)


@pytest.mark.parametrize("answer", [np.zeros((3, 4)), np.zeros(5), np.full(27, 4), "up"])
def test_wrong_answers_are_refused(answer):
    with pytest.raises(ValueError, match=r"actions"):
        evaluate.table(lambda seen: answer, {"train": TRAIN[:3]}, observation="vector")


def test_nan_logits_and_empty_splits_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        evaluate.table(lambda seen: np.full((len(seen), 4), np.nan), {"train": TRAIN[:3]}, observation="vector")
    with pytest.raises(ValueError, match="no splits to score"):
        evaluate.table(lambda seen: seen, {})
