"""The single-core limit: builds and runs the C program that does the same transitions (limit.c)."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import jaxlab

SOURCE = Path(__file__).with_name("limit.c")


def build() -> Path | None:
    """Compile the program with the machine's compiler; None where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    version = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    program = Path(tempfile.gettempdir()) / f"jaxlab-limit-{version}"
    if not program.exists():
        subprocess.run([compiler, "-O3", "-march=native", str(SOURCE), "-o", str(program)], check=True)
    return program


def steps_per_second(program: Path, params: jaxlab.Params, batch: int, length: int, seed: int) -> float:
    """One rollout of ``batch`` environments over ``length`` steps on one core."""
    mazes = params.mazes
    facts = np.stack([mazes.start, mazes.goal, params.shortest], 1).astype(np.int32)
    walls = np.asarray(mazes.walls).reshape(len(mazes), -1)
    head = np.array([len(mazes), *mazes.shape], np.int32).tobytes()
    body = b"".join(w.tobytes() + f.tobytes() for w, f in zip(walls, facts, strict=True))
    command = [str(program), str(batch), str(length), str(seed)]
    out = subprocess.run(command, input=head + body, capture_output=True, check=True).stdout
    return batch * length / float(out.split()[0])
