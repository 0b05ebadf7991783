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
    **dict.fromkeys(("learning_rate", "judge_rate", "model_rate", "beta_rate"), (0.0, math.inf, "()")),
    **dict.fromkeys(("weight_decay", "clip", "clip_gradient", "penalty"), (0.0, math.inf, "[)")),
    **dict.fromkeys(("value_weight", "entropy_weight"), (0.0, math.inf, "[)")),
    **dict.fromkeys(("dropout", "model_dropout"), (0.0, 1.0, "[)")),
    **dict.fromkeys(("explore", "gamma", "trace", "judge_memory", "polyak"), (0.0, 1.0, "[]")),
    "center": (-math.inf, math.inf, "()"),
}
"""Other numbers: lowest, highest, and whether these two belong to what is allowed ("[" and "]") or not."""


def check(config: Any) -> None:
    """Raise ``ValueError`` for a choice that is no number or lies outside its range; None and words pass."""
    for field in dataclasses.fields(config):
        name, value = field.name, getattr(config, field.name)
        if value is None or isinstance(value, str):
            continue
        if name in COUNTS:
            whole(name, value, COUNTS[name])
        elif name in NUMBERS:
            _check_number(name, value, *NUMBERS[name])


def _check_number(name: str, value: Any, low: float, high: float, ends: str) -> None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and low < value < high:
        return
    if is_number and ((value == low and ends[0] == "[") or (value == high and ends[1] == "]")):
        return
    words = [f"at least {low:g}" if ends[0] == "[" else f"above {low:g}"] if low > -math.inf else []
    if high < math.inf:
        words.append(f"at most {high:g}" if ends[1] == "]" else f"below {high:g}")
    raise ValueError(f"{name} must be {' and '.join(words) or 'a finite number'}, got {value!r}")
