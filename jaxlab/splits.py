"""Disjoint sets of mazes to train, choose and test on: made from a seed, read, written, or frozen by name."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxlab import grid, maze, text
from jaxlab.errors import PlacementError, choose, whole
from jaxlab.files import read_arrays
from jaxlab.generate import place, vary
from jaxlab.generate.dice import Dice, check_seed
from jaxlab.generate.search import Progress, unique
from jaxlab.maze import Maze
from jaxlab.text import Settings

DRAWN = ("train", "valid", "test")
FOLDERS = {"train": "train", "valid": "eval", "test": "test"}
"""The folder of each split, as the released data names them."""
SUFFIX = ".labyrinth"
FROZEN = ("3x3-v1", "4x4-v1", "5x5-v1", "8x8-v1", "10x10-v1", "5x5-key-v1", "5x5-ice-v1", "5x5-occlusion-v1")
DATA = Path(__file__).parent / "data"
FIELDS = {"walls": "u1", "start": "<i4", "goal": "<i4", "key": "<i4", "door": "<i4", "ice": "?"}
"""The fields of a maze in files and digests, and their types there."""
_S0, _S0_G, _KEY, _ICE, _DIVIDE = 11, 12, 13, 14, 15  # purposes of `Dice`


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Splits(Mapping[str, Maze]):
    """Sets of mazes by name: train, valid, test, s0, s0_g, and key_moved or ice_moved where there are such tiles.

    Attributes:
        parts: the sets, host arrays, each with a leading axis.
        settings: what the mazes are meant to be played with.
        seed: what they were made from; None when they were read from files.
        name: of a frozen split, or None.
        notes: what had to be left out, in words.
    """

    parts: dict[str, Maze]
    settings: Settings
    seed: int | None = None
    name: str | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, split: str) -> Maze:
        if split not in self.parts:
            raise KeyError(f"no split {split!r} here: there are {', '.join(self.parts)}{self._why()}")
        return self.parts[split]

    def _why(self) -> str:
        return f" ({'; '.join(self.notes)})" if self.notes else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(mazes)}" for name, mazes in self.parts.items())
        return f"Splits({self.name or 'x'.join(map(str, self.shape))}: {sizes})"

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return next(iter(self.parts.values())).shape

    @functools.cached_property
    def sha256(self) -> dict[str, str]:
        """The digest of every split: equal iff its mazes are, in this order."""
        return {name: digest(mazes) for name, mazes in self.parts.items()}


def digest(mazes: Maze) -> str:
    """SHA-256 over shape, walls, start, goal, key, door and ice of a set (little-endian, in this order)."""
    sha = hashlib.sha256(repr((len(mazes), *mazes.shape)).encode())
    for field, kind in FIELDS.items():
        sha.update(np.ascontiguousarray(getattr(mazes, field), kind).tobytes())
    return sha.hexdigest()


def make(
    shape: tuple[int, int],
    train: int = 100,
    eval: int = 100,
    test: int = 100,
    seed: int = 0,
    *,
    key_and_door: bool = False,
    icy_floor: bool = False,
    occlusion: bool = False,
    start_goal: str | tuple[int, int] = "biased",
    min_distance: int | None = None,
    unique_up_to: str | None = None,
    variants: bool = True,
    progress: Progress | None = None,
) -> Splits:
    """Draw disjoint splits: no structure is in two of them, or twice in one (host).

    The same arguments give the same mazes on every platform. ``s0`` (another start) and
    ``s0_g`` (start and goal drawn anew, now and then the same) are drawn from the training
    structures, one a maze.

    Args:
        shape: (rows, columns).
        train, eval, test: how many mazes; ``eval`` becomes the split ``valid``.
        seed: ``0 .. 2**32 - 1``.
        key_and_door, icy_floor, occlusion: the settings.
        start_goal, min_distance: as in `jaxlab.generate.mazes`.
        unique_up_to: ``"symmetry"`` also keeps mirror images and rotations out of the other splits.
        variants: also draw ``s0``, ``s0_g`` and the moved tiles (a fraction of a millisecond each).
        progress: called with (mazes found, mazes wanted).

    Raises:
        ValueError: fewer mazes exist than are asked for.
        PlacementError: the tiles can't be placed in such mazes.

    >>> make((3, 3), 32, 32, 32)
    Splits(3x3: train 32, valid 32, test 32, s0 32, s0_g 32)
    """
    shape, seed = grid.check_shape(shape), check_seed(seed)
    sizes = {"train": train, "eval": eval, "test": test}
    for name, size in sizes.items():
        sizes[name] = whole(name, size, int(name == "train"))
    settings = Settings(key_and_lock=key_and_door, icy_floor=icy_floor, occlusion=occlusion)
    total = sum(sizes.values())
    drawn = unique(
        seed,
        total,
        shape,
        settings=settings,
        start_goal=start_goal,
        min_distance=min_distance,
        unique_up_to=unique_up_to,
        progress=progress,
    ).mazes
    # Draws without repetition bring the likely mazes first: shuffled, all splits are alike.
    drawn = drawn[Dice(seed, _DIVIDE).order(total)]
    bounds = np.cumsum([0, *sizes.values()])
    parts = {name: drawn[low:high] for name, low, high in zip(DRAWN, bounds, bounds[1:], strict=False) if high > low}
    if not variants:
        return Splits(parts, settings, seed)
    return _with_variants(parts, settings, seed, recorded_seed=seed)


def read(folder: str | os.PathLike[str]) -> Splits:
    """Read ``folder/{train,eval,test}/*.labyrinth``, files in the order of their names (host).

    What lacks is left out; ``train`` must be there. ``s0`` and ``s0_g`` are drawn from a fixed seed.
    A structure that lies in two folders is warned of and noted: it makes memory look like navigation.
    So are folders of mazes with other names, which are not read.

    Raises:
        FileNotFoundError: no such folder, or no mazes for training in it.
        LabyrinthFileError: a file that does not follow the language.
        ValueError: files of different shapes or settings.
    """
    root = Path(folder)
    parts: dict[str, Maze] = {}
    names: dict[str, list[str]] = {}
    first: tuple[Path, tuple[int, int], Settings] | None = None
    for split, name in FOLDERS.items():
        files = sorted((root / name).glob(f"*{SUFFIX}"), key=lambda path: path.name)
        loaded = []
        for path in files:
            one, settings = text.load(path)
            first = first or (path, one.shape, settings)
            if (one.shape, settings) != first[1:]:
                raise ValueError(
                    f"mazes of one set of splits have one shape and the same settings: {first[0]} is "
                    f"{first[1]} with {first[2]}, {path} is {one.shape} with {settings}"
                )
            loaded.append(one)
        if loaded:
            parts[split] = maze.stack(loaded)
            names[split] = [f"{name}/{path.name}" for path in files]
    if first is None or "train" not in parts:
        raise FileNotFoundError(f"no training mazes: {root / FOLDERS['train']} holds no *{SUFFIX} file")
    for note in (notes := [*_unread(root), *_repeated(parts, names)]):
        warnings.warn(note, stacklevel=2)
    found = _with_variants(parts, first[2], 0, recorded_seed=None)
    return dataclasses.replace(found, notes=(*notes, *found.notes))


def _unread(root: Path) -> list[str]:
    """In words, which folders hold mazes and are none of the `FOLDERS`."""
    known = FOLDERS.values()
    others = sorted(path.parent.name for path in root.glob(f"*/*{SUFFIX}") if path.parent.name not in known)
    return [f"{root / name} holds mazes and is not read: only {', '.join(known)} are" for name in dict.fromkeys(others)]


