"""What the planner does, and why: ``python -m benchmarks.planner [--only main transfer ...] [--seeds 10]``.

Argmax policy, exact evaluation, demonstrations of ``5x5-v1`` where nothing else is said. Each figure
goes into ``planner.json`` and ``planner.md`` as soon as it is there, and the same call goes on after
the last one: delete an entry (and the weights in ``build/planner``) to measure it again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from baselines import bco, dagger, gail, iupe, networks, planner, sqil, table
from baselines.networks import Network, Variables
from benchmarks.planner_runs import Figures, Run, Study, arrived, score, walk
from jaxlab import splits
from jaxlab.env import Labyrinth, Params
from jaxlab.maze import Maze

MAZES = "5x5-v1"
SEEDS = 5
"""Of every part but the main one."""
UPDATES = 342
"""Of every run after its trial, whatever the number of demonstrations: the planner's recipe on 100 mazes."""
DAGGER_UPDATES = 800
"""Ten rounds, after BC's trial."""
DEMONSTRATIONS = (1, 3, 10, 30)
PIXELS_PER_CELL = 12.8
TRANSFER = ((15, None), (8, None), (10, None), (4, None), (3, None), (8, 64), (10, 64), (4, 64), (3, 64), (15, 64))
"""(rows and columns, pixels of the picture; None: as many a cell as at 5x5)."""
TRANSFER_SEED = 2_000
"""Of the mazes of other sizes."""
CHOSEN_ON = 7
"""Seed of the mazes on which choices were made."""
TIMES, SURE_ON = (1.0, 2.0, 4.0, 9.0), (7, 21, 22, 33)
"""How much more certain than in training, and seeds of the mazes: chosen on the first three, then looked at on 33."""
EVALUATED = 100
_BATCH = 500

LEFT_OUT: dict[str, Mapping[str, Any]] = {
    "all of it": {},
    "borders seen in place": {"judge": lambda self, x, key, judge=planner.Planner.judge: judge(self, x, None)},
    "whole cells seen": {"TAPS": np.arange(-5.5, 6)},
    "scores as they are": {"SURE": 1.0},
    "no second start": {"trials": 1},
    "ends worth more": {"WORTHLESS": planner.WORTHLESS / 4},
    "borders half shut at first": {"OPEN_AT_FIRST": 0.0},
    "last layers not small": {"SMALL": 1.0},
}
"""What is taken away, by what it is called in `reasons`."""


def cloning() -> Study:
    """The run that most parts share."""
    return Study("main", splits.load(MAZES)["train"], updates=UPDATES)


def unseen(names: tuple[str, ...] = ("test", "s0", "s0_g")) -> dict[str, Maze]:
    """Splits of `MAZES`."""
    given = splits.load(MAZES)
    return {name: given[name] for name in names}


def beliefs_of(run: Run, env: Labyrinth, params: Params) -> tuple[planner.Beliefs, np.ndarray]:
    """What a run believes in every state, and the maze of each state."""
    seen = table.make(env, params)
    network = networks.policy("planner", env)
    parts = [
        jax.device_get(_read(network, run.variables, seen, jnp.arange(low, min(low + _BATCH, seen.num_states))))
        for low in range(0, seen.num_states, _BATCH)
    ]
    joined = planner.Beliefs(*(None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)))
    return joined, np.asarray(seen.state(np.arange(seen.num_states))[0])


@functools.partial(jax.jit, static_argnums=0)
def _read(network: Network, variables: Variables, seen: table.Table, states: jax.Array) -> planner.Beliefs:
    return planner.read(network, variables, seen.see(*seen.state(states)))


def truth_of(env: Labyrinth, params: Params) -> planner.Beliefs:
    """Exact beliefs in every state."""
    states = table.Table(env, "paper", params, None)
    maze, mode, cell = states.state(jnp.arange(states.num_states))
    return planner.truth(env, jax.tree.map(jnp.asarray, params.mazes)[maze], mode, cell)


@functools.partial(jax.jit, static_argnums=1)
def act_on(beliefs: planner.Beliefs, iterations: int | None = None) -> jax.Array:
    """The best action of each belief, ``int32[B]``."""
    return planner.plan(beliefs, iterations=iterations).argmax(-1)


def solved_by(beliefs: planner.Beliefs, env: Labyrinth, params: Params, iterations: int | None = None) -> np.ndarray:
    """Which mazes are solved by planning on beliefs about all states, ``bool[N]``."""
    actions = act_on(jax.tree.map(jnp.asarray, beliefs), iterations)
    return arrived(env, params, actions.reshape(len(params.mazes), env.num_modes, env.num_cells))


# -- parts -----------------------------------------------------------------------------------------


def reference(figures: Figures, seeds: int) -> None:
    """No learning: the same planning on exact beliefs, on every frozen split."""
    for frozen in splits.FROZEN:
        given = splits.load(frozen)
        for name, mazes in given.items():
            if figures.lacks(label := f"reference, {frozen}, {name}", 0):
                env = Labyrinth.from_settings(mazes.shape, given.settings)
                params = env.params(mazes)
                figures.add(label, 0, solved_by(truth_of(env, params), env, params))


