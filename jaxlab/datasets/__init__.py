"""Data sets of play: demonstrations for training, and episodes in the files that other tools read."""

from jaxlab.datasets.demonstrations import Demonstrations, check_demonstrations, demonstrations
from jaxlab.datasets.episodes import VARIANTS, Episodes, episodes, replay
from jaxlab.datasets.huggingface import read_huggingface, write_huggingface
from jaxlab.datasets.minari import write_minari
from jaxlab.datasets.npz import read_npz, write_npz

__all__ = [
    "VARIANTS",
    "Demonstrations",
    "Episodes",
    "check_demonstrations",
    "demonstrations",
    "episodes",
    "read_huggingface",
    "read_npz",
    "replay",
    "write_huggingface",
    "write_minari",
    "write_npz",
]
