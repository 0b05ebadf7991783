"""``results.json``: what a run writes, and what is checked when it is read.

    python -m baselines.results FILE...

says of each file whether it follows the format (docs/results-format.md).
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from jaxlab.files import write_atomic

FORMAT = "jaxlab-results-1"
FILE = "results.json"
OUTCOMES = ("loop", "goal", "fall", "time")
_FIGURES = ("success", "aer", "aer_std", "optimal_rate_all", "optimal_rate_visited")
_OR_NULL = ("optimal_rate_all", "optimal_rate_visited")
"""Null where no maze of a split has a solution, so that no action is optimal."""


def versions() -> dict[str, str]:
    """The packages that decide the numbers."""
    names = ("jaxlab", "jax", "jaxlib", "flax", "optax", "numpy")
    found = {name: _version(name) for name in names}
    return {"python": platform.python_version(), **found}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        import jaxlab

        return jaxlab.__version__ if name == "jaxlab" else "unknown"


def machine() -> dict[str, Any]:
    """Where a run took place."""
    device = jax.devices()[0]
    return {
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "backend": jax.default_backend(),
        "device": device.device_kind,
        "devices": jax.device_count(),
    }


def write(folder: str | os.PathLike[str], results: dict[str, Any]) -> Path:
    """Check and write ``folder/results.json``, whole or not at all."""
    check(results)
    path = Path(folder) / FILE
    write_atomic(path, json.dumps(results, indent=1, allow_nan=False) + "\n")
    return path


def read(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read and check ``folder/results.json`` (or the file itself).

    Raises:
        FileNotFoundError: there is none.
        ValueError: it does not follow the format; the message says where.
    """
    path = Path(folder)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no results here; a finished run of baselines.train writes them")
    try:
        results = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # the latter from ten thousand brackets
        raise ValueError(f"{path} is not JSON: {error}") from None
    check(results)
    return results


# -- the format ------------------------------------------------------------------------------------


def check(results: Any) -> None:
    """Raise ``ValueError`` at the first place where results do not follow the format."""
    top = _dict(results, "results")
    if top.get("format") != FORMAT:
        raise ValueError(f"results.format must be {FORMAT!r}, got {top.get('format')!r}")
    for name in ("method", "encoder", "observation"):
        _is(top.get(name), str, f"results.{name}")
    for name in ("settings", "config", "versions", "machine"):
        _dict(top.get(name), f"results.{name}")
    mazes = _dict(top.get("mazes"), "results.mazes")
    shape = mazes.get("shape")
    if not (isinstance(shape, list) and len(shape) == 2 and all(_whole(n) and n > 0 for n in shape)):
        raise ValueError(f"results.mazes.shape must be [rows, columns], got {shape!r}")
    if mazes.get("seed") is not None and not _whole(mazes["seed"]):
        raise ValueError(f"results.mazes.seed must be a whole number or null, got {mazes['seed']!r}")
    digests = _dict(mazes.get("sha256"), "results.mazes.sha256")
    for split, value in digests.items():
        if not (isinstance(value, str) and len(value) == 64):
            raise ValueError(f"results.mazes.sha256.{split} must be 64 hexadecimal digits, got {value!r}")
    seeds = top.get("seeds")
    if not isinstance(seeds, list) or not seeds:
        raise ValueError("results.seeds must be a list with at least one entry")
    for i, run in enumerate(seeds):
        _check_run(run, digests, f"results.seeds[{i}]")


def _check_run(run: Any, digests: dict[str, Any], where: str) -> None:
    _dict(run, where)
    if not _whole(run.get("seed")):
        raise ValueError(f"{where}.seed must be a whole number, got {run.get('seed')!r}")
    _number(run.get("train_seconds"), f"{where}.train_seconds", low=0)
    splits = _dict(run.get("splits"), f"{where}.splits")
    if splits.keys() != digests.keys():
        raise ValueError(f"{where}.splits are {sorted(splits)}, but results.mazes.sha256 has {sorted(digests)}")
    for split, scores in splits.items():
        here = f"{where}.splits.{split}"
        for name in ("argmax", "sampled", "best", "running_bn"):
            _dict(_dict(scores, here).get(name), f"{here}.{name}")
        for name in ("argmax", "best", "running_bn"):
            _check_figures(scores[name], f"{here}.{name}")
        _number(scores["sampled"].get("success"), f"{here}.sampled.success", 0, 1)
        episodes = scores["argmax"].get("episodes")
        if not isinstance(episodes, list) or not episodes:
            raise ValueError(f"{here}.argmax.episodes must be a list with at least one entry")
        for i, episode in enumerate(episodes):
            _check_episode(episode, i, f"{here}.argmax.episodes[{i}]")
        share = sum(episode["success"] for episode in episodes) / len(episodes)
        if abs(share - scores["argmax"]["success"]) > 1e-6:
            raise ValueError(f"{here}.argmax.success is {scores['argmax']['success']}, its episodes say {share}")


def _check_figures(figures: dict[str, Any], where: str) -> None:
    for name in _FIGURES:
        is_share = not name.startswith("aer")
        if name in _OR_NULL and name in figures and figures[name] is None:
            continue
        _number(figures.get(name), f"{where}.{name}", *((0, 1) if is_share else ()))


def _check_episode(episode: Any, index: int, where: str) -> None:
    _dict(episode, where)
    if episode.get("maze") != index:
        raise ValueError(f"{where}.maze must be {index}, got {episode.get('maze')!r}")
    if not isinstance(episode.get("success"), bool):
        raise ValueError(f"{where}.success must be true or false, got {episode.get('success')!r}")
    _number(episode.get("return"), f"{where}.return")
    if not _whole(episode.get("steps")) or episode["steps"] < 0:
        raise ValueError(f"{where}.steps must be a whole number, got {episode.get('steps')!r}")
    if episode.get("outcome") not in OUTCOMES or (episode["outcome"] == "goal") != episode["success"]:
        raise ValueError(f"{where}.outcome {episode.get('outcome')!r} does not fit success {episode['success']}")


def _dict(value: Any, where: str) -> dict[str, Any]:
    return _is(value, dict, where)


def _is(value: Any, kind: Callable[..., Any], where: str) -> Any:
    if not isinstance(value, kind):  # type: ignore[arg-type]
        raise ValueError(f"{where} must be a {getattr(kind, '__name__', kind)}, got {value!r:.60}")
    return value


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any, where: str, low: float = -1e18, high: float = 1e18) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"{where} must be a number from {low:g} to {high:g}, got {value!r}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check files; returns 0 when all of them follow the format."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if given else 2
    faults = 0
    for path in given:
        try:
            found = read(path)
        except (ValueError, OSError) as error:
            faults += 1
            print(f"{path}: {error}", file=sys.stderr)
        else:
            splits = ", ".join(found["mazes"]["sha256"])
            print(f"{path}: {found['method']}, {len(found['seeds'])} seeds, {splits}: follows {FORMAT}")
    return 2 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
