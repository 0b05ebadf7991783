"""Listing every simple path, beside rustworkx and networkx: ``python -m benchmarks.paths``.

All paths of 10,000 generated 5x5 and 1,000 generated 10x10 mazes are made, on one thread.
Building graphs is left out on all sides, compilation too.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import jaxlab
from benchmarks import timing
from jaxlab.solve import graph
from jaxlab.solve.enumerate import enumerate_graphs

SETS = ((5, 10_000), (10, 1_000))
NETWORKX_SHARE = 10
"""networkx is given one maze in ten: it is that much slower."""


def paths(repeats: int) -> dict[str, Any]:
    """Mazes a second of each library, best and median, and how many times faster jaxlab is."""
    return {f"{number} of {side}x{side}": compare(side, number, repeats) for side, number in SETS}


def compare(side: int, number: int, repeats: int) -> dict[str, Any]:
    import networkx
    import rustworkx

    mazes = jax.tree.map(np.asarray, jaxlab.generate.mazes(jax.random.key(0), number, (side, side)))
    edges = [jaxlab.to_edges(maze) for maze in mazes]
    goal = side * side - 1
    states = graph.bare(mazes.walls, mazes.start, mazes.goal)
    rust, plain = [], []
    for open_edges in edges:
        rust.append(rustworkx.PyGraph())
        rust[-1].add_nodes_from(range(side * side))
        rust[-1].add_edges_from_no_data(open_edges)
    for open_edges in edges[::NETWORKX_SHARE]:
        plain.append(networkx.Graph(open_edges))
        plain[-1].add_nodes_from(range(side * side))

    counts: dict[str, int] = {}

    def by_jaxlab(_):
        found = enumerate_graphs(states)
        if not found.complete.all():
            raise RuntimeError("a limit cut the list of paths short")
        counts["jaxlab"] = len(found.lengths)

    def by_rustworkx(_):
        counts["rustworkx"] = sum(len(rustworkx.all_simple_paths(one, 0, goal)) for one in rust)

    def by_networkx(_):
        counts["networkx"] = sum(len(list(networkx.all_simple_paths(one, 0, goal))) for one in plain)

    timed = timing.side_by_side(
        {"jaxlab": by_jaxlab, "rustworkx": by_rustworkx, "networkx": by_networkx}, repeats=repeats
    )
    if counts["jaxlab"] != counts["rustworkx"]:
        raise RuntimeError(f"the libraries disagree on the number of paths: {counts}")
    done = {"jaxlab": number, "rustworkx": number, "networkx": len(plain)}
    rates = {name: {"best": done[name] / timed[name].best, "median": done[name] / timed[name].median} for name in timed}
    ours = rates["jaxlab"]["median"]
    times = {name: ours / rates[name]["median"] for name in ("rustworkx", "networkx")}
    return {"mazes_per_second": rates, "times_faster": times, "paths": float(counts["jaxlab"])}


if __name__ == "__main__":
    for name, result in paths(repeats=9).items():
        print(f"{name}: {result['paths']:,.0f} paths; mazes a second, median (best)")
        for library, rate in result["mazes_per_second"].items():
            print(f"  {library:10s} {rate['median']:>12,.0f} ({rate['best']:,.0f})")
        print("  jaxlab is", ", ".join(f"{x:.1f} times {peer}" for peer, x in result["times_faster"].items()))
