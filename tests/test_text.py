"""The ``.labyrinth`` language."""

import os
import random

import numpy as np
import pytest

import jaxlab
from jaxlab import text
from jaxlab.errors import LabyrinthFileError
from jaxlab.text import Settings

GOOD = '''"""
Any text. key_and_lock: Perhaps
"""
key_and_lock: True
icy_floor: True
occlusion: True """ one line """

labyrinth:
-------------
| K   I | E |
|   + - +   |
| S | D     |
-------------
end'''


def parse_error(content: str) -> LabyrinthFileError:
    with pytest.raises(LabyrinthFileError) as caught:
        text.parse(content)
    return caught.value


def equal(a, b) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("walls", "start", "goal", "key", "door", "ice")
    )


def test_a_drawn_maze_is_read_by_position():
    maze, settings = text.parse(GOOD)
    assert settings == Settings(True, True, True)
    assert maze.shape == (2, 3)
    assert jaxlab.to_edges(maze) == [(0, 3), (1, 2), (2, 5), (3, 4)]
    assert (int(maze.start), int(maze.goal), int(maze.key), int(maze.door)) == (0, 5, 3, 1)
    assert np.flatnonzero(maze.ice).tolist() == [4]
    assert maze.walls.dtype == np.uint8 and maze.start.dtype == np.int32 and maze.ice.dtype == bool


def test_only_tiles_that_the_settings_turn_on_are_loaded():
    off = GOOD.replace("True", "False")
    maze, settings = text.parse(off)
    assert settings == Settings()
    assert int(maze.key) == int(maze.door) == -1 and not maze.ice.any()
    bare = off[off.index("labyrinth:") :]
    assert text.parse(bare)[1] == Settings(), "settings that are not given are off"


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.replace("\n", "\r\n"),
        lambda s: s.replace("\n", "\r"),
        lambda s: s.replace("\n", "   \n"),
        lambda s: "\ufeff" + s,
        lambda s: s + "\n\n \n",
        lambda s: s + '\n"""and a last word"""',
        lambda s: s.replace("| S |", "| S |").replace("|   + - +   |", '|   + - +   |  """ a wall\n and more """'),
        lambda s: s.replace("\n", "\n\n"),
        lambda s: s.replace("labyrinth:", "  labyrinth:  ").replace("icy_floor: True", " icy_floor :True"),
    ],
    ids=["crlf", "cr", "blanks", "bom", "after", "comment after", "comment within", "blank lines", "indented"],
)
def test_harmless_variants_load_the_same(change, tmp_path):
    maze, settings = text.parse(GOOD)
    again, settings_again = text.parse(change(GOOD))
    assert equal(maze, again) and settings == settings_again
    path = tmp_path / "maze.labyrinth"
    path.write_bytes(change(GOOD).encode())
    again, settings_again = jaxlab.load(path)
    assert equal(maze, again) and settings == settings_again


