"""What `baselines.winograd` and `baselines.products` choose between: ``python -m benchmarks.convolutions``.

Each row is a convolution of stride 1 with its gradients inside a loop, as training has it: milliseconds (median) of
the plain sum and of each filter, and which is chosen. Below, the gradient of a product's kernel, both ways.
"""

from __future__ import annotations

import argparse
import functools
import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from baselines import products, winograd
from benchmarks import timing

LOOP = 3
"""Steps of a loop that is timed."""
LAYERS = ((16, 64, 64, 3), (8, 128, 128, 3), (4, 256, 256, 3), (2, 512, 512, 3), (4, 64, 64, 3), (6, 128, 64, 2))
"""Side of the outputs, channels, output channels, taps: of ResNet-18, and of the CNN's last two layers."""
IMAGES = (8, 32, 100, 256)
PRODUCTS = (
    *((1, 100, 1024, 512), (1, 400, 2304, 512), (1, 1600, 1152, 256), (1, 6400, 576, 128)),
    *((1, 3584, 192, 32), (1, 22500, 192, 32), (36, 1600, 64, 64), (36, 400, 128, 128), (36, 100, 256, 256)),
)
"""How many, rows, columns and outputs."""


def convolutions(images: int, side: int, channels: int, outputs: int, taps: int) -> dict[str, Callable[..., jax.Array]]:
    """The plain sum and each filter that fits, as functions of padded images and the kernel."""
    forms = {str(size): winograd.minimal(size, taps) for size in winograd.SIZES if size <= side}
    if (side, taps) == (2, 3):
        forms["pair"] = winograd.PAIR
    return {"plain": plain_sum} | {name: functools.partial(winograd.conv, form=form) for name, form in forms.items()}


def plain_sum(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """Slices and one product."""
    taps = len(kernel)
    side = x.shape[1] - taps + 1
    slices = [x[:, r : r + side, c : c + side] for r in range(taps) for c in range(taps)]
    wide = jnp.concatenate(slices, -1).reshape(-1, taps * taps * x.shape[-1])
    return products.product(wide, kernel.reshape(wide.shape[-1], -1)).reshape(len(x), side, side, -1)


def in_loop(function: Callable[..., Any], *given: jax.Array) -> Callable[[int], Any]:
    """A function of arrays of the same shapes, called ``LOOP`` times in a scan, each time with what came out."""

    @jax.jit
    def run(given: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        def step(given: tuple[jax.Array, ...], _: None) -> tuple[tuple[jax.Array, ...], None]:
            return tuple(a - 1e-9 * b for a, b in zip(given, function(*given), strict=True)), None

        return jax.lax.scan(step, given, None, length=LOOP)[0]

    return lambda number: run(given)


def slopes(function: Callable[..., jax.Array], x: jax.Array, kernel: jax.Array) -> Callable[..., Any]:
    """The gradients of a layer with respect to its input and its kernel."""
    weight = jax.random.normal(jax.random.key(2), jax.eval_shape(function, x, kernel).shape)
    return jax.grad(lambda x, kernel: (function(x, kernel) * weight).sum(), (0, 1))


def layer(shape: tuple[int, int, int, int, int], repeats: int) -> str:
    """One row of the first table."""
    images, side, channels, outputs, taps = shape
    x = jax.random.normal(jax.random.key(0), (images, side + taps - 1, side + taps - 1, channels))
    x = x.at[:, [0, -1]].set(0).at[:, :, [0, -1]].set(0)
    kernel = jax.random.normal(jax.random.key(1), (taps, taps, channels, outputs)) / channels
    given = convolutions(*shape)
    timed = timing.side_by_side({name: in_loop(slopes(f, x, kernel), x, kernel) for name, f in given.items()}, repeats)
    chosen = winograd.fastest(images, side, side, (taps, taps), between_zeros=taps == 3)
    name = "plain" if chosen is None else "pair" if chosen is winograd.PAIR else str(len(chosen.outputs))
    figures = "  ".join(f"{way} {1e3 * t.median / LOOP:7.2f}" for way, t in timed.items())
    return f"{images:4d} x {side:2d}^2 x {channels:3d}, {taps}^2: {figures}  chosen: {name}"


def kernel_gradient(many: int, rows: int, columns: int, outputs: int, repeats: int) -> str:
    """One row of the second table."""
    x = jax.random.normal(jax.random.key(0), (many, rows, columns))
    slope = jax.random.normal(jax.random.key(1), (many, rows, outputs))
    kernel = jnp.zeros((many, columns, outputs))
    ways = {
        "x.T @ slope": lambda kernel, x, slope: (x.mT @ slope, x, slope),
        "(slope.T @ x).T": lambda kernel, x, slope: (jax.lax.optimization_barrier(slope.mT @ x).mT, x, slope),
    }
    timed = timing.side_by_side({name: in_loop(way, kernel, x, slope) for name, way in ways.items()}, repeats)
    chosen = list(ways)[products.transposed(rows, columns)]
    figures = "  ".join(f"{name} {1e3 * t.median / LOOP:7.2f}" for name, t in timed.items())
    return f"{many:2d} x {rows:5d} x {columns:4d} x {outputs:3d}: {figures}  chosen: {chosen}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(json.dumps(timing.machine()))
    for images in IMAGES:
        for shape in LAYERS:
            print(layer((images, *shape), repeats), flush=True)
    for sides in PRODUCTS:
        print(kernel_gradient(*sides, repeats), flush=True)


if __name__ == "__main__":
    main()
