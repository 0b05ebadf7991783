"""Behavioural cloning beside PyTorch: ``python -m benchmarks.training [--repeats 5] [--epochs 3]``.

One epoch is 900 pictures of 64 px in random order, batches of 100: the CNN of Table 3a with
batch norm and dropout, cross-entropy, Adam. Ours is the chunk of epochs that
``baselines.train`` runs; PyTorch gets the same pictures, network and optimiser, eagerly, with
as many threads as given. They take turns in one process. Without torch only ours is timed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from baselines import bc, learning, runner
from baselines.windows import Windows
from benchmarks import timing
from jaxlab import datasets

EXAMPLES, BATCH = 900, 100


def pictures() -> learning.Data:
    """900 demonstrated steps in 5x5 mazes."""
    mazes = jaxlab.splits.load("5x5-v1")["train"]
    shown = datasets.demonstrations(jaxlab.Labyrinth((5, 5)), mazes)
    rows = ("maze", "mode", "cell", "action", "next_mode", "next_cell")
    first = dataclasses.replace(shown, **{name: getattr(shown, name)[:EXAMPLES] for name in rows})
    return learning.data(first, "cnn")


def ours(data: learning.Data, epochs: int) -> Callable[[int], Any]:
    """The chunk that ships, from the state that the last one left."""
    config = bc.Config(batch=BATCH)
    kept = [bc.init(config, data, jax.random.key(0))]

    def run(number: int) -> Any:
        del number
        kept[0], metrics = runner._chunk(bc, config, epochs, False, data, kept[0], jnp.int32(epochs))
        return metrics

    return run


def torch_epochs(data: learning.Data, epochs: int, threads: int) -> Callable[[int], Any] | None:
    """The same in PyTorch; None where it is not installed."""
    try:
        import torch
        from torch import nn
    except ImportError:
        return None
    torch.set_num_threads(threads)
    shown = data.demonstrations
    seen = data.table.see(shown.maze, shown.mode, shown.cell)
    seen = np.array(seen.pictures() if isinstance(seen, Windows) else seen)
    images = torch.from_numpy(seen).permute(0, 3, 1, 2).contiguous()
    actions = torch.from_numpy(np.array(shown.action)).long()
    net = nn.Sequential(
        *(nn.Conv2d(3, 32, 8, 4), nn.LeakyReLU()),
        *(nn.Conv2d(32, 64, 4, 2), nn.BatchNorm2d(64), nn.LeakyReLU()),
        *(nn.Conv2d(64, 64, 3, 1), nn.BatchNorm2d(64), nn.LeakyReLU(), nn.Flatten()),
        *(nn.Linear(1024, 512), nn.LeakyReLU(), nn.Dropout(0.3)),
        *(nn.Linear(512, 512), nn.LeakyReLU(), nn.Dropout(0.3), nn.Linear(512, 4)),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)

    def run(number: int) -> None:
        torch.manual_seed(number)
        for _ in range(epochs):
            for rows in torch.randperm(EXAMPLES).split(BATCH):
                optimizer.zero_grad()
                logits = net(images[rows].float() / 255)
                nn.functional.cross_entropy(logits, actions[rows]).backward()
                optimizer.step()

    return run


def measure(repeats: int, epochs: int, threads: int) -> dict[str, Any]:
    """Seconds an epoch, and the ratio where there are two."""
    data = pictures()
    candidates = {"jaxlab": ours(data, epochs)}
    if (peer := torch_epochs(data, epochs, threads)) is not None:
        candidates["torch"] = peer
    timed = timing.side_by_side(candidates, repeats)
    out: dict[str, Any] = {
        name: {"best": t.best / epochs, "median": t.median / epochs, "first": t.first} for name, t in timed.items()
    }
    if "torch" in timed:
        mine, other = timed["jaxlab"], timed["torch"]
        out["ratio"] = {"best": mine.best / other.best, "median": mine.median / other.median}
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3, help="epochs in one timed run")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch")
    args = parser.parse_args()
    print(json.dumps({**timing.machine(), "torch": timing.version("torch")}))
    for name, figures in measure(args.repeats, args.epochs, args.threads).items():
        print(f"{name:8s}" + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
