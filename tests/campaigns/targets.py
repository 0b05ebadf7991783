"""What is fuzzed: readers, the errors that they document, and files to damage."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import random
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import jaxlab
from campaigns import mutations
from jaxlab import datasets, splits, text
from jaxlab.env import Labyrinth
from jaxlab.errors import LabyrinthFileError, PlacementError
from jaxlab.files import read_arrays

DATA = Path(__file__).resolve().parents[1] / "data"
GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden"


@dataclasses.dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        load: reads one damaged input.
        allowed: the errors that it documents.
        draw: makes a damaged input from a seeded source.
        whole: undamaged inputs, read before anything is watched, so that what they compile is compiled.
        share: of all inputs of its campaign.
    """

    load: Callable[[Any], Any]
    allowed: tuple[type[BaseException], ...]
    draw: Callable[[random.Random], Any]
    whole: tuple[Any, ...]
    share: float = 1.0


@functools.cache
def labyrinths() -> tuple[bytes, ...]:
    """Real texts: those of the tests, and the golden ones where they are."""
    found = sorted((DATA / "mazes").glob("*.labyrinth")) + sorted(GOLDEN.glob("mazes/**/*.labyrinth"))
    corners = ["labyrinth:\n---------\n| S   E |\n---------\nend", '"""\nx\n"""\nocclusion: True\r\nlabyrinth:\r\n']
    return tuple(path.read_bytes() for path in found) + tuple(corner.encode() for corner in corners)


def load_text(data: bytes) -> None:
    """Parse, and where that succeeds, check the maze, write it and parse it again."""
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        with tempfile.NamedTemporaryFile(suffix=".labyrinth", dir=_memory()) as file:
            file.write(data)
            file.flush()
            maze, settings = text.load(file.name)
    else:
        maze, settings = text.parse(content)
    jaxlab.maze.check(maze)
    again, settings_again = text.parse(text.format(maze, settings))
    if settings_again != settings or not all(
        np.array_equal(getattr(maze, name), getattr(again, name)) for name in splits.FIELDS
    ):
        raise AssertionError("written and read again it is another maze")


def texts() -> dict[str, Target]:
    """The ``.labyrinth`` language."""
    seeds = labyrinths()
    return {
        "text": Target(
            load_text,
            (LabyrinthFileError, PlacementError),
            lambda dice: mutations.damaged(dice, dice.choice(seeds), seeds),
            seeds,
        )
    }


def arrays(folder: Path) -> dict[str, Target]:
    """``.npz``: splits, episodes (played again, and as demonstrations) and replays."""
    made = {setting: _splits(setting) for setting in ("none", "key", "ice")}
    packed = [_zip(splits.pack(one)) for one in made.values()]
    kept = folder / "input.npz"

    def episodes(data: bytes) -> None:
        kept.write_bytes(data)
        found = datasets.read_npz(kept)
        if not isinstance(found, dict):
            found.demonstrations()

    def replays(data: bytes) -> None:
        from baselines import replay

        kept.write_bytes(data)
        _ = replay.read(kept).seeds

    return {
        "splits": Target(
            lambda data: splits.unpack(None, read_arrays(data)).sha256, (ValueError,), _zips(packed), tuple(packed), 0.4
        ),
        "episodes": Target(episodes, (ValueError,), _zips(played := _episodes(folder)), tuple(played), 0.2),
        "replay": Target(replays, (ValueError,), _zips(shown := _replays(folder, made)), tuple(shown), 0.4),
    }


def documents(folder: Path, run: Path) -> dict[str, Target]:
    """``results.json`` alone, and with the rest of a run as `baselines.load` reads it."""
    import baselines
    from baselines import results

    whole = json.loads((run / "results.json").read_text("utf-8"))
    copy = folder / "run"
    shutil.copytree(run, copy)

    def check(data: bytes) -> None:
        (folder / "results.json").write_bytes(data)
        results.read(folder / "results.json")

    def policy(data: bytes) -> None:
        (copy / "results.json").write_bytes(data)
        baselines.load(copy)

    def brackets(dice: random.Random) -> bytes:
        if dice.random() < 0.001:
            return b"[" * dice.choice((10, 1000, 100_000))
        return mutations.damaged_json(dice, whole)

    raw = (json.dumps(whole).encode(),)
    errors = (ValueError, FileNotFoundError)
    return {
        "results": Target(check, errors, brackets, raw, 0.96),
        "load": Target(policy, errors, lambda dice: _damaged_head(dice, whole), raw, 0.04),
    }


