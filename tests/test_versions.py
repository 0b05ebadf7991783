import tomllib

import pytest

from campaigns import versions

PROJECT = tomllib.loads((versions.ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_oldest_packages_are_the_bounds_of_pyproject():
    bounds = versions.oldest(PROJECT, "3.11")
    assert {name for name, _ in (pin.split("==") for pin in bounds)} > set(versions.NAMED)
    given = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["train"]]
    assert {need.replace(">=", "==") for need in given} < set(bounds)
    with pytest.raises(ValueError, match="numpy has no lower bound"):
        versions.oldest(PROJECT | {"dependencies": ["numpy"]}, "3.11")


def test_a_row_takes_the_place_of_its_own_older_one_only(tmp_path):
    page = tmp_path / "versions.md"
    assert versions.written(page) == {}
    rows = {name: versions.line(name, {"Python": name.split(":")[0] + ".7", "tests": "9 passed", "training": "done"})
            for name in ("3.11:newest", "3.13:oldest")}  # fmt: skip
    page.write_text(versions.report(rows))
    assert versions.written(page) == rows
    new = {"3.11:newest": versions.line("3.11:newest", {"jax": "0.10.2", "failed": "tests: 1 failed"})}
    page.write_text(versions.report(versions.written(page) | new))
    assert versions.written(page) == rows | new
    assert "| 3.11 | newest | 0.10.2 |" in page.read_text() and "**failed** | tests: 1 failed |" in page.read_text()


def test_a_missing_interpreter_is_skipped_and_an_older_row_stays(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(versions, "interpreter", lambda python: None)
    monkeypatch.setattr(versions, "build", lambda work: work)
    page = tmp_path / "versions.md"
    assert versions.main(["3.12:oldest", "--out", str(page)]) == 0
    assert "skipped | no python3.12 was found" in versions.written(page)["3.12:oldest"]
    old = versions.written(page) | {"3.12:oldest": "| 3.12.1 | oldest | 9 passed |"}
    page.write_text(versions.report(old))
    assert versions.main(["3.12:oldest", "--out", str(page)]) == 0
    assert versions.written(page) == old
    assert "3.12:oldest: skipped" in capsys.readouterr().out


def test_a_step_that_fails_says_its_last_words(tmp_path):
    with pytest.raises(versions.StepError, match=r"^import: ModuleNotFoundError: No module named 'nothing'$"):
        versions.run("import", [versions.sys.executable, "-c", "import nothing"], tmp_path / "log", tmp_path)
    assert "import nothing" in (tmp_path / "log").read_text()
    assert versions.last_line("tests/a.py\n==== 3 passed, 1 skipped in 2.50s (0:00:02) ====\n") == "3 passed, 1 skipped"
