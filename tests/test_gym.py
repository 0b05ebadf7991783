"""The Gymnasium environment: the paper's listing, seeds, checks, methods."""

import itertools
import subprocess
import sys
import textwrap
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import show, tiles

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from jaxlab.gym import LabyrinthEnv, convert_from_file, create_file_from_environment  # noqa: E402

EDGES = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (7, 8), (6, 7), (3, 6)]
UP, RIGHT, DOWN, LEFT = range(4)
SETTINGS = list(itertools.product([False, True], repeat=3))


def loop():
    return jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8)


def make(**choices):
    return gymnasium.make("Labyrinth-v0", **{"shape": (3, 3), **choices})


def play(env, actions):
    return [env.step(action) for action in actions]


def test_the_papers_listing_as_printed(tmp_path):
    example = tmp_path / "example.labyrinth"
    environment = gymnasium.make(
        "Labyrinth-v0", shape=(5, 5), occlusion=False,
        key_and_door=False, icy_floor=False, render_mode="rgb_array"
    )  # fmt: skip
    assert isinstance(environment, LabyrinthEnv)  # the environment itself, no wrapper round it
    obs, info = environment.reset(options={"agent": True})
    solutions = environment.solve(mode="all")
    action = environment.action_space.sample()
    obs, _reward, _done, _truncated, info = environment.step(action)
    assert obs.shape == (600, 600, 3) and obs.dtype == np.uint8
    assert info.keys() == {"success", "fell", "is_optimal", "distance"}
    assert all(path[0] == 0 and path[-1] == 24 for path in solutions)
    assert len(environment.solve("shortest")[0]) == min(map(len, solutions))
    create_file_from_environment(environment, example)
    before = jaxlab.to_edges(environment.maze)
    environment.reset(options={"agent": False})
    environment.load(*convert_from_file(example))
    assert jaxlab.to_edges(environment.maze) == before
    environment.load(example)
    assert jaxlab.to_edges(environment.maze) == before


OBSERVATIONS = ["vector", "grid", "pixels"]
# All 24 run in the slow suite; without it, each combination of settings with one of the observations.
CHECKED = [
    pytest.param(*settings, observation, marks=() if (i + j) % 3 == 0 else pytest.mark.slow)
    for i, settings in enumerate(SETTINGS)
    for j, observation in enumerate(OBSERVATIONS)
]


