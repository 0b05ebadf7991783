"""Imitation learning methods that train end to end inside jit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baselines.learning import Policy


def load(folder: str | os.PathLike[str], seed: int | None = None, which: str = "last") -> Policy:
    """A trained policy, from the folder of a run of ``python -m baselines.train`` (host).

    Args:
        folder: with results.json and policies.
        seed: of which training seed; by default the first.
        which: ``"last"`` weights, or those that were ``"best"`` on valid.

    Returns:
        A callable from observations ``[B, ...]`` (numpy) to logits ``float32[B, 4]``.

    Raises:
        FileNotFoundError: no finished run there.
        ValueError: no such seed, or damaged results.
    """
    from baselines import loading

    return loading.load(folder, seed, which)


__all__ = ["load"]