def _repeated(parts: Mapping[str, Maze], names: Mapping[str, list[str]]) -> list[str]:
    """In words, which splits hold structures of another; ``names`` are those of the files."""
    keys = {split: [structure.tobytes() for structure in maze.structure(part.walls)] for split, part in parts.items()}
    notes = []
    for other, split in itertools.combinations(parts, 2):
        held = dict(zip(keys[other], names[other], strict=True))
        if same := [(name, held[key]) for name, key in zip(names[split], keys[split], strict=True) if key in held]:
            notes.append(
                f"split {split} has the walls of {other} in {len(same)} of its {len(keys[split])} mazes: "
                f"{same[0][0]} is {same[0][1]}"
            )
    return notes


def write(folder: str | os.PathLike[str], splits: Splits) -> None:
    """Write train, valid and test as ``folder/{train,eval,test}/0000.labyrinth`` ... (host).

    All appear at once: they are written beside ``folder`` and then take its name. A folder
    that holds exactly these files is left alone.

    Raises:
        FileExistsError: the folder holds anything else.
    """
    root = Path(folder).resolve()
    wanted = dict(_files(splits))
    if root.exists() and not root.is_dir():
        raise FileExistsError(f"{root} is a file, not a folder")
    if there := {path.relative_to(root).as_posix() for path in root.rglob("*") if not path.is_dir()}:
        if there == wanted.keys() and all((root / name).read_bytes() == wanted[name] for name in there):
            return
        raise FileExistsError(f"{root} already holds other files: give a new or an empty folder")
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=f".{root.name}.") as temporary:
        new = Path(temporary) / root.name
        for name, content in wanted.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        try:
            if root.exists():
                root.rmdir()  # only an empty folder: another writer may have filled it meanwhile
            os.replace(new, root)
        except OSError as error:
            if not root.is_dir() or not any(root.iterdir()):
                raise
            raise FileExistsError(f"{root} already holds other files: give a new or an empty folder") from error