def main_table(figures: Figures, seeds: int) -> None:
    """Behavioural cloning on all five splits."""
    score(figures, cloning(), range(seeds), unseen(("test", "s0", "s0_g", "valid", "train")))


def transfer(figures: Figures, seeds: int) -> None:
    """Unseen mazes of other sizes, with the weights of 5x5."""
    study = cloning()
    for size, pixels in TRANSFER:
        drawn = pixels or round(size * PIXELS_PER_CELL)
        name = f"transfer, {size}x{size} at {drawn} px"
        lacking = [seed for seed in range(min(seeds, SEEDS)) if figures.lacks(name, seed)]
        if not lacking:
            continue
        # There are 96 of 3x3, and a split needs one for training.
        count = 95 if size == 3 else EVALUATED // 2 if size > 10 else EVALUATED
        mazes = splits.make((size, size), 1, 0, count, seed=TRANSFER_SEED)["test"]
        env = study.env((size, size), drawn)
        params = env.params(mazes)
        for run in study.runs(lacking):
            figures.add(name, run.seed, walk(study.network(env), run.variables, env, params))


def doubts(figures: Figures, seeds: int) -> None:
    """15x15 with scores taken as in training, and with the truth in the place of what is seen; own mazes."""
    study, size = cloning(), 15
    mazes = splits.make((size, size), 1, 0, 10, seed=CHOSEN_ON)["test"]
    env = study.env((size, size), round(size * PIXELS_PER_CELL))
    params = env.params(mazes)
    true = jax.tree.map(np.asarray, truth_of(env, params))
    agent, walls = {"agent": true.agent}, {"across": true.across, "along": true.along}
    last = "doubts, as used"
    for run in study.runs(seed for seed in range(min(seeds, SEEDS)) if figures.lacks(last, seed)):
        with changed({"SURE": 1.0, "LEARNED_ON": env.num_cells}):
            seen = beliefs_of(run, env, params)[0]
        for name, given in (("nothing", {}), ("agent", agent), ("walls", walls), ("agent and walls", agent | walls)):
            solved = solved_by(seen._replace(**given), env, params)
            figures.add(f"doubts, scores as they are, {name} true", run.seed, solved)
        figures.add(last, run.seed, walk(study.network(env), run.variables, env, params))


def certainty(figures: Figures, seeds: int) -> None:
    """How much more certain in use than in training: all splits of sets of mazes of their own."""
    for what, flags, numbers in (
        ("", {}, SURE_ON),
        ("key and door, ", {"key_and_door": True}, SURE_ON[:1]),
        ("ice, ", {"icy_floor": True}, SURE_ON[:1]),
    ):
        for number in numbers:
            given = splits.make((5, 5), 100, 100, 100, seed=number, **flags)
            study = Study(f"certainty, {what}{number}", given["train"], updates=UPDATES, settings=flags)
            env = study.env((5, 5))
            params = [env.params(mazes) for mazes in given.values()]
            names = {times: f"certainty, {what}mazes of seed {number}, {times:g} times" for times in TIMES}
            for run in study.runs(seed for seed in range(min(seeds, 2)) if figures.lacks(names[TIMES[-1]], seed)):
                for times, name in names.items():
                    with changed({"certainty": lambda shape, bare, times=times: times}):
                        solved = [solved_by(beliefs_of(run, env, each)[0], env, each) for each in params]
                    figures.add(name, run.seed, np.concatenate(solved))


def unbiased(figures: Figures, seeds: int) -> None:
    """Demonstrations with random starts and goals."""
    given = splits.load(MAZES)
    drawn = splits.make((5, 5), 100, 0, 0, seed=TRANSFER_SEED, start_goal="unbiased")["train"]
    # Its own structures may be among those tested: they are left out.
    known = {walls.tobytes() for name in ("train", "valid", "test") for walls in np.asarray(given[name].walls)}
    fresh = np.array([walls.tobytes() not in known for walls in np.asarray(drawn.walls)])
    score(
        figures,
        Study("unbiased", drawn[np.flatnonzero(fresh)], updates=UPDATES),
        range(min(seeds, SEEDS)),
        unseen(),
    )


def demonstrations(figures: Figures, seeds: int) -> None:
    """Fewer demonstrations: repeated, so that a pass has as many updates as with 100 mazes."""
    train = splits.load(MAZES)["train"]
    for count in DEMONSTRATIONS:
        mazes = train[np.arange(len(train)) % count]
        study = Study(f"demonstrations, {count}", mazes, updates=UPDATES)
        score(figures, study, range(min(seeds, SEEDS)), unseen(("test", "s0_g")))


