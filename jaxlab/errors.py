"""Errors that say what was given, what is allowed and the nearest valid choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


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


def needs_extra(package: str, extra: str) -> ImportError:
    """The error for a missing optional package: which extra to install."""
    return ImportError(f"this needs {package}, which is not installed: pip install 'jaxlab[{extra}]'")
