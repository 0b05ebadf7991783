"""Episodes, and the files that other tools read."""

import json
import os

import jax.numpy as jnp
import numpy as np
import pytest

import jaxlab
from jaxlab import datasets
from jaxlab.datasets.__main__ import main
from jaxlab.datasets.episodes import from_rows

EDGES = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 8), (7, 8), (6, 7), (3, 6)]


@pytest.fixture(scope="module")
def mazes():
    one = jaxlab.from_edges(EDGES, (3, 3), start=0, goal=8)
    return jaxlab.stack([one, one.replace(start=np.int32(2)), one.replace(start=np.int32(1), goal=np.int32(5))])


@pytest.fixture(scope="module")
def env():
    return jaxlab.Labyrinth((3, 3), observation="pixels", pixels=32)


@pytest.fixture(scope="module")
def played(env, mazes):
    return datasets.episodes(env, mazes, "all-routes")


def check_rows(played):
    ends = np.append(np.flatnonzero(played.starts)[1:], len(played)) - 1
    assert (played.action[ends] == -1).all() and (np.delete(played.action, ends) >= 0).all()
    assert (played.reward[ends] == 0).all()
    np.testing.assert_array_equal(played.cell[ends], np.asarray(played.params.mazes.goal)[played.maze[ends]])
    first = np.flatnonzero(played.starts)
    np.testing.assert_array_equal(played.cell[first], np.asarray(played.params.mazes.start)[played.maze[first]])
    summed = np.add.reduceat(played.reward, first)
    np.testing.assert_allclose(summed, played.returns, atol=1e-5)


def test_variants(env, mazes, played):
    check_rows(played)
    assert played.num_episodes == 6  # two ways round the loop in each
    lengths = np.diff(np.append(np.flatnonzero(played.starts), len(played))) - 1
    best = np.asarray(played.params.shortest)[played.maze[played.starts]]
    np.testing.assert_array_equal(played.returns == 1, lengths == best)
    assert (played.returns < 1).any()
    shortest = datasets.episodes(env, mazes)
    check_rows(shortest)
    assert shortest.num_episodes == 3 and (shortest.returns == 1).all()
    single = datasets.episodes(env, mazes, "single-route", seed=3)
    check_rows(single)
    assert single.num_episodes == 3
    with pytest.raises(ValueError, match="did you mean 'all-routes'"):
        datasets.episodes(env, mazes, "all-route")


def _carry(entering, before, move):
    return move.replace(cell=jnp.where(entering, before.other("teleporter", move.cell), move.cell))


@pytest.mark.parametrize(
    ("cells", "walked", "done"), [([1, 2], [0, 2, 4, 6, 7], [1, 0, 0, 1, -1]), ([1, 4], [0, 4, 6, 7], [1, 0, 1, -1])]
)
def test_all_routes_go_where_the_rule_of_an_own_tile_leads(cells, walked, done):
    layer = np.isin(np.arange(8), cells).reshape(4, 2)
    maze = jaxlab.from_edges([(0, 1), (2, 4), (4, 6), (6, 7)], (4, 2), start=0, goal=7)
    env = jaxlab.Labyrinth((4, 2), tiles=(jaxlab.Tile("teleporter", _carry),))
    played = datasets.episodes(env, maze.replace(tiles={"teleporter": layer}), "all-routes")
    assert (played.cell.tolist(), played.action.tolist()) == (walked, done)
    assert played.returns.tolist() == [1] and played.terminated.tolist() == [True]


def _note(entering, before, move):
    """Remembers whether a cell was entered upwards: two moves then lead to one cell, and differ."""
    return move.replace(
        cell=jnp.where(before.cell == 0, jnp.where((before.action == 0) | (before.action == 1), 1, 0), move.cell),
        mode=jnp.where((before.cell == 0) & (before.action == 0), 1, move.mode),
    )


