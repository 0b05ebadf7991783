"""Which numbers the choices of a run may be, by the name of the choice."""

from __future__ import annotations

import dataclasses
import math
import numbers
from typing import Any

from jaxlab.errors import whole

COUNTS = {
    **dict.fromkeys(("epochs", "updates", "batch", "steps", "limit", "round_updates", "passes", "judge_passes"), 1),
    **dict.fromkeys(("epoch_updates", "replay", "random_steps", "renewals", "model_batch"), 1),
    **dict.fromkeys(("model_updates", "renewal_updates", "first_steps"), 0),
}
"""Whole numbers, and the least they may be."""
NUMBERS: dict[str, tuple[float, float, str]] = {
    **dict.fromkeys(("learning_rate", "judge_rate", "model_rate", "beta_rate", "clip_gradient"), (0.0, math.inf, "()")),
    **dict.fromkeys(("weight_decay", "clip", "penalty"), (0.0, math.inf, "[)")),
    **dict.fromkeys(("value_weight", "entropy_weight"), (0.0, math.inf, "[)")),
    **dict.fromkeys(("dropout", "model_dropout", "gamma"), (0.0, 1.0, "[)")),
    **dict.fromkeys(("explore", "trace", "judge_memory", "polyak"), (0.0, 1.0, "[]")),
    "center": (-math.inf, math.inf, "()"),
}
"""Other numbers: lowest, highest, and whether these two belong to what is allowed ("[" and "]") or not."""


def check(config: Any) -> None:
    """Raise ``ValueError`` for a choice out of its range or that is no number; make plain numbers of the others."""
    for field in dataclasses.fields(config):
        name, value, kinds = field.name, getattr(config, field.name), str(field.type)
        if not ("int" in kinds or "float" in kinds):
            continue
        if (value is None and "None" in kinds) or (value == "full" and "Literal" in kinds):
            continue
        if name in COUNTS:
            object.__setattr__(config, name, whole(name, value, COUNTS[name]))
        elif name in NUMBERS:
            object.__setattr__(config, name, number(name, value, *NUMBERS[name]))


def number(name: str, value: Any, low: float, high: float, ends: str) -> float:
    """Return ``value`` as a Python number if it lies between ``low`` and ``high``; otherwise raise ``ValueError``."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        given = value if isinstance(value, (int, float)) else float(value)
        above = given > low or (given == low and ends[0] == "[")
        below = given < high or (given == high and ends[1] == "]")
        if above and below:
            return given
    words = [f"at least {low:g}" if ends[0] == "[" else f"above {low:g}"] if low > -math.inf else []
    words.append("finite" if high == math.inf else f"at most {high:g}" if ends[1] == "]" else f"below {high:g}")
    raise ValueError(f"{name} must be {' and '.join(words)}, got {value!r}")
