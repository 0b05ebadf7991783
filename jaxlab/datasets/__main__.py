"""``python -m jaxlab.datasets``: write demonstrations for other tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from jaxlab import splits
from jaxlab.datasets.episodes import VARIANTS, Episodes, episodes
from jaxlab.datasets.huggingface import write_huggingface
from jaxlab.datasets.minari import write_minari
from jaxlab.datasets.npz import npz_bytes
from jaxlab.env import Labyrinth
from jaxlab.files import write_atomic
from jaxlab.generate.__main__ import progress_bar
from jaxlab.observe import OBSERVATIONS

FORMATS = ("npz", "huggingface", "minari")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m jaxlab.datasets",
        description="Write demonstrations in the train, valid and test mazes of a set of splits.",
    )
    source = made.add_mutually_exclusive_group(required=True)
    source.add_argument("--name", choices=splits.FROZEN, help="frozen splits")
    source.add_argument("--mazes", type=Path, metavar="DIR", help="folder of `python -m jaxlab.generate`")
    made.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder to write, new or empty (npz: or with the same files; minari: or with data sets of other names)",
    )
    made.add_argument("--format", choices=FORMATS, default="npz", help="npz: the layout of IL-Datasets (default)")
    made.add_argument("--variant", choices=VARIANTS, default="shortest", help="which solutions (default shortest)")
    made.add_argument("--observation", choices=tuple(OBSERVATIONS), help="default: pixels (vector for npz)")
    made.add_argument("--pixels", type=int, metavar="N", help="side of pictures (default 600; 64 for npz, minari)")
    made.add_argument("--seed", type=int, default=0, help="which solutions are drawn (default 0)")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (2: the request was wrong)."""
    command = parser()
    args = command.parse_args(argv)
    observation = args.observation or ("vector" if args.format == "npz" else "pixels")
    pixels = args.pixels or (600 if args.format == "huggingface" else 64)
    try:
        made = splits.load(args.name) if args.name else splits.read(args.mazes)
        env = Labyrinth.from_settings(made.shape, made.settings, observation=observation, pixels=pixels)
        played = {split: episodes(env, made[split], args.variant, args.seed) for split in splits.DRAWN if split in made}
        title = f"labyrinth-{args.name or 'x'.join(map(str, made.shape))}-{args.variant}"
        if args.format == "huggingface":
            with progress_bar() as progress:
                write_huggingface(args.out, played, title, progress)
        elif args.format == "npz":
            _write_npz(args.out, played)
        else:
            for split, one in played.items():
                write_minari(args.out, one, f"labyrinth/{title}-{split}-v0")
    except (ValueError, OSError, ImportError) as error:
        command.exit(2, f"{command.prog}: {error}\n")
    for split, one in played.items():
        print(f"{split}: {one.num_episodes} episodes, {len(one)} rows, mean return {one.returns.mean():.4f}")
    print(f"written to {args.out}")
    return 0


def _write_npz(folder: Path, played: Mapping[str, Episodes]) -> None:
    """Write ``folder/SPLIT.npz``; raise ``FileExistsError`` where anything but these very files is there."""
    wanted = {f"{split}.npz": npz_bytes(one) for split, one in played.items()}
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    # What is hidden a killed run left unfinished: the same command then ends what it began.
    there = sorted(path for path in folder.iterdir() if path.name[0] != ".") if folder.exists() else []
    if other := [path.name for path in there if not path.is_file() or path.read_bytes() != wanted.get(path.name)]:
        raise FileExistsError(f"{folder} holds {other[0]}, which is not of these data: give a new or an empty folder")
    for name, data in wanted.items():
        write_atomic(folder / name, data)


if __name__ == "__main__":
    sys.exit(main())
