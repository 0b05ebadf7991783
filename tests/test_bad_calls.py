"""The page of bad calls says what the functions do."""

from pathlib import Path

import pytest

from campaigns import calls

PAGE = Path(__file__).resolve().parents[1] / "docs" / "bad-calls.md"


def rows(*, large: bool) -> list[str]:
    """Lines of the page, as the functions would have them."""
    return [calls.row(call) for section, call in calls.calls(large=large) if (section == calls.LARGE) == large]


@pytest.mark.parametrize("large", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_call_gives_what_the_page_says(large):
    said = PAGE.read_text("utf-8").splitlines()
    expected = rows(large=large)
    assert [row for row in expected if row not in said] == []
    assert large or len([line for line in said if line.startswith("| `")]) > len(expected) > 150


def test_no_error_is_that_of_a_library():
    """Texts of numpy, jax and Python about our own insides would show up as these types."""
    said = PAGE.read_text("utf-8")
    for kind in ("AttributeError", "ZeroDivisionError", "AssertionError", "UnboundLocalError", "JaxRuntimeError"):
        assert f"**{kind}**" not in said
