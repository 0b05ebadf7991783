"""What stands in for batch norm with pictures: ``python -m benchmarks.without_norm [--epochs 40]``.

Behavioural cloning on 5x5-v1 with the CNN, plain Adam, no dropout, one seed: the share of right labels and the
success on the training mazes every ten epochs, with batch norm, and without it by what `networks.normed` and
`networks.scaled` do.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable
from unittest import mock

import jax
import jax.numpy as jnp

import jaxlab
from baselines import bc, evaluate, learning, networks, runner
from jaxlab import datasets

EVERY = 10


def plain(x: jax.Array, norm: object, train: bool) -> jax.Array:
    """No norm at all."""
    del norm, train
    return x


def bytes_only(x: jax.Array, *, ink: bool) -> jax.Array:
    """White stays 1."""
    del ink
    return x.astype(jnp.float32) / 255


VARIANTS: dict[str, tuple[bool, dict[str, Callable[..., jax.Array]]]] = {
    "batch norm": (True, {}),
    "neither": (False, {"normed": plain, "scaled": bytes_only}),
    "white is 0": (False, {"normed": plain}),
    "channels normalised": (False, {"scaled": bytes_only}),
    "both": (False, {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--only", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    args = parser.parse_args()
    data = learning.data(
        datasets.demonstrations(jaxlab.Labyrinth((5, 5)), jaxlab.splits.load("5x5-v1")["train"]), "cnn"
    )
    config = bc.Config(epochs=args.epochs, dropout=0.0, decay="constant")
    for name in args.only:
        with_norm, changes = VARIANTS[name]
        net = networks.policy("cnn", data.env, norm=with_norm, dropout=0.0)
        with contextlib.ExitStack() as stack:
            for part, instead in changes.items():
                stack.enter_context(mock.patch.object(networks, part, instead))
            stack.enter_context(mock.patch.object(bc, "network", lambda config, env, net=net: net))
            jax.clear_caches()  # a compilation knows nothing of what was changed
            state = runner._init(bc, config, data, jax.random.key(0))
            for done in range(EVERY, args.epochs + 1, EVERY):
                state, metrics = runner._chunk(bc, config, EVERY, False, data, state, jnp.int32(EVERY))
                success = evaluate.success(net, runner._policy(bc, config, data, state, True), data.table)
                right = float(metrics["accuracy"][-1])
                print(f"{name:20s} epoch {done:3d}  right {right:.3f}  success {float(success):.2f}", flush=True)


if __name__ == "__main__":
    main()
