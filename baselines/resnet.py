"""ResNet-18 as a trunk, and self-attention after its first two stages.

The network is PyTorch's stock ResNet-18 without its last layer (He et al. 2016); with the paper's
head of 512, 512 and 4 units the policy has 11,703,876 parameters. The attention is that of SAGAN
(Zhang et al. 2019): queries and keys of an eighth of the channels, no scaling, and an output that
is weighted by a number that begins at 0, so the network begins as if there were none.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import nnx

from baselines.networks import RESNET_WINDOWS, Conv, batch_norm, normed, scaled
from baselines.pooling import max_pool
from baselines.windows import Windows
from jaxlab.env import Labyrinth

STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Channels, and the stride of the first block, of each stage of two blocks."""


class Block(nnx.Module):
    """Two 3 x 3 convolutions beside a shortcut, which is projected where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int, *, norm: bool, rngs: nnx.Rngs) -> None:
        around = ((1, 1), (1, 1))
        self.conv1 = Conv(inputs, outputs, 3, stride, around, bias=not norm, rngs=rngs)
        self.conv2 = Conv(outputs, outputs, 3, 1, around, bias=not norm, rngs=rngs)
        self.norm1 = batch_norm(outputs, rngs) if norm else None
        self.norm2 = batch_norm(outputs, rngs) if norm else None
        changes = stride != 1 or inputs != outputs
        self.shortcut = Conv(inputs, outputs, 1, stride, bias=not norm, rngs=rngs) if changes else None
        self.shortcut_norm = batch_norm(outputs, rngs) if changes and norm else None

    def __call__(self, x: jax.Array, *, train: bool) -> jax.Array:
        """``float32[B, H, W, inputs]`` to ``float32[B, H / stride, W / stride, outputs]``."""
        y = jax.nn.relu(normed(self.conv1(x), self.norm1, train))
        y = normed(self.conv2(y), self.norm2, train)
        if self.shortcut is not None:
            x = normed(self.shortcut(x), self.shortcut_norm, train)
        return jax.nn.relu(x + y)


class SelfAttention(nnx.Module):
    """Every place looks at every other: ``out = gamma * attention + x`` with gamma 0 at the start."""

    def __init__(self, channels: int, *, rngs: nnx.Rngs) -> None:
        self.query = Conv(channels, channels // 8, 1, rngs=rngs)
        self.key = Conv(channels, channels // 8, 1, rngs=rngs)
        self.value = Conv(channels, channels, 1, rngs=rngs)
        self.gamma = nnx.Param(jnp.zeros(()))

    def __call__(self, x: jax.Array) -> jax.Array:
        """``float32[B, H, W, C]``, the shape kept."""
        batch, height, width, channels = x.shape
        flat = [part(x).reshape(batch, height * width, -1) for part in (self.query, self.key, self.value)]
        query, key, value = flat
        share = jax.nn.softmax(jnp.einsum("bic,bjc->bij", query, key), -1)
        seen = jnp.einsum("bij,bjc->bic", share, value).reshape(batch, height, width, channels)
        return self.gamma[...] * seen + x


class ResNetTrunk(nnx.Module):
    """``uint8[B, S, S, 3]``, or `Windows` of it, to ``float32[B, 512]``."""

    def __init__(self, env: Labyrinth, *, norm: bool = True, attention: bool = False, rngs: nnx.Rngs) -> None:
        del env
        size, stride, self.pad = RESNET_WINDOWS
        self.stem = Conv(3, 64, size, stride, bias=not norm, rngs=rngs)  # of padded pictures
        self.stem_norm = batch_norm(64, rngs) if norm else None
        blocks, inputs = [], 64
        for outputs, stride in STAGES:
            blocks.append(Block(inputs, outputs, stride, norm=norm, rngs=rngs))
            blocks.append(Block(outputs, outputs, 1, norm=norm, rngs=rngs))
            inputs = outputs
        self.blocks = nnx.List(blocks)
        looks = [SelfAttention(channels, rngs=rngs) for channels, _ in STAGES[:2]] if attention else []
        self.attention = nnx.List(looks)
        self.features = inputs

    def __call__(self, x: jax.Array | Windows, *, train: bool = False) -> jax.Array:
        """Pictures of 0..255 to features."""
        x = max_pool(jax.nn.relu(normed(self._stem(x), self.stem_norm, train)))
        for i, block in enumerate(self.blocks):
            x = block(x, train=train)
            if i % 2 and i // 2 < len(self.attention):
                x = self.attention[i // 2](x)
        return x.mean((1, 2))

    def _stem(self, x: jax.Array | Windows) -> jax.Array:
        """The first convolution, around which pictures are zeros once they are `scaled`."""
        ink = self.stem_norm is None
        if isinstance(x, Windows):
            if not ink:
                return x.each(lambda seen: self.stem(scaled(seen, ink=False)))
            x = x.pictures()  # windows are padded with black bytes, which ink would make ones
        around = (self.pad, self.pad)
        return self.stem(jnp.pad(scaled(x, ink=ink), ((0, 0), around, around, (0, 0))))
