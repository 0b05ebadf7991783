"""The vector environment: the same as single ones step by step, in every autoreset mode."""

import numpy as np
import pytest

import jaxlab

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from jaxlab.gym import LabyrinthEnv  # noqa: E402
from jaxlab.gym_vector import LabyrinthVectorEnv  # noqa: E402

NUM = 8
CHOICES = {"shape": (3, 3), "max_steps": 12, "occlusion": True}


def make(**choices):
    return gymnasium.make_vec("Labyrinth-v0", num_envs=NUM, **{**CHOICES, **choices})


def same(ours, theirs):
    """Infos agree wherever their masks say that they count."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        if name.startswith("_"):
            np.testing.assert_array_equal(ours[name], value)
        elif isinstance(value, dict):
            same({k: v for k, v in ours[name].items()}, value)
        else:
            where = theirs[f"_{name}"]
            got = np.stack([np.asarray(x) for x, counts in zip(ours[name], where, strict=True) if counts])
            expected = np.stack([np.asarray(x) for x, counts in zip(value, where, strict=True) if counts])
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_agrees_with_single_environments_step_by_step(mode):
    """1,250 steps of 8 sub-environments: 10,000 in each mode, with redrawn mazes in between."""
    ours = make(autoreset_mode=mode)
    theirs = SyncVectorEnv([lambda: LabyrinthEnv(**CHOICES)] * NUM, autoreset_mode=mode)
    assert ours.metadata["autoreset_mode"] is mode
    random = np.random.default_rng(0)
    finished = 0
    for t in range(1250):
        if t == 0:
            a, b = ours.reset(seed=5), theirs.reset(seed=5)
        elif t % 400 == 0:
            a, b = (env.reset(options={"agent": False}) for env in (ours, theirs))
        else:
            actions = random.integers(0, 4, NUM)
            a, b = ours.step(actions), theirs.step(actions)
            for mine, yours in zip(a[1:4], b[1:4], strict=True):
                np.testing.assert_array_equal(mine, yours)
            finished += (a[2] | a[3]).sum()
        np.testing.assert_array_equal(a[0], b[0])
        same(a[-1], b[-1])
    assert finished > 500


def test_complaint_18_the_mode_is_declared_and_both_timelines_hold():
    maze = jaxlab.from_edges([(0, 1)], (1, 2), start=0, goal=1)
    start, goal = 0.0, 2.0
    for mode, seen in (("NextStep", [goal, start, goal]), ("SameStep", [start, start, start])):
        env = LabyrinthVectorEnv(2, shape=(1, 2), mazes=maze, autoreset_mode=mode)
        assert env.metadata["autoreset_mode"] is AutoresetMode(mode)
        assert LabyrinthVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
        env.reset(seed=0)
        outs = [env.step(np.array([1, 3])) for _ in range(3)]
        assert [out[0][0, 0] for out in outs] == seen
        if mode == "SameStep":
            assert outs[0][4]["final_obs"][0][0] == goal and outs[0][4]["_final_obs"].tolist() == [True, False]
            assert outs[0][4]["final_info"]["success"][0]
        else:
            assert [bool(out[2][0]) for out in outs] == [True, False, True]
            assert outs[1][1][0] == 0.0


def test_disabled_leaves_the_reset_to_the_user():
    maze = jaxlab.from_edges([(0, 1)], (1, 2), start=0, goal=1)
    env = LabyrinthVectorEnv(2, shape=(1, 2), mazes=maze, autoreset_mode="Disabled")
    env.reset(seed=0)
    done = env.step(np.array([1, 3]))[2]
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
        env.step(np.array([1, 1]))
    obs, infos = env.reset(options={"reset_mask": done})
    assert obs[:, 0].tolist() == [0.0, 0.0] and infos["_distance"].tolist() == [True, False]
    assert env.step(np.array([1, 1]))[2].tolist() == [True, True]


def test_seeds_and_lists_of_seeds():
    a, b = make(), make()
    np.testing.assert_array_equal(a.reset(seed=3)[0], b.reset(seed=list(range(3, 3 + NUM)))[0])
    single = LabyrinthEnv(**CHOICES)
    single.reset(seed=5)
    assert jaxlab.to_edges(single.maze) == jaxlab.to_edges(a.mazes[2])
    before = a.mazes
    a.reset(seed=[None] * (NUM - 1) + [99])
    changed = [not np.array_equal(x.walls, y.walls) for x, y in zip(before, a.mazes, strict=True)]
    assert not any(changed[:-1])


def test_complaint_12_make_vec_forwards_seed_and_options():
    env = make()
    first = env.reset(seed=1)[0]
    np.testing.assert_array_equal(env.reset(options={"agent": True})[0], first)
    assert not np.array_equal(env.reset(options={"agent": False})[0], first)
    np.testing.assert_array_equal(env.reset(seed=1, options={"agent": True})[0], first)


def test_complaint_12_wrappers_of_gymnasium_forward_seed_and_options():
    env = gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("Labyrinth-v0", **CHOICES))
    first = env.reset(seed=1)[0]
    np.testing.assert_array_equal(env.reset(seed=1)[0], first)
    assert not np.array_equal(env.reset(options={"agent": False})[0], first)


def test_bad_calls():
    env = make()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step"):
        env.step(np.zeros(NUM, int))
    env.reset(seed=0)
    for actions, match in ((np.zeros(3, int), "shape"), (np.full(NUM, 4), "0 up"), (np.zeros(NUM), "integers")):
        with pytest.raises(ValueError, match=match):
            env.step(actions)
    with pytest.raises(ValueError, match="one seed for each of 8"):
        env.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="num_envs"):
        LabyrinthVectorEnv(0)


def test_spaces_and_pictures():
    env = make(render_mode="rgb_array", pixels=24)
    obs, _ = env.reset(seed=0)
    assert obs in env.observation_space and obs.flags.writeable
    assert obs.shape == (NUM, 24, 24, 3)
    pictures = env.render()
    assert len(pictures) == NUM
    np.testing.assert_array_equal(np.stack(pictures), obs)
    assert env.step(env.action_space.sample())[0] in env.observation_space


def test_complaint_14_every_drawn_maze_can_be_solved():
    env = make()
    for seed in range(4):
        _, infos = env.reset(seed=seed)
        assert (infos["distance"] > 0).all()
        assert not np.any(np.asarray(env.mazes.start) == np.asarray(env.mazes.goal))