@pytest.mark.parametrize(("occlusion", "key_and_door", "icy_floor", "observation"), CHECKED)
def test_check_env_is_clean(monkeypatch, occlusion, key_and_door, icy_floor, observation):
    env = gymnasium.make(
        "Labyrinth-v0",
        shape=(5, 5),
        occlusion=occlusion,
        key_and_door=key_and_door,
        icy_floor=icy_floor,
        observation=observation,
        pixels=32,
        render_mode="rgb_array",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        check_env(env, skip_close_check=True)
    assert env.core.num_modes == (3 if key_and_door else 1)


def test_complaint_04_flags_are_those_of_the_core_all_along():
    env = make(mazes=loop(), max_steps=6)
    for actions, ending in (([DOWN, UP, RIGHT, RIGHT, UP], (True, False)), ([DOWN] * 6, (False, True))):
        env.reset()
        outs = play(env, actions)
        assert [out[2:4] for out in outs[:-1]] == [(False, False)] * (len(actions) - 1)
        assert outs[-1][2:4] == ending
        assert all(type(out[1]) is float and type(out[2]) is bool and type(out[3]) is bool for out in outs)
        core, params = env.core, env._params
        state = core.reset_to(0, params)[1]
        for action, out in zip(actions, outs, strict=True):
            ours = core.step(None, state, action, params)
            state = ours.state
            np.testing.assert_array_equal(out[0], ours.obs)
            assert out[1] == float(ours.reward)


def test_complaint_11_reset_with_a_seed_decides_everything():
    first, second = make(), make()
    for seed in (123, 456):
        a, b = first.reset(seed=seed)[0], second.reset(seed=seed)[0]
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(first.reset()[0], a)
        np.testing.assert_array_equal(first.reset(options={"agent": True})[0], a)
        next_first, next_second = (e.reset(options={"agent": False})[0] for e in (first, second))
        np.testing.assert_array_equal(next_first, next_second)
        first.change_start()
        second.change_start()
        assert int(first.maze.start) == int(second.maze.start)


def test_complaint_11_seeds_reproduce_in_another_process():
    program = """
        import gymnasium, jaxlab
        env = gymnasium.make("Labyrinth-v0", shape=(3, 3))
        env.reset(seed=7)
        print(jaxlab.to_edges(env.maze), env.change_start_and_goal())
    """
    printed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    env = make()
    env.reset(seed=7)
    assert printed.stdout.strip() == f"{jaxlab.to_edges(env.maze)} {env.change_start_and_goal()}"


def test_complaint_13_different_seeds_give_different_mazes():
    env = make(shape=(5, 5))
    seen = set()
    for seed in range(30):
        env.reset(seed=seed)
        seen.add(jaxlab.maze.structure(env.maze.walls).tobytes())
    assert len(seen) == 30


def test_complaint_17_registered_and_made_without_a_wrapper():
    spec = gymnasium.spec("Labyrinth-v0")
    assert spec.max_episode_steps is None and not spec.order_enforce and spec.disable_env_checker
    assert make().unwrapped.spec.id == "Labyrinth-v0"


def test_registered_whichever_is_imported_first():
    for first, second in (("jaxlab", "gymnasium"), ("gymnasium", "jaxlab")):
        program = (
            f"import {first}, sys; early = 'gymnasium' in sys.modules; import {second}; "
            "import gymnasium; assert 'Labyrinth-v0' in gymnasium.registry; print(early)"
        )
        done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
        assert done.stdout.split() == [str(first == "gymnasium")], done.stderr


def test_complaint_19_outputs_are_numpy_and_in_the_space():
    for observation in ("vector", "grid", "pixels"):
        env = make(observation=observation, pixels=32, occlusion=True)
        outs = [env.reset(seed=0)[0], *(out[0] for out in play(env, [UP, RIGHT, DOWN]))]
        for obs in outs:
            assert type(obs) is np.ndarray and obs.flags.writeable
            assert env.observation_space.contains(obs)
            assert obs.dtype == env.observation_space.dtype


def test_complaint_23_images_have_height_width_colour_and_space_agrees():
    env = make(render_mode="rgb_array", pixels=48)
    obs = env.reset(seed=0)[0]
    assert obs.shape == (48, 48, 3) and obs.dtype == np.uint8
    assert env.observation_space.contains(obs)
    np.testing.assert_array_equal(obs, env.render())


def test_complaint_20_pictures_need_no_display_and_no_pygame():
    program = """
        import sys
        sys.modules["pygame"] = None
        import gymnasium, jaxlab
        env = gymnasium.make("Labyrinth-v0", shape=(3, 3), render_mode="rgb_array", pixels=32)
        env.reset(seed=0)
        print(env.render().shape)
        env = gymnasium.make("Labyrinth-v0", shape=(3, 3), render_mode="human", pixels=32)
        env.reset(seed=0)
        env.step(0)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True, env={"HOME": "/"}
    )
    assert "(32, 32, 3)" in done.stdout and done.stdout.count("-" * 13) == 4  # two drawings, two frames each
    assert done.stderr.count("jaxlab[human]") == 1


def test_without_gymnasium_the_rest_works_and_the_error_names_the_extra():
    program = """
        import sys
        for name in ("gymnasium", "pygame", "matplotlib", "datasets", "flax"):
            sys.modules[name] = None
        import jax, jaxlab
        env = jaxlab.Labyrinth((1, 2))
        params = env.params(jaxlab.from_edges([(0, 1)], (1, 2), start=0, goal=1))
        print(bool(env.step(None, env.reset(jax.random.key(0), params)[1], 1, params).terminated))
        try:
            import jaxlab.gym
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("True") and "jaxlab[gym]" in done.stdout


def test_order_is_checked():
    env = make(mazes=loop())
    with pytest.raises(gymnasium.error.ResetNeeded, match="before step"):
        env.step(0)
    env.reset()
    play(env, [UP, RIGHT, RIGHT, UP])
    with pytest.raises(gymnasium.error.ResetNeeded, match="is over"):
        env.step(0)


@pytest.mark.parametrize("action", [4, -1, "0", None, 0.5, [0, 1]])
def test_actions_that_do_not_exist(action):
    env = make(mazes=loop())
    env.reset()
    with pytest.raises(ValueError, match="action must be 0 up"):
        env.step(action)
    assert env.step(np.int64(0))[0][0] == 10 and env.step(np.array(2))[0][0] == 0


def test_wrong_choices_name_the_nearest():
    for choices, hint in (
        ({"render_mode": "ansii"}, "ansi"),
        ({"observation": "pixel"}, "pixels"),
        ({"start_goal": "unbias"}, "unbiased"),
    ):
        with pytest.raises(ValueError, match=f"did you mean '{hint}'"):
            LabyrinthEnv((3, 3), **choices).reset()
    env = make(mazes=loop())
    with pytest.raises(ValueError, match="did you mean 'shortest'"):
        env.solve("shortes")
    with pytest.raises(ValueError, match="did you mean 'agent'"):
        env.reset(options={"agnt": True})


def test_a_given_or_loaded_maze_stays(tmp_path):
    env = make(mazes=loop())
    env.reset(seed=1)
    assert jaxlab.to_edges(env.maze) == sorted(EDGES)
    env = make(key_and_door=True)
    maze = jaxlab.from_edges([(0, 1), (1, 2), (2, 3)], (1, 4), start=0, goal=3)
    jaxlab.save(tmp_path / "a.labyrinth", maze)
    env.load(tmp_path / "a.labyrinth")
    obs, _ = env.reset(seed=3)
    assert env.core.shape == (1, 4) and not env.core.key_and_door
    assert env.observation_space.contains(obs) and env.solve() == [[0, 1, 2, 3]]
    env.reset(options={"agent": True})
    assert jaxlab.to_edges(env.maze) == [(0, 1), (1, 2), (2, 3)]


def test_seeds_draw_from_a_set():
    mazes = jaxlab.stack([loop().replace(start=np.int32(cell)) for cell in range(5)])
    env = make(mazes=mazes)
    starts = [int(env.reset(seed=seed)[0][0]) for seed in range(40)]
    assert len(set(starts)) == 5
    assert starts == [int(env.reset(seed=seed)[0][0]) for seed in range(40)]


def test_starts_and_positions():
    env = make(shape=(5, 5), icy_floor=True, key_and_door=True)
    env.reset(seed=2)
    old, walls = int(env.maze.start), env.maze.walls
    new = env.change_start()
    assert new != old and env.reset()[1]["distance"] > 0
    start, goal = env.change_start_and_goal()
    env.reset()
    assert (int(env.maze.start), int(env.maze.goal)) == (start, goal)
    assert abs(start // 5 - goal // 5) + abs(start % 5 - goal % 5) >= 5
    np.testing.assert_array_equal(env.maze.walls, walls)
    cells = set()
    for _ in range(60):
        obs = env.agent_random_position()
        assert env.observation_space.contains(obs)
        cells.add(int(env._state.cell))
    assert goal not in cells and int(env.maze.door) not in cells and len(cells) > 8
    assert not cells & set(np.flatnonzero(env.maze.ice).tolist())


def test_solve_with_key_and_ice_plays_to_the_goal():
    env = make(shape=(5, 5), icy_floor=True, key_and_door=True)
    env.reset(seed=5)
    (path,) = env.solve("shortest")
    steps = {5: UP, 1: RIGHT, -5: DOWN, -1: LEFT}
    outs = play(env, [steps[b - a] for a, b in itertools.pairwise(path)])
    assert outs[-1][4]["success"] and sum(out[1] for out in outs) == pytest.approx(1, abs=1e-5)
    assert all(out[4]["is_optimal"] for out in outs)
    assert path in env.solve("all")


def test_ansi_shows_the_agent():
    env = make(mazes=loop(), render_mode="ansi")
    env.reset()
    env.step(UP)
    drawn = env.render()
    assert drawn.splitlines()[3][2] == "A" and "E" in drawn and "S" in drawn


def test_human_rendering_opens_a_window(monkeypatch):
    pytest.importorskip("pygame", reason="pygame is not installed")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = make(mazes=loop(), render_mode="human", pixels=32)
    env.reset()
    env.step(0)
    assert env.render() is None and env._window._screen is not None
    env.close()
    assert env._window._screen is None


def test_loading_and_resetting_never_recompile():
    from jaxlab import gym

    env = make()
    env.reset(seed=0)
    env.step(0)
    before = gym._step._cache_size()
    for seed in range(3):
        env.reset(seed=seed)
        env.step(1)
    env.load(loop())
    env.reset()
    env.step(0)
    assert gym._step._cache_size() == before


def _light(entering, before, move):
    return move.replace(mode=jnp.where(entering, 1, move.mode))


LAMP = jaxlab.Tile("lamp", _light, modes=2, color=((90, 90, 90), (250, 250, 0)))


def with_lamp(**choices):
    """Key 0, start 1, lamp 2, door 3, goal 4; the lamp's memory comes before the key's."""
    maze = jaxlab.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], (1, 5), start=1, goal=4, key=0, door=3)
    maze = maze.replace(tiles={"lamp": np.array([[False, False, True, False, False]])})
    given = {"shape": (1, 5), "mazes": maze, "key_and_door": True, "tiles": (LAMP, tiles.KEY_AND_DOOR), "pixels": 32}
    return {**given, **choices}


