import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import jaxlab
from baselines import diagnosis, evaluate, page, replay, results
from baselines.bench import entries, tables
from baselines.page import __main__ as page_command

pytest.importorskip("matplotlib", reason="the report's charts need matplotlib (extra viz)")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
NAMES = ("train", "test")


def result(folder, method, env, mazes, share, seeds=2):
    """A run of a policy that is right in a share of the states."""
    rng, actions, runs = np.random.default_rng(int(100 * share)), {}, []
    for seed in range(seeds):
        scores = {}
        for split, part in mazes.items():
            params = env.params(part)
            best, wild = evaluate.optimal_actions(params), rng.integers(0, 4, (len(part), env.num_modes, env.num_cells))
            actions[seed, split] = np.where(rng.random(best.shape) < share, best, wild)
            found = evaluate.score(env, params, actions[seed, split])
            figures = {name: value for name, value in found.items() if name != "episodes"}
            scores[split] = {"argmax": found, "best": figures, "running_bn": figures, "sampled": {"success": 0.5}}
        runs.append({"seed": seed, "train_seconds": 1.0, "splits": scores})
    replay.write(folder, env, mazes, actions)
    settings = {"key_and_door": env.key_and_door, "icy_floor": False, "occlusion": False, "pixels": 64}
    digests = {split: jaxlab.splits.digest(part) for split, part in mazes.items()}
    results.write(
        folder,
        {
            "format": results.FORMAT,
            "method": method,
            "encoder": "cnn",
            "observation": "pixels-paper",
            "settings": settings,
            "config": {"note": "</script><b>{{data}}"},
            "versions": results.versions(),
            "machine": results.machine(),
            "mazes": {"name": None, "shape": list(env.shape), "seed": 0, "sha256": digests},
            "seeds": runs,
        },
    )
    with open(folder / "metrics.jsonl", "w") as file:
        for seed in range(seeds):
            for epoch in range(1, 21):
                row = {"seed": seed, "epoch": epoch, "loss": 1 / epoch}
                row |= {"train_success": 0.05 * epoch, "valid_success": 0.02 * epoch} if epoch % 5 == 0 else {}
                file.write(json.dumps(row) + "\n")
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of two methods on plain mazes and one on mazes with key and door; and its entries."""
    root = tmp_path_factory.mktemp("report")
    plain = {name: jaxlab.splits.load("5x5-v1")[name][:20] for name in NAMES}
    key = {name: jaxlab.splits.load("5x5-key-v1")[name][:20] for name in NAMES}
    env, keyed = jaxlab.Labyrinth((5, 5)), jaxlab.Labyrinth((5, 5), key_and_door=True)
    found = entries.read(
        [
            result(root / "bc", "bc", env, plain, 0.9),
            result(root / "own", "my <method>", env, plain, 0.95),
            result(root / "key", "bc", keyed, key, 0.97),
        ]
    )
    path = page.write(root / "report.html", found, tables.collect(found), tables.gaps(found))
    return path, [entry for group in entries.groups(found).values() for entry in group]


def test_the_report_is_one_file_that_needs_no_network(report):
    text = report[0].read_text("utf-8")
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", text)
    assert not re.search(r"url\((?!#)", text)
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert len(text) < 600_000


def test_what_others_wrote_is_escaped(report):
    text = report[0].read_text("utf-8")
    assert "my &lt;method&gt;" in text
    assert "<method>" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert "</script><b>" not in text
    assert "note &lt;/script&gt;&lt;b&gt;{{data}}" in text


def test_the_data_say_what_the_results_say(report):
    text, found = report[0].read_text("utf-8"), report[1]
    (raw,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.S)
    data = json.loads(raw)
    assert [group["name"] for group in data["groups"]] == ["5x5", "5x5, key and door"]
    assert [entry["label"] for entry in data["entries"]] == [entry.label for entry in found]
    for shown, entry in zip(data["entries"], found, strict=True):
        for one, run in zip(shown["seeds"], entry.results["seeds"], strict=True):
            for split in NAMES:
                outcomes = [episode["outcome"] for episode in run["splits"][split]["argmax"]["episodes"]]
                ends = ["loop" if end in diagnosis.ENDS[:3] else end for end in one["splits"][split]["ends"]]
                assert ends == outcomes


def browse(report, tmp_path, script):
    """What a script in the page leaves in ``document.title``, as JSON; errors of the page included."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    text = report[0].read_text("utf-8")
    watch = "<script>window.faults = []; addEventListener('error', (event) => faults.push(event.message));</script>"
    tail = f"<script>document.title = JSON.stringify({{faults, found: (() => {{{script}}})()}});</script>"
    file = tmp_path / "page.html"
    file.write_text(text.replace("<head>", "<head>" + watch).replace("</body>", tail + "</body>"), "utf-8")
    flags = [*FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run([CHROMIUM, *flags, file.as_uri()], capture_output=True, text=True, timeout=120, check=True)
    title = re.search(r"<title>(.*?)</title>", done.stdout, flags=re.S)
    told = json.loads(html.unescape(title[1]))
    assert told["faults"] == []
    return told["found"]


def test_a_browser_replays_every_failure_as_it_happened(report, tmp_path):
    script = """
    const change = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("change")); };
    const out = [];
    for (const group of [0, 1]) {
      change("f-group", String(group));
      change("f-split", "train");
      change("f-seed", "1");
      const episodes = [];
      for (let i = 0; i < listed.length; i++) {
        if (i) byId("thumbs").children[i].click();
        const moves = player.episode.states.length - 1, actions = [];
        for (let step = 0; step < moves; step++) {
          actions.push(player.episode.action(player.episode.states[player.step]));
          byId("p-next").click();
        }
        episodes.push([player.episode.maze, actions, byId("told").textContent]);
      }
      out.push(episodes);
    }
    return out;
    """
    plain, keyed = browse(report, tmp_path, script)
    for shown, entry in ((plain, report[1][0]), (keyed, report[1][2])):
        trial = entry.replay
        known, actions = trial.rules["train"], trial.actions[1, "train"]
        episodes = {maze: replay.play(known, maze, actions[maze]) for maze in range(20)}
        failed = {maze: episode for maze, episode in episodes.items() if episode.outcome != "goal"}
        assert [maze for maze, _, _ in shown] == list(failed)
        assert failed
        for maze, done, told in shown:
            assert done == failed[maze].actions
            assert f"train, maze {maze}, seed 1" in told
            assert "does the same again" in told


def test_a_browser_filters_and_steps_by_keyboard(report, tmp_path):
    script = """
    const change = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("change")); };
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const visible = () => Array.from(document.querySelectorAll(".group")).filter((part) => !part.hidden).length;
    const out = { groups: visible(), heats: document.querySelectorAll("#heats svg").length, all: listed.length };
    change("f-seed", "0");
    out.one = listed.length;
    change("f-entry", "1");
    out.other = byId("picked").textContent;
    press("]");
    out.index = player.index;
    press("ArrowRight"); press("ArrowRight"); press("ArrowLeft");
    out.step = player.step;
    out.moves = player.episode.states.length - 1;
    press(" ");
    out.playing = byId("p-play").textContent;
    press(" ");
    out.paused = byId("p-play").textContent;
    byId("p-last").click();
    out.last = player.step === player.episode.states.length - 1;
    const lines = document.querySelectorAll(".group:not([hidden]) .series-0").length;
    document.querySelector(".legend button").click();
    out.off = document.querySelectorAll(".group:not([hidden]) .series-0.series-off").length === lines && lines > 0;
    out.tables = document.querySelectorAll(".group:not([hidden]) [data-split]:not([hidden])").length;
    byId("p-all").click();
    out.whole = listed.length;
    return out;
    """
    found = browse(report, tmp_path, script)
    failures = [(~one.matrix("test").astype(bool)).sum(1) for one in report[1]]
    assert (found["groups"], found["heats"], found["tables"]) == (1, 2, 1)
    assert (found["all"], found["one"]) == (failures[0].sum(), failures[0][0])
    assert found["other"] == f"my <method> on test: {failures[1][0]} failed episodes"
    assert (found["index"], found["step"]) == (1, min(2, found["moves"]) - 1)
    assert (found["playing"], found["paused"]) == ("Pause", "Play")
    assert found["last"] and found["off"]
    assert found["whole"] == 20


def test_the_command_draws_the_report_of_any_folder(report, tmp_path, capsys):
    assert page_command.main([str(report[1][1].folder), "--out", str(tmp_path / "one.html"), "--title", "A & B"]) == 0
    text = (tmp_path / "one.html").read_text("utf-8")
    assert "<title>A &amp; B</title>" in text
    assert page_command.main([str(tmp_path / "missing"), "--out", str(tmp_path / "none.html")]) == 2
    assert "no results here" in capsys.readouterr().err
    assert not (tmp_path / "none.html").exists()
