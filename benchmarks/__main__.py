"""The whole suite: ``python -m benchmarks [--only stepping resets ...] [--repeats 5] [--out FILE]``.

Prints a table for each part and writes everything, with versions and the machine, as JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from benchmarks import environment, making, paths, throughput, timing


def stepping(repeats: int) -> dict[str, Any]:
    """State-only and vector stepping beside every peer and the C program, by batch."""
    peers = list(throughput.PEER_STEPS)
    rows = [throughput.compare("none", batch, repeats, peers if batch == 8192 else ["gymnax"]) for batch in BATCHES]
    rows += [throughput.compare("vector", batch, repeats, ["gymnax"]) for batch in (8192, 65536)]
    rows += [throughput.compare("pixels", 1024, repeats, [])]
    return {
        f"{row['observation']} {row['batch']}": {k: v for k, v in row.items() if isinstance(v, dict)} for row in rows
    }


BATCHES = (1, 256, 8192, 65536, 1_048_576)

PARTS: dict[str, Callable[[int], dict[str, Any]]] = {
    "stepping": stepping,
    "resets": environment.resets,
    "sizes": environment.sizes,
    "effects": environment.effects,
    "observations": environment.observations,
    "compile": environment.compile_seconds,
    "memory": environment.bytes_per_environment,
    "generation": making.generation,
    "settings": making.settings,
    "tables": making.tables,
    "paths": paths.paths,
}


def show(result: Any, indent: int = 2) -> None:
    """Print nested results, one leaf a line."""
    for name, value in result.items():
        if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
            print(" " * indent + name)
            show(value, indent + 2)
        elif isinstance(value, dict):
            print(" " * indent + f"{name:36s}" + "  ".join(f"{k} {v:,.4g}" for k, v in value.items()))
        else:
            print(" " * indent + f"{name:24s}{value:,.4g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART", help=", ".join(PARTS)
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", help="write all results to this JSON file")
    args = parser.parse_args()
    results: dict[str, Any] = {
        "machine": timing.machine(),
        "peers": {name: timing.version(name) for name in (*throughput.PEER_STEPS, "rustworkx", "networkx", "torch")},
    }
    print(json.dumps(results))
    for name in args.only:
        part = PARTS[name]
        print(f"{name}: {(part.__doc__ or '').splitlines()[0]}", flush=True)
        results[name] = part(args.repeats)
        show(results[name])
        if args.out:
            # Written after every part: a run that is stopped keeps what it has measured.
            with open(args.out, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
