"""Make the frozen splits, ``jaxlab/data/*.npz``, from a seed.

python scripts/make_splits.py           # writes them
python scripts/make_splits.py --check   # makes them again and compares with what is there
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import warnings
import zipfile
from typing import Any

import numpy as np

from jaxlab import splits
from jaxlab.files import write_atomic

SEED = 2026
RECIPES: dict[str, dict[str, Any]] = {
    "3x3-v1": {"shape": (3, 3), "train": 32, "eval": 32, "test": 32},
    "4x4-v1": {"shape": (4, 4)},
    "5x5-v1": {"shape": (5, 5)},
    "8x8-v1": {"shape": (8, 8)},
    "10x10-v1": {"shape": (10, 10)},
    "5x5-key-v1": {"shape": (5, 5), "key_and_door": True},
    "5x5-ice-v1": {"shape": (5, 5), "icy_floor": True},
    "5x5-occlusion-v1": {"shape": (5, 5), "occlusion": True},
}


def make(name: str) -> splits.Splits:
    return splits.make(**RECIPES[name], seed=SEED)


def packed(made: splits.Splits) -> bytes:
    """An npz file with no date in it: the same splits give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for field, array in splits.pack(made).items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{field}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue())
    return file.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files that are there, write nothing")
    check = parser.parse_args().check
    wrong, sums = [], []
    for name in splits.FROZEN:
        made = make(name)
        if check:
            same = splits.load(name).sha256 == made.sha256
            wrong += [] if same else [name]
            print(f"{name}: {'as made' if same else 'DIFFERENT'}")
            continue
        raw = packed(made)
        write_atomic(splits.DATA / f"{name}.npz", raw)
        sums.append(f"{hashlib.sha256(raw).hexdigest()}  {name}.npz\n")
        print(f"{name}: {len(raw)} bytes, {made!r}", *made.notes, sep="\n  ")
    if not check:
        write_atomic(splits.DATA / "SHA256SUMS", "".join(sums))
    return len(wrong) > 0


if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.exit(main())