def test_pictures_and_texts_show_the_memory_of_own_tiles():
    env = gymnasium.make("Labyrinth-v0", **with_lamp(observation="vector", render_mode="rgb_array"))
    told = gymnasium.make("Labyrinth-v0", **with_lamp(render_mode="ansi"))
    many = gymnasium.make_vec("Labyrinth-v0", 1, **with_lamp(observation="vector", render_mode="rgb_array"))
    seen = jaxlab.Labyrinth((1, 5), "pixels", key_and_door=True, tiles=env.core.tiles, pixels=32)
    for one in (env, told, many):
        one.reset()
    modes, keys = [], []
    for action in (RIGHT, LEFT, LEFT, RIGHT, RIGHT, RIGHT):
        for one in (env, told):
            one.step(action)
        many.step(np.array([action]))
        expected = np.asarray(seen.observe(env._state, env._params))
        np.testing.assert_array_equal(env.render(), expected)
        np.testing.assert_array_equal(many.render()[0], expected)
        cell, mode = int(env._state.cell), int(env._state.mode)
        np.testing.assert_array_equal(show.pictures(env.core, env.maze, [(cell, mode)], 32)[0], expected)
        modes.append(mode)
        keys.append("K" in told.render())
    assert modes == [1, 1, 3, 3, 3, 5]
    assert keys == [True, True, False, False, False, False]
    assert [mode for _, mode in show.phases(env.core)] == [0, 2]


