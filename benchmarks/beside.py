"""Parts of the suite in which others are timed beside us."""

from __future__ import annotations

from typing import Any

from benchmarks import throughput

BATCHES = (1, 256, 8192, 65536, 1_048_576)
OBSERVED = (("vector", 8192), ("vector", 65536), ("pixels", 64), ("pixels", 256), ("pixels", 1024))


def stepping(repeats: int) -> dict[str, Any]:
    """Steps a second by batch, beside every peer and the C program: states only, vectors and pictures consumed."""
    peers = list(throughput.PEER_STEPS)
    rows = [throughput.compare("none", batch, repeats, peers if batch == 8192 else ["gymnax"]) for batch in BATCHES]
    for name, batch in OBSERVED:
        rows.append(throughput.compare(name, batch, repeats, ["gymnax"] if name == "vector" else []))
    return {
        f"{row['observation']} {row['batch']}": {k: v for k, v in row.items() if isinstance(v, dict)} for row in rows
    }


def gymnasium(repeats: int) -> dict[str, Any]:
    """Steps a second through Gymnasium: vectors of 1,024 environments beside SyncVectorEnv, and a single one."""
    from benchmarks import gym

    found = gym.compare(repeats=repeats)
    return {**found["steps_per_second"], "make_vec / SyncVectorEnv": found["make_vec / SyncVectorEnv"]}


def cloning(repeats: int) -> dict[str, Any]:
    """Seconds an epoch of behavioural cloning beside PyTorch on two threads, in its faster memory format."""
    from benchmarks import training

    # An epoch of ResNet-18 takes seconds.
    return {
        f"{encoder}, batch {batch}": training.measure(repeats, epochs, 2, encoder, batch)
        for encoder, epochs in (("cnn", 3), ("resnet18", 2))
        for batch in training.BATCHES
    }
