"""Make the stored evidence under tests/data from the golden records of the released implementation.

    python scripts/golden_digests.py [--golden ../shared/golden]

It writes the inputs of all records, the SHA-256 of everything that was recorded for them, and
twenty records whole, with their files; and prints how many there are.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import evidence  # noqa: E402

from jaxlab.files import write_atomic  # noqa: E402

NUM_WHOLE = 20


def choose_whole(records: dict[str, list[dict]]) -> list[dict]:
    """Twenty records with files: the first of each kind, then the second, and so on."""
    kinds = [kind for kind in evidence.KINDS if evidence.has_rollouts(kind)]
    in_turn = [records[kind][i] for i in range(2) for kind in kinds]
    return in_turn[:NUM_WHOLE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--golden", type=Path, default=ROOT.parent / "shared" / "golden")
    golden = parser.parse_args().golden

    inputs = evidence.gather_inputs(golden)
    packed = io.BytesIO()
    np.savez_compressed(packed, **inputs)
    write_atomic(evidence.INPUTS, packed.getvalue())

    digests = {kind: evidence.digests_of(evidence.recorded(golden, kind)) for kind in evidence.KINDS}
    write_atomic(evidence.DIGESTS, json.dumps(digests, indent=1) + "\n")

    whole = choose_whole(evidence.all_records(golden))
    kept = [{key: value for key, value in r.items() if not key.startswith("ref_short")} for r in whole]
    write_atomic(evidence.DATA / "golden_records.json", "[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n")
    for record in whole:
        content = evidence.file_of(golden, record).read_bytes()
        write_atomic(evidence.DATA / "mazes" / f"{evidence.name_of(record)}.labyrinth", content)

    counts = {part: sum(len(d.get(part, ())) for d in digests.values()) for part in evidence.PARTS}
    print(f"inputs of {sum(len(inputs[f'{kind}/start']) for kind in evidence.KINDS)} mazes; {len(whole)} records whole")
    print("digests:", ", ".join(f"{count} {part}" for part, count in counts.items()))


if __name__ == "__main__":
    main()