def test_a_shut_door_is_no_random_position_whatever_else_is_remembered():
    env = gymnasium.make("Labyrinth-v0", **with_lamp())
    env.reset(seed=0)
    env.step(LEFT)
    assert int(env._state.mode) == 2, "the key is held, the lamp is off"
    cells = set()
    for _ in range(30):
        env.agent_random_position()
        cells.add(int(env._state.cell))
    assert cells == {0, 1, 2}


def test_solutions_are_whole_whatever_limits_there_are(monkeypatch):
    env = make(mazes=loop(), max_steps=2)
    assert len(env.solve("shortest")[0]) == 5 and env.solve("shortest")[0][-1] == 8
    assert len(env.solve("all")) == 2
    monkeypatch.setattr("jaxlab.solve.enumerate.DEFAULT_LIMIT", 1)
    with pytest.raises(ValueError, match=r"the maze has more than 1 solutions, .*: take a smaller maze, .*iter_paths"):
        env.solve("all")


def test_solve_follows_own_tiles():
    env = gymnasium.make("Labyrinth-v0", **with_lamp())
    assert env.solve("shortest") == [[1, 0, 1, 2, 3, 4]] and [1, 0, 1, 2, 3, 4] in env.solve("all")


def test_a_load_that_fails_changes_nothing():
    env = make(mazes=loop())
    env.reset(seed=0)
    core, space = env.core, env.observation_space
    locked = jaxlab.from_edges([(0, 1), (1, 2), (2, 3)], (1, 4), start=1, goal=3, key=0, door=2)
    for given, error, match in (
        (locked, ValueError, "make the environment with key_and_door=True"),
        (jaxlab.stack([loop()] * 2), TypeError, "this takes one maze, got a set"),
    ):
        with pytest.raises(error, match=match):
            env.load(given)
    assert env.core == core and env.observation_space is space and env.maze.shape == (3, 3)
    assert env.step(UP)[0] in space and env.reset()[0] in space


def test_random_positions_after_the_time_and_without_a_solution():
    env = make(mazes=loop(), max_steps=4)
    env.reset(seed=0)
    play(env, [DOWN] * 4)
    env.agent_random_position()
    assert [out[3] for out in play(env, [DOWN] * 2)] == [False, False]
    env.agent_random_position()
    assert int(env._state.t) == 2, "an episode that goes on keeps its time"
    shut = make(mazes=jaxlab.from_edges([(0, 1)], (3, 3), start=0, goal=8))
    shut.reset()
    with pytest.raises(jaxlab.errors.PlacementError, match="no cell to put the agent on"):
        shut.agent_random_position()
