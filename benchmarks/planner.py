"""What the planner does, and why: ``python -m benchmarks.planner [--only main transfer ...] [--seeds 10]``.

Behavioural cloning on the demonstrations of ``5x5-v1``, argmax policy, exact evaluation. Writes
``planner.json`` and ``planner.md`` after every part, so that a run that is stopped keeps what it has.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from baselines import bc, bco, dagger, evaluate, iupe, learning, networks, planner, table
from baselines.bench import intervals
from baselines.networks import Variables
from benchmarks import timing
from jaxlab import datasets, splits
from jaxlab.env import Labyrinth, Params
from jaxlab.maze import Maze

MAZES = "5x5-v1"
UPDATES = 342
"""Of every run after its trial, whatever the number of demonstrations: the planner's recipe on 100 mazes."""
DAGGER_UPDATES = 800
"""Ten rounds, after BC's trial."""
DEMONSTRATIONS = (1, 3, 10, 30)
PIXELS_PER_CELL = 12.8
TRANSFER = ((8, None), (15, None), (10, None), (8, 64), (10, 64), (4, None), (3, None), (3, 64))
"""(rows and columns, pixels of the picture; None: as many a cell as at 5x5)."""
TRANSFER_SEED = 2_000
"""Of the mazes of other sizes."""
EVALUATED = 100
KEPT = Path("build/planner")
"""Where weights are kept between calls; remove it to train anew."""
_BATCH = 500


def learn(
    mazes: Maze, seeds: Iterable[int], method: Any = bc, updates: int = UPDATES, **settings: bool
) -> Iterator[dict[str, Any]]:
    """Train on one demonstration of each maze, once for each seed: weights, loss and seconds."""
    if not (seeds := list(seeds)):
        return
    env = Labyrinth(mazes.shape, observation="pixels", **settings)
    shown = datasets.demonstrations(env, mazes)
    config = method.Config(encoder="planner", updates=updates)
    data = learning.data(shown, config.encoder, config.render)

    @jax.jit
    def train(key, data):
        state, metrics = learning.run(method.init, method.epoch, method.num_epochs, config, data)(key)
        return method.policy(config, data, state, precise=False), metrics

    begin = time.perf_counter()
    compiled = train.lower(jax.random.key(0), data).compile()
    compile_seconds = time.perf_counter() - begin
    for seed in seeds:
        start = time.perf_counter(), time.process_time()
        variables, metrics = jax.block_until_ready(compiled(jax.random.key(seed), data))
        run = {
            "seed": seed,
            "seconds": time.perf_counter() - start[0],
            "cpu_seconds": time.process_time() - start[1],
            "compile_seconds": compile_seconds,
            "loss": float(metrics["loss"][-5:].mean()),
            "variables": variables,
        }
        print(f"  seed {seed}: loss {run['loss']:.4f}, {run['cpu_seconds']:.0f} s of CPU", flush=True)
        yield run


