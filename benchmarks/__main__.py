"""The whole suite: ``python -m benchmarks [--only stepping resets ...] [--repeats 5] [--out FOLDER]``.

Prints a table for each part. With ``--out`` everything is written as suite.json, suite.md (the
targets first) and suite.png; parts measured before by the same command stay in the file.
``--quick`` measures next to nothing: it shows that every part runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

from benchmarks import show as page
from benchmarks import throughput, timing
from jaxlab.files import write_atomic

PACKAGES = (*throughput.PEER_STEPS, "rustworkx", "networkx", "torch", "gymnasium", "imitation")

PARTS = {
    "stepping": ("beside", "stepping"),
    "resets": ("environment", "resets"),
    "sizes": ("environment", "sizes"),
    "effects": ("environment", "effects"),
    "observations": ("environment", "observations"),
    "gymnasium": ("beside", "gymnasium"),
    "rendering": ("environment", "rendering"),
    "generation": ("making", "generation"),
    "settings": ("making", "settings"),
    "tables": ("making", "tables"),
    "paths": ("paths", "paths"),
    "training": ("beside", "cloning"),
    "compile": ("environment", "compile_seconds"),
    "chunks": ("costs", "chunks"),
    "bytes": ("environment", "bytes_per_environment"),
    "memory": ("costs", "memory"),
    "seeds": ("costs", "seeds"),
    "devices": ("costs", "virtual_devices"),
}
"""Module and function of each part: imported when its turn comes, as some need packages that may be absent."""
QUICK = ("compile", "bytes", "memory", "resets", "rendering")


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
    parser.add_argument("--only", nargs="+", choices=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--quick", action="store_true", help=f"one repeat of {', '.join(QUICK)}, unless --only says more"
    )
    parser.add_argument("--out", type=Path, help="folder for suite.json, suite.md and suite.png")
    args = parser.parse_args()
    chosen = args.only or (QUICK if args.quick else PARTS)
    machine, peers = timing.machine(), {name: timing.version(name) for name in PACKAGES}
    results: dict[str, Any] = {"machine": machine, "peers": peers}
    file = args.out and args.out / "suite.json"
    if file and file.exists():
        results = json.loads(file.read_text("utf-8")) | results
    print(json.dumps({"machine": machine, "peers": peers}))
    for name in chosen:
        module, function = PARTS[name]
        try:
            part = getattr(importlib.import_module(f"benchmarks.{module}"), function)
            about = " ".join((part.__doc__ or "").split())
            print(f"{name}: {about}", flush=True)
            found = part(1 if args.quick else args.repeats)
        except ImportError as error:
            about, found = f"not measured: {error}", {}
            print(f"{name}: {about}")
        show(found)
        results[name] = {"about": about, **found}
        if file:
            # Written after every part: a run that is stopped keeps what it has measured.
            results = {key: results[key] for key in ("machine", "peers", *PARTS) if key in results}
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(file, json.dumps(results, indent=1) + "\n")
            write_atomic(args.out / "suite.md", page.markdown(results))
    if file and timing.version("matplotlib") != "absent":
        page.figure(results, args.out / "suite.png")
    for row in page.judged(results):
        print(f"{page.number(row['value']):>12s}  {row['bound']:18s} {page.MEANT[row['met']]:14s} {row['name']}")


if __name__ == "__main__":
    main()
