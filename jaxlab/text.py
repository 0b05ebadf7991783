'''The ``.labyrinth`` language: parse and format (paper, Section 2.4 and Appendix B).

A text is a header of settings, the word ``labyrinth:``, the drawn maze and the word ``end``::

    """ comments stand between triple quotes """
    key_and_lock: False
    icy_floor: False
    occlusion: False

    labyrinth:
    ---------
    |     E |
    | - +   |
    | S     |
    ---------
    end

Token ``k`` of a row stands in text column ``2 + 2k`` (counted from 0). Rows of cells hold a
cell (``S`` start, ``E`` goal, ``K`` key, ``D`` door, ``I`` ice or a blank), a wall (``|`` or a
blank), a cell and so on; the rows between them a wall (``-`` or a blank), a post, a wall and
so on. Nothing is ever evaluated. Host code.
'''

from __future__ import annotations

import dataclasses
import difflib
import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jaxlab import draw
from jaxlab.errors import LabyrinthFileError
from jaxlab.files import write_atomic
from jaxlab.maze import NONE, Maze, check, make, marks, walls_from_open

MAX_BYTES = 2 * 2**20
"""The longest text that is read: 2 MiB, a drawn maze of about 500 x 500 cells."""

QUOTES = '"""'
BEGIN, END = "labyrinth:", "end"
POSTS = f"{draw.POST}{draw.HORIZONTAL}{draw.VERTICAL} "


@dataclasses.dataclass(frozen=True)
class Settings:
    """The settings header of a file, in the file's own words."""

    key_and_lock: bool = False
    icy_floor: bool = False
    occlusion: bool = False


_NAMES = tuple(field.name for field in dataclasses.fields(Settings))


