"""One command, ``jaxlab``: make mazes, look at them, solve them, compare them, write data sets."""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from jaxlab import show, solve, text
from jaxlab.env import Labyrinth
from jaxlab.errors import choose
from jaxlab.files import write_atomic
from jaxlab.maze import Maze

WRONG_REQUEST = 2
NO_SOLUTION = 1
PICTURES = ("png", "gif", "svg")
MODULES = {
    "generate": ("jaxlab.generate.__main__", "make disjoint splits of mazes as .labyrinth files"),
    "dataset": ("jaxlab.datasets.__main__", "write demonstrations for IL-Datasets, Hugging Face or Minari"),
    "audit": ("jaxlab.audit", "what training and test mazes have in common"),
}
"""Subcommands that are a module's own ``main``: ``python -m`` of the package is the same."""


class Parser(argparse.ArgumentParser):
    """Names the nearest option or subcommand when one is not known."""

    def error(self, message: str) -> NoReturn:
        """Print the fault with a hint, and exit with status 2."""
        known = [option for action in self._actions for option in action.option_strings]
        words = [word for word in message.replace("'", " ").split() if word.startswith("--")]
        near = [match for word in words for match in difflib.get_close_matches(word, known, 1) if match != word]
        hint = f"; did you mean {near[0]}?" if near and "unrecognized" in message else ""
        self.exit(WRONG_REQUEST, f"{self.prog}: {message}{hint}\n(--help lists what there is)\n")


def show_command(argv: Sequence[str]) -> int:
    """``jaxlab show FILE``."""
    parser = Parser(prog="jaxlab show", description="Draw a maze in the terminal, as a picture or as an animation.")
    parser.add_argument("file", type=Path, help="a .labyrinth file")
    parser.add_argument(
        "--policy", action="store_true", help="arrows in the terminal: the optimal actions in every free cell"
    )
    parser.add_argument(
        "--out", type=Path, metavar="PICTURE", help="write .png, .gif (a shortest solution, played) or .svg instead"
    )
    parser.add_argument("--still", action="store_true", help="no solution in the .svg, one frame in the .gif")
    parser.add_argument("--pixels", type=int, default=600, help="side of the picture (default 600)")
    parser.add_argument("--seed", type=int, default=0, help="places tiles that the file asks for but does not draw")
    args = parser.parse_args(argv)
    if args.policy and args.out is not None:
        parser.error("--policy draws in the terminal: leave out --out")
    maze, env, params = _load(args.file, args.seed)
    if args.out is not None:
        kind = choose("the ending of --out", args.out.suffix.removeprefix(".").lower(), PICTURES)
        first = [(int(maze.start), 0)]
        play = first if args.still or kind == "png" else show.shortest(env, params)
        if kind == "svg":
            write_atomic(args.out, show.svg(maze, play))
        else:
            write_atomic(args.out, show.image(show.pictures(env, maze, play, args.pixels), kind))
        print(f"{len(play)} frame{'s' * (len(play) > 1)} written to {args.out}")
        return 0
    if not args.policy:
        print(show.unicode(maze))
        return 0
    bits = np.asarray(params.optimal[0])
    for title, mode in show.phases(env):
        print(*filter(None, [title, show.unicode(maze, bits[mode])]), sep="\n")
    return 0


def solve_command(argv: Sequence[str]) -> int:
    """``jaxlab solve FILE``."""
    parser = Parser(
        prog="jaxlab solve",
        description="Print solutions of a maze, one a line: cells, row * width + column, row 0 at the bottom. "
        "The status is 1 where the goal can't be reached.",
    )
    parser.add_argument("file", type=Path, help="a .labyrinth file")
    parser.add_argument("--all", action="store_true", help="every solution instead of a shortest one")
    parser.add_argument("--count", action="store_true", help="only the exact number of solutions, however large")
    parser.add_argument("--limit", type=int, metavar="N", help="with --all: at most N")
    parser.add_argument("--seed", type=int, default=0, help="places tiles that the file asks for but does not draw")
    args = parser.parse_args(argv)
    if args.limit is not None and not args.all:
        parser.error("--limit is for --all")
    maze, env, params = _load(args.file, args.seed)
    if int(params.shortest[0]) < 0:
        print(0 if args.count else f"{args.file}: no solution, the goal can't be reached from the start")
        return NO_SOLUTION
    if args.count:
        print(solve.count_paths(maze))
    elif args.all:
        found = solve.paths(maze, args.limit)
        assert isinstance(found, solve.Paths)
        for path in found.as_lists():
            print(*path)
        if not found.complete:
            print(f"only the first {len(found)}: there are more", file=sys.stderr)
    else:
        print(*(cell for cell, _ in show.shortest(env, params)))
    return 0


def _load(path: Path, seed: int) -> tuple[Maze, Labyrinth, Any]:
    maze, settings = text.load(path, seed)
    env = Labyrinth.from_settings(maze.shape, settings)
    return maze, env, env.params(maze)


COMMANDS: dict[str, tuple[Callable[[Sequence[str]], int], str]] = {
    "show": (show_command, "draw a maze: in the terminal, as a picture, animation or SVG"),
    "solve": (solve_command, "print a shortest solution, all of them, or how many there are"),
}


def _usage() -> str:
    every = {name: about for name, (_, about) in {**COMMANDS, **MODULES}.items()}
    lines = "\n".join(f"  {name:<10}{about}" for name, about in every.items())
    return f"usage: jaxlab COMMAND ...\n\n{lines}\n\n`jaxlab COMMAND --help` says more.\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (2: the request was wrong)."""
    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] in ("-h", "--help"):
        print(_usage(), end="")
        return 0 if argv else WRONG_REQUEST
    if argv[0] == "--version":
        import jaxlab

        print(jaxlab.__version__)
        return 0
    try:
        name = choose("command", argv[0], [*COMMANDS, *MODULES])
        if name in MODULES:
            run: Callable[[Sequence[str]], int | None] = importlib.import_module(MODULES[name][0]).main
        else:
            run = COMMANDS[name][0]
        return run(argv[1:]) or 0
    except BrokenPipeError:  # the reader, such as `head`, has enough
        return 0
    except (ValueError, OSError, ImportError) as error:
        print(f"jaxlab: {error}", file=sys.stderr)
        return WRONG_REQUEST


if __name__ == "__main__":
    sys.exit(main())
