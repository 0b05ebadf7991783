"""A run from splits to results: jitted chunks of epochs, with everything slow between them.

Progress, metrics, checkpoints and the watch over train and valid success live on the host
between two chunks. A method is a module with the functions of `Method`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from baselines import checkpoints, evaluate, folders, learning, metrics, networks, replay, results, table
from baselines.learning import Data, check_finite
from baselines.networks import Network, Variables
from baselines.report import Report
from baselines.table import Table
from jaxlab import datasets, devices
from jaxlab.env import Labyrinth
from jaxlab.maze import Maze

CHECKS = 20
"""How often a run looks at train and valid success, unless told otherwise."""


class Method(Protocol):
    """What a method's module offers. ``config`` is its frozen dataclass, ``state`` its own pytree."""

    @property
    def Config(self) -> Any:  # noqa: N802
        """The frozen dataclass of its choices, with ``encoder`` and ``render`` among them."""

    def network(self, config: Any, env: Labyrinth) -> Network:
        """The network whose logits act."""

    def num_epochs(self, config: Any, data: Data) -> int:
        """How often ``epoch`` is called in a run."""

    def init(self, config: Any, data: Data, key: jax.Array) -> Any:
        """The state before the first epoch."""

    def epoch(self, config: Any, data: Data, state: Any) -> tuple[Any, dict[str, jax.Array]]:
        """The next state, and named scalars."""

    def policy(self, config: Any, data: Data, state: Any, *, precise: bool = True) -> Variables:
        """The arrays that ``network`` acts with; with raw running statistics unless ``precise``."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to run around a method: seeds, places, and how often to look."""

    seeds: int = 1
    seed: int = 0
    out: Path | None = None
    check_every: int | None = None
    resume: bool = False
    tensorboard: bool = False
    vmap: bool | None = None
    demo_seed: int = 0
    devices: int = 1

    def __post_init__(self) -> None:
        if self.tensorboard and self.out is None:
            raise ValueError("tensorboard needs a folder: give out")

    @property
    def all_seeds(self) -> list[int]:
        """The training seeds: ``seed, seed + 1, ...``."""
        return list(range(self.seed, self.seed + self.seeds))

    def groups(self) -> list[list[int]]:
        """Seeds that train at the same time: as many on each device as on any other."""
        together = self.vmap if self.vmap is not None else jax.default_backend() != "cpu"
        width = min(self.devices, self.seeds)
        size = self.seeds // width * width if together else width
        return [self.all_seeds[first : first + size] for first in range(0, self.seeds, size)]


Watch = Callable[[int, int, int, Mapping[str, float]], None]
"""Called between chunks: (seed, epochs done, epochs in all, newest figures)."""


def draw(splits: Mapping[str, Maze], env: Labyrinth, observation: str, render: str) -> dict[str, Table]:
    """What there is to see in every split (host)."""
    return {name: table.make(env, env.params(mazes), observation, render) for name, mazes in splits.items()}


def run(
    name: str,
    method: Method,
    config: Any,
    splits: Mapping[str, Maze],
    plan: Plan,
    *,
    env: Labyrinth | None = None,
    watch: Watch | None = None,
) -> tuple[dict[str, Any], Report]:
    """Train and score every seed; write checkpoints, metrics and results where ``plan.out`` says (host).

    Policies, replay and results are written together, when every seed is trained: whatever results.json is
    there, it is of the policies beside it.

    Returns:
        (results in the form of results.json, the table to print).

    Raises:
        DivergedError: a figure or an array became NaN or infinite (looked at between chunks).
        OSError: another process trains in ``plan.out``.
        ValueError: ``plan.resume``, and the run in ``plan.out`` was begun with other choices.
    """
    env = evaluate.environment(splits) if env is None else env
    seen = draw(splits, env, networks.encoder(config.encoder).observation, config.render)
    shown = datasets.demonstrations(env, seen["train"].params, plan.demo_seed)
    data = learning.data(shown, config.encoder, config.render, seen["train"])
    with folders.alone(plan.out):
        runner = _Runner(name, method, config, data, seen, plan, watch)
        if plan.out is not None:
            folders.begin(plan.out, begun(name, config, splits, env, plan.demo_seed), resume=plan.resume)
        runs, report = [], Report()
        for group in plan.groups():
            for seed, state, best, seconds in runner.train(group):
                scores = runner.score(seed, state, best, report)
                runs.append({"seed": seed, "train_seconds": seconds, "splits": scores})
        for split, drawn in seen.items():
            evaluate.add_references(report, split, drawn.env, drawn.params)
        out = describe(name, config, splits, seen["train"]) | {"seeds": runs}
        if plan.out is not None:
            results.check(out)  # before anything older is touched
            (plan.out / results.FILE).unlink(missing_ok=True)
            runner.keep(plan.out)
            replay.write(plan.out, env, splits, runner.actions)
            results.write(plan.out, out)  # the last file: where it is, the run is complete
            folders.discard_previous(plan.out)
    return out, report


