"""The command line, and the drawings behind it."""

import io
import xml.etree.ElementTree

import numpy as np
import pytest

import jaxlab
from jaxlab import cli, show

EDGES = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (7, 8), (6, 7), (3, 6)]
DRAWN = """\
┌───────────┐
│         E │
│   ╶───┐   │
│       │   │
│   ╶───┴───┤
│ S         │
└───────────┘"""


@pytest.fixture
def file(tmp_path):
    maze = jaxlab.from_edges([edge for edge in EDGES if edge != (4, 5)], (3, 3), start=0, goal=8)
    jaxlab.save(tmp_path / "a.labyrinth", maze)
    return tmp_path / "a.labyrinth"


def run(*words):
    try:
        return cli.main([str(word) for word in words])
    except SystemExit as stop:
        return stop.code


def test_show_draws_the_maze(file, capsys):
    assert run("show", file) == 0
    assert capsys.readouterr().out.strip() == DRAWN


def test_show_policy_points_to_the_goal(file, capsys):
    assert run("show", file, "--policy") == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert rows[0] == "│ →   →   E │" and rows[2] == "│ ↑   ← │ ↑ │" and rows[4] == "│ S   ←   ← │"


def test_policy_with_a_key_has_a_chart_for_each_memory(tmp_path, capsys):
    maze = jaxlab.from_edges([(0, 1), (1, 2), (2, 3)], (1, 4), start=1, goal=3, key=0, door=2)
    jaxlab.save(tmp_path / "k.labyrinth", maze)
    assert run("show", tmp_path / "k.labyrinth", "--policy") == 0
    out = capsys.readouterr().out
    assert "without the key" in out and "with the key" in out
    assert run("solve", tmp_path / "k.labyrinth") == 0
    assert capsys.readouterr().out.split() == ["1", "0", "1", "2", "3"]


def test_solve(file, tmp_path, capsys):
    assert run("solve", file) == 0
    assert capsys.readouterr().out.split() == ["0", "3", "6", "7", "8"]
    jaxlab.save(tmp_path / "loop.labyrinth", jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8))
    assert run("solve", tmp_path / "loop.labyrinth", "--all") == 0
    paths = capsys.readouterr().out.splitlines()
    assert sorted(paths) == ["0 3 4 5 8", "0 3 6 7 8"]
    assert run("solve", tmp_path / "loop.labyrinth", "--count") == 0
    assert capsys.readouterr().out.strip() == "2"
    assert run("solve", tmp_path / "loop.labyrinth", "--all", "--limit", "1") == 0
    assert "there are more" in capsys.readouterr().err
    jaxlab.save(tmp_path / "shut.labyrinth", jaxlab.from_edges([(0, 1)], (1, 3), start=0, goal=2))
    assert run("solve", tmp_path / "shut.labyrinth") == 1


def test_pictures(file, tmp_path, capsys):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    for kind, frames in (("png", 1), ("gif", 5)):
        assert run("show", file, "--out", tmp_path / f"a.{kind}", "--pixels", "48") == 0
        with image.open(io.BytesIO((tmp_path / f"a.{kind}").read_bytes())) as picture:
            assert picture.size == (48, 48) and getattr(picture, "n_frames", 1) == frames
    with image.open(tmp_path / "a.png") as picture:
        maze, _ = jaxlab.load(file)
        np.testing.assert_array_equal(np.asarray(picture), jaxlab.render(maze, 0, 48))
    assert run("show", file, "--out", tmp_path / "a.svg") == 0
    root = xml.etree.ElementTree.fromstring((tmp_path / "a.svg").read_text())
    (walk,) = root.iter("{http://www.w3.org/2000/svg}animateTransform")
    assert len(walk.get("values").split(";")) == 5
    capsys.readouterr()


def test_faults_have_hints_and_status_2(file, capsys):
    for words, hint in (
        (["shwo", file], "did you mean 'show'?"),
        (["show", file, "--polcy"], "did you mean --policy?"),
        (["show", file, "--out", "a.pgn"], "did you mean 'png'?"),
        (["show", "nothing.labyrinth"], "nothing.labyrinth"),
        (["solve"], "required"),
        (["generate", "--out", "x", "--train", "0"], "train must be"),
    ):
        assert run(*words) == 2
        assert hint in capsys.readouterr().err
    file.write_text("labyrinth:\nx\nend\n")
    assert run("show", file) == 2
    assert "line 2, column 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [(["show", "--policy", "--out", "x.svg"], "leave out --out"), (["solve", "--limit", "0"], "--limit is for --all")],
)
def test_what_would_be_passed_over_is_refused(file, capsys, given, said):
    with pytest.raises(SystemExit) as ended:
        cli.main([given[0], str(file), *given[1:]])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_help_and_version(capsys):
    assert run("--help") == 0 and run() == 2
    out = capsys.readouterr().out
    assert all(name in out for name in ("show", "solve", "generate", "dataset", "audit"))
    assert run("--version") == 0 and capsys.readouterr().out.strip() == jaxlab.__version__
    for name in ("show", "solve", "generate", "dataset"):
        assert run(name, "--help") == 0
        assert "--" in capsys.readouterr().out


def test_signs_of_action_sets():
    assert [show.arrow(bits) for bits in (0, 1, 2, 4, 8, 3, 6, 12, 9, 5, 15)] == list("·↑→↓←↗↘↙↖**")
