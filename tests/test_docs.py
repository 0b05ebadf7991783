"""The pages of the documentation: their code runs, their links and the site hold."""

import logging
import re

import pages
import pytest

PAGES = ["rollouts", "learning", "gymnasium", "throughput", "scale", "datasets", "command", "migration"]


# The README trains too, so the page on learning is left to the slow suite.
@pytest.mark.parametrize("page", [pytest.param(p, marks=[pytest.mark.slow] * (p == "learning")) for p in PAGES])
def test_code_of_the_page_runs(page, capsys):
    for package in ("gymnasium", "flax") if page in ("gymnasium", "migration", "learning") else ():
        pytest.importorskip(package, reason=f"the page needs {package}")
    pages.run(f"docs/{page}.md")
    assert capsys.readouterr().out.strip()


def test_every_page_of_the_navigation_and_every_command_exists():
    listed = set(re.findall(r": (\w+\.md)", (pages.ROOT / "mkdocs.yml").read_text()))
    assert {f"{page}.md" for page in PAGES} <= listed <= {path.name for path in (pages.ROOT / "docs").glob("*.md")}
    for path in (pages.ROOT / "docs").glob("*.md"):
        for module in re.findall(r"python -m ((?:jaxlab|benchmarks|baselines)[\w.]*)", path.read_text()):
            place = pages.ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), (path.name, module)
        for script in re.findall(r"scripts/[\w/]+\.(?:py|sh)", path.read_text()):
            assert (pages.ROOT / script).is_file(), (path.name, script)


def test_the_site_builds_without_network(tmp_path, monkeypatch):
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra docs)")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    def refuse(*_):
        raise OSError("no network here")

    monkeypatch.setattr("socket.socket.connect", refuse)
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    build(load_config(str(pages.ROOT / "mkdocs.yml"), site_dir=str(tmp_path)))
    assert (tmp_path / "gymnasium.html").is_file() and (tmp_path / "search" / "search_index.json").is_file()
