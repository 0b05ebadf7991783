"""What the planner's measurements share: runs whose weights are kept, and figures saved one by one.

Everything goes to disk as soon as it is there: weights after each training run, a figure after
each seed. A measurement that is stopped goes on where it was.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from baselines import bc, evaluate, learning, table
from baselines.bench import intervals
from baselines.networks import Network, Variables
from benchmarks import timing
from jaxlab import datasets
from jaxlab.env import Labyrinth, Params
from jaxlab.files import write_atomic
from jaxlab.maze import Maze

KEPT = Path("build/planner")
"""Where weights are kept between calls; remove it to train anew."""
_ABREAST = 20
"""Mazes that are walked together."""


class Run(NamedTuple):
    """A trained planner: its seed, its weights, and how training went (loss and seconds)."""

    seed: int
    variables: Variables
    about: dict[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class Study:
    """One way to train the planner, on one demonstration of each maze.

    Attributes:
        name: of the folder in which its weights are kept.
        mazes: what is demonstrated.
        method: a module of `baselines` with Config, init, epoch, num_epochs, policy and network.
        updates: after the trial; None: the method's own.
        settings: of the environment, such as ``{"icy_floor": True}``.
    """

    name: str
    mazes: Maze
    method: Any = bc
    updates: int | None = None
    settings: Mapping[str, bool] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def config(self) -> Any:
        """The method's."""
        given = {} if self.updates is None else {"updates": self.updates}
        return self.method.Config(encoder="planner", **given)

    def env(self, shape: tuple[int, int], pixels: int = 64) -> Labyrinth:
        """The environment in which its weights play."""
        return Labyrinth(shape, observation="pixels", pixels=pixels, **self.settings)

    def network(self, env: Labyrinth) -> Network:
        """What computes with its weights."""
        return self.method.network(self.config, env)

    def runs(self, seeds: Iterable[int], kept: Path = KEPT) -> Iterator[Run]:
        """One run for each seed, trained where it is not kept yet."""
        folder = kept / self.name.replace(", ", "/").replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        like = jax.eval_shape(self.network(self.env(self.mazes.shape)).init, jax.random.key(0))
        for seed in seeds:
            file = folder / f"{seed}.npz"
            if not file.exists():
                run = self._train(seed)
                arrays = {f"w{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(run.variables))}
                unfinished = file.with_suffix(".part.npz")
                np.savez(unfinished, run=json.dumps(run.about), **arrays)
                unfinished.rename(file)
                print(f"  seed {seed}: {run.about}", flush=True)
            with np.load(file) as held:
                leaves = [jnp.asarray(held[f"w{i}"]) for i in range(len(held.files) - 1)]
                about = json.loads(str(held["run"]))
            yield Run(seed, jax.tree.unflatten(jax.tree.structure(like), leaves), about)

    def _train(self, seed: int) -> Run:
        compiled, data, compile_seconds = self._compiled
        start = time.perf_counter(), time.process_time()
        variables, metrics = jax.block_until_ready(compiled(jax.random.key(seed), data))
        about = {
            "seconds": round(time.perf_counter() - start[0], 2),
            "cpu_seconds": round(time.process_time() - start[1], 2),
            "compile_seconds": round(compile_seconds, 2),
        }
        if "loss" in metrics:
            about["loss"] = round(float(metrics["loss"][-5:].mean()), 5)
        return Run(seed, variables, about)

    @functools.cached_property
    def _compiled(self) -> tuple[Any, learning.Data, float]:
        method, config = self.method, self.config
        shown = datasets.demonstrations(self.env(self.mazes.shape), self.mazes)
        data = learning.data(shown, config.encoder, config.render)

        @jax.jit
        def train(key, data):
            state, metrics = learning.run(method.init, method.epoch, method.num_epochs, config, data)(key)
            return method.policy(config, data, state), metrics

        begin = time.perf_counter()
        compiled = train.lower(jax.random.key(0), data).compile()
        return compiled, data, time.perf_counter() - begin


# -- scores ----------------------------------------------------------------------------------------


def exact(network: Network, run: Run, seen: table.Table) -> np.ndarray:
    """Which mazes a run solves, ``bool[N]``: an argmax policy, its answers in all states of a table."""
    actions = evaluate.all_logits(network, run.variables, seen).argmax(-1)
    return arrived(seen.env, seen.params, actions)


def arrived(env: Labyrinth, params: Params, actions: Any) -> np.ndarray:
    """Which mazes are solved by ``actions int[N, num_modes, H*W]``."""
    return np.asarray(evaluate.episodes(env, params, jnp.asarray(actions, jnp.int32)).outcome) == evaluate.GOAL


def walk(network: Network, variables: Variables, env: Labyrinth, params: Params) -> np.ndarray:
    """Which mazes are solved from the start, ``bool[N]``: as exact, but only states on the way are looked at."""
    seen = table.Table(env, "paper", params, None)

    @jax.jit
    def act(maze, cell):
        action = network.apply(variables, seen.see(maze, jnp.zeros_like(cell), cell)).argmax(-1)
        return env.rule(params.mazes, maze, cell, jnp.zeros_like(cell), action).cell

    cell, goal = np.array(params.mazes.start), np.asarray(params.mazes.goal)
    been = np.zeros((len(goal), env.num_cells), bool)
    going = np.ones(len(goal), bool)
    while going.any():
        been[np.arange(len(goal)), cell] = True
        here = cell.copy()
        left = np.flatnonzero(going)
        for part in np.resize(left, (-(-len(left) // _ABREAST), _ABREAST)):  # filled up from the beginning
            cell[part] = np.asarray(act(jnp.asarray(part), jnp.asarray(here[part])))
        going &= (cell != goal) & ~been[np.arange(len(goal)), cell]
    return cell == goal


class Figures:
    """Success by name, seed and maze, in a file that is written after each of them.

    Args:
        file: JSON; a table goes beside it.
        order: of the names' first words.
    """

    def __init__(self, file: Path, order: list[str]) -> None:
        self.file, self.order = file, order
        held = json.loads(file.read_text("utf-8")) if file.exists() else {}
        self.figures: dict[str, dict[str, Any]] = held.get("figures", {})
        self.runs: dict[str, dict[str, Any]] = held.get("runs", {})

    def lacks(self, name: str, seed: int) -> bool:
        """Is this still to be measured?"""
        return str(seed) not in self.figures.get(name, {}).get("unsolved", {})

    def add(self, name: str, seed: int, solved: np.ndarray) -> None:
        """Put in the success of one seed, ``bool[N]``, and save."""
        entry = self.figures.setdefault(name, {"unsolved": {}})
        entry["unsolved"][str(seed)] = " ".join(map(str, np.flatnonzero(~solved)))
        unsolved = dict(sorted(entry["unsolved"].items(), key=lambda item: int(item[0])))
        matrix = np.ones((len(unsolved), len(solved)), bool)
        for row, numbers in zip(matrix, unsolved.values(), strict=True):
            row[[int(number) for number in numbers.split()]] = False
        found = intervals.of_rate(matrix)
        each = matrix.mean(1).round(4).tolist()
        rate = {"mean": found.mean, "low": found.low, "high": found.high}
        self.figures[name] = {**rate, "mazes": len(solved), "each": " ".join(map(str, each)), "unsolved": unsolved}
        print(f"  {name}, seed {seed}: {solved.mean():.3f}", flush=True)
        self.save()

    def note(self, name: str, run: Run) -> None:
        """Put in how a run was trained."""
        self.runs.setdefault(name, {})[str(run.seed)] = run.about

    def save(self) -> None:
        """The figures as JSON, and as a table beside it."""
        held = {
            "machine": timing.machine(),
            "jaxlab": jaxlab.__version__,
            "figures": dict(self._sorted(self.figures)),
            "runs": dict(self._sorted(self.runs)),
        }
        write_atomic(self.file, json.dumps(held, indent=1) + "\n")
        write_atomic(self.file.with_suffix(".md"), self.markdown())

    def _sorted(self, given: dict[str, Any]) -> list[tuple[str, Any]]:
        return sorted(given.items(), key=lambda item: self.order.index(item[0].partition(",")[0]))

    def markdown(self) -> str:
        """All figures as tables."""
        lines = ["| what | mazes | success | 95 % | each seed |", "|---|---|---|---|---|"]
        for name, found in self._sorted(self.figures):
            each = " ".join(f"{100 * float(x):.0f}" for x in found["each"].split())
            mean, low, high = (f"{100 * found[key]:.1f}" for key in ("mean", "low", "high"))
            lines.append(f"| {name} | {found['mazes']} | {mean} | {low} to {high} | {each} |")
        lines += ["", "| training | seeds | seconds of processor | last loss |", "|---|---|---|---|"]
        for name, runs in self._sorted(self.runs):
            seconds, losses = ([run[key] for run in runs.values() if key in run] for key in ("cpu_seconds", "loss"))
            span = f"{min(losses):.3f} to {max(losses):.3f}" if losses else ""
            lines.append(f"| {name} | {len(runs)} | {min(seconds):.0f} to {max(seconds):.0f} | {span} |")
        return "\n".join(lines) + "\n"


def score(figures: Figures, study: Study, seeds: Iterable[int], splits: Mapping[str, Maze]) -> None:
    """Train with each seed and put in what it solves of each split, exactly; what is there is left."""
    env = study.env(study.mazes.shape)
    tables = functools.cache(lambda name: table.make(env, env.params(splits[name])))

    def lacking(seed: int) -> list[str]:
        return [name for name in splits if figures.lacks(f"{study.name}, {name}", seed)]

    for run in study.runs(seed for seed in seeds if lacking(seed)):
        figures.note(study.name, run)
        for name in lacking(run.seed):
            figures.add(f"{study.name}, {name}", run.seed, exact(study.network(env), run, tables(name)))
