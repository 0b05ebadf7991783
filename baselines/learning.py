"""What the methods share: their data, minibatches, the optimiser, and the loss of imitation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from baselines import networks, table
from baselines.networks import Network, Variables
from baselines.table import Table
from jaxlab.datasets import Demonstrations
from jaxlab.env import Labyrinth, Params

Metrics = dict[str, jax.Array]
"""Named scalars of one epoch."""

DECAYS = ("constant", "cosine")
RATES = ("learning_rate", "judge_rate", "model_rate")
"""The choices that a run which diverges should try smaller."""


class DivergedError(ValueError):
    """Training whose figures or arrays are NaN or infinite; the message says which, where, and what to try."""


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, eq=False)
class Data:
    """All that a method may see: the training mazes, their demonstrations, and what states look like."""

    demonstrations: Demonstrations
    table: Table

    @property
    def env(self) -> Labyrinth:
        """The environment, with the observation that the encoder reads."""
        return self.table.env

    @property
    def params(self) -> Params:
        """The training mazes."""
        return self.table.params


def data(demonstrations: Demonstrations, encoder: str, render: str = "paper", drawn: Table | None = None) -> Data:
    """What an encoder sees in every state of the training mazes (host).

    Args:
        demonstrations: what is shown.
        encoder: of `networks.ENCODERS`.
        render: how pixels are drawn.
        drawn: the table of these mazes, where it has been made already.

    Raises:
        ValueError: ``drawn`` is of other mazes, or not what the encoder reads.
    """
    entry = networks.encoder(encoder)
    if drawn is None:
        drawn = table.make(demonstrations.env, demonstrations.params, entry.observation, render)
    given = drawn.env.observation, drawn.render, len(drawn.params.mazes)
    if given != (wanted := (entry.observation, render, len(demonstrations.params.mazes))):
        raise ValueError(f"drawn holds (observation, render, mazes) {given}, but {encoder!r} needs {wanted}")
    if entry.windows is not None:
        drawn = drawn.cut(*entry.windows)
    return Data(jax.tree.map(jnp.asarray, demonstrations), drawn)


def optimizer(
    learning_rate: float, updates: int, *, weight_decay: float = 0.0, decay: str = "constant", clip: float = 0.0
) -> optax.GradientTransformation:
    """Adam; with decoupled weight decay, a cosine schedule down to 0 after ``updates``, and clipping, where asked."""
    rate: Any = optax.cosine_decay_schedule(learning_rate, updates) if decay == "cosine" else learning_rate
    adam = optax.adamw(rate, weight_decay=weight_decay) if weight_decay else optax.adam(rate)
    return optax.chain(optax.clip_by_global_norm(clip), adam) if clip else adam


def num_batches(examples: int, batch: int | str) -> int:
    """Minibatches in one pass over the examples; the last one is filled up."""
    return 1 if batch == "full" else -(-examples // min(int(batch), examples))


def minibatches(key: jax.Array, examples: int, batch: int | str) -> jax.Array:
    """Indices ``int32[minibatches, batch]`` of one pass in random order; the key is consumed.

    All batches have one size: the last is filled with examples from the beginning of the pass.
    """
    size = examples if batch == "full" else min(int(batch), examples)
    count = num_batches(examples, batch)
    order = jax.random.permutation(key, examples)
    return jnp.resize(order, (count, size)).astype(jnp.int32)


def cross_entropy(logits: jax.Array, actions: jax.Array) -> jax.Array:
    """``-log softmax(logits)[action]`` of each example: ``float32[B, 4], int32[B] -> float32[B]``.

    >>> float(cross_entropy(jnp.array([[1.0, 2.0, 3.0, 0.0]]), jnp.array([2]))[0].round(6))
    0.44019
    """
    return optax.softmax_cross_entropy_with_integer_labels(logits, actions)


def not_finite(tree: Any) -> list[str]:
    """The names of a tree's arrays that hold NaN or infinity (host)."""
    floats = [
        (path, leaf) for path, leaf in jax.tree.leaves_with_path(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)
    ]
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, leaf in floats
        if not np.isfinite(np.asarray(leaf)).all()
    ]


def check_finite(config: Any, figures: Mapping[str, np.ndarray], state: Any, seed: int, done: int) -> None:
    """Raise `DivergedError` unless the figures of the last epochs and the state after ``done`` are finite (host)."""
    found = ""
    if names := not_finite(figures):
        columns = {name: np.asarray(figures[name]) for name in names}
        at = min(int(np.flatnonzero(~np.isfinite(column))[0]) for column in columns.values())
        name = next(name for name, column in columns.items() if not np.isfinite(column[at]))
        found = f"{name} is {columns[name][at]} in epoch {done - len(columns[name]) + at + 1}"
    elif names := not_finite(state):
        found = f"{names[0]} is not finite after epoch {done}"
    if found:
        rates = ", ".join(f"{name}={getattr(config, name)}" for name in RATES if hasattr(config, name))
        raise DivergedError(f"training of seed {seed} diverged: {found}; try smaller rates ({rates})")


class Policy:
    """A trained network as a plain callable from observations (numpy) to logits.

    Attributes:
        network: what to compute.
        variables: with which arrays.
        observation: ``"pixels-paper"``, ``"pixels-direct"`` or ``"vector"``: what it was trained on.
    """

    def __init__(self, network: Network, variables: Variables, observation: str) -> None:
        self.network, self.variables, self.observation = network, variables, observation
        self._apply = jax.jit(network.apply)

    def __call__(self, observations: Any) -> np.ndarray:
        """Observations ``[B, ...]`` to logits ``float32[B, 4]``."""
        observations = np.asarray(observations)
        count = len(observations)
        # Batches are padded to powers of two, so that any size of batch compiles a few times only.
        padded = 1 << max(count - 1, 0).bit_length()
        wide = np.concatenate([observations, np.repeat(observations[-1:], padded - count, 0)])
        return np.asarray(self._apply(self.variables, jnp.asarray(wide)))[:count]


def everywhere(network: Network, variables: Variables, table: Table, batch: int = 250) -> jax.Array:
    """A network's output in every state of a table, ``float32[S, ...]``, ``batch`` states at a time.

    Walkers then gather from it, so the cost of a walk does not depend on its length.
    """
    count = table.num_states
    size = min(batch, count)
    rows = jnp.minimum(jnp.arange(-(-count // size) * size), count - 1).reshape(-1, size)
    out = jax.lax.map(lambda rows: network.apply(variables, table.see(*table.state(rows))), rows)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[:count], out)


def run(init: Any, epoch: Any, num_epochs: Any, config: Any, data: Data) -> Callable[[jax.Array], tuple[Any, Metrics]]:
    """A whole run of a method as one function of a key: the last state, and metrics ``[epochs]``."""

    def train(key: jax.Array) -> tuple[Any, Metrics]:
        length = num_epochs(config, data)
        return jax.lax.scan(lambda state, _: epoch(config, data, state), init(config, data, key), None, length=length)

    return train