FAULTS = {
    "open right wall": (("|   + - +   |", "|   + - +    "), 11, 10, "right outer wall"),
    "something in the right wall": (("|   + - +   |", "|   + - +   -"), 11, 13, "right outer wall"),
    "open left wall": (("| S | D     |", "  S | D     |"), 12, 1, "left outer wall"),
    "open upper wall": (("labyrinth:\n------", "labyrinth:\n--- --"), 9, 4, "upper outer wall"),
    "open lower wall": (("-------------\nend", "----- -------\nend"), 13, 6, "lower outer wall"),
    "short lower wall": (("-------------\nend", "---------\nend"), 13, 10, "lower outer wall"),
    "upper wall of a wrong length": (("labyrinth:\n-", "labyrinth:\n--"), 9, 14, "4 x columns + 1"),
    "ragged, long": (("| S | D     |", "| S | D       |"), 12, 14, "row of 13 signs"),
    "ragged, short": (("| S | D     |", "| S | D |"), 12, 10, "row of 13 signs"),
    "a row too few": (("|   + - +   |\n", ""), 12, 1, "odd number of rows"),
    "unknown setting": (("icy_floor", "ice_floor"), 5, 1, "did you mean 'icy_floor'"),
    "unknown word": (("icy_floor: True", "hello"), 5, 1, "key_and_lock, icy_floor, occlusion"),
    "labyrinth without colon": (("labyrinth:", "labyrinth"), 8, 1, "did you mean 'labyrinth:'"),
    "no truth value": (("icy_floor: True", "icy_floor: yes"), 5, 12, "True or False"),
    "no truth value after the colon": (("icy_floor: True", "icy_floor:yes"), 5, 11, "True or False"),
    "code": (("icy_floor: True", "icy_floor: __import__('os')"), 5, 12, "True or False"),
    "set twice": (("icy_floor", "key_and_lock"), 5, 1, "once"),
    "two starts": (("| S | D", "| S | S"), 12, 7, "one S (the start)"),
    "two goals": (("| S | D", "| S | E"), 12, 7, "one E (the goal)"),
    "two keys": (("| S | D", "| S | K"), 12, 7, "one K (the key)"),
    "two doors": (("| K   I", "| D   I"), 12, 7, "one D (the door)"),
    "no start": (("| S |", "|   |"), 13, 1, "one S (the start)"),
    "no goal": (("| E |", "|   |"), 13, 1, "one E (the goal)"),
    "unknown letter": (("| K ", "| X "), 10, 3, "S, E, K, D, I"),
    "a digit beside a cell": (("| K  ", "| K1 "), 10, 4, "blank between"),
    "wall of the wrong kind": (("| S |", "| S -"), 12, 5, "wall '|'"),
    "floor of the wrong kind": (("|   + - +", "|   + | +"), 11, 7, "wall '-'"),
    "no post": (("|   + - +", "|   * - +"), 11, 5, "post '+'"),
    "shifted by one": (("| S | D     |", "|  S | D    |"), 12, 4, "blank between"),
    "tab": (("| S |", "| S\t|"), 12, 4, "tab"),
    "tab in the header": (("icy_floor: ", "icy_floor:\t"), 5, 11, "tab"),
    "no end": (("\nend", ""), 14, 1, "'end'"),
    "end misspelt": (("\nend", "\nfin"), 14, 1, "'end'"),
    "more after the end": (("\nend", "\nend\n  more"), 15, 3, "nothing after 'end'"),
    "open comment": (("\nend", '\nend\n """ for ever'), 15, 2, "closing"),
    "open comment after a whole one": (("\nend", '\nend\n"""a"""  """b'), 15, 10, "closing"),
    "after a comment": (("icy_floor: True", 'icy_floor: """no""" yes'), 5, 21, "True or False"),
    "one sign of a wall": ((GOOD[GOOD.index("-----") :], "-\n|\n-\nend"), 9, 1, "4 x columns + 1"),
    "no maze": ((GOOD[GOOD.index("labyrinth:") :], ""), 8, 1, "labyrinth:"),
    "no drawing": ((GOOD[GOOD.index("-----") :], ""), 9, 1, "upper outer wall"),
    "no lower wall": (("-------------\nend", ""), 13, 1, "lower outer wall"),
    "nul": (("| S |", "| S\0|"), 12, 4, "blank between"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_with_its_place_and_what_was_expected(name, tmp_path):
    (old, new), line, column, words = FAULTS[name]
    assert old in GOOD
    faulty = GOOD.replace(old, new, 1)
    error = parse_error(faulty)
    assert (error.line, error.column) == (line, column), error
    assert words in str(error) and "expected" in str(error)
    path = tmp_path / "faulty.labyrinth"
    path.write_bytes(faulty.encode())
    with pytest.raises(LabyrinthFileError) as caught:
        jaxlab.load(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (path, line, column)
    assert str(caught.value).startswith(f"{path}, line {line}, column {column}: expected")


def test_a_maze_of_one_cell_and_an_empty_text_are_refused():
    assert "2 cells" in str(parse_error("labyrinth:\n-----\n| S |\n-----\nend"))
    assert "labyrinth:" in str(parse_error("")) and parse_error("").line == 1
    with pytest.raises(TypeError, match=r"jaxlab\.load"):
        text.parse(b"labyrinth:")


@pytest.mark.parametrize("drawn", ["---------\n| S   E |\n---------", "-----\n| E |\n|   |\n| S |\n-----"])
def test_the_smallest_mazes_have_two_cells(drawn):
    maze, _ = text.parse(f"labyrinth:\n{drawn}\nend")
    assert jaxlab.to_edges(maze) == [(0, 1)] and (int(maze.start), int(maze.goal)) == (0, 1)


def test_a_file_of_the_greatest_length_is_read(tmp_path):
    path = tmp_path / "long.labyrinth"
    path.write_text(GOOD + "\n" * (text.MAX_BYTES - len(GOOD)))
    assert equal(jaxlab.load(path)[0], text.parse(GOOD)[0])
    path.write_text(GOOD + "\n" * (text.MAX_BYTES - len(GOOD) + 1))
    with pytest.raises(LabyrinthFileError, match="2 MiB"):
        jaxlab.load(path)


def test_bytes_that_are_not_utf8_are_located(tmp_path):
    path = tmp_path / "latin.labyrinth"
    path.write_bytes('occlusion: False\r\n"""caf\u00e9 \u00fc"""\r\n'.encode() + b'"""caf\xe9"""')
    with pytest.raises(LabyrinthFileError, match=r"UTF-8.*0xe9") as caught:
        jaxlab.load(path)
    assert (caught.value.line, caught.value.column) == (3, 7)


def test_the_error_is_a_value_error_and_a_missing_file_is_what_it_always_is(tmp_path):
    assert issubclass(LabyrinthFileError, ValueError)
    assert jaxlab.LabyrinthFileError is LabyrinthFileError
    with pytest.raises(FileNotFoundError):
        jaxlab.load(tmp_path / "nothing.labyrinth")


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file here")
def test_what_is_no_file_is_not_read():
    with pytest.raises(LabyrinthFileError, match="regular file"):
        jaxlab.load("/dev/zero")


def test_two_gigabytes_are_refused_without_being_read(tmp_path):
    path = tmp_path / "huge.labyrinth"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)
    with pytest.raises(LabyrinthFileError, match="2 MiB"):
        jaxlab.load(path)


@pytest.mark.parametrize("noise", ["\n", "#", '"', '"""', "|\n", "labyrinth:\n", "-", "é"])
def test_the_longest_noise_is_refused(noise):
    longest = noise * (text.MAX_BYTES // len(noise.encode()))
    assert "2 MiB" not in str(parse_error(longest)), "that much is read"
    parse_error("labyrinth:\n" + longest[:-100])
    with pytest.raises(LabyrinthFileError, match="2 MiB"):
        text.parse(longest + noise * 4 + "x" * text.MAX_BYTES)


def test_random_damage_either_loads_or_raises_the_one_error(tmp_path):
    dice = random.Random(0)
    signs = "SEKDI|-+ \n\t\"'\\\0:éTrueend\ufeff\u2028\x0b"
    loaded = 0
    for _ in range(3000):
        damaged = list(GOOD)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(damaged))
            damaged[at : at + dice.randint(0, 2)] = dice.choice(signs)
        try:
            maze, _ = text.parse("".join(damaged))
        except (LabyrinthFileError, jaxlab.PlacementError):
            continue
        jaxlab.maze.check(maze)
        loaded += 1
    assert loaded > 100


def test_a_large_maze_goes_out_and_in():
    shape = (60, 90)
    maze = jaxlab.from_edges(jaxlab.grid.edges(shape)[::2].tolist(), shape, start=7, goal=5399)
    again, _ = text.parse(text.format(maze))
    assert equal(maze, again)


def test_an_uneven_maze_goes_out_and_in():
    maze = jaxlab.from_edges([(0, 1), (0, 2), (2, 3), (3, 5)], (3, 2), start=1, goal=5, key=0, door=3, ice=[4])
    assert equal(maze, text.parse(text.format(maze))[0])


# -- writing ---------------------------------------------------------------------------------------


def test_format_is_the_inverse_of_parse_and_says_what_is_on():
    maze, settings = text.parse(GOOD)
    written = text.format(maze, settings)
    assert written == text.format(maze, settings)
    assert written.startswith("key_and_lock: True\nicy_floor: True\nocclusion: True\n\nlabyrinth:\n-------------\n")
    assert written.endswith("| S | D     |\n-------------\nend\n")
    again, settings_again = text.parse(written)
    assert equal(maze, again) and settings == settings_again
    assert text.parse(text.format(maze))[1] == Settings(True, True, False)


def test_save_and_load(tmp_path):
    maze, settings = text.parse(GOOD)
    path = tmp_path / "folder" / "maze.labyrinth"
    jaxlab.save(path, maze, settings)
    again, settings_again = jaxlab.load(str(path))
    assert equal(maze, again) and settings == settings_again
    assert [file.name for file in path.parent.iterdir()] == ["maze.labyrinth"]


def test_what_the_language_cannot_say_is_refused():
    maze, _ = text.parse(GOOD)
    with pytest.raises(ValueError, match="no letter for tiles of one's own: 'mud'"):
        text.format(maze.replace(tiles={"mud": np.zeros((2, 3), bool)}))
    with pytest.raises(ValueError, match="one by one"):
        text.format(jaxlab.stack([maze, maze]))
    with pytest.raises(ValueError, match="key_and_lock=False would lose"):
        text.format(maze, Settings(icy_floor=True))
    with pytest.raises(ValueError, match="icy_floor=False would lose"):
        text.format(maze, Settings(key_and_lock=True))
    with pytest.raises(ValueError, match=r"start and key share cell \d+: each needs its own"):
        text.format(maze.replace(key=maze.start))
    with pytest.raises(ValueError, match="walls do not agree"):
        text.format(maze.replace(walls=np.zeros((2, 3), np.uint8)))
    with pytest.raises(TypeError, match=r"jaxlab\.Maze"):
        text.format("maze")
    with pytest.raises(TypeError, match=r"settings must be jaxlab\.Settings, got True"):
        text.format(maze, True)


# -- tiles that a file turns on and does not draw --------------------------------------------------

BRANCHES = """\
key_and_lock: True

labyrinth:
-----------------
|               |
|   + - + - +   |
| S           E |
|   + - + - +   |
|               |
-----------------
end"""
STUB = """\
key_and_lock: True

labyrinth:
-----------------
|   |       |   |
|   + - + - + - |
| S           E |
-----------------
end"""


def test_a_missing_key_and_door_are_placed_from_the_seed():
    maze, settings = text.parse(STUB, seed=1)
    assert settings.key_and_lock and int(maze.key) == 4 and int(maze.door) == 2
    assert equal(maze, text.parse(STUB, seed=1)[0])


def test_a_given_key_is_kept():
    given = STUB.replace("|   |       |   |", "| K |       |   |")
    maze, _ = text.parse(given, seed=3)
    assert int(maze.key) == 4 and int(maze.door) == 2


def test_missing_ice_is_placed_on_one_route_and_what_is_drawn_stays():
    icy = BRANCHES.replace("key_and_lock", "icy_floor")
    layouts = {text.parse(icy, seed=seed)[0].ice.tobytes() for seed in range(20)}
    assert len(layouts) == 3, "one layout for each of the three routes"
    assert np.flatnonzero(text.parse(icy.replace("| S  ", "| S I").replace("I  ", "  I"))[0].ice).tolist() == [5]


def test_no_place_for_a_tile_is_an_error_of_its_own():
    with pytest.raises(jaxlab.PlacementError, match="door"):
        text.parse(BRANCHES)
    with pytest.raises(jaxlab.PlacementError, match="only one route"):
        text.parse(STUB.replace("key_and_lock", "icy_floor"))
