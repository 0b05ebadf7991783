"""Behavioural cloning beside PyTorch: ``python -m benchmarks.training [--encoder cnn] [--batches 100 256 900]``.

One epoch is 900 pictures of 64 px in random order, the last batch filled up: the network with batch norm and dropout,
cross-entropy, Adam. Ours is the chunk of epochs that ``baselines.train`` runs; PyTorch gets the
same pictures, network and optimiser, eagerly, with as many threads as given and in each of its
memory formats. They take turns in one process. Without torch only ours is timed.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from baselines import bc, learning, runner
from baselines.windows import Windows, plain
from benchmarks import timing, torch_peer
from jaxlab import datasets

EXAMPLES = 900
BATCHES = (100, 256, EXAMPLES)


def data_for(encoder: str) -> learning.Data:
    """900 demonstrated steps in 5x5 mazes."""
    mazes = jaxlab.splits.load("5x5-v1")["train"]
    shown = datasets.demonstrations(jaxlab.Labyrinth((5, 5)), mazes)
    rows = ("maze", "mode", "cell", "action", "next_mode", "next_cell")
    first = dataclasses.replace(shown, **{name: getattr(shown, name)[:EXAMPLES] for name in rows})
    return learning.data(first, encoder)


def ours(data: learning.Data, encoder: str, batch: int, epochs: int) -> Callable[[int], Any]:
    """The chunk that ships, from the state that the last one left."""
    config = bc.Config(encoder=encoder, batch="full" if batch == EXAMPLES else batch)
    kept = [bc.init(config, data, jax.random.key(0))]

    def run(number: int) -> Any:
        del number
        kept[0], metrics = runner._chunk(bc, config, epochs, False, data, kept[0], jnp.int32(epochs))
        return metrics

    return run


def theirs(data: learning.Data, encoder: str, batch: int, epochs: int, threads: int) -> dict[str, Callable[[int], Any]]:
    """The same in PyTorch, in each memory format; nothing where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return {}
    shown = data.demonstrations
    seen = data.table.see(shown.maze, shown.mode, shown.cell)
    pictures = np.array(plain(seen))
    given = pictures, np.array(shown.action), batch, epochs, threads
    return {f"torch, {layout}": torch_peer.epochs(encoder, *given, layout) for layout in torch_peer.FORMATS}


def measure(repeats: int, epochs: int, threads: int, encoder: str = "cnn", batch: int = 100) -> dict[str, Any]:
    """Seconds an epoch, and the ratio to PyTorch in its faster format where it is there."""
    data = data_for(encoder)
    candidates = {"jaxlab": ours(data, encoder, batch, epochs)} | theirs(data, encoder, batch, epochs, threads)
    timed = timing.side_by_side(candidates, repeats)
    out: dict[str, Any] = {
        name: {"best": t.best / epochs, "median": t.median / epochs, "first": t.first} for name, t in timed.items()
    }
    mine, peers = timed.pop("jaxlab"), timed.values()
    if peers:
        out["ratio"] = {
            "best": mine.best / min(peer.best for peer in peers),
            "median": mine.median / min(peer.median for peer in peers),
        }
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", choices=list(torch_peer.NETWORKS), default="cnn")
    parser.add_argument(
        "--batches", type=int, nargs="+", default=list(BATCHES), help=f"examples an update; {EXAMPLES} is all"
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=3, help="epochs in one timed run")
    parser.add_argument("--threads", type=int, default=2, help="threads of PyTorch")
    args = parser.parse_args()
    print(json.dumps({**timing.machine(), "torch": timing.version("torch")}))
    rows = data_for(args.encoder).table.rows
    if isinstance(rows, Windows):
        print(f"{rows.index.size:,} windows, {len(np.unique(rows.index)):,} of them different")
    for batch in args.batches:
        print(f"{args.encoder}, batch {batch}")
        for name, figures in measure(args.repeats, args.epochs, args.threads, args.encoder, batch).items():
            print(f"  {name:22s}" + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()), flush=True)


if __name__ == "__main__":
    main()