def _files(splits: Splits) -> Iterator[tuple[str, bytes]]:
    for split, name in FOLDERS.items():
        if split in splits:
            digits = max(4, len(str(len(splits[split]) - 1)))
            for i, one in enumerate(splits[split]):
                content = text.format(one, splits.settings).encode()
                yield f"{name}/{i:0{digits}d}{SUFFIX}", content


# -- frozen splits -------------------------------------------------------------------------------------


def load(name: str) -> Splits:
    """A frozen split by name, so that two papers compare: `FROZEN` lists them (host).

    Raises:
        ValueError: no split of this name, or a damaged file.

    >>> load("5x5-v1")
    Splits(5x5-v1: train 100, valid 100, test 100, s0 100, s0_g 100)
    """
    choose("split", name, FROZEN)
    raw = (DATA / f"{name}.npz").read_bytes()
    given, expected = hashlib.sha256(raw).hexdigest(), checksums()[f"{name}.npz"]
    if given != expected:
        raise ValueError(f"the file of split {name} is damaged: SHA-256 {given}, expected {expected}")
    return unpack(name, read_arrays(raw))


def find(name: str | os.PathLike[str]) -> Splits:
    """A frozen split by its name, or the splits in a folder: `load` or `read` (host).

    Raises:
        ValueError: neither a folder nor the name of a frozen split.
    """
    if str(name) not in FROZEN and os.path.isdir(name):
        return read(name)
    return load(choose("the name of splits (there is no such folder)", str(name), FROZEN))


def checksums() -> dict[str, str]:
    """SHA-256 of every frozen file, by file name."""
    lines = (DATA / "SHA256SUMS").read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def pack(splits: Splits) -> dict[str, np.ndarray]:
    """Splits as plain arrays: every field of every set, the settings and the seed."""
    settings = [getattr(splits.settings, field.name) for field in dataclasses.fields(Settings)]
    arrays = {
        "splits": np.array(list(splits)),
        "settings": np.array(settings),
        "seed": np.array(-1 if splits.seed is None else splits.seed, np.int64),
        "notes": np.array(splits.notes, np.str_),
    }
    for split, mazes in splits.items():
        for field in FIELDS:
            arrays[f"{split}.{field}"] = np.asarray(getattr(mazes, field))
    return arrays


