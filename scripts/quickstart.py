"""The main job in one go: draw 5x5 mazes, clone a demonstrator, score it on five splits, draw pictures.

Writes results, metrics, checkpoints and two pictures under runs/quickstart (--out).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import baselines
from baselines import metrics, pictures, train
from baselines.evaluate import environment


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/quickstart"), help="where everything goes")
    parser.add_argument("--maze-seed", type=int, default=1, help="which mazes are drawn")
    parser.add_argument("--epochs", type=int, default=200, help="passes over the demonstrations")
    parser.add_argument("--size", type=int, default=5, help="side of the mazes")
    args = parser.parse_args()

    began = time.perf_counter()
    chosen = ["--size", str(args.size), "--maze-seed", str(args.maze_seed), "--epochs", str(args.epochs)]
    if status := train.main(["bc", *chosen, "--out", str(args.out)]):
        return status
    policy = baselines.load(args.out)
    splits = train.load_splits(train.Run(size=args.size, maze_seed=args.maze_seed))
    env = environment(splits, observation="pixels")
    title = "Behavioural cloning in mazes it has never seen"
    pictures.mazes_with_paths(policy, splits["test"], args.out / "test_mazes.png", env=env, title=title)
    pictures.learning_curves(metrics.read(args.out), args.out / "learning_curves.png")
    print(f"drawn:   {args.out / 'test_mazes.png'}\n         {args.out / 'learning_curves.png'}")
    print(f"done in {time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