def keep(seeds: Iterable[int], kept: Path) -> None:
    """Train the runs that most parts share, those that are not there yet, and keep their weights in a folder."""
    kept.mkdir(parents=True, exist_ok=True)
    lacking = [seed for seed in seeds if not (kept / f"{seed}.npz").exists()]
    for run in learn(splits.load(MAZES)["train"], lacking):
        arrays = {f"w{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(run.pop("variables")))}
        np.savez(kept / f"{run['seed']}.npz", run=json.dumps(run), **arrays)


def runs_of_main(seeds: int, kept: Path) -> list[dict[str, Any]]:
    """The runs that most parts share, trained where they are not kept."""
    keep(range(seeds), kept)
    network = networks.policy("planner", Labyrinth((5, 5), observation="pixels"))
    like = jax.eval_shape(network.init, jax.random.key(0))
    files = [kept / f"{seed}.npz" for seed in range(seeds)]
    runs = []
    for file in files:
        with np.load(file) as held:
            leaves = [jnp.asarray(held[f"w{i}"]) for i in range(len(held.files) - 1)]
            runs.append(
                json.loads(str(held["run"])) | {"variables": jax.tree.unflatten(jax.tree.structure(like), leaves)}
            )
    return runs


def exact(runs: list[dict[str, Any]], mazes: Maze, **settings: bool) -> dict[str, Any]:
    """Success of every run on one split, from every state."""
    env = Labyrinth(mazes.shape, observation="pixels", **settings)
    seen = table.make(env, env.params(mazes))
    network = networks.policy("planner", env)
    solved = []
    for run in runs:
        actions = np.asarray(evaluate.all_logits(network, run["variables"], seen).argmax(-1))
        played = evaluate.episodes(env, seen.params, jnp.asarray(actions, jnp.int32))
        solved.append(np.asarray(played.outcome) == evaluate.GOAL)
    return summary(np.array(solved))


def summary(solved: np.ndarray) -> dict[str, Any]:
    """``bool[seeds, mazes]`` as figures."""
    found = intervals.of_rate(solved)
    return {
        "mean": float(solved.mean()),
        "low": float(found.low),
        "high": float(found.high),
        "each": solved.mean(1).round(4).tolist(),
    }


def walk(variables: Variables, env: Labyrinth, params: Params) -> np.ndarray:
    """Which mazes are solved from the start, ``bool[N]``: as exact, but only states on the way are looked at."""
    network = networks.policy("planner", env)
    seen = table.Table(env, "paper", params, None)
    every = jnp.arange(len(params.mazes))

    @jax.jit
    def act(cell):
        action = network.apply(variables, seen.see(every, jnp.zeros_like(cell), cell)).argmax(-1)
        return env.rule(params.mazes, every, cell, jnp.zeros_like(cell), action).cell

    cell, goal = np.asarray(params.mazes.start), np.asarray(params.mazes.goal)
    been = np.zeros((len(goal), env.num_cells), bool)
    going = np.ones(len(goal), bool)
    while going.any():
        been[np.arange(len(goal)), cell] = True
        cell = np.where(going, np.asarray(act(jnp.asarray(cell))), cell)
        going &= (cell != goal) & ~been[np.arange(len(goal)), cell]
    return cell == goal


# -- parts -----------------------------------------------------------------------------------------


def main_table(seeds: int) -> dict[str, Any]:
    """All five splits of 5x5-v1."""
    runs = runs_of_main(seeds, KEPT)
    given = splits.load(MAZES)
    out: dict[str, Any] = {}
    for name in ("test", "s0_g", "s0", "valid", "train"):
        out[name] = exact(runs, given[name])
        print(f"  {name}: {out[name]}", flush=True)
    out["runs"] = [{k: v for k, v in run.items() if k != "variables"} for run in runs]
    out["parameters"] = networks.num_parameters(runs[0]["variables"].weights)
    return out


def transfer(seeds: int) -> dict[str, Any]:
    """Unseen mazes of other sizes, with the weights of 5x5."""
    runs = runs_of_main(seeds, KEPT)[:5]
    out = {}
    for size, pixels in TRANSFER:
        drawn = pixels or round(size * PIXELS_PER_CELL)
        count = 32 if size == 3 else EVALUATED // 2 if size > 10 else EVALUATED
        mazes = splits.make((size, size), 1, 0, count, seed=TRANSFER_SEED)["test"]
        env = Labyrinth((size, size), observation="pixels", pixels=drawn)
        params = env.params(mazes)
        name = f"{size}x{size} at {drawn} px"
        out[name] = summary(np.array([walk(run["variables"], env, params) for run in runs]))
        print(f"  {name}: {out[name]['mean']:.3f} {out[name]['each']}", flush=True)
    return out


def beliefs_of(run: dict[str, Any], env: Labyrinth, params: Params) -> tuple[planner.Beliefs, np.ndarray]:
    """What a run believes in every state, and the maze of each state."""
    seen = table.make(env, params)
    network = networks.policy("planner", env)
    read = jax.jit(lambda x: planner.read(network, run["variables"], x))
    parts = [
        jax.device_get(read(seen.see(*seen.state(jnp.arange(low, min(low + _BATCH, seen.num_states))))))
        for low in range(0, seen.num_states, _BATCH)
    ]
    joined = planner.Beliefs(*(None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)))
    return joined, np.asarray(seen.state(np.arange(seen.num_states))[0])


def reasons(seeds: int) -> dict[str, Any]:
    """Fewer iterations, and true walls in place of what is seen, on test and s0_g."""
    runs, out = runs_of_main(seeds, KEPT)[:5], {}
    env = Labyrinth((5, 5), observation="pixels")
    cells = env.num_cells
    for name in ("test", "s0_g"):
        params = env.params(splits.load(MAZES)[name])
        solved: dict[str, list[np.ndarray]] = {}
        for run in runs:
            beliefs, maze = beliefs_of(run, env, params)
            true = planner.truth(
                env, jax.tree.map(np.asarray, params.mazes)[maze], maze * 0, np.arange(len(maze)) % cells
            )
            rounds = {f"{k} iterations": (beliefs, k) for k in (1, 2, 4, 6, 8, 10, 12, 15, 20, 25)}
            walls = {"true walls": (beliefs._replace(across=true.across, along=true.along), 25), "all true": (true, 25)}
            for label, (given, k) in {**rounds, **walls}.items():
                actions = np.asarray(act_on(jax.tree.map(jnp.asarray, given), k)).reshape(-1, 1, cells)
                played = evaluate.episodes(env, params, jnp.asarray(actions, jnp.int32))
                solved.setdefault(label, []).append(np.asarray(played.outcome) == evaluate.GOAL)
        out[name] = {label: summary(np.array(rows)) for label, rows in solved.items()}
    return out


