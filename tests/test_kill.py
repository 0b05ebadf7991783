import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINE = ["--methods", "bc", "dagger", "--sizes", "3", "--encoders", "mlp", "--seeds", "2", "--epochs", "20", "--quiet"]
KILLS = 20


def start(out: Path) -> subprocess.Popen:
    """One benchmark in a process of its own."""
    line = [sys.executable, "-m", "baselines.benchmark", *LINE, "--out", str(out)]
    with open(out.parent / "log.txt", "a") as log:
        return subprocess.Popen(line, cwd=ROOT, stdout=log, stderr=log)


def numbers(out: Path) -> dict:
    """Every result, without times and with no care for the machine's load."""
    found = {}
    for path in sorted(out.glob("cells/*/results.json")):
        results = json.loads(path.read_text())
        for run in results["seeds"]:
            del run["train_seconds"]
        found[path.parent.name] = results
    return found


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_numbers(tmp_path):
    begin = time.monotonic()
    assert start(tmp_path / "whole").wait() == 0
    seconds = time.monotonic() - begin
    rng, kills = random.Random(0), 0
    for _ in range(KILLS):
        process = start(tmp_path / "killed")
        try:
            process.wait(timeout=rng.uniform(0, 0.6 * seconds))
            break  # it came to its end: what is left is to compare
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert start(tmp_path / "killed").wait() == 0
    assert kills > 0
    assert numbers(tmp_path / "killed") == numbers(tmp_path / "whole")
    assert len(numbers(tmp_path / "whole")) == 2
    for name in ("tables.md", "scores.csv", "differences.csv"):
        assert (tmp_path / "killed" / name).read_text() == (tmp_path / "whole" / name).read_text()
