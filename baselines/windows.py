"""Pictures as the windows that a network's first convolution reads, each different window held once.

Pictures of mazes are made of few parts: the 562,500 windows of 8 x 8 pixels in the pictures of 100
mazes of 5x5 are 3,286 different ones. So what the first layer answers is computed once for each
different window, and a picture gathers its answers. The sum is the layer's own; its order is not,
so a result agrees with the plain convolution's up to rounding.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

_CHUNK = 256
"""Pictures that are cut at a time."""
_ROUND = 512
"""Windows are filled up to a multiple of this, so that sets of like mazes share a compilation."""

Pads = tuple[tuple[int, int], ...]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """A batch of pictures ``[B, H, W, C]`` as windows of ``K x K`` pixels.

    Attributes:
        windows: ``uint8[P, K, K, C]``, different ones, filled up with zeros; the first is all zeros.
        index: ``int32[B, R, S]``: which of them is at each place of a picture.
        stride: static, pixels from one place to the next.
        pads: static, rows (above, below) and columns (left, right) of zeros around the pictures.
    """

    windows: jax.Array
    index: jax.Array
    stride: int = dataclasses.field(metadata={"static": True})
    pads: Pads = dataclasses.field(metadata={"static": True})

    def __len__(self) -> int:
        return len(self.index)

    def take(self, rows: jax.Array) -> Windows:
        """Some of the pictures."""
        return dataclasses.replace(self, index=self.index[rows])

    @property
    def num_bytes(self) -> int:
        """What it takes to hold them."""
        return self.windows.size * self.windows.dtype.itemsize + self.index.size * self.index.dtype.itemsize

    def blank(self, count: int) -> Windows:
        """As many pictures of zeros."""
        return dataclasses.replace(self, index=jnp.zeros((count, *self.index.shape[1:]), self.index.dtype))

    def followed_by(self, other: Windows) -> Windows:
        """These pictures and those of ``other``, which has the same windows."""
        return dataclasses.replace(self, index=jnp.concatenate([self.index, other.index]))

    def pictures(self) -> jax.Array:
        """The pictures, ``uint8[B, H, W, C]``."""
        padded = self._padded()
        rows, cols = (slice(low, side - high) for (low, high), side in zip(self.pads, padded.shape[1:3], strict=True))
        return padded[:, rows, cols]

    def _padded(self) -> jax.Array:
        size, (rows, cols) = self.windows.shape[1], self.index.shape[-2:]
        height, width = (self.stride * (places - 1) + size for places in (rows, cols))
        # Each pixel is read from one window that covers it: the last that begins before it.
        row, col = (
            np.minimum(np.arange(length) // self.stride, places - 1)
            for length, places in ((height, rows), (width, cols))
        )
        inside_row, inside_col = np.arange(height) - row * self.stride, np.arange(width) - col * self.stride
        which = self.index[:, row[:, None], col]
        return self.windows[which, inside_row[:, None], inside_col]

    def each(self, layer: Callable[[jax.Array], jax.Array]) -> jax.Array:
        """What a convolution, and what follows it place by place, makes of the pictures: ``float[B, R, S, O]``.

        Args:
            layer: pictures with their pads, ``uint8[n, H, W, C]``, to ``float[n, R, S, O]``, by a convolution
                without padding whose size and stride are those of the windows.
        """

        def once() -> jax.Array:
            return layer(self.windows).reshape(len(self.windows), -1)[self.index]

        def everywhere() -> jax.Array:
            return layer(self._padded())

        if self.index.size <= len(self.windows):
            return everywhere()
        # On an accelerator the convolution is fast as it is, and the gradient of a gather adds in no fixed
        # order: equal runs would differ.
        return jax.lax.platform_dependent(cpu=once, default=everywhere)


Seen = jax.Array | Windows
"""Observations of some states, as arrays or, of pictures, as windows."""


def plain(seen: Seen) -> jax.Array:
    """Observations as an array, whichever way they are held."""
    return seen.pictures() if isinstance(seen, Windows) else seen


def take(seen: Seen, rows: jax.Array) -> Seen:
    """Some of the observations."""
    return seen.take(rows) if isinstance(seen, Windows) else seen[rows]


def joined(first: Seen, second: Seen) -> Seen:
    """Observations of one table one after the other."""
    if isinstance(first, Windows) and isinstance(second, Windows):
        return first.followed_by(second)
    return jnp.concatenate([plain(first), plain(second)])


def cut(pictures: np.ndarray, size: int, stride: int, pad: int = 0) -> Windows | None:
    """Find the different windows of pictures (host).

    Args:
        pictures: ``uint8[N, H, W, C]``.
        size: K, pixels of a window along each axis.
        stride: pixels from one to the next; with the padding, each pixel must be in some window.
        pad: rows and columns of zeros on each side. Those that no window reads are left out.

    Returns:
        The same pictures as `Windows`; None where that would take more memory, or does not fit.
    """
    sides = pictures.shape[1:3]
    pads: Pads = tuple((pad, pad - (side + 2 * pad - size) % stride) for side in sides)
    if not len(pictures) or stride > size or min(sides) < size or any(after < 0 for _, after in pads):
        return None
    places = [(side + sum(pads[axis]) - size) // stride + 1 for axis, side in enumerate(sides)]
    blank = np.zeros(size * size * pictures.shape[3], np.uint8)
    # Equal windows are dropped chunk by chunk, and then once more.
    found = [
        _different(_windows(np.pad(pictures[low : low + _CHUNK], ((0, 0), *pads, (0, 0))), size, stride))
        for low in range(0, len(pictures), _CHUNK)
    ]
    different, again = _different(np.concatenate([blank[None], *(part for part, _ in found)]))
    first = np.cumsum([1, *(len(part) for part, _ in found)])
    index = np.concatenate([again[low + inverse] for low, (_, inverse) in zip(first[:-1], found, strict=True)])
    fill = -len(different) % _ROUND
    windows = np.concatenate([different, np.broadcast_to(blank, (fill, len(blank)))])
    whole = Windows(
        jnp.asarray(windows.reshape(-1, size, size, pictures.shape[3])),
        jnp.asarray(index.reshape(-1, *places).astype(np.int32)),
        stride,
        pads,
    )
    return whole if whole.num_bytes < pictures.nbytes else None


def _windows(pictures: np.ndarray, size: int, stride: int) -> np.ndarray:
    """Every window of pictures ``[N, H, W, C]`` as a row of bytes."""
    slid = np.lib.stride_tricks.sliding_window_view(pictures, (size, size), (1, 2))[:, ::stride, ::stride]
    return np.ascontiguousarray(slid.transpose(0, 1, 2, 4, 5, 3)).reshape(-1, size * size * pictures.shape[3])


def _different(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of ``uint8[n, K]`` in the order of their bytes, and which of them each row is."""
    whole = rows.view(f"V{rows.shape[1]}").ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], inverse