def iterations(figures: Figures, seeds: int) -> None:
    """Trained with 25 rounds of value iteration, used with fewer."""

    def use(figures: Figures, name: str, seed: int, beliefs: planner.Beliefs, env: Labyrinth, params: Params) -> None:
        for rounds in range(1, env.num_cells + 1):
            if figures.lacks(label := f"iterations, {name}, {rounds}", seed):
                figures.add(label, seed, solved_by(beliefs, env, params, rounds))

    _with_beliefs(figures, seeds, ("test", "s0_g"), use, last="iterations, s0_g, 25")


def walls(figures: Figures, seeds: int) -> None:
    """Each thing that it sees replaced by the truth, the others left as they are seen."""

    def use(figures: Figures, name: str, seed: int, beliefs: planner.Beliefs, env: Labyrinth, params: Params) -> None:
        true = jax.tree.map(np.asarray, truth_of(env, params))
        for label, given in (
            ("as seen", beliefs),
            ("true walls", beliefs._replace(across=true.across, along=true.along)),
            ("true goal and agent", beliefs._replace(goal=true.goal, agent=true.agent)),
        ):
            figures.add(f"walls, {name}, {label}", seed, solved_by(given, env, params))

    _with_beliefs(figures, seeds, ("test", "s0", "s0_g"), use, last="walls, s0_g, true goal and agent")


def _with_beliefs(figures: Figures, seeds: int, names: tuple[str, ...], use: Callable[..., None], last: str) -> None:
    """Hand what every run of the main part believes about some splits to ``use``; ``last`` is what it ends with."""
    study = cloning()
    env = study.env((5, 5))
    for run in study.runs(seed for seed in range(min(seeds, SEEDS)) if figures.lacks(last, seed)):
        for name, mazes in unseen(names).items():
            params = env.params(mazes)
            use(figures, name, run.seed, beliefs_of(run, env, params)[0], env, params)


def reasons(figures: Figures, seeds: int) -> None:
    """What closed the gap: one thing at a time left out of what it took."""
    for name, change in LEFT_OUT.items():
        with changed(change):
            study = Study(f"reasons, {name}" if change else "main", splits.load(MAZES)["train"], updates=UPDATES)
            score(figures, study, range(min(seeds, SEEDS)), unseen(("test", "s0_g")))


@contextlib.contextmanager
def changed(change: Mapping[str, Any]) -> Iterator[None]:
    """The planner with other constants, another `planner.Planner.judge` or another number of trials."""
    change = dict(change)
    entry = networks.ENCODERS["planner"]
    recipe = dataclasses.replace(entry.recipe, trials=change.pop("trials", entry.recipe.trials))
    judge = change.pop("judge", planner.Planner.judge)
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(networks.ENCODERS, planner=dataclasses.replace(entry, recipe=recipe)))
        stack.enter_context(mock.patch.object(planner.Planner, "judge", judge))
        for constant, value in change.items():
            stack.enter_context(mock.patch.object(planner, constant, value))
        # A network that is the same object is not compiled again.
        networks.policy.cache_clear()
        stack.callback(networks.policy.cache_clear)
        yield


def settings(figures: Figures, seeds: int) -> None:
    """Key and door, and ice: trained and tested on their own mazes."""
    for name, frozen, flags in (
        ("ice", "5x5-ice-v1", {"icy_floor": True}),
        ("key", "5x5-key-v1", {"key_and_door": True}),
    ):
        given = splits.load(frozen)
        study = Study(f"settings, {name}", given["train"], updates=UPDATES, settings=flags)
        score(figures, study, range(min(seeds, SEEDS)), dict(given.items()))


def method(module: Any, updates: int | None, most: int = SEEDS) -> Callable[[Figures, int], None]:
    """A part: another method on the same mazes."""
    name = module.__name__.rpartition(".")[2]

    def part(figures: Figures, seeds: int) -> None:
        study = Study(name, splits.load(MAZES)["train"], module, updates)
        score(figures, study, range(min(seeds, most)), unseen(("test", "s0", "s0_g", "train")))

    part.__doc__ = f"{(module.__doc__ or '').splitlines()[0]}"
    return part


PARTS: dict[str, Callable[[Figures, int], None]] = {
    "reference": reference,
    "main": main_table,
    "dagger": method(dagger, DAGGER_UPDATES),
    "transfer": transfer,
    "doubts": doubts,
    "certainty": certainty,
    "unbiased": unbiased,
    "iterations": iterations,
    "walls": walls,
    "demonstrations": demonstrations,
    "settings": settings,
    "reasons": reasons,
    "bco": method(bco, UPDATES),
    "iupe": method(iupe, UPDATES),
    "gail": method(gail, None, most=1),
    "sqil": method(sqil, None, most=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--seeds", type=int, default=10, help=f"of the main part; others take at most {SEEDS}")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    args = parser.parse_args()
    figures = Figures(args.out / "planner.json", list(PARTS))
    for name in args.only:
        print(f"{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
        PARTS[name](figures, args.seeds)
    figures.save()
    print(figures.markdown(), flush=True)


if __name__ == "__main__":
    main()