@functools.partial(jax.jit, static_argnums=1)
def act_on(beliefs: planner.Beliefs, iterations: int) -> jax.Array:
    """The best action of each belief, ``int32[B]``."""
    return planner.plan(beliefs, iterations=iterations).argmax(-1)


def demonstrations(seeds: int) -> dict[str, Any]:
    """Fewer demonstrations, as many updates."""
    given, out = splits.load(MAZES), {}
    for count in DEMONSTRATIONS:
        runs = list(learn(given["train"][:count], range(min(seeds, 5))))
        out[f"{count}"] = {name: exact(runs, given[name]) for name in ("test", "s0_g")}
        print(f"  {count}: {out[f'{count}']}", flush=True)
    return out


def unbiased(seeds: int) -> dict[str, Any]:
    """Demonstrations with random starts and goals."""
    given = splits.load(MAZES)
    drawn = splits.make((5, 5), 100, 0, 0, seed=TRANSFER_SEED, start_goal="unbiased")["train"]
    # Its own structures may be among those tested: they are left out.
    known = {walls.tobytes() for name in ("train", "valid", "test") for walls in np.asarray(given[name].walls)}
    fresh = np.array([walls.tobytes() not in known for walls in np.asarray(drawn.walls)])
    runs = list(learn(drawn[np.flatnonzero(fresh)], range(min(seeds, 5))))
    return {name: exact(runs, given[name]) for name in ("test", "s0", "s0_g")}


def other(method: Any, updates: int) -> Callable[[int], dict[str, Any]]:
    """A part: another method on the same mazes, from at most five seeds."""

    def part(seeds: int) -> dict[str, Any]:
        given = splits.load(MAZES)
        runs = list(learn(given["train"], range(min(seeds, 5)), method, updates))
        out: dict[str, Any] = {name: exact(runs, given[name]) for name in ("test", "s0", "s0_g")}
        return out | {"runs": [{k: v for k, v in run.items() if k != "variables"} for run in runs]}

    part.__doc__ = f"{(method.__doc__ or '').splitlines()[0]}"
    return part


def settings(seeds: int) -> dict[str, Any]:
    """Key and door, and ice: trained and tested on their own mazes."""
    out = {}
    for name, flags in (("5x5-key-v1", {"key_and_door": True}), ("5x5-ice-v1", {"icy_floor": True})):
        given = splits.load(name)
        runs = list(learn(given["train"], range(min(seeds, 5)), **flags))
        out[name] = {split: exact(runs, mazes, **flags) for split, mazes in given.items()}
        print(f"  {name}: { {k: v['each'] for k, v in out[name].items()} }", flush=True)
    return out


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "main": main_table,
    "dagger": other(dagger, DAGGER_UPDATES),
    "transfer": transfer,
    "unbiased": unbiased,
    "reasons": reasons,
    "demonstrations": demonstrations,
    "bco": other(bco, UPDATES),
    "iupe": other(iupe, UPDATES),
    "settings": settings,
}


def markdown(results: dict[str, Any]) -> str:
    """All figures as tables."""
    lines = ["| what | success | 95 % | each seed |", "|---|---|---|---|"]

    def add(name: str, found: Any) -> None:
        if isinstance(found, dict) and "each" in found:
            each = " ".join(f"{100 * x:.0f}" for x in found["each"])
            mean, low, high = (f"{100 * found[key]:.1f}" for key in ("mean", "low", "high"))
            lines.append(f"| {name} | {mean} | {low} to {high} | {each} |")
        elif isinstance(found, dict):
            for key, inner in found.items():
                add(f"{name}, {key}", inner)

    for part in PARTS:
        if part in results:
            add(part, results[part])
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    file = args.out / "planner.json"
    results = json.loads(file.read_text("utf-8")) if file.exists() else {}
    results["machine"] = timing.machine()
    results["jaxlab"] = jaxlab.__version__
    for name in args.only:
        print(f"{name}: {(PARTS[name].__doc__ or '').splitlines()[0]}", flush=True)
        results[name] = PARTS[name](args.seeds)
        file.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
        file.with_suffix(".md").write_text(markdown(results), "utf-8")
        print(markdown({name: results[name]}), flush=True)


if __name__ == "__main__":
    main()
