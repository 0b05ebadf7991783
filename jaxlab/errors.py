"""Errors that say what was given, what is allowed and the nearest valid choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import jax
import numpy as np


class LabyrinthFileError(ValueError):
    """A ``.labyrinth`` text that does not follow the language.

    Attributes:
        path: the file, or None for a text.
        line: 1-based line of the fault.
        column: 1-based column of the fault.
    """

    def __init__(self, message: str, path: str | Path | None = None, line: int = 1, column: int = 1) -> None:
        self.message, self.path, self.line, self.column = message, path, line, column
        super().__init__(f"{path if path is not None else '<text>'}, line {line}, column {column}: {message}")


class PlacementError(ValueError):
    """A maze in which a key, a door, ice, a start or a goal can't be placed."""


def choose(name: str, given: object, allowed: Iterable[str]) -> str:
    """Return ``given`` if it is one of ``allowed``; otherwise raise with the nearest of them."""
    allowed = list(allowed)
    if isinstance(given, str) and given in allowed:
        return given
    near = difflib.get_close_matches(str(given), allowed, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {given!r}{hint}")


def whole(name: str, given: object, low: int, high: int | None = None) -> int:
    """Return ``given`` as a Python int if it is a whole number in ``low..high``; otherwise raise ``ValueError``."""
    try:
        number = int(given)  # type: ignore[call-overload]
        is_whole = bool(number == given) and not isinstance(given, (bool, np.bool_))
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole or number < low or (high is not None and number > high):
        allowed = f"of at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {given!r}")
    return number


def check_key(key: object) -> None:
    """Raise ``TypeError`` unless this is a key of JAX's random numbers."""
    if not isinstance(key, jax.Array):
        raise TypeError(f"key must be a random key, jax.random.key(seed), got {key!r}")


def needs_extra(package: str, extra: str) -> ImportError:
    """The error for a missing optional package: which extra to install."""
    return ImportError(f"this needs {package}, which is not installed: pip install 'jaxlab[{extra}]'")
