"""What the Gymnasium environments refuse or warn of, and where a window can't be opened."""

import sys

import numpy as np
import pytest

import jaxlab

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from jaxlab.window import Window  # noqa: E402

MAZE = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), start=0, goal=2)
PICTURE = np.zeros((8, 8, 3), np.uint8)


def test_drawing_without_a_render_mode_warns():
    env = gymnasium.make("Labyrinth-v0", shape=(2, 2), pixels=32, mazes=MAZE)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="draws nothing: make the environment with render_mode"):
        assert env.render() is None


def test_a_maze_without_a_solution_has_none_to_give():
    shut = jaxlab.from_edges([(0, 1)], (2, 2), start=0, goal=2)
    env = gymnasium.make("Labyrinth-v0", shape=(2, 2), pixels=32, mazes=shut).unwrapped
    env.reset(seed=0)
    with pytest.raises(ValueError, match="this maze has no solution"):
        env.solve(mode="shortest")


def test_what_is_not_an_option_of_reset_is_refused():
    env = gymnasium.make("Labyrinth-v0", shape=(2, 2), pixels=32, mazes=MAZE)
    with pytest.raises(ValueError, match=r'options\["agent"\] must be True .* or False .*, got 1'):
        env.reset(options={"agent": 1})


def test_the_vector_environment_says_that_reset_comes_first():
    envs = gymnasium.make_vec(
        "Labyrinth-v0", num_envs=2, shape=(2, 2), pixels=32, mazes=MAZE, render_mode="rgb_array"
    ).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded, match="before render"):
        envs.render()
    with pytest.raises(gymnasium.error.ResetNeeded, match="the first reset is one of all"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    for mask in ([True], [1, 0], [False, False]):
        with pytest.raises(ValueError, match=r"reset_mask must be bool\[2\] with at least one True"):
            envs.reset(options={"reset_mask": np.array(mask)})
    drawn = gymnasium.make_vec("Labyrinth-v0", num_envs=2, shape=(3, 3)).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded, match="it draws the mazes"):
        _ = drawn.mazes
    assert drawn.render() is None


@pytest.mark.parametrize("missing", ["pygame", "display"])
def test_without_a_window_the_text_is_printed_and_the_reason_once(missing, monkeypatch, capsys):
    if missing == "pygame":
        monkeypatch.setitem(sys.modules, "pygame", None)
        why = "jaxlab[human]"
    else:
        pytest.importorskip("pygame", reason="pygame is not installed")
        monkeypatch.setenv("SDL_VIDEODRIVER", "nowhere")
        why = "no window can be opened (nowhere not available)"
    window = Window("a maze", fps=100)
    window.show(PICTURE, "A E")
    window.show(PICTURE, "  A")
    window.close()
    printed = capsys.readouterr()
    assert printed.out.endswith("A E\n  A\n")
    assert printed.err.count(why) == printed.err.count("drawing in the terminal") == 1