def unpack(name: str | None, arrays: Mapping[str, np.ndarray]) -> Splits:
    """The inverse of `pack`.

    Raises:
        ValueError: arrays that `pack` does not make.
    """
    parts = sets_of(arrays)
    shapes = {"settings": (len(dataclasses.fields(Settings)),), "seed": ()}
    for name_of, shape in shapes.items():
        kinds = "b" if name_of == "settings" else "iu"
        if name_of not in arrays or arrays[name_of].shape != shape or arrays[name_of].dtype.kind not in kinds:
            raise ValueError(f"these are no splits: {name_of} is not an array{list(shape)} of its kind")
    seed = int(arrays["seed"])
    settings = Settings(*arrays["settings"].tolist())
    notes = tuple(str(note) for note in np.ravel(arrays.get("notes", ())))
    return Splits(parts, settings, None if seed < 0 else seed, name, notes)


def sets_of(arrays: Mapping[str, np.ndarray]) -> dict[str, Maze]:
    """The sets of mazes among the arrays of a file, by the names that ``splits`` lists, checked (host).

    Raises:
        ValueError: no such names, a field that lacks, or arrays that are no mazes of one shape.
    """
    names = np.ravel(arrays.get("splits", ())).tolist()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise ValueError(f"these are no splits: the array 'splits' must hold different names, got {names!r:.80}")
    parts = {}
    for split in names:
        if missing := [field for field in FIELDS if f"{split}.{field}" not in arrays]:
            raise ValueError(f"split {split!r} lacks {', '.join(missing)}")
        fields: dict[str, Any] = {field: arrays[f"{split}.{field}"] for field in FIELDS}
        parts[split] = Maze(**fields)
        maze.check(parts[split])
        if len(parts[split].batch_shape) != 1 or parts[split].shape != parts[names[0]].shape:
            raise ValueError(f"split {split!r} must be a set of mazes {parts[names[0]].shape}")
    return parts


# -- variants of the training mazes --------------------------------------------------------------------


def _with_variants(parts: dict[str, Maze], settings: Settings, seed: int, recorded_seed: int | None) -> Splits:
    """Add s0, s0_g and the moved tiles; say what has to be left out."""
    rules: dict[str, Any] = {
        "s0": lambda one, i: place.new_start(one, Dice(seed, _S0, i)),
        "s0_g": lambda one, i: place.new_start_and_goal(one, settings, Dice(seed, _S0_G, i)),
    }
    if settings.key_and_lock:
        rules["key_moved"] = lambda one, i: vary.key_moved(one, Dice(seed, _KEY, i))
    if settings.icy_floor:
        rules["ice_moved"] = lambda one, i: vary.ice_moved(one, Dice(seed, _ICE, i))
    notes, parts = [], dict(parts)
    for name, rule in rules.items():
        found, reason = [], ""
        for i, one in enumerate(parts["train"]):
            try:
                found.append(rule(one, i))
            except PlacementError as error:
                reason = str(error)
        lacking = len(parts["train"]) - len(found)
        if lacking:
            whole = "is left out" if not found else f"has {len(found)} mazes only"
            notes.append(f"split {name} {whole}: {lacking} of {len(parts['train'])} training mazes lack one ({reason})")
            if name in ("s0", "s0_g"):  # that a tile has no other place is usual, and only noted
                warnings.warn(notes[-1], stacklevel=3)
        if found:
            parts[name] = maze.stack(found)
    return Splits(parts, settings, recorded_seed, None, tuple(notes))


__all__ = ["FROZEN", "Splits", "digest", "find", "load", "make", "read", "write"]
