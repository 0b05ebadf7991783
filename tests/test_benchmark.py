import csv
import dataclasses
import io
import json

import numpy as np
import pytest

import jaxlab
from baselines import benchmark, paper, results, train
from baselines.bench import campaign, cells, entries, formats, tables
from baselines.bench.cells import Cell
from jaxlab import grid

SPLITS = jaxlab.splits.load("3x3-v1")
TINY = {"epochs": 4}


def up_else_right(vectors: np.ndarray) -> np.ndarray:
    """Reads the fine grid of the vector observation: is the place above the agent a wall?"""
    agent = vectors[:, 0].astype(int)
    above = np.take_along_axis(vectors, np.minimum(3 + agent + 5, vectors.shape[1] - 1)[:, None], 1)[:, 0]
    return np.where((above == 1) | (agent >= 20), grid.RIGHT, grid.UP)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A benchmark's folder with a trained cell of two seeds, a method of one's own, and a cell that fails."""
    folder = tmp_path_factory.mktemp("benchmark")
    planned = Cell("bc", "mlp", 3, 2, TINY)
    genuine, ended = campaign.method_of, []

    def method_of(name):
        if len(ended) == 0:  # the first cell is the one that fails
            raise RuntimeError("out of luck")
        return genuine(name)

    broken = dataclasses.replace(planned, variant="broken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaign, "method_of", method_of)
        outcome = campaign.run([broken, planned], folder, ended=lambda *row: ended.append(row[1:3]))
    assert ended == [("3x3-bc-mlp-broken", "failed"), ("3x3-bc-mlp", "done")]
    assert outcome.errors == {"3x3-bc-mlp-broken": "RuntimeError: out of luck"}
    benchmark.add(
        "up, else right", lambda shown, seed: up_else_right, mazes=["3x3-v1"], seeds=1, out=folder, observation="vector"
    )
    return folder


def test_a_failing_cell_is_noted_and_the_others_are_done(out):
    state = {cell["name"]: cell for cell in json.loads((out / "grid.json").read_text())["cells"]}
    assert state["3x3-bc-mlp-broken"]["state"] == "failed"
    assert state["3x3-bc-mlp-broken"]["error"] == "RuntimeError: out of luck"
    assert "out of luck" in (out / "cells/3x3-bc-mlp-broken/error.txt").read_text()
    assert state["3x3-bc-mlp"]["state"] == "done"
    assert len(results.read(out / "cells/3x3-bc-mlp")["seeds"]) == 2


def test_finished_cells_are_kept_and_changed_ones_begin_again(out, monkeypatch):
    called = []
    monkeypatch.setattr(campaign.runner, "run", lambda *args, **kwargs: called.append(args))
    kept = Cell("bc", "mlp", 3, 2, TINY)
    file = campaign.folder_of(out, kept) / results.FILE
    before = file.stat().st_mtime_ns
    assert campaign.run([kept], out).states == {kept.name: "kept"}
    assert file.stat().st_mtime_ns == before
    assert called == []
    assert not campaign.is_done(dataclasses.replace(kept, seeds=3), file.parent, SPLITS)
    assert not campaign.is_done(dataclasses.replace(kept, options={"epochs": 5}), file.parent, SPLITS)
    assert not campaign.is_done(kept, file.parent, {**SPLITS, "test": SPLITS["valid"]})


class Killed(BaseException):
    """No `Exception`: nothing may catch it, as nothing catches a kill."""


def scores(folder):
    """All that a run found out, without the time that it took."""
    found = results.read(folder)
    for run in found["seeds"]:
        del run["train_seconds"]
    return found


def test_a_killed_run_goes_on_and_ends_with_the_same_numbers(out, tmp_path):
    cell = Cell("bc", "mlp", 3, 2, TINY)
    for moment in (0, 2, 5):  # of four looks at each of two seeds
        looks = []

        def watch(*row, moment=moment, looks=looks):
            looks.append(row)
            if len(looks) == moment + 1:
                raise Killed

        folder = tmp_path / str(moment)
        with pytest.raises(Killed):
            campaign.run([cell], folder, watch=watch)
        assert not (campaign.folder_of(folder, cell) / results.FILE).exists()
        with open(campaign.folder_of(folder, cell) / "metrics.jsonl", "a") as file:
            file.write('{"seed": 0, "ep')  # half of a line
        assert campaign.run([cell], folder).states == {cell.name: "done"}
        assert scores(campaign.folder_of(folder, cell)) == scores(campaign.folder_of(out, cell))
        rows = (campaign.folder_of(folder, cell) / "metrics.jsonl").read_text().splitlines()
        epochs = [(row["seed"], row["epoch"]) for row in map(json.loads, rows)]
        assert epochs == [(seed, epoch) for seed in range(2) for epoch in range(1, 5)]


def test_a_choice_that_a_method_lacks_is_found_before_training(tmp_path):
    with pytest.raises(ValueError, match=r"choice of bc.*learning_rat.*learning_rate"):
        campaign.run([Cell("bc", "mlp", 3, 1, {"learning_rat": 1})], tmp_path)
    with pytest.raises(ValueError, match="two cells of one name"):
        campaign.run([Cell("bc", "mlp", 3, 1), Cell("bc", "mlp", 3, 2)], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_every_preset_names_choices_that_the_methods_have():
    for preset in cells.PRESETS.values():
        planned = preset(cells.all_methods())
        assert planned
        assert len({cell.name for cell in planned}) == len(planned)
        for cell in planned:
            assert cell.config().encoder == cell.encoder
    assert {cell.method for cell in cells.smoke(cells.all_methods())} == set(train.METHODS)


def test_the_command_line_makes_the_grid():
    options = benchmark.parse(["--methods", "bc", "--sizes", "3", "4", "--encoders", "cnn", "mlp", "--epochs", "7"])
    planned = benchmark.plan(options)
    assert [cell.name for cell in planned] == ["3x3-bc-cnn", "3x3-bc-mlp", "4x4-bc-cnn", "4x4-bc-mlp"]
    assert {(cell.seeds, cell.options["epochs"]) for cell in planned} == {(5, 7)}
    smoke = benchmark.plan(benchmark.parse(["--preset", "smoke", "--seeds", "2"]))
    assert {cell.seeds for cell in smoke} == {2}
    with pytest.raises(ValueError, match=r"method.*'bcc'.*'bc'"):
        benchmark.plan(benchmark.parse(["--methods", "bcc"]))
    with pytest.raises(ValueError, match="preset"):
        benchmark.plan(benchmark.parse(["--preset", "smoky"]))


def test_the_tables_hold_means_intervals_references_and_the_papers_values(out):
    found = benchmark.collect(out)
    assert [entry.label for entry in found] == ["BC, vector, MLP", "up, else right"]
    (table,) = tables.collect(found)
    assert table.key == "table5"
    rows = {row.label: row for row in table.rows}
    own, greedy = rows["up, else right"], rows[tables.GREEDY]
    for split in table.splits:
        assert own.scores[split, "success"].interval == greedy.scores[split, "success"].interval
        assert rows[tables.OPTIMAL].scores[split, "aer"].interval == (1, 1, 1)
        assert 0.15 < rows[tables.RANDOM].scores[split, "success"].interval.mean < 0.3  # METHODS: 21 % at 3x3
    trained = found[0]
    score = rows[trained.label].scores["test", "success"]
    assert score.interval.mean == pytest.approx(trained.matrix("test").mean())
    assert trained.matrix("test").shape == (2, 32)
    assert score.paper is None  # the paper has no vectors


def paper_like(entry: entries.Entry, **changes) -> entries.Entry:
    return entries.Entry({**entry.results, **changes}, entry.folder)


def test_entries_stand_beside_the_papers_rows(out):
    base = benchmark.collect(out)[0]
    found = entries.named(
        [paper_like(base, encoder="cnn"), paper_like(base, encoder="cnn", method="gail"), paper_like(base, method="my")]
    )
    assert [entry.label for entry in found] == ["BC", "GAIL", "my"]
    (table,) = tables.collect(found)
    assert table.rows[0].scores["train", "success"].paper == 0.5312
    assert table.rows[0].scores["train", "aer"].paper == -1.36
    assert table.rows[1].scores["s0_g", "success"].paper == 0.125
    assert table.rows[2].scores["s0_g", "success"].paper is None
    long = paper_like(base, encoder="cnn", config={"epochs": 10_000})
    assert (long.paper_row, entries.named([long])[0].label) == (paper.LONG, "BC, 10,000 epochs")
    assert paper_like(base, encoder="resnet18").paper_row == paper.RESNET
    hidden = paper_like(base, encoder="cnn", settings={**base.results["settings"], "occlusion": True})
    control = paper_like(base, method="gail", encoder="cnn", config={"control": "shuffled"})
    assert (control.paper_row, entries.named([control])[0].label) == (None, "GAIL, actions shuffled")
    assert hidden.paper_row is None
    assert entries.name_of([hidden]) == "3x3, occlusion"
    assert len(entries.groups([base, hidden])) == 2
    twins = [paper_like(base, config={"epochs": n}) for n in (3, 4)] + [dataclasses.replace(base)]
    labels = [entry.label for entry in entries.named(twins)]
    assert labels[0] == "BC, vector, MLP, 3 epochs"
    assert labels[1] == "BC, vector, MLP, 4 epochs, 3x3-bc-mlp"


def test_other_mazes_of_one_size_have_a_table_of_their_own(out):
    base = benchmark.collect(out)[0]
    digests = {split: "ab" * 32 for split in base.splits}
    other = dataclasses.replace(paper_like(base, mazes={**base.results["mazes"], "sha256": digests}), folder=None)
    made = tables.collect(entries.named([base, other]))
    assert [table.key for table in made] == ["table5", "3x3-mazes-abababab"]
    assert [len(table.rows) for table in made] == [4, 1]  # nothing is known of the other mazes but their scores
    assert tables.gaps([base, other]) == []


def test_five_by_five_fills_table_2_table_7_and_the_ablation(out):
    base = benchmark.collect(out)[0]
    mazes = {**base.results["mazes"], "shape": [5, 5]}
    config = {"epochs": 10_000}
    found = entries.named(
        dataclasses.replace(paper_like(base, mazes=mazes, **changes), folder=None)
        for changes in ({"encoder": "cnn"}, {"encoder": "resnet18"}, {"encoder": "cnn", "config": config})
    )
    made = {table.key: table for table in tables.collect(found)}
    assert list(made) == ["table2", "table7", "ablation"]
    assert made["table2"].splits == ("train", "valid", "test")
    assert [row.label for row in made["table2"].rows] == ["BC"]
    beside = {row.label: row.scores["test", "success"].paper for row in made["ablation"].rows}
    assert beside == {"BC": 0.02, "BC, ResNet-18": 0.53, "BC, 10,000 epochs": 0.34}


def test_the_formats_agree(out):
    found = benchmark.collect(out)
    made = tables.collect(found)
    markdown, latex = formats.markdown(made), formats.latex(made[0])
    lines = list(csv.DictReader(io.StringIO(formats.scores_csv(made))))
    assert len(lines) == 5 * (2 * 2 + 1 + 2 + 2)
    for line in lines:
        if line["metric"] == "success" and line["method"] not in tables.REFERENCES:
            low, high = (f"{100 * float(line[end]):.1f}" for end in ("low", "high"))
            mean = f"{100 * float(line['mean']):.1f}"
            assert f"{mean} [{low}, {high}]" in markdown
            assert rf"${mean}_{{\,[{low},\,{high}]}}" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert r"success, \%" in latex
    others = list(csv.DictReader(io.StringIO(formats.kinds_csv(found))))
    assert len(others) == 5 * 4 * 3  # splits, figures, seeds of both entries
    best = found[0].results["seeds"][1]["splits"]["s0"]["best"]["success"]
    assert {
        float(line["success"])
        for line in others
        if (line["method"], line["split"], line["figure"], line["seed"]) == (found[0].label, "s0", "best", "1")
    } == {round(best, 6)}
    gaps = list(csv.DictReader(io.StringIO(formats.gaps_csv(tables.gaps(found)))))
    assert len(gaps) == 5 * 2
    test = next(g for g in gaps if (g["split"], g["metric"]) == ("test", "success") and g["second"] == "up, else right")
    ours = found[0].matrix("test").mean() - found[1].matrix("test").mean()
    assert float(test["difference"]) == pytest.approx(ours, abs=1e-6)


def test_the_papers_values():
    found = paper.values()
    assert len(found) == 3 * 5 * 6 + 6
    assert paper.value(3, "test", "SQIL").success == pytest.approx(0.2187)
    assert paper.value(5, "test", paper.RESNET) == (None, None, 0.53)
    assert paper.value(6, "test", "BC") is None
    assert {split for _, split, _ in found} == set(paper.SPLITS)


def test_results_of_ones_own_are_checked_by_the_command(out, tmp_path, capsys):
    (file,) = out.glob(f"cells/3x3-up-else-right-*/{results.FILE}")
    assert results.main([str(file)]) == 0
    assert "up, else right, 1 seeds, train, valid, test, s0, s0_g: follows" in capsys.readouterr().out
    spoilt = json.loads(file.read_text())
    spoilt["seeds"][0]["splits"]["test"]["argmax"]["success"] = 0.99
    (tmp_path / "x.json").write_text(json.dumps(spoilt))
    assert results.main([str(file), str(tmp_path / "x.json")]) == 2
    assert "splits.test.argmax.success is 0.99, its episodes say" in capsys.readouterr().err


def test_cells_beside_the_paper_say_whether_they_agree(out):
    base = benchmark.collect(out)[0]
    found = entries.named([paper_like(base, encoder="cnn", method="bc")])
    cells_of = {cell.split: cell for cell in tables.beside_paper(found)}
    for split, cell in cells_of.items():
        assert cell.paper == paper.value(3, split, "BC").success
        below, above = cell.paper < cell.interval.low - cell.error, cell.paper > cell.interval.high + cell.error
        assert cell.verdict == ("higher" if below else "lower" if above else "agrees")
    page = formats.agreement(cells_of.values())
    assert page.count("\n| 3x3") == len(paper.SPLITS)
    assert formats.agreement([]) == ""


def added(out, name, mazes):
    return benchmark.add(
        name,
        lambda shown, seed: up_else_right,
        mazes=mazes,
        seeds=1,
        out=out,
        observation="vector",
        config={"of": name},
    )


def test_results_of_ones_own_are_never_lost_to_others(tmp_path):
    few = {split: mazes[:2] for split, mazes in SPLITS.items()}
    other = {**few, "test": few["valid"]}
    paths = (
        added(tmp_path, "Mine", (few, other)) + added(tmp_path, "bc cnn", [few]) + added(tmp_path, "Weg \u00fc", [few])
    )
    assert len(set(paths)) == 4
    assert len(benchmark.collect(tmp_path)) == 4
    assert not {path.parent.name for path in paths} & {cell.name for cell in cells.grid(["bc"], [3], ["cnn"], 1)}
    assert "weg-\u00fc-" in paths[3].parent.name
    before = paths[2].read_bytes()
    with pytest.raises(ValueError, match=r"'BC-CNN' and 'bc cnn' share the folder .*: give another name"):
        added(tmp_path, "BC-CNN", [few])
    assert paths[2].read_bytes() == before
    with pytest.raises(ValueError, match="needs a letter or digit, for its folder, got '\u2605'"):
        added(tmp_path, "\u2605", [few])
    assert added(tmp_path, "Mine", [few]) == paths[:1]


def test_groups_of_entries_have_names_of_their_own(out):
    base = benchmark.collect(out)[0]
    digests = base.results["mazes"]["sha256"]
    scored = (("train", "valid", "test"), ("train", "test"), ("train",))
    found = [
        paper_like(base, mazes={**base.results["mazes"], "sha256": {split: digests[split] for split in splits}})
        for splits in scored
    ]
    groups = entries.groups(found)
    assert list(groups)[:2] == ["3x3", f"3x3, mazes {digests['train'][:8]}"]
    assert list(groups.values()) == [[entry] for entry in found]
