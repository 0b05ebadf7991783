"""Small mazes with everything in them, and plays through them, for several test files."""

from __future__ import annotations

import jax
import numpy as np

import jaxlab

CORRIDOR = jaxlab.from_edges([(i, i + 1) for i in range(4)], (1, 5), start=0, goal=4)
# E is 8; the key is in the corner 6, the door is 5, ice on 4.
#   6 K | 7   | 8 E
#   3     4 I   5 D
#   0 S   1     2
FURNISHED = jaxlab.from_edges(
    [(0, 1), (1, 2), (2, 5), (5, 8), (0, 3), (3, 6), (3, 4), (1, 4), (4, 5), (4, 7)],
    (3, 3),
    start=0,
    goal=8,
    key=6,
    door=5,
    ice=[4],
)
ALL_ON = {"key_and_door": True, "icy_floor": True}


def repeated(maze, axes):
    """A maze with leading axes."""
    return jax.tree.map(lambda leaf: np.broadcast_to(leaf, axes + leaf.shape), maze)


def walk(env, params, actions, maze=0):
    """All steps of a play, as a list."""
    _, state = env.reset_to(maze, params)
    out = []
    for action in actions:
        out.append(env.step(None, state, action, params))
        state = out[-1].state
    return out


def total(steps) -> float:
    return float(np.sum([step.reward for step in steps], dtype=np.float32))
