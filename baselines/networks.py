"""Policies as pure functions: the CNN of Table 3a, and an MLP for vector observations.

A network is written as a Flax NNX module and used through its functional side: `Network`
holds the module's structure, `Variables` its arrays, and training carries only the latter.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from baselines.conv import Padding, conv
from baselines.windows import Windows
from jaxlab import grid, observe, tiles
from jaxlab.env import Labyrinth
from jaxlab.errors import choose

NEGATIVE_SLOPE = 0.01
"""Of every leaky ReLU (PyTorch's default, which the released code uses)."""
KEEP_STATISTICS = 0.9
"""How much of the running batch-norm statistics a step keeps (PyTorch's momentum of 0.1)."""
HIDDEN = (512, 512)
DROPOUT = 0.3


# -- a module as pure functions --------------------------------------------------------------------


class Variables(NamedTuple):
    """The arrays of a network: ``weights`` are trained, ``stats`` are batch-norm statistics."""

    weights: Any
    stats: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Network:
    """A module's structure and its pure functions. Compared by identity, so it can be static in ``jit``.

    Attributes:
        build: makes the module from ``nnx.Rngs``. Calling the module takes ``(*inputs, train,
            rngs)``: with ``train`` batch norm uses the batch's own statistics, and with ``rngs``
            there is dropout. Its arrays are ``nnx.Param`` and ``nnx.BatchStat`` only.
    """

    build: Callable[[nnx.Rngs], Any]

    @functools.cached_property
    def structure(self) -> Any:
        """The module without its arrays."""
        shapes: Any = nnx.eval_shape(lambda: self.build(nnx.Rngs(0)))
        split: Any = nnx.split  # its overloads can't be told apart by a type checker
        return split(shapes, nnx.Param, nnx.BatchStat)[0]

    def init(self, key: jax.Array) -> Variables:
        """New weights; the key is consumed."""
        return self._variables(self.build(nnx.Rngs(key)))

    def apply(self, variables: Variables, *inputs: Any) -> Any:
        """The output as in use: no dropout, the statistics of ``variables``."""
        return self._module(variables)(*inputs, train=False, rngs=None)

    def features(self, variables: Variables, x: Any) -> jax.Array:
        """What the encoder makes of observations, ``float32[B, F]``: the space in which images are near each other.

        It is the trunk's output; the last hidden layer where the trunk only rewrites what it sees.

        Raises:
            ValueError: the network is not a trunk and a head.
        """
        module = self._module(variables)
        module = getattr(module, "values", module)  # SQIL's wrapper of a policy
        if not (hasattr(module, "trunk") and hasattr(module, "head")):
            raise ValueError("this network is a whole policy: it has no encoder whose features could be compared")
        seen = module.trunk(x, train=False)
        return seen if jax.tree.leaves(nnx.state(module.trunk, nnx.Param)) else module.head.hidden(seen)

    def train(self, variables: Variables, key: jax.Array | None, *inputs: Any) -> tuple[Any, Any]:
        """The output in training, and the new statistics. Without a key there is no dropout."""
        module = self._module(variables)
        out = module(*inputs, train=True, rngs=None if key is None else nnx.Rngs(dropout=key))
        return out, self._variables(module).stats

    def precise(self, variables: Variables, *inputs: Any) -> Variables:
        """The same weights with the batch-norm statistics of exactly these inputs.

        Running statistics lag behind weights that still move (SPEC, Evaluation and numbers). Here
        every layer sees all the inputs as one batch, so the statistics fit the weights as they are.
        """
        if not jax.tree.leaves(variables.stats):
            return variables
        module = self._module(variables)
        for _, layer in nnx.iter_graph(module):
            if isinstance(layer, nnx.BatchNorm):
                layer.momentum = 0.0
        module(*inputs, train=True, rngs=None)
        return variables._replace(stats=self._variables(module).stats)

    def _module(self, variables: Variables) -> Any:
        return nnx.merge(self.structure, variables.weights, variables.stats)

    @staticmethod
    def _variables(module: Any) -> Variables:
        weights, stats = nnx.state(module, nnx.Param), nnx.state(module, nnx.BatchStat)
        return Variables(nnx.to_pure_dict(weights), nnx.to_pure_dict(stats))


def num_parameters(weights: Any) -> int:
    """How many numbers are trained."""
    return sum(leaf.size for leaf in jax.tree.leaves(weights))


# -- layers ----------------------------------------------------------------------------------------


def uniform(rngs: nnx.Rngs, shape: tuple[int, ...], fan_in: int) -> nnx.Param:
    """PyTorch's start for kernels and biases alike: uniform within 1 / sqrt(fan_in)."""
    bound = 1 / np.sqrt(fan_in)
    return nnx.Param(jax.random.uniform(rngs.params(), shape, jnp.float32, -bound, bound))


class Conv(nnx.Module):
    """`baselines.conv.conv` with weights."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: int,
        stride: int = 1,
        padding: Padding = "VALID",
        *,
        bias: bool = True,
        rngs: nnx.Rngs,
    ) -> None:
        fan_in = size * size * inputs
        self.kernel = uniform(rngs, (size, size, inputs, outputs), fan_in)
        self.bias = uniform(rngs, (outputs,), fan_in) if bias else None
        self.stride, self.padding = stride, padding

    def __call__(self, x: jax.Array) -> jax.Array:
        """``float[B, H, W, inputs]`` to ``float[B, H', W', outputs]``."""
        y = conv(x, self.kernel[...], self.stride, self.padding)
        return y if self.bias is None else y + self.bias[...]


class Linear(nnx.Module):
    """A matrix and a bias that begin as PyTorch's do."""

    def __init__(self, inputs: int, outputs: int, *, rngs: nnx.Rngs) -> None:
        self.kernel = uniform(rngs, (inputs, outputs), inputs)
        self.bias = uniform(rngs, (outputs,), inputs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """``float[..., inputs]`` to ``float[..., outputs]``."""
        return x @ self.kernel[...] + self.bias[...]


def batch_norm(channels: int, rngs: nnx.Rngs) -> nnx.BatchNorm:
    """Batch norm with PyTorch's constants."""
    return nnx.BatchNorm(channels, momentum=KEEP_STATISTICS, epsilon=1e-5, rngs=rngs)


def leaky(x: jax.Array) -> jax.Array:
    """Leaky ReLU."""
    return nnx.leaky_relu(x, NEGATIVE_SLOPE)


class Head(nnx.Module):
    """Fully connected layers with dropout after each hidden one: features to outputs."""

    def __init__(
        self, inputs: int, outputs: int, *, hidden: tuple[int, ...] = HIDDEN, dropout: float = DROPOUT, rngs: nnx.Rngs
    ) -> None:
        widths = (inputs, *hidden, outputs)
        self.layers = nnx.List([Linear(a, b, rngs=rngs) for a, b in itertools.pairwise(widths)])
        self.dropout = nnx.Dropout(dropout)

    def __call__(self, x: jax.Array, *, rngs: nnx.Rngs | None = None) -> jax.Array:
        """``float[..., inputs]`` to ``float[..., outputs]``; dropout only with ``rngs``."""
        return self.layers[-1](self.hidden(x, rngs=rngs))

    def hidden(self, x: jax.Array, *, rngs: nnx.Rngs | None = None) -> jax.Array:
        """``float[..., inputs]`` to the last hidden layer."""
        for layer in self.layers[:-1]:
            x = self.dropout(leaky(layer(x)), deterministic=rngs is None, rngs=rngs)
        return x


# -- trunks: an observation to features ------------------------------------------------------------


_CNN_WINDOWS = (8, 4)
"""Size and stride of the CNN's first convolution."""
RESNET_WINDOWS = (7, 2, 3)
"""Size, stride and padding of ResNet's."""


class ConvTrunk(nnx.Module):
    """The convolutions of Table 3a: ``uint8[B, 64, 64, 3]``, or `Windows` of it, to ``float32[B, 1024]``.

    Without batch norm see `normed`.
    """

    def __init__(self, env: Labyrinth, *, norm: bool = True, rngs: nnx.Rngs) -> None:
        self.conv1 = Conv(3, 32, *_CNN_WINDOWS, rngs=rngs)
        self.conv2 = Conv(32, 64, 4, 2, rngs=rngs)
        self.conv3 = Conv(64, 64, 3, 1, rngs=rngs)
        self.norm2 = batch_norm(64, rngs) if norm else None
        self.norm3 = batch_norm(64, rngs) if norm else None
        side = env.pixels
        for size, stride in (_CNN_WINDOWS, (4, 2), (3, 1)):
            side = (side - size) // stride + 1
        if side < 1:
            raise ValueError(f"the cnn needs pictures of at least 36 px, got pixels={env.pixels}")
        self.features = side * side * 64

    def __call__(self, x: jax.Array | Windows, *, train: bool = False) -> jax.Array:
        """Pictures of 0..255 to features."""
        x = x.each(self._first) if isinstance(x, Windows) else self._first(x)
        x = leaky(normed(self.conv2(x), self.norm2, train))
        x = leaky(normed(self.conv3(x), self.norm3, train))
        return x.reshape(x.shape[0], -1)

    def _first(self, x: jax.Array) -> jax.Array:
        return leaky(self.conv1(scaled(x, ink=self.norm2 is None)))


def scaled(x: jax.Array, *, ink: bool) -> jax.Array:
    """Bytes to 0..1; with ``ink`` white is 0."""
    x = x.astype(jnp.float32) / 255
    return 1 - x if ink else x


def normed(x: jax.Array, norm: nnx.BatchNorm | None, train: bool) -> jax.Array:
    """Batch norm; where there is none, each position's channels get mean 0 and variance 1, with nothing to learn.

    Methods that act while they learn (GAIL, SQIL) have no batch norm: its statistics would be of
    other states than those it acts in. But pictures are nine tenths white, and without any norm a
    CNN learns for a long time nothing but what all mazes share. White as 0 and the norm of each
    position's channels (Ba, Kiros & Hinton 2016) cure that; parameters are as many as before.
    """
    if norm is not None:
        return norm(x, use_running_average=not train)
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5)


class OneHotTrunk(nnx.Module):
    """The vector observation as one-hots: positions by place, the fine grid by kind of cell."""

    def __init__(self, env: Labyrinth, *, norm: bool = True, rngs: nnx.Rngs) -> None:
        del norm, rngs
        height, width = env.shape
        self.places = (2 * height - 1) * (2 * width - 1)
        own = [tile for tile in env.active_tiles if tile not in (tiles.KEY_AND_DOOR, tiles.ICE)]
        self.positions = 5 if tiles.KEY_AND_DOOR in env.active_tiles else 3
        self.memories = tuple(tile.modes for tile in own if tile.modes > 1)
        self.kinds = observe.OWN_VALUE + len(own) - 1 if own else 2 if env.icy_floor else 1
        self.features = self.places * (self.positions + self.kinds) + sum(self.memories)

    def __call__(self, x: jax.Array, *, train: bool = False) -> jax.Array:
        """``float32[B, 3 + (2H-1)(2W-1)]`` (or longer) to ``float32[B, features]``."""
        del train
        x = x.astype(jnp.int32)
        lead, after = x.shape[:-1], self.positions + len(self.memories)
        head = jax.nn.one_hot(x[..., : self.positions], self.places)  # -1, a key taken, becomes zeros
        memory = [jax.nn.one_hot(x[..., self.positions + i], modes) for i, modes in enumerate(self.memories)]
        fine = x[..., after:, None] == jnp.arange(1, self.kinds + 1)
        parts = [head.reshape(*lead, -1), *memory, fine.astype(jnp.float32).reshape(*lead, -1)]
        return jnp.concatenate(parts, -1)


# -- policies --------------------------------------------------------------------------------------


class Policy(nnx.Module):
    """A trunk and a head: observations to ``float32[B, outputs]``."""

    def __init__(self, trunk: Any, head: Head) -> None:
        self.trunk, self.head = trunk, head

    def __call__(self, x: jax.Array, *, train: bool = False, rngs: nnx.Rngs | None = None) -> jax.Array:
        """Observations to logits."""
        return self.head(self.trunk(x, train=train), rngs=rngs)


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How an encoder is best trained: what a method's config takes where it is given nothing else.

    Attributes:
        learning_rate: Adam's; the paper has 5e-4 for all methods.
        weight_decay: decoupled (AdamW); 0 is plain Adam.
        decay: ``"constant"`` or ``"cosine"`` (down to 0 at the last update). The paper names no schedule.
        clip: largest norm of the gradient, 0 for none.
        batch: examples an update.
        epochs: passes over the demonstrations.
        checks: of a trial before them, pairs (passes, training loss): a trial whose loss is not
            below that after so many passes starts again from other weights. It ends with the last.
        trials: most starts; the last one is kept as it is.
    """

    learning_rate: float = 5e-4
    weight_decay: float = 0.0
    decay: str = "constant"
    clip: float = 0.0
    batch: int = 100
    epochs: int = 300
    checks: tuple[tuple[int, float], ...] = ()
    trials: int = 1

    @property
    def trial_epochs(self) -> int:
        """Passes of a trial that holds; 0 without checks."""
        return self.checks[-1][0] if self.checks else 0


@dataclasses.dataclass(frozen=True)
class Encoder:
    """One entry of `ENCODERS`.

    Attributes:
        observation: what it reads: ``"pixels"`` or ``"vector"``.
        trunk: ``(env, norm=, rngs=) -> module`` with ``features``: observations to features.
        policy: ``(env, outputs, norm, dropout, rngs) -> module`` where a policy is more than a trunk
            and a head; None otherwise.
        recipe: how it is trained.
        windows: size, stride and padding of its first convolution where it reads `Windows` as well.
    """

    observation: str
    trunk: Callable[..., Any] | None = None
    policy: Callable[..., Any] | None = None
    recipe: Recipe = Recipe()
    windows: tuple[int, int, int] | None = None


def _planner(env: Labyrinth, **choices: Any) -> nnx.Module:
    from baselines.planner import Planner

    return Planner(env, **choices)


def _resnet(env: Labyrinth, *, attention: bool = False, **choices: Any) -> Any:
    from baselines.resnet import ResNetTrunk

    return ResNetTrunk(env, attention=attention, **choices)


# The paper names no schedule. With a constant rate the loss of these spikes to the end of training,
# and what the last weights score is luck.
_PICTURES = Recipe(decay="cosine")

ENCODERS: dict[str, Encoder] = {
    "cnn": Encoder("pixels", ConvTrunk, recipe=_PICTURES, windows=(*_CNN_WINDOWS, 0)),
    "resnet18": Encoder("pixels", _resnet, recipe=_PICTURES, windows=RESNET_WINDOWS),
    "resnet18-attention": Encoder(
        "pixels", functools.partial(_resnet, attention=True), recipe=_PICTURES, windows=RESNET_WINDOWS
    ),
    "mlp": Encoder("vector", OneHotTrunk),
    "planner": Encoder(
        "pixels",
        policy=_planner,
        recipe=Recipe(
            learning_rate=2e-3,
            weight_decay=0.3,
            decay="cosine",
            clip=1.0,
            batch=64,
            epochs=18,
            checks=((12, 0.3), (24, 0.08)),
            trials=40,
        ),
    ),
}


def encoder(name: str) -> Encoder:
    """The entry of `ENCODERS`, or an error with the nearest name."""
    return ENCODERS[choose("encoder", name, ENCODERS)]


def trunk(name: str, env: Labyrinth, *, norm: bool = True, rngs: nnx.Rngs) -> Any:
    """A module with ``features``: observations to ``float32[B, features]``."""
    make = encoder(name).trunk
    if make is None:
        usable = [other for other, entry in ENCODERS.items() if entry.trunk is not None]
        raise ValueError(f"encoder {name!r} is a whole policy and gives no features; those that do: {usable}")
    return make(env, norm=norm, rngs=rngs)


def with_features(name: str) -> str:
    """The encoder itself, or where it is a whole policy the plain one that reads the same observation.

    Critics, discriminators and inverse models need features.
    """
    entry = encoder(name)
    return name if entry.trunk is not None else {"pixels": "cnn", "vector": "mlp"}[entry.observation]


@functools.cache
def policy(
    name: str, env: Labyrinth, *, outputs: int = grid.NUM_ACTIONS, norm: bool = True, dropout: float = DROPOUT
) -> Network:
    """The network of a policy; the same arguments give the same object.

    Args:
        name: of `ENCODERS`.
        env: gives the maze's shape and what the observation holds. Weights never store it.
        outputs: numbers for each observation, 4 logits by default.
        norm: with batch norm, where the encoder has it.
        dropout: share of the hidden units dropped in training.
    """
    entry = encoder(name)

    def build(rngs: nnx.Rngs) -> Any:
        if entry.policy is not None:
            return entry.policy(env, outputs=outputs, norm=norm, dropout=dropout, rngs=rngs)
        front = trunk(name, env, norm=norm, rngs=rngs)
        return Policy(front, Head(front.features, outputs, dropout=dropout, rngs=rngs))

    return Network(build)