def begun(name: str, config: Any, splits: Mapping[str, Maze], env: Labyrinth, demo_seed: int = 0) -> dict[str, Any]:
    """All that a run must share with the one that it goes on with, as `folders.begin` takes it (host)."""
    mazes = {"mazes": digests(splits), "settings": settings(env), "demo_seed": demo_seed}
    return {folders.CONFIG: json.loads(dump(name, config)), folders.MAZES: mazes}


def digests(splits: Mapping[str, Maze]) -> dict[str, str]:
    """What tells the mazes of every split from others: `jaxlab.splits.digest` (host)."""
    from jaxlab.splits import digest

    return {split: digest(mazes) for split, mazes in splits.items()}


def settings(env: Labyrinth) -> dict[str, Any]:
    """The rules and the view, as results.json has them."""
    return {
        "key_and_door": env.key_and_door,
        "icy_floor": env.icy_floor,
        "occlusion": env.occlusion,
        "pixels": env.pixels,
    }


def describe(name: str, config: Any, splits: Mapping[str, Maze], seen: Table) -> dict[str, Any]:
    """Everything in results.json but the seeds."""
    env = seen.env
    return {
        "format": results.FORMAT,
        "method": name,
        "encoder": config.encoder,
        "observation": seen.name,
        "settings": settings(env),
        "config": dataclasses.asdict(config),
        "versions": results.versions(),
        "machine": results.machine(),
        "mazes": {
            "name": getattr(splits, "name", None),
            "shape": list(env.shape),
            "seed": getattr(splits, "seed", None),
            "sha256": digests(splits),
        },
    }


def dump(name: str, config: Any) -> str:
    """What config.json holds: the method and every choice, for ``baselines.train METHOD --config``."""
    return json.dumps({"method": name, **dataclasses.asdict(config)}, indent=1) + "\n"


def policy_folder(out: str | os.PathLike[str], seed: int, which: str) -> Path:
    """Where the weights of a seed lie: ``which`` is ``"last"`` or ``"best"``."""
    return Path(out) / folders.POLICIES / f"seed-{seed}" / which


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3), donate_argnums=5)
def _chunk(method: Method, config: Any, size: int, lanes: bool | Mesh, data: Data, state: Any, count: jax.Array) -> Any:
    """``count`` epochs (at most ``size``, so that every chunk of a run shares one compilation).

    ``lanes``: the state is that of several seeds; a mesh: and they are spread over it.
    """

    def go(state, data, count):
        like = jax.eval_shape(lambda: method.epoch(config, data, state)[1])
        kept = jax.tree.map(lambda leaf: jnp.zeros((size, *leaf.shape), leaf.dtype), like)

        def one(i, carry):
            state, kept = carry
            state, new = method.epoch(config, data, state)
            return state, jax.tree.map(lambda rows, row: rows.at[i].set(row), kept, new)

        return jax.lax.fori_loop(0, count, one, (state, kept))

    def share(state, data, count):
        """The seeds of one device; a single one runs as it does alone, to the bit."""
        if jax.tree.leaves(state)[0].shape[0] > 1:
            return jax.vmap(go, (0, None, None))(state, data, count)
        alone = go(jax.tree.map(lambda leaf: leaf[0], state), data, count)
        return jax.tree.map(lambda leaf: leaf[None], alone)

    if isinstance(lanes, Mesh):
        return devices.each(share, lanes)(state, data, count)
    return (share if lanes else go)(state, data, count)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _init(method: Method, config: Any, data: Data, key: jax.Array) -> Any:
    return method.init(config, data, key)


@functools.partial(jax.jit, static_argnums=(0, 1, 4))
def _policy(method: Method, config: Any, data: Data, state: Any, precise: bool) -> Variables:
    return method.policy(config, data, state, precise=precise)


def together(states: Sequence[Any]) -> Any:
    """The states of several seeds as one, each along a new first axis."""

    def stack(*leaves: jax.Array) -> jax.Array:
        found = jnp.stack(leaves)
        # JAX's check of keys used twice (jax_debug_key_reuse) takes stacked keys for used; none of them was.
        return jax.random.clone(found) if jnp.issubdtype(found.dtype, jax.dtypes.prng_key) else found

    return jax.tree.map(stack, *states)


