"""Damage: to bytes, to texts, to arrays and to JSON, all drawn from one seeded source."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

TOKENS = (
    *(b"S", b"E", b"K", b"D", b"I", b"|", b"-", b"+", b" ", b"\n", b"\r\n", b"\r", b"\t", b"\0", b'"""', b'"', b":"),
    *(
        b"key_and_lock: True\n",
        b"icy_floor: True\n",
        b"occlusion: True\n",
        b"True",
        b"False",
        b"labyrinth:\n",
        b"end\n",
    ),
    *(b"-----\n", b"---------\n", b"|   + - +   |\n", b"| S   E |\n", b"| - + - |\n", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x0b", b"\x1c", b"\xc2\x85", b"__import__('os').system('true')", b"%s{0}"),
)


def damaged(dice: random.Random, data: bytes, others: Sequence[bytes], longest: int = 1 << 16) -> bytes:
    """One to six changes: bytes, pieces, lines, tokens, or the other half of another text."""
    out = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 6))):
        at = dice.randrange(len(out) + 1)
        end = min(len(out), at + dice.choice((0, 1, 1, 1, 2, 4, 16, 64)))
        match dice.randrange(9):
            case 0:
                del out[at:end]
            case 1:
                out[at:end] = dice.choice(TOKENS)
            case 2:
                out[at:at] = dice.choice(TOKENS)
            case 3:
                out[at:end] = dice.randbytes(end - at)
            case 4 if out:
                out[min(at, len(out) - 1)] ^= 1 << dice.randrange(8)
            case 5:
                other = dice.choice(others)
                out[at:] = other[dice.randrange(len(other) + 1) :]
            case 6:
                del out[at:]
            case 7:
                lines = out.split(b"\n")
                i, k = dice.randrange(len(lines)), dice.randrange(len(lines))
                lines[i : i + dice.randrange(2)] = [lines[k]] * dice.choice((1, 1, 2, 8))
                out = bytearray(b"\n".join(lines))
            case _:
                out[at:at] = out[at:end] * dice.choice((1, 2, 50))
    return bytes(out[:longest])


def damaged_arrays(dice: random.Random, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One to three changes to names, shapes, types and values."""
    out = dict(arrays)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if not out:
            break
        name = dice.choice(sorted(out))
        array = out[name]
        match dice.randrange(10):
            case 0:
                del out[name]
            case 1:
                out[dice.choice((name + "x", "splits", "info", "seed", "actions.x.train", "actions.0.nowhere"))] = array
            case 2:
                out[name] = out[dice.choice(sorted(out))]
            case 3:
                out[name] = array[: dice.randrange(max(1, len(array)))] if array.ndim else array[None]
            case 4:
                out[name] = array.reshape(dice.choice(((-1,), (1, *array.shape), (*array.shape, 1))))
            case 5:
                kinds = ("i8", "i4", "u1", "f4", "f8", "?", "U3", "S2", "c8", "M8[s]", "f2", ">i4")
                try:
                    with np.errstate(all="ignore"):
                        out[name] = array.astype(dice.choice(kinds))
                except (ValueError, TypeError, RuntimeError):  # text, records and dates have no such numbers
                    out[name] = np.array(["text"])
            case 6:
                out[name] = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
            case 7:
                out[name] = np.zeros(dice.choice(((), (0,), (2, 0), (1, 1, 1, 1))), array.dtype)
            case _ if array.size:
                out[name] = changed = array.copy()
                for _ in range(dice.choice((1, 1, 3))):
                    _change_value(dice, changed)
    return out


def _change_value(dice: random.Random, array: np.ndarray) -> None:
    i = dice.randrange(array.size)
    flat = array.reshape(-1)
    if array.dtype.kind == "U":
        text = str(flat[i]).encode("utf-8", "replace")
        flat[i] = damaged(dice, text, [text]).decode("utf-8", "replace")
    elif array.dtype.kind == "b":
        flat[i] = not flat[i]
    elif array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        flat[i] = dice.choice((info.min, info.max, 0, 1, 2, 3, 4, 8, 9, max(info.min, -1), max(info.min, -2)))
    elif array.dtype.kind == "f":
        flat[i] = dice.choice((np.nan, np.inf, -np.inf, 0, -1, 0.5, 1e30))


VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        0.5,
        -0.0,
        1e308,
        10**30,
        10**400,
        "",
        "a",
        "goal",
        "mlp",
        "\ud800",
        [],
        {},
        [[]],
    ),
    *(float("nan"), float("inf"), ["x"] * 3, {"a": 1}, "A" * 64, 2**63, -(2**31)),
)


def damaged_json(dice: random.Random, value: Any) -> bytes:
    """One to three changes to the tree; now and then to its text."""
    tree = json.loads(json.dumps(value))
    for _ in range(dice.choice((1, 1, 2, 3))):
        holder, key = _random_place(dice, tree)
        if holder is None:
            break
        match dice.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[dice.choice(("x", "", "seed", "splits", "format", "encoder", "epochs"))] = dice.choice(VALUES)
            case 2:
                other, other_key = _random_place(dice, tree)
                holder[key] = json.loads(json.dumps(other[other_key]))
            case _:
                holder[key] = dice.choice(VALUES)
    text = json.dumps(tree).encode()
    return damaged(dice, text, [text], 1 << 20) if dice.random() < 0.2 else text


def _random_place(dice: random.Random, tree: Any) -> tuple[Any, Any]:
    """(container, key) of a node, nodes near the root as likely as leaves."""
    holder, key = None, None
    while isinstance(tree, (dict, list)) and tree:
        if holder is not None and dice.random() < 0.25:
            break
        holder, key = tree, dice.choice(sorted(tree)) if isinstance(tree, dict) else dice.randrange(len(tree))
        tree = holder[key]
    return holder, key
