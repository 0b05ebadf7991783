"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden"


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of golden records; skipped without it, except under CI, where that is a failure."""
    if not (GOLDEN / "mazes3.json").is_file():
        reason = "the golden records are not there (../shared/golden beside the project)"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}, and under CI they must be", pytrace=False)
        pytest.skip(reason)
    return GOLDEN
