"""Trees of arrays on disk, through Orbax: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxlab.errors import needs_extra


def _manager(folder: str | os.PathLike[str], *, create: bool) -> Any:
    try:
        import orbax.checkpoint as ocp
    except ImportError:
        raise needs_extra("orbax-checkpoint", "train") from None
    options = ocp.CheckpointManagerOptions(max_to_keep=1, create=create, enable_async_checkpointing=False)
    return ocp.CheckpointManager(Path(folder).absolute(), options=options), ocp.args


def save(folder: str | os.PathLike[str], step: int, tree: Any) -> None:
    """Keep ``tree`` as checkpoint number ``step``; the one before it goes once this one is complete."""
    manager, args = _manager(folder, create=True)
    with manager:
        manager.save(step, args=args.StandardSave(_to_disk(tree)), force=True)
        manager.wait_until_finished()


def latest(folder: str | os.PathLike[str]) -> int | None:
    """The number of the checkpoint in a folder, None where there is none."""
    if not Path(folder).is_dir():
        return None
    manager, _ = _manager(folder, create=False)
    with manager:
        return manager.latest_step()


def restore(folder: str | os.PathLike[str], like: Any) -> Any:
    """The checkpoint in a folder, as a tree of the same structure, shapes and types as ``like``.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or holds other arrays.
    """
    step = latest(folder)
    if step is None:
        raise FileNotFoundError(f"{folder}: no checkpoint here")
    manager, args = _manager(folder, create=False)
    try:
        with manager:
            found = manager.restore(step, args=args.StandardRestore(_to_disk(like)))
    except Exception as error:  # Orbax raises whatever its many parts do
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{folder}: checkpoint {step} is damaged, or of another network: {reason:.200}") from None
    return _from_disk(found, like)


def _to_disk(tree: Any) -> dict[str, Any]:
    """Leaves by number: Orbax then needs to know nothing of our types. Keys become their numbers."""
    return {f"{i:05d}": _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}


def _plain(leaf: Any) -> Any:
    if _is_key(leaf):
        leaf = jax.random.key_data(leaf) if isinstance(leaf, jax.Array) else jax.eval_shape(jax.random.key_data, leaf)
    return leaf if isinstance(leaf, jax.ShapeDtypeStruct) else np.asarray(leaf)


def _from_disk(found: dict[str, Any], like: Any) -> Any:
    leaves, structure = jax.tree.flatten(like)
    read = []
    for i, leaf in enumerate(leaves):
        value = found[f"{i:05d}"]
        if _is_key(leaf):
            value = jax.random.wrap_key_data(jax.numpy.asarray(value))
        if value.shape != leaf.shape or value.dtype != leaf.dtype:
            raise ValueError(
                f"checkpoint holds {value.dtype}{list(value.shape)} where {leaf.dtype}{list(leaf.shape)} is needed"
            )
        read.append(value)
    return jax.tree.unflatten(structure, read)


def _is_key(leaf: Any) -> bool:
    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