class _Runner:
    """The host's side of a run."""

    def __init__(self, name, method, config, data, seen, plan, watch) -> None:
        self.name, self.method, self.config, self.data = name, method, config, data
        self.seen, self.plan, self.watch = seen, plan, watch
        self.network = method.network(config, data.env)
        self.total = method.num_epochs(config, data)
        self.size = min(plan.check_every or max(1, -(-self.total // CHECKS)), self.total)
        self.actions: dict[tuple[int, str], np.ndarray] = {}
        self.policies: dict[tuple[int, str], Variables] = {}
        devices.mesh(plan.devices)  # raises where there are fewer

    def train(self, seeds: list[int]) -> list[tuple[int, Any, Variables, float]]:
        """Train seeds together: (seed, last state, best variables, seconds) of each."""
        width = min(self.plan.devices, len(seeds))
        lanes: bool | Mesh = devices.mesh(width) if width > 1 else len(seeds) > 1
        data = devices.copy(self.data, lanes) if isinstance(lanes, Mesh) else self.data
        keys = [jax.random.key(seed) for seed in seeds]
        states = [_init(self.method, self.config, self.data, key) for key in keys]
        state = together(states) if lanes else states[0]
        best = [_policy(self.method, self.config, self.data, one, True) for one in states]
        kept = {"state": state, "best": best, "score": np.full(len(seeds), -1.0), "seconds": np.zeros(())}
        done, folder = 0, None
        if self.plan.out is not None:
            folder = self.plan.out / folders.CHECKPOINTS / "-".join(map(str, seeds))
            if self.plan.resume and (done := checkpoints.latest(folder) or 0):
                kept = checkpoints.restore(folder, kept)
        if isinstance(lanes, Mesh):
            kept["state"] = devices.spread(kept["state"], lanes)
        go = functools.partial(_chunk, self.method, self.config, self.size, lanes, data)
        kept["state"], _ = go(kept["state"], jnp.int32(0))  # compiles, and trains nothing
        with metrics.recorder(self.plan.out, seeds, done, tensorboard=self.plan.tensorboard) as record:
            while done < self.total:
                count = min(self.size, self.total - done)
                begin = time.perf_counter()
                kept["state"], figures = jax.block_until_ready(go(kept["state"], jnp.int32(count)))
                kept["seconds"] = kept["seconds"] + (time.perf_counter() - begin)
                done += count
                record(self._look(seeds, kept, jax.device_get(figures), done, count, lanes))
                if folder is not None:
                    checkpoints.save(folder, done, kept)
        each = self._split(kept["state"], len(seeds), lanes)
        return [
            (seed, one, best, float(kept["seconds"]) / len(seeds))
            for seed, one, best in zip(seeds, each, kept["best"], strict=True)
        ]

    @staticmethod
    def _split(state: Any, count: int, lanes: bool | Mesh) -> list[Any]:
        if isinstance(lanes, Mesh):
            state = jax.device_put(state, jax.devices()[0])
        return [jax.tree.map(lambda leaf, i=i: leaf[i], state) for i in range(count)] if lanes else [state]

    def _look(self, seeds, kept, figures, done, count, lanes) -> list[metrics.Row]:
        """The figures of a chunk, row by row, and the success on train and valid after it."""
        rows = []
        for i, one in enumerate(self._split(kept["state"], len(seeds), lanes)):
            of_lane = {name: (values[i] if lanes else values)[:count] for name, values in figures.items()}
            check_finite(self.config, of_lane, one, seeds[i], done)
            variables = _policy(self.method, self.config, self.data, one, True)
            watched = {
                f"{name}_success": float(evaluate.success(self.network, variables, self.seen[name]))
                for name in ("train", "valid")
                if name in self.seen
            }
            # Only valid may choose; without one the best are the last.
            score = watched.get("valid_success", float(done))
            if score > kept["score"][i]:
                kept["score"][i], kept["best"][i] = score, variables
            for k in range(count):
                row = {"seed": seeds[i], "epoch": done - count + k + 1}
                rows.append(row | {name: float(values[k]) for name, values in of_lane.items()})
            rows[-1] |= watched | {"seconds": float(kept["seconds"])}
            if self.watch is not None:
                self.watch(seeds[i], done, self.total, rows[-1])
        return rows

    def keep(self, out: Path) -> None:
        """Save what `load` reads: the weights that were scored, and no others."""
        shutil.rmtree(out / folders.POLICIES, ignore_errors=True)
        for (seed, which), variables in self.policies.items():
            checkpoints.save(policy_folder(out, seed, which), self.total, variables)

    def score(self, seed: int, state: Any, best: Variables, report: Report) -> dict[str, Any]:
        """Every figure of a trained seed on every split; ``actions`` and ``policies`` note what was scored."""
        last = _policy(self.method, self.config, self.data, state, True)
        self.policies[seed, "last"], self.policies[seed, "best"] = jax.device_get((last, best))
        running = _policy(self.method, self.config, self.data, state, False)
        out = {}
        for split, seen in self.seen.items():
            env, params = seen.env, seen.params
            logits = {
                "argmax": evaluate.all_logits(self.network, last, seen),
                "best": evaluate.all_logits(self.network, best, seen),
                "running_bn": evaluate.all_logits(self.network, running, seen),
            }
            scores: dict[str, Any] = {
                kind: evaluate.score(env, params, values.argmax(-1), details=kind == "argmax")
                for kind, values in logits.items()
            }
            scores["sampled"] = evaluate.score_sampled(env, params, logits["argmax"])
            self.actions[seed, split] = np.asarray(logits["argmax"].argmax(-1))
            out[split] = scores
            for kind, row in _ROWS.items():
                report.add(f"{self.name} {row}", split, scores[kind])
        return out


_ROWS = {
    "argmax": "last weights",
    "best": "best on valid",
    "running_bn": "running statistics",
    "sampled": "sampled, within 4 L",
}
