"""``python -m jaxlab.generate``: write splits as ``.labyrinth`` files."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from jaxlab import splits
from jaxlab.generate.search import UNIQUE_UP_TO, Progress


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m jaxlab.generate",
        description="Make disjoint splits of mazes and write OUT/{train,eval,test}/*.labyrinth. "
        "The same arguments give the same files. A folder that holds anything else is not touched.",
    )
    made.add_argument("--width", type=int, default=5, help="columns (default 5)")
    made.add_argument("--height", type=int, default=5, help="rows (default 5)")
    for name in ("train", "eval", "test"):
        made.add_argument(f"--{name}", type=int, default=100, metavar="N", help=f"mazes to {name} on (default 100)")
    made.add_argument("--seed", type=int, default=0, help="0 to 2**32 - 1 (default 0)")
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write, new or empty")
    made.add_argument("--key-and-door", action="store_true", help="a door on the way and a key off it")
    made.add_argument("--icy-floor", action="store_true", help="ice on one of the routes")
    made.add_argument("--occlusion", action="store_true", help="the agent sees only what is in line with it")
    made.add_argument("--unbiased", action="store_true", help="random start and goal instead of the two corners")
    made.add_argument("--min-distance", type=int, metavar="D", help="from start to goal with --unbiased")
    made.add_argument("--start", type=int, metavar="CELL", help="row * width + column, row 0 at the bottom")
    made.add_argument("--goal", type=int, metavar="CELL", help="given together with --start")
    made.add_argument(
        "--unique-up-to",
        choices=UNIQUE_UP_TO,
        default=UNIQUE_UP_TO[0],
        help="symmetry: no maze is a mirror image or rotation of another",
    )
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (2: the request was wrong)."""
    command = parser()
    args = command.parse_args(argv)
    begin = time.perf_counter()
    try:
        with progress_bar() as progress:
            made = splits.make(
                (args.height, args.width),
                args.train,
                args.eval,
                args.test,
                args.seed,
                key_and_door=args.key_and_door,
                icy_floor=args.icy_floor,
                occlusion=args.occlusion,
                start_goal=_start_goal(args),
                min_distance=args.min_distance,
                unique_up_to=args.unique_up_to,
                variants=False,
                progress=progress,
            )
        splits.write(args.out, made)
    except (ValueError, OSError) as error:
        command.exit(2, f"{command.prog}: {error}\n")
    for split, folder in splits.FOLDERS.items():
        if split in made:
            print(f"{len(made[split]):6d} mazes in {args.out / folder}")
    print(f"made from seed {args.seed} in {time.perf_counter() - begin:.1f} s")
    return 0


def _start_goal(args: argparse.Namespace) -> str | tuple[int, int]:
    if (args.start is None) != (args.goal is None):
        raise ValueError("--start and --goal go together")
    if args.start is None:
        return "unbiased" if args.unbiased else "biased"
    if args.unbiased:
        raise ValueError("--unbiased draws start and goal: leave out --start and --goal")
    return args.start, args.goal


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on a terminal (rich where installed, else one line that is rewritten); nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as RichProgress
    except ImportError:
        yield lambda found, wanted: print(f"\rmazes {found}/{wanted}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        return
    with RichProgress(console=Console(stderr=True)) as bar:
        task = bar.add_task("mazes", total=None)
        yield lambda found, wanted: bar.update(task, completed=found, total=wanted)


if __name__ == "__main__":
    sys.exit(main())
