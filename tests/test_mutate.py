"""The reasons for which mutants survive belong to mutants that there are."""

import importlib
import json
from pathlib import Path

import pytest

from campaigns import mutants, mutate

REASONS = json.loads((Path(__file__).parent / "campaigns" / "survivors.json").read_text("utf-8"))


@pytest.mark.parametrize("name", REASONS)
def test_every_reason_is_that_of_a_mutant(name):
    path = Path(importlib.import_module(name).__file__)
    lines = path.read_text("utf-8").splitlines()
    rows = [mutant.row for mutant in mutants.of_module(path)]
    for entry in REASONS[name]:
        assert any(mutate.reason(row, lines[row["line"] - 1], [entry]) for row in rows), entry


def test_a_reason_is_found_by_function_change_and_words_of_the_line():
    row = {"function": "load", "line": 3, "column": 4, "before": "1", "after": "2"}
    entry = {"function": "load", "change": "1 -> 2", "line": "BYTES + 1", "reason": "the same"}
    assert mutate.reason(row, "    data = file.read(BYTES + 1)", [entry]) == "the same"
    assert mutate.reason(row, "    data = file.read(1)", [entry]) == ""
    assert mutate.reason({**row, "function": "save"}, "BYTES + 1", [entry]) == ""
    assert mutate.reason({**row, "before": "0"}, "BYTES + 1", [entry]) == ""
