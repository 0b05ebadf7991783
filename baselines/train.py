"""``python -m baselines.train METHOD``: train a method on mazes, score it on every split.

python -m baselines.train bc --size 5 --seeds 5 --out runs/bc
python -m baselines.train bc --mazes mazes/5x5 --encoder cnn --epochs 300
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from jaxlab import splits as jaxlab_splits
from jaxlab.errors import choose, needs_extra
from jaxlab.maze import Maze

METHODS = {name: f"baselines.{name}" for name in ("bc", "dagger", "gail", "bco", "sqil", "iupe")}
"""The module of each method."""


@dataclasses.dataclass(frozen=True)
class Run:
    """What to train on, and where results go."""

    size: int | None = None
    """Side of square mazes: the frozen splits of that size, or new ones with --maze-seed."""
    mazes: Path | None = None
    """A folder with train, eval and test full of .labyrinth files, in place of --size."""
    maze_seed: int | None = None
    """Draw new splits from this seed; without it the frozen splits are taken where there are any."""
    key_and_door: bool = False
    """With --size: a key must be fetched to open the door."""
    icy_floor: bool = False
    """With --size: some cells break when entered."""
    occlusion: bool = False
    """The agent sees only what is in line with it."""
    seeds: int = 1
    """How many training seeds: seed, seed + 1, ..."""
    seed: int = 0
    """The first training seed."""
    devices: int = 1
    """Over how many devices the seeds are spread; each trains its own (docs/scale.md)."""
    out: Path = Path("runs/latest")
    """Folder for results.json, metrics.jsonl, config.json, checkpoints and policies. A finished run that lies there
    is kept in its folder ``previous`` until the new one is finished."""
    check_every: int | None = None
    """Epochs between two looks at train and valid success (default: 20 looks a run)."""
    resume: bool = False
    """Go on from the checkpoints in --out, with the choices and mazes that its run was begun with."""
    quiet: bool = False
    """No progress bar."""
    tensorboard: bool = False
    """The figures of metrics.jsonl also as event files in --out/tensorboard."""


def load_splits(choices: Run) -> Mapping[str, Maze]:
    """The splits that the options name (host)."""
    if (choices.size is None) == (choices.mazes is None):
        raise ValueError("give either --size N or --mazes DIR")
    if choices.mazes is not None:
        if choices.key_and_door or choices.icy_floor or choices.maze_seed is not None:
            raise ValueError("--key-and-door, --icy-floor and --maze-seed are for --size: files say it themselves")
        splits = jaxlab_splits.read(choices.mazes)
    else:
        settings = {name: getattr(choices, name) for name in ("key_and_door", "icy_floor", "occlusion")}
        splits = _frozen(choices, settings) or _drawn(choices, settings)
    if choices.occlusion and not splits.settings.occlusion:
        splits = dataclasses.replace(splits, settings=dataclasses.replace(splits.settings, occlusion=True))
    return splits


def _frozen(choices: Run, settings: dict[str, bool]) -> jaxlab_splits.Splits | None:
    """The frozen splits, where the options name one; occlusion alone changes no maze."""
    if choices.maze_seed is not None:
        return None
    asked = [word for name, word in (("key_and_door", "key"), ("icy_floor", "ice")) if settings[name]]
    name = "-".join([f"{choices.size}x{choices.size}", *asked, "v1"])
    return jaxlab_splits.load(name) if name in jaxlab_splits.FROZEN else None


def _drawn(choices: Run, settings: dict[str, Any]) -> jaxlab_splits.Splits:
    assert choices.size is not None
    each = 32 if choices.size == 3 else 100  # as many as the paper has; only 96 mazes of 3x3 exist
    shape, seed = (choices.size, choices.size), choices.maze_seed or 0
    return jaxlab_splits.make(shape, each, each, each, seed, **settings)


def parse(arguments: Sequence[str]) -> tuple[str, Any, Run, Any]:
    """(method's name, its module, the run, its config) of a command line.

    ``--config FILE`` takes what the file (a run's config.json) holds as defaults; what neither says is the
    encoder's own recipe.
    """
    try:
        import tyro
    except ImportError:
        raise needs_extra("tyro", "train") from None
    rest = list(arguments)
    if not rest or rest[0] in ("-h", "--help"):
        print(f"{__doc__}\nmethods: {', '.join(METHODS)}\nhelp on one: python -m baselines.train METHOD --help")
        raise SystemExit(0 if rest else 2)
    name = choose("method", rest.pop(0), METHODS)
    method = importlib.import_module(METHODS[name])
    file, encoder = _taken(rest, "--config"), _taken(rest, "--encoder")
    config = {} if file is None else read_config(file, name, method.Config)
    if encoder is not None:
        config["encoder"] = encoder  # now, because defaults depend on it
    flat = tyro.conf.OmitArgPrefixes
    options = dataclasses.make_dataclass(
        "Options",
        [
            ("run", Annotated[Run, flat, tyro.conf.arg(name="")], dataclasses.field(default_factory=Run)),
            ("config", Annotated[method.Config, flat, tyro.conf.arg(name="")], method.Config(**config)),
        ],
        frozen=True,
    )
    program = f"python -m baselines.train {name}"
    given: Any = tyro.cli(options, prog=program, description=method.__doc__, args=rest)
    return name, method, given.run, given.config


def _taken(rest: list[str], option: str) -> str | None:
    """The last value of ``option VALUE`` or ``option=VALUE``, taken out of the arguments; None where there is none."""
    value = None
    while at := next((i + 1 for i, word in enumerate(rest) if word.split("=")[0] == option), 0):
        word = rest.pop(at - 1)
        if "=" in word:
            value = word.split("=", 1)[1]
        elif at - 1 < len(rest):
            value = rest.pop(at - 1)
        else:
            raise ValueError(f"{option} needs a value")
    return value


def read_config(path: str | Path, name: str, kind: Any) -> dict[str, Any]:
    """The choices in a config.json, checked by name and type."""
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"--config {path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"--config {path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"--config {path} must hold an object of choices")
    if (method := found.pop("method", name)) != name:
        raise ValueError(f"--config {path} is of method {method!r}, not {name!r}")
    hints = {field.name: typing.get_type_hints(kind)[field.name] for field in dataclasses.fields(kind)}
    for key, value in found.items():
        hint = hints[choose(f"--config {path}: choice", key, ["method", *hints])]
        if not _fits(value, hint):
            raise ValueError(f"--config {path}: {key} must be {_words(hint)}, got {value!r}")
    return found


def _fits(value: Any, hint: Any) -> bool:
    """Is a value of JSON of this type: bool, int, float, str, None, a literal, or a union of them?"""
    if parts := typing.get_args(hint):
        literal = typing.get_origin(hint) is typing.Literal
        return value in parts if literal else any(_fits(value, part) for part in parts)
    if isinstance(value, bool) or hint is bool:
        return isinstance(value, bool) and hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _words(hint: Any) -> str:
    """A type as people say it: ``int, 'full' or None``."""
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    words = [_words(part) for part in typing.get_args(hint)] or [hint.__name__.removesuffix("Type")]
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    try:
        name, method, choices, config = parse(sys.argv[1:] if arguments is None else arguments)
        splits = load_splits(choices)
        _train(name, method, choices, config, splits)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _train(name: str, method: Any, choices: Run, config: Any, splits: Mapping[str, Maze]) -> None:
    from baselines import folders, progress, results, runner

    if choices.seeds < 1:
        raise ValueError(f"--seeds must be at least 1, got {choices.seeds}")
    plan = runner.Plan(
        seeds=choices.seeds,
        seed=choices.seed,
        devices=choices.devices,
        out=choices.out,
        check_every=choices.check_every,
        resume=choices.resume,
        tensorboard=choices.tensorboard,
    )
    print(f"{name}, {config.encoder}: {splits}")
    if caveat := getattr(method, "CAVEAT", None):
        print(caveat)
    if not choices.resume and (choices.out / results.FILE).is_file():
        print(f"kept until this run is finished: the one before, in {choices.out / folders.PREVIOUS}")
    with progress.bar(name, choices.quiet) as watch:
        _, report = runner.run(name, method, config, splits, plan, watch=watch)
    print(report)
    print(f"written: {choices.out / 'results.json'}")


if __name__ == "__main__":
    raise SystemExit(main())
