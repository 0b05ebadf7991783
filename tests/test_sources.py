"""What holds for every source file."""

import re

import pages


def test_complaint_25_no_private_api_of_jax_and_every_warning_is_an_error(pytestconfig):
    assert pytestconfig.getini("filterwarnings") == ["error"]
    private = re.compile(r"\bjax(lib)?\._\w+|from jax\._src|jax\.experimental")
    for package in ("jaxlab", "baselines"):
        for path in (pages.ROOT / package).rglob("*.py"):
            found = private.findall(path.read_text("utf-8"))
            assert not private.search(path.read_text("utf-8")), (path.name, found)
