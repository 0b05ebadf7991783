import numpy as np
import pytest

import jaxlab
from baselines import diagnosis, evaluate, replay
from jaxlab import grid

# S on the left, E on the right of the lower row; cell 4 above the middle is a dead end.
#
#   +---+---+---+
#   | 3   4   5 |
#   +   +   +---+     1-4 and 0-3 are open, 5-2 is not
#   | S   1   E |
#   +---+---+---+
EDGES = [(0, 1), (0, 3), (1, 2), (1, 4), (3, 4), (4, 5)]
MAZE = jaxlab.stack([jaxlab.from_edges(EDGES, (2, 3), start=0, goal=2)])
ENV = jaxlab.Labyrinth((2, 3))
U, R, D, L = grid.UP, grid.RIGHT, grid.DOWN, grid.LEFT


@pytest.fixture(scope="module")
def known():
    return replay.rules(ENV, MAZE)


@pytest.mark.parametrize(
    ("actions", "states", "outcome", "end"),
    [
        ([R, R, U, R, D, L], [0, 1], "goal", None),
        ([L, R, U, R, D, L], [0], "loop", "bump"),
        ([R, L, U, R, D, L], [0, 1], "loop", "two-cycle"),
        ([R, U, U, D, L, L], [0, 1, 4, 3], "loop", "longer loop"),
    ],
)
def test_play_and_what_it_ends_in(known, actions, states, outcome, end):
    episode = replay.play(known, 0, np.array(actions))
    assert (episode.states, episode.outcome) == (states, outcome)
    assert diagnosis.end_of(episode) == end
    if end == "longer loop":
        assert episode.loop == [0, 1, 4, 3]


def test_rates_by_hand(known):
    actions = np.array(
        [[[R, U, U, D, D, L]]]
    )  # 0 right, 1 wrong, 3 wrong (right, down: 0 -> 3 is as far), 4 right, 5 right
    assert diagnosis.is_right(known, actions)[0].tolist() == [True, False, False, True, True, True]
    assert known.optimal[0].tolist() == [1 << R, 1 << R, 0, 1 << R | 1 << D, 1 << D, 1 << L]
    assert diagnosis.by_distance(known, actions) == {1: (0.0, 1), 2: (1.0, 2), 3: (1.0, 2)}
    assert diagnosis.by_open_sides(known, actions) == {1: (1.0, 1), 2: (1.0, 2), 3: (0.5, 2)}
    on = np.array([[True, True, False, False, False, False]])
    assert diagnosis.by_path(known, actions, on) == {"on": (0.5, 2), "off": (1.0, 3)}
    assert diagnosis.by_cell(known, diagnosis.is_right(known, actions)) == [1, 0, None, 1, 1, 1]


def test_the_first_mistake_of_a_failure(known):
    actions = np.array([[[R, U, U, D, D, L]]])
    (found,) = diagnosis.mistakes(known, actions)
    assert found == diagnosis.Mistake(0, 1, 1, 0, "up", ("right",), 1, "two-cycle")
    assert diagnosis.mistakes(known, np.array([[[R, R, U, R, D, L]]])) == []


@pytest.fixture(scope="module")
def trial():
    mazes = {name: jaxlab.splits.load("5x5-key-v1")[name][:20] for name in ("train", "test")}
    env = jaxlab.Labyrinth((5, 5), key_and_door=True)
    rng, actions = np.random.default_rng(0), {}
    for split, part in mazes.items():
        params = env.params(part)
        best, wild = evaluate.optimal_actions(params), rng.integers(0, 4, (20, 3, 25))
        for seed in range(2):
            actions[seed, split] = np.where(rng.random(best.shape) < 0.9, best, wild)
    return replay.Replay(env, mazes, actions)


def test_playing_agrees_with_the_evaluation_in_every_maze(trial):
    for (seed, split), chosen in trial.actions.items():
        known = trial.rules[split]
        scored = evaluate.score(trial.env, trial.env.params(trial.splits[split]), chosen)["episodes"]
        episodes = [replay.play(known, i, chosen[i]) for i in range(20)]
        assert [episode.outcome for episode in episodes] == [one["outcome"] for one in scored], (seed, split)
        steps = [len(e.states) for e in episodes if e.outcome == "goal"]
        assert steps == [one["steps"] for one in scored if one["success"]]
        success = replay.reaches(known, chosen)[np.arange(20), known.start]
        assert success.tolist() == [one["success"] for one in scored]


def test_a_whole_diagnosis_counts_every_episode_and_state(trial):
    found = diagnosis.run(trial)
    for split, one in found.items():
        failed = sum(
            (
                ~replay.reaches(trial.rules[split], trial.actions[seed, split])[np.arange(20), trial.rules[split].start]
            ).sum()
            for seed in trial.seeds
        )
        assert sum(one["ends"].values()) == failed == sum(len(rows) for rows in one["mistakes"].values())
        assert failed > 0
        states = 2 * (trial.rules[split].optimal != 0).sum()
        for name in ("distance", "open_sides", "path"):
            assert sum(rate.states for rate in one[name].values()) == states
            right = sum(rate.states * rate.optimal for rate in one[name].values()) / states
            assert right == pytest.approx(0.92, abs=0.03)
    assert "failures end in: " in diagnosis.describe(found)


def test_replays_are_written_and_read_back(trial, tmp_path):
    replay.write(tmp_path, trial.env, trial.splits, trial.actions)
    again = replay.read(tmp_path)
    assert again.env == trial.env
    assert again.seeds == [0, 1]
    for key, actions in trial.actions.items():
        assert np.array_equal(again.actions[key], actions)
    assert jaxlab.splits.digest(again.splits["test"]) == jaxlab.splits.digest(trial.splits["test"])
    assert diagnosis.main([str(tmp_path)]) == 0


def test_what_is_no_replay_is_refused(trial, tmp_path, capsys):
    with pytest.raises(FileNotFoundError, match="no replay here"):
        replay.read(tmp_path)
    (tmp_path / replay.FILE).write_bytes(b"PK\x03\x04 noise")
    with pytest.raises(ValueError, match="is no readable"):
        replay.read(tmp_path)
    assert diagnosis.main([str(tmp_path)]) == 2
    assert "is no readable" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"actions of seed 0 on test must be \(20, 3, 25\), got \(20, 25\)"):
        replay.write(tmp_path, trial.env, trial.splits, {(0, "test"): np.zeros((20, 25))})


def test_a_maze_without_a_solution_is_left_out(trial):
    lost = jaxlab.from_edges([], (5, 5), start=0, goal=24, key=1, door=2)
    part = trial.splits["test"]
    mazes = jaxlab.stack([lost, *(part[i] for i in range(20))])
    actions = {at: np.concatenate([chosen[:1], chosen]) for at, chosen in trial.actions.items() if at[1] == "test"}
    with_it = diagnosis.run(replay.Replay(trial.env, {"test": mazes}, actions))["test"]
    without = diagnosis.run(trial)["test"]
    assert [with_it[name] for name in ("episodes", "ends", "open_sides")] == [
        without[name] for name in ("episodes", "ends", "open_sides")
    ]
    alone = replay.Replay(trial.env, {"test": mazes[:1]}, {at: chosen[:1] for at, chosen in actions.items()})
    assert diagnosis.describe(diagnosis.run(alone)).startswith("test: 0 of 0 episodes failed")
