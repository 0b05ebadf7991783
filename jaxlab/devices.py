"""Several devices, and several hosts: batches of environments and training seeds over a mesh.

One idea, the leading axis. What has one (states, keys, training states) is *spread*: every
device holds its share. What every device reads (params, data) is *copied*. A function of a
share then runs on each device by itself, and nothing is sent between them. Nothing else
changes: what an environment does depends on its own state, action and key, so the results
are those of one device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from jaxlab.errors import whole

AXIS = "lanes"
"""The only axis of the mesh."""


def mesh(number: int | None = None) -> Mesh:
    """The first ``number`` devices in a row; None: all there are, those of every process.

    Raises:
        ValueError: there are fewer.
    """
    found = jax.devices()
    number = len(found) if number is None else whole("devices", number, 1, len(found))
    return jax.make_mesh((number,), (AXIS,), axis_types=(AxisType.Auto,), devices=found[:number])


def spread(tree: Any, over: Mesh) -> Any:
    """Arrays whose leading axis is split over the devices, which must divide it.

    With several processes each passes the same values.

    >>> len(spread(np.arange(3), mesh(1)).sharding.device_set)
    1
    """
    size = over.devices.size
    for leaf in jax.tree.leaves(tree):
        if not np.ndim(leaf) or leaf.shape[0] % size:
            raise ValueError(f"an array of shape {np.shape(leaf)} can't be split over {size} devices")
    return _place(tree, NamedSharding(over, PartitionSpec(AXIS)))


def copy(tree: Any, over: Mesh) -> Any:
    """Arrays that every device holds whole; undoes `spread`, so that every process can read them."""
    return _place(tree, NamedSharding(over, PartitionSpec()))


def _place(tree: Any, where: NamedSharding) -> Any:
    # Under jit the same line works for one process and for several.
    return jax.jit(lambda leaves: leaves, out_shardings=where)(tree)


def each(function: Callable[..., Any], over: Mesh) -> Callable[..., Any]:
    """``function`` on each device by itself, for use inside ``jit``.

    Args:
        function: ``(share, *shared) -> results``; ``share`` and the results are trees with a
            leading axis (of one device's part), ``shared`` are trees that all read.
        over: the mesh.

    Returns:
        The same function of the whole: ``(spread, *copied) -> spread``.
    """

    def whole_function(share: Any, *shared: Any) -> Any:
        specs = (PartitionSpec(AXIS), *(PartitionSpec(),) * len(shared))
        # Nothing is sent between devices, so there is nothing that JAX would have to check.
        run = jax.shard_map(function, mesh=over, in_specs=specs, out_specs=PartitionSpec(AXIS), check_vma=False)
        return run(share, *shared)

    return whole_function
