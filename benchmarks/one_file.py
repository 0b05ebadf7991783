"""Joins what benchmarks/gpu.sh measured: ``python -m benchmarks.one_file FOLDER OUT.json SECONDS``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.seconds_to_target import TARGETS, measure
from benchmarks.targets import judged
from jaxlab.files import write_atomic


def join(folder: Path, seconds: float) -> dict[str, Any]:
    """Suite, judged targets, and each method's seconds to its target (or why it failed)."""
    suite = json.loads((folder / "suite" / "suite.json").read_text("utf-8"))
    out: dict[str, Any] = {"seconds": seconds, **suite, "targets": judged(suite), "methods": {}}
    for run in sorted((folder / "runs").glob("*/results.json")):
        results = json.loads(run.read_text("utf-8"))
        out["methods"][run.parent.name] = {
            "encoder": results["encoder"],
            "machine": results["machine"],
            "seeds": measure(run.parent, TARGETS.get(run.parent.name, 1.0)),
        }
    for failed in sorted(folder.glob("*.failed")):
        out["methods"][failed.stem] = {"failed": failed.read_text("utf-8").strip()}
    return out


if __name__ == "__main__":
    folder, file, seconds = sys.argv[1:]
    write_atomic(file, json.dumps(join(Path(folder), float(seconds)), indent=1) + "\n")
    print(f"written: {file}")
