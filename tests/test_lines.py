import json

from campaigns import lines


def seen(**missed):
    files = {
        path.replace("_", "/") + ".py": {
            "missing_lines": found,
            "excluded_lines": [40],
            "summary": {"num_statements": 20, "missing_lines": len(found), "excluded_lines": 1},
        }
        for path, found in missed.items()
    }
    return {"files": files, "meta": {"version": "7.0"}}


def test_the_report_names_the_lines_that_no_test_runs():
    text, enough = lines.report(seen(jaxlab_maze=[], jaxlab_text=[3], baselines_bc=[7, 8, 9, 12]))
    assert "| jaxlab | 40 | 1 | 97.5 % | 95 % | 2 |" in text
    assert "| baselines | 20 | 4 | 80.0 % | 85 % | 1 |" in text and not enough
    assert "in 1 of 3 modules" in text and "maze" not in text
    assert "| `baselines/bc.py` | 20 | 4 | 7-9, 12 |" in text and "| `jaxlab/text.py` | 20 | 1 | 3 |" in text


def test_too_few_lines_and_failed_tests_are_a_failure_of_the_command(tmp_path):
    for found, failed, status in (([7], [], 0), ([7, 8, 9, 12], [], 1), ([7], ["tests/test_bc.py"], 1)):
        (tmp_path / "seen.json").write_text(json.dumps(seen(jaxlab_maze=[], baselines_bc=found)))
        assert lines.main([str(tmp_path / "seen.json"), str(tmp_path / "out.md"), *failed]) == status
        text = (tmp_path / "out.md").read_text()
        assert text.startswith("# Line coverage") and ("**Tests failed in tests/test_bc.py.**" in text) == bool(failed)