def checkpoints(folder: Path) -> dict[str, Target]:
    """A checkpoint of which one file is damaged, cut, emptied, swapped or gone."""
    import jax.numpy as jnp

    from baselines import checkpoints as kept

    tree = {"w": jnp.arange(12.0).reshape(3, 4), "n": jnp.int32(3)}
    whole, copy = folder / "whole", folder / "copy"
    kept.save(whole, 5, tree)
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())

    def draw(dice: random.Random) -> tuple[Path, bytes | None]:
        path = dice.choice(files)
        data = (whole / path).read_bytes()
        if dice.random() < 0.1:
            return path, None
        return path, mutations.damaged(dice, data, [(whole / other).read_bytes() for other in files])

    def restore(change: tuple[Path, bytes | None]) -> None:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole, copy)
        path, data = change
        (copy / path).unlink() if data is None else (copy / path).write_bytes(data)
        kept.restore(copy, tree)

    return {"checkpoint": Target(restore, (ValueError, FileNotFoundError), draw, ((files[0], None),))}


# -- making files ------------------------------------------------------------------------------------------


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _splits(setting: str) -> splits.Splits:
    return splits.make((3, 3), 3, 2, 2, 1, key_and_door=setting == "key", icy_floor=setting == "ice", variants=False)


def _episodes(folder: Path) -> list[bytes]:
    env = Labyrinth((3, 3), observation="vector")
    files = []
    for seed in range(3):
        path = folder / f"episodes{seed}.npz"
        datasets.write_npz(path, datasets.episodes(env, _splits("none")["train"], seed=seed))
        files.append(path.read_bytes())
    return files


def _replays(folder: Path, made: dict[str, splits.Splits]) -> list[bytes]:
    from baselines import replay

    files = []
    for name, one in made.items():
        env = Labyrinth.from_settings(one.shape, one.settings)
        actions = {
            (0, split): np.zeros((len(mazes), env.num_modes, env.num_cells), np.uint8) for split, mazes in one.items()
        }
        path = replay.write(folder / name, env, one, actions)
        assert path is not None
        files.append(path.read_bytes())
    return files


def _zip(content: dict[str, np.ndarray], dice: random.Random | None = None) -> bytes:
    file = io.BytesIO()
    pack = np.savez if dice is not None and dice.random() < 0.5 else np.savez_compressed
    pack(file, **content)
    return file.getvalue()


def _zips(files: list[bytes]) -> Callable[[random.Random], bytes]:
    """Half are damaged as bytes, half as arrays (with now and then an object that would have to be unpickled)."""
    contents = [read_arrays(data) for data in files]

    def draw(dice: random.Random) -> bytes:
        kind = dice.random()
        if kind < 0.45:
            return mutations.damaged(dice, dice.choice(files), files, 1 << 20)
        content = mutations.damaged_arrays(dice, dice.choice(contents))
        if kind < 0.5:
            content[dice.choice(sorted(contents[0]))] = np.array([{"an": "object"}, None], object)
        if kind < 0.55:
            return _lying_header(dice, content)
        return _zip(content, dice)

    return draw


def _lying_header(dice: random.Random, content: dict[str, np.ndarray]) -> bytes:
    """An archive in which one array declares another shape or type than it holds."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(_zip(content))) as old, zipfile.ZipFile(out, "w") as new:
        chosen = dice.choice(old.namelist() or ["none"])
        for name in old.namelist():
            data = old.read(name)
            if name == chosen:
                shape = dice.choice(
                    (b"(10000000000,)", b"(-1,)", b"(1e9,)", b"(2, 2, 2, 2, 2)", b"()", b"((((", b"(True,)")
                )
                begin, end = data.find(b"'shape': ") + 9, data.find(b"}")
                data = data[:begin] + shape + b", " + data[end:]
            new.writestr(name, data)
    return out.getvalue()


def _damaged_head(dice: random.Random, whole: dict[str, Any]) -> bytes:
    """Results whose config, settings, encoder or method are damaged, the scores left whole."""
    head = {name: whole[name] for name in ("method", "encoder", "observation", "settings", "config", "mazes")}
    try:
        changed = json.loads(mutations.damaged_json(dice, head))
    except ValueError:
        changed = {}
    return json.dumps(whole | changed if isinstance(changed, dict) else changed).encode()