def test_routes_of_equal_cells_are_played_once_for_each_memory():
    env = jaxlab.Labyrinth((1, 3), tiles=(jaxlab.Tile("note", _note, modes=2),))
    maze = jaxlab.from_edges([(0, 1), (1, 2)], (1, 3), start=0, goal=2)
    played = datasets.episodes(env, maze.replace(tiles={"note": np.zeros((1, 3), bool)}), "all-routes")
    assert played.cell.tolist() == [0, 1, 2] * 2 and played.action.tolist() == [0, 1, -1, 1, 1, -1]
    assert played.mode.tolist() == [0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("variant", datasets.VARIANTS)
def test_a_time_limit_below_the_solution_is_refused(env, mazes, variant):
    params = env.params(mazes[:1], max_steps=2)
    with pytest.raises(ValueError, match=r"maze 0: the episode ends .* takes 4, the limit max_steps is 2"):
        datasets.episodes(env, params, variant)
    assert datasets.episodes(env, env.params(mazes[:1], max_steps=4), variant).terminated.all()


def test_all_routes_are_all_or_none(env, mazes, monkeypatch):
    monkeypatch.setattr("jaxlab.solve.enumerate.DEFAULT_LIMIT", 1)
    with pytest.raises(ValueError, match=r"maze 0 has more than 1 solutions, .*: take a smaller maze, .*iter_paths"):
        datasets.episodes(env, mazes, "all-routes")


def test_demonstrations_of_shortest_episodes_are_those_for_training(env, mazes):
    ours = datasets.episodes(env, mazes, seed=4).demonstrations()
    theirs = datasets.demonstrations(env, mazes, seed=4)
    for name in ("maze", "mode", "cell", "action", "next_mode", "next_cell"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    datasets.check_demonstrations(ours)


def test_npz_there_and_back(tmp_path, played):
    datasets.write_npz(tmp_path / "a.npz", played)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert {"obs", "actions", "rewards", "episode_returns", "episode_starts"} <= set(file.files)
        rows = len(played)
        assert all(len(file[name]) == rows for name in ("obs", "actions", "rewards", "episode_starts"))
        assert file["obs"].shape == (rows, 32, 32, 3) and file["episode_returns"].shape == (6,)
        row = int(np.flatnonzero(played.starts)[2]) + 1
        picture = jaxlab.render(played.params.mazes[int(played.maze[row])], int(played.cell[row]), 32)
        np.testing.assert_array_equal(file["obs"][row], picture)
        bare = {name: file[name] for name in file.files if name != "info"}
    back = datasets.read_npz(tmp_path / "a.npz")
    for name in ("cell", "mode", "action", "reward", "starts", "returns"):
        np.testing.assert_array_equal(getattr(back, name), getattr(played, name))
    np.savez(tmp_path / "b.npz", **bare)
    plain = datasets.read_npz(tmp_path / "b.npz")
    assert len(plain["actions"]) == rows - 6 and (plain["actions"] >= 0).all()
    np.testing.assert_array_equal(plain["next_obs"][0], plain["obs"][1])
    np.savez(tmp_path / "c.npz", obs=np.zeros(3))
    with pytest.raises(ValueError, match="no actions, rewards, episode_starts"):
        datasets.read_npz(tmp_path / "c.npz")


def test_complaint_15_mazes_go_to_hugging_face_and_back_offline(tmp_path, env, mazes, monkeypatch):
    library = pytest.importorskip("datasets", reason="datasets is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    parts = {split: datasets.episodes(env, mazes[i : i + 1]) for i, split in enumerate(("train", "valid", "test"))}
    told = []
    datasets.write_huggingface(tmp_path / "hf", parts, "tiny", lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    loaded = library.load_dataset(str(tmp_path / "hf"), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"train", "validation", "test"}
    row = loaded["train"][0]
    assert row["obs"].size == (32, 32) and row["episode_starts"] and row["actions"] == int(parts["train"].action[0])
    picture = np.asarray(row["obs"])
    np.testing.assert_array_equal(picture, jaxlab.render(mazes[0], int(mazes.start[0]), 32))
    assert jaxlab.to_edges(jaxlab.text.parse(row["info"])[0]) == sorted(EDGES)
    back = datasets.read_huggingface(tmp_path / "hf", "valid")
    np.testing.assert_array_equal(back.action, parts["valid"].action)
    np.testing.assert_array_equal(back.cell, parts["valid"].cell)
    meta = json.loads((tmp_path / "hf" / "croissant.json").read_text())
    assert [one["name"] for one in meta["recordSet"]] == ["train", "validation", "test"]
    assert all((tmp_path / "hf" / one["contentUrl"]).is_file() for one in meta["distribution"])
    with pytest.raises(FileExistsError):
        datasets.write_huggingface(tmp_path / "hf", parts)
    with pytest.raises(ValueError, match=r"no split 'tests' in .*: there are train, validation, test"):
        datasets.read_huggingface(tmp_path / "hf", "tests")
    vectors = datasets.episodes(jaxlab.Labyrinth((3, 3), observation="vector"), mazes[:1])
    with pytest.raises(ValueError, match="split 'train': the obs column holds images"):
        datasets.write_huggingface(tmp_path / "vectors", {"train": vectors})
    with pytest.raises(ValueError, match="splits 'valid' and 'validation' would be one file, 'validation'"):
        datasets.write_huggingface(tmp_path / "vectors", {"valid": parts["valid"], "validation": parts["test"]})
    assert not (tmp_path / "vectors").exists()
    (tmp_path / "bare").mkdir()
    library.Dataset.from_dict({"actions": [0], "obs": [1]}).to_parquet(tmp_path / "bare" / "train.parquet")
    with pytest.raises(ValueError, match="bare: no column episode_starts, info"):
        datasets.read_huggingface(tmp_path / "bare")


def test_rows_that_are_no_episodes_are_refused(played):
    texts = [jaxlab.text.format(played.params.mazes[int(i)]) for i in played.maze]
    again = from_rows(played.action, played.starts, texts)
    np.testing.assert_array_equal(again.cell, played.cell)
    with pytest.raises(ValueError, match="the first row must begin an episode"):
        from_rows(played.action, ~played.starts, texts)
    with pytest.raises(ValueError, match="row 1: an action is 0, 1, 2 or 3, got 4"):
        from_rows(np.where(np.arange(len(texts)) == 1, 4, played.action), played.starts, texts)
    shut = played.params.mazes[0].replace(key=np.int32(1), door=np.int32(5))
    mixed = [jaxlab.text.format(shut), *texts[1:]]
    with pytest.raises(ValueError, match="mazes of one data set have the same settings"):
        from_rows(played.action, played.starts, mixed)


def test_minari(tmp_path, env, played, monkeypatch):
    minari = pytest.importorskip("minari", reason="minari is not installed")
    monkeypatch.setenv("MINARI_DATASETS_PATH", "the user's own")
    datasets.write_minari(tmp_path, played, "labyrinth/tiny-v0")
    assert os.environ["MINARI_DATASETS_PATH"] == "the user's own"
    monkeypatch.delenv("MINARI_DATASETS_PATH")
    datasets.write_minari(tmp_path, played, "labyrinth/again-v0")
    assert "MINARI_DATASETS_PATH" not in os.environ
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    loaded = minari.load_dataset("labyrinth/tiny-v0")
    assert loaded.total_episodes == 6 and loaded.total_steps == len(played) - 6
    episode = loaded[0]
    assert episode.terminations[-1] and not episode.truncations.any()
    assert episode.observations.shape == (len(episode.actions) + 1, 32, 32, 3)
    short = datasets.replay(env, played.params, np.array([0, 0]), [np.array([2]), np.array([0, 0, 1, 1])])
    datasets.write_minari(tmp_path, short, "labyrinth/short-v0")
    flags = [(one.terminations.tolist(), one.truncations.tolist()) for one in minari.load_dataset("labyrinth/short-v0")]
    assert flags == [([False], [True]), ([False, False, False, True], [False] * 4)]
    assert loaded.recover_environment().reset(seed=0)[0].shape == (32, 32, 3)


def test_command_line(tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["--name", "3x3-v1", "--out", str(out), "--observation", "vector"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["test.npz", "train.npz", "valid.npz"]
    assert "train: 32 episodes" in capsys.readouterr().out
    back = datasets.read_npz(out / "train.npz")
    assert (back.returns == 1).all() and back.num_episodes == 32
    with pytest.raises(SystemExit) as stop:
        main(["--mazes", str(tmp_path / "nothing"), "--out", str(out)])
    assert stop.value.code == 2
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    same = ["--name", "3x3-v1", "--out", str(out)]
    (out / "valid.npz").rename(out / ".valid.npz.killed.tmp")
    assert main([*same, "--observation", "vector"]) == 0
    (out / ".valid.npz.killed.tmp").unlink()
    with pytest.raises(SystemExit) as stop:
        main([*same, "--observation", "grid"])
    assert stop.value.code == 2 and "holds test.npz, which is not of these data" in capsys.readouterr().err
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