def load(path: str | os.PathLike[str], seed: int = 0) -> tuple[Maze, Settings]:
    """Read one ``.labyrinth`` file.

    Only tiles that the file's settings turn on are loaded. Where a setting is on and its
    tiles are not drawn, they are placed from ``seed``; drawn ones are kept.

    Raises:
        LabyrinthFileError: the text does not follow the language, is not UTF-8, or is longer
            than `MAX_BYTES`; with ``path``, ``line``, ``column`` and what was expected.
        PlacementError: a setting is on, its tiles are not drawn and there is no place for them.
        OSError: the file can't be read.
    """
    path = Path(path)
    # Opening a pipe would wait for a writer, so this is asked before, not after.
    if not stat.S_ISREG(path.stat().st_mode):
        raise LabyrinthFileError("expected a regular file", path)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    _check_length(len(data), path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff") + "?"
        *above, last = io.StringIO(before, newline=None).read().split("\n")
        message = f"expected UTF-8 text, got the byte 0x{data[error.start]:02x}"
        raise LabyrinthFileError(message, path, len(above) + 1, len(last)) from None
    return _parse(text, seed, path)


def parse(text: str, seed: int = 0) -> tuple[Maze, Settings]:
    r"""Read one maze from a text: `load` without the file.

    >>> maze, settings = parse("labyrinth:\n---------\n| S   E |\n---------\nend")
    >>> maze.shape, int(maze.goal), settings.occlusion
    ((1, 2), 1, False)
    """
    if not isinstance(text, str):
        raise TypeError(f"parse takes a text, got {type(text).__name__}; for a file use jaxlab.load")
    _check_length(len(text), None)
    return _parse(text, seed, None)


def format(maze: Maze, settings: Settings | None = None) -> str:
    """Write one maze in the language: the inverse of `parse`, the same text for the same maze.

    Args:
        maze: a single maze.
        settings: the header; by default what the maze holds turns on, without occlusion.

    Raises:
        ValueError: a set of mazes; walls that do not agree; tiles of the user's own, which the
            language can't express; a key, door or ice that the settings turn off.
    """
    if not isinstance(maze, Maze):
        raise TypeError(f"format takes a jaxlab.Maze, got {type(maze).__name__}")
    if maze.batch_shape:
        raise ValueError(f"a text holds one maze, got a set of {maze.batch_shape}: write them one by one")
    if maze.tiles:
        raise ValueError(
            f"the language has no letter for tiles of one's own: {', '.join(map(repr, sorted(maze.tiles)))}; "
            "take them out with maze.replace(tiles={})"
        )
    check(maze)
    locked, icy = max(int(maze.key), int(maze.door)) != NONE, bool(np.any(maze.ice))
    settings = Settings(key_and_lock=locked, icy_floor=icy) if settings is None else settings
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be jaxlab.Settings, got {settings!r}")
    if locked and not settings.key_and_lock:
        raise ValueError("the maze holds a key or a door, which key_and_lock=False would lose")
    if icy and not settings.icy_floor:
        raise ValueError("the maze holds ice, which icy_floor=False would lose")
    letters = marks(maze)
    header = [f"{name}: {bool(getattr(settings, name))}" for name in _NAMES]
    return "\n".join([*header, "", BEGIN, *draw.rows(np.asarray(maze.walls), letters), END, ""])


def save(path: str | os.PathLike[str], maze: Maze, settings: Settings | None = None) -> None:
    """Write one maze to a ``.labyrinth`` file, whole or not at all (`format`, `files.write_atomic`)."""
    write_atomic(path, format(maze, settings))


# -- reading ---------------------------------------------------------------------------------------


def _check_length(length: int, path: Path | None) -> None:
    if length > MAX_BYTES:
        raise LabyrinthFileError(f"expected at most {MAX_BYTES} bytes ({MAX_BYTES // 2**20} MiB) of text", path)


def _parse(text: str, seed: int, path: Path | None) -> tuple[Maze, Settings]:
    try:
        lines = _lines(text.removeprefix("\ufeff"))
        settings = _header(lines)
        rows, numbers = _drawn_rows(lines)
        line, content = next(lines)
        if content:
            raise _error(f"expected nothing after {END!r}, got {content.strip()[:20]!r}", line, content)
        return _maze(rows, numbers, settings, seed), settings
    except LabyrinthFileError as error:
        raise LabyrinthFileError(error.message, path, error.line, error.column) from None


def _error(message: str, line: int, content: str = "", column: int | None = None) -> LabyrinthFileError:
    """A fault at a 0-based column of a line; by default at its first character that is no blank."""
    column = len(content) - len(content.lstrip()) if column is None else column
    return LabyrinthFileError(message, None, line, column + 1)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """(1-based number, content) of every line that is not blank, without comments or trailing blanks.

    The end of the text is a last line with no content.
    """
    opened = None
    number = 0
    for number, raw in enumerate(io.StringIO(text, newline=None), 1):
        content = raw.rstrip("\n")
        if opened is not None or QUOTES in content:
            kept: list[str] = []
            at = 0
            for i, part in enumerate(content.split(QUOTES)):
                if i:
                    opened = (number, at) if opened is None else None
                    kept.append(" " * len(QUOTES))
                    at += len(QUOTES)
                kept.append(part if opened is None else " " * len(part))
                at += len(part)
            content = "".join(kept)
        if "\t" in content:
            raise _error("expected blanks, got a tab", number, column=content.index("\t"))
        content = content.rstrip(" ")
        if content:
            yield number, content
    if opened is not None:
        raise _error(f"expected a closing {QUOTES} for this comment", opened[0], column=opened[1])
    yield number + 1, ""


def _next(lines: Iterator[tuple[int, str]], expected: str) -> tuple[int, str]:
    line, content = next(lines)
    if not content:
        raise _error(f"expected {expected}, got the end of the text", line)
    return line, content


def _header(lines: Iterator[tuple[int, str]]) -> Settings:
    given: dict[str, bool] = {}
    while True:
        line, content = _next(lines, f"a setting or {BEGIN!r}")
        word = content.strip(" ")
        if word == BEGIN:
            return Settings(**given)
        name, colon, value = (part.strip(" ") for part in word.partition(":"))
        if not colon or name not in _NAMES:
            raise _error(_expected_setting(name), line, content)
        at = content.index(":") + 1
        at += len(content[at:]) - len(content[at:].lstrip(" "))
        if value not in ("True", "False"):
            raise _error(f"expected True or False for {name}, got {value[:20]!r}", line, column=at)
        if name in given:
            raise _error(f"expected {name} once, it is set again", line, content)
        given[name] = value == "True"


def _expected_setting(name: str) -> str:
    near = difflib.get_close_matches(name[:40], (*_NAMES, BEGIN), 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"expected one of the settings {', '.join(_NAMES)}, or {BEGIN!r}, got {name[:40]!r}{hint}"


def _drawn_rows(lines: Iterator[tuple[int, str]]) -> tuple[list[str], list[int]]:
    """The rows between the two frames and ``end``, every one framed and of one length, and their line numbers."""
    line, top = _next(lines, "the upper outer wall")
    length = len(top)
    if top.strip(draw.HORIZONTAL):
        column = len(top) - len(top.lstrip(draw.HORIZONTAL))
        got = top[column]
        raise _error(f"expected the upper outer wall, a line of {draw.HORIZONTAL!r}, got {got!r}", line, column=column)
    if length % 4 != 1 or length < 5:
        raise _error(
            f"expected an outer wall of 4 x columns + 1 signs (5, 9, 13, ...), got {length}", line, column=length - 1
        )
    rows: list[str] = []
    numbers: list[int] = []
    while True:
        line, row = _next(lines, "a row of the maze or the lower outer wall")
        if row.startswith(draw.HORIZONTAL):
            break
        if row[0] != draw.VERTICAL:
            expected = f"expected {draw.VERTICAL!r} (the left outer wall) or the lower outer wall"
            raise _error(f"{expected}, got {row[0]!r}", line, column=0)
        if len(row) < length:
            # Trailing blanks do not count, so an open right wall looks like a short row.
            raise _error(
                f"expected a row of {length} signs that ends with {draw.VERTICAL!r} (the right outer wall), "
                f"got {len(row)} signs",
                line,
                column=len(row),
            )
        if len(row) > length:
            raise _error(f"expected a row of {length} signs, as the upper outer wall has", line, column=length)
        if row[-1] != draw.VERTICAL:
            raise _error(f"expected {draw.VERTICAL!r} (the right outer wall), got {row[-1]!r}", line, column=length - 1)
        rows.append(row)
        numbers.append(line)
    if row != top:
        column = next((i for i, sign in enumerate(row[:length]) if sign != draw.HORIZONTAL), min(len(row), length))
        raise _error(f"expected the lower outer wall, {length} times {draw.HORIZONTAL!r}", line, column=column)
    if len(rows) % 2 == 0:
        raise _error("expected an odd number of rows: cells, walls, cells, ..., cells", line, column=0)
    numbers.append(line)
    line, word = _next(lines, repr(END))
    if word.strip(" ") != END:
        raise _error(f"expected {END!r}, got {word.strip(' ')[:20]!r}", line, word)
    return rows, numbers


def _maze(rows: list[str], numbers: list[int], settings: Settings, seed: int) -> Maze:
    signs = np.array([list(row) for row in rows])
    height, width = (len(rows) + 1) // 2, (signs.shape[1] - 1) // 4
    if height * width < 2:
        raise _error("expected a maze of at least 2 cells", numbers[0], column=0)
    _check_signs(signs, rows, numbers)
    cells, sides, floors = signs[::2, 2:-1:4], signs[::2, 4:-1:4], signs[1::2, 2:-1:4]
    walls = walls_from_open(sides[::-1] == " ", floors[::-1] == " ")

    def only(letter: str, meaning: str, *, needed: bool = False) -> int:
        found = np.argwhere(cells == letter)
        if len(found) > 1:
            row, col = found[1]
            raise _error(f"expected one {letter} ({meaning}), this is another", numbers[2 * row], column=2 + 4 * col)
        if len(found) == 0:
            if needed:
                raise _error(f"expected one {letter} ({meaning}), got none above this line", numbers[-1], column=0)
            return NONE
        return int((height - 1 - found[0, 0]) * width + found[0, 1])

    start, goal = only("S", "the start", needed=True), only("E", "the goal", needed=True)
    key = door = NONE
    ice = np.zeros((height, width), bool)
    if settings.key_and_lock:
        key, door = only("K", "the key"), only("D", "the door")
    if settings.icy_floor:
        ice = cells[::-1] == "I"
    drawn = {"key": np.asarray(key, np.int32), "door": np.asarray(door, np.int32), "ice": np.ascontiguousarray(ice)}
    maze = make(walls, np.asarray(start, np.int32), np.asarray(goal, np.int32), **drawn)
    return _place_missing(maze, settings, seed)


_BETWEEN = "a blank between two signs"


def _check_signs(signs: np.ndarray, rows: list[str], numbers: list[int]) -> None:
    """Raise at the first sign, line by line, that may not stand where it stands."""
    wrong = np.zeros(signs.shape, bool)
    wrong[:, 1:-1:2] = signs[:, 1:-1:2] != " "
    kinds = {
        (0, 2): ("SEKDI ", "a cell: S, E, K, D, I or a blank"),
        (0, 0): (f"{draw.VERTICAL} ", "a wall '|' or a blank"),
        (1, 2): (f"{draw.HORIZONTAL} ", "a wall '-' or a blank"),
        (1, 0): (POSTS, "a post '+'"),
    }
    for (row, column), (allowed, _) in kinds.items():
        place = (slice(row, None, 2), slice(column or 4, -1, 4))
        wrong[place] = ~np.isin(signs[place], list(allowed))
    if wrong.any():
        row, column = (int(i) for i in np.unravel_index(np.argmax(wrong), wrong.shape))
        expected = _BETWEEN if column % 2 else kinds[row % 2, column % 4][1]
        raise _error(f"expected {expected}, got {rows[row][column]!r}", numbers[row], column=column)


def _place_missing(maze: Maze, settings: Settings, seed: int) -> Maze:
    """Place what the settings turn on and the file does not draw."""
    from jaxlab.generate import place  # the generator reads files' settings from this module

    return place.furnish(maze, settings, seed)
