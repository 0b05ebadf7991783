"""The paper's Table 1: how far initial states are apart, here beside a Labyrinth row: ``python scripts/table1.py``.

For each environment many initial states are drawn, and the Manhattan distance of each to the
closest of a reference set of initial states from other seeds is taken: its sum over the
dimensions and its mean per dimension. Then one action sequence of MountainCar is replayed
on 100 other seeds. Environments whose package (the extra ``analysis``) is absent are skipped.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator

import jax
import numpy as np

from jaxlab import generate
from jaxlab.generate import edge_distances

GYM = ("MountainCar-v0", "CartPole-v1", "Hopper-v5", "Walker2d-v5", "HalfCheetah-v5")
SUITE = (("cartpole", "balance"), ("hopper", "hop"), ("walker", "walk"), ("cheetah", "run"))
PAPER = {  # summation, mean per dimension
    "Gym MountainCar-v0": "0.0021, 0.0010",
    "Gym CartPole-v1": "0.0380, 0.0095",
    "Gym Hopper-v5": "2.3931, 0.2175",
    "Gym Walker2d-v5": "5.4045, 0.3179",
    "Gym HalfCheetah-v5": "12.5915, 0.7406",
    "DeepMind cartpole": "0.0932, 0.0093",
    "DeepMind hopper": "3.5610, 0.3237",
    "DeepMind walker": "8.3509, 0.4912",
    "DeepMind cheetah": "12.3376, 0.7257",
}
SWITCHES = list(itertools.product(range(0, 45, 3), range(20, 70, 3)))
"""MountainCar sequences that are tried: steps to the right, then steps to the left."""
Source = Callable[[int, int], np.ndarray]
"""(first seed, number) -> initial states ``float64[number, dimensions]``."""


def of_gym(name: str) -> Source:
    """Initial observations of a Gymnasium environment."""
    import gymnasium

    env = gymnasium.make(name).unwrapped
    return lambda seed, number: np.array([env.reset(seed=seed + i)[0] for i in range(number)], float)


def of_suite(domain: str, task: str) -> Source:
    """Initial observations of a task of the DeepMind control suite."""
    from dm_control import suite

    suite.load(domain, task)

    def draw(seed: int, number: int) -> np.ndarray:
        env = suite.load(domain, task, task_kwargs={"random": seed})
        observed = (env.reset().observation.values() for _ in range(number))
        return np.array([np.concatenate([np.ravel(value) for value in values]) for values in observed])

    return draw


def sources() -> Iterator[tuple[str, Source | None, str]]:
    """(name, source, why it is absent) of every row."""
    for name in GYM:
        try:
            yield f"Gym {name}", of_gym(name), ""
        except Exception as error:  # gymnasium has its own errors for a missing MuJoCo
            yield f"Gym {name}", None, str(error).splitlines()[0]
    for domain, task in SUITE:
        try:
            yield f"DeepMind {domain}", of_suite(domain, task), ""
        except Exception as error:  # absent, or at odds with the MuJoCo that is there
            yield f"DeepMind {domain}", None, str(error).splitlines()[0]


def closest(states: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Manhattan distance of each state to the closest of the reference set."""
    from scipy.spatial import KDTree

    return KDTree(reference).query(states, p=1)[0]


def labyrinth(side: int, number: int, references: int, seed: int) -> tuple[np.ndarray, int]:
    """Distances between first vector observations of mazes: each wall that differs counts 1."""
    mazes = generate.mazes(jax.random.key(seed), number + references, (side, side))
    walls = np.asarray(mazes.walls)
    distance = np.concatenate(
        [edge_distances(part, walls[:references]).min(1) for part in np.array_split(walls[references:], 20)]
    )
    return distance.astype(float), 3 + (2 * side - 1) ** 2


def row(name: str, distance: np.ndarray, dimensions: int) -> str:
    mean, deviation = distance.mean(), distance.std()
    return (
        f"| {name} | {dimensions} | {mean:.4f} ± {deviation:.4f} | "
        f"{mean / dimensions:.4f} ± {deviation / dimensions:.4f} | {PAPER.get(name, '-')} |"
    )


def replay(seeds: int) -> str:
    """Choose one MountainCar action sequence on some seeds, and replay it without looking on others."""
    import gymnasium

    env = gymnasium.make("MountainCar-v0", disable_env_checker=True)

    def play(switches: tuple[int, int], seed: int) -> float:
        """Right, left, and right for good: momentum is built up once. Returns the sum of rewards."""
        env.reset(seed=seed)
        right, left = switches
        total = 0.0
        for action in itertools.chain(itertools.repeat(2, right), itertools.repeat(0, left), itertools.repeat(2)):
            _, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            if terminated or truncated:
                return total
        raise AssertionError("the sequence never ends")

    recorded = range(10**6, 10**6 + 10)
    mean = {pair: np.mean([play(pair, seed) for seed in recorded]) for pair in SWITCHES}
    best = max(mean, key=mean.__getitem__)
    again = np.array([play(best, seed) for seed in range(seeds)])
    return (
        f"MountainCar: right {best[0]}, left {best[1]}, then right, the best of {len(SWITCHES)} such sequences on "
        f"{len(recorded)} seeds ({mean[best]:.2f});\nreplayed on {seeds} other seeds: {again.mean():.2f} ± "
        f"{again.std():.2f}, worst {again.min():.0f} (solved from -110 on; "
        "paper: -106.45 recorded, -104.87 ± 0.86 replayed)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=100_000)
    parser.add_argument("--references", type=int, default=100, help="initial states that the others are compared with")
    parser.add_argument("--side", type=int, default=5, help="side of the mazes")
    parser.add_argument("--seeds", type=int, default=100, help="seeds of the replay")
    given = parser.parse_args()
    print(f"{given.states} initial states, distance to the closest of {given.references}\n")
    print("| environment | dimensions | summation | mean per dimension | paper |\n|---|---|---|---|---|", flush=True)
    skipped = []
    for name, source, why in sources():
        if source is None:
            skipped.append(f"skipped {name}: {why}")
            continue
        reference = source(10**6, given.references)
        print(row(name, closest(source(0, given.states), reference), reference.shape[1]), flush=True)
    distance, dimensions = labyrinth(given.side, given.states, given.references, seed=0)
    print(row(f"Labyrinth {given.side}x{given.side}, other structures", distance, dimensions))
    print("", *skipped, sep="\n")
    try:
        print(replay(given.seeds))
    except ImportError as error:
        print(f"skipped the replay: {error}")


if __name__ == "__main__":
    main()
