"""Tables 2, 5, 6 and 7 of the paper and its ablation of BC, with 95 % intervals, beside its values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from baselines import evaluate, paper
from baselines.bench import entries, intervals
from baselines.bench.entries import Entry
from baselines.bench.intervals import Interval
from jaxlab.env import Labyrinth
from jaxlab.maze import Maze

METRICS = ("success", "aer")
RANDOM, GREEDY, OPTIMAL = "random, within 4 L", "greedy (up, else right)", "optimal"
REFERENCES = (RANDOM, GREEDY, OPTIMAL)


class Score(NamedTuple):
    """One cell of a table.

    Attributes:
        interval: mean over seeds and mazes, with its 95 % interval.
        std: standard deviation over mazes, the mean over seeds (as the paper's plus-minus); None for rates.
        paper: the paper's value, None where it has none.
    """

    interval: Interval
    std: float | None = None
    paper: float | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """A method: its scores by (split, metric)."""

    label: str
    scores: dict[tuple[str, str], Score]
    seeds: int
    is_reference: bool = False


@dataclasses.dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        key: file name without its end, ``"table7"``.
        title: what it says above.
        splits: its columns.
        rows: methods, then references.
        metrics: success alone, or with returns.
        mazes: the name of its group of entries.
    """

    key: str
    title: str
    splits: tuple[str, ...]
    rows: tuple[Row, ...]
    metrics: tuple[str, ...] = METRICS
    mazes: str = ""


def collect(found: Iterable[Entry]) -> list[Table]:
    """Every table that the entries fill, in the paper's order (host)."""
    out: list[Table] = []
    for name, group in entries.groups(found).items():
        first = group[0]
        height, width = first.shape
        side = height if height == width and first.is_plain else 0
        rows = tuple(_row(entry, side) for entry in group) + references(group)
        splits = tuple(dict.fromkeys(split for entry in group for split in entry.splits))
        number = paper.TABLES.get(side)
        slug = name.replace(", ", "-").replace(" ", "-")
        is_first = not any(table.key == f"table{number}" for table in out)
        if side == 5 and is_first:
            main = tuple(row for row in rows if row.is_reference or row.label in paper.METHODS)
            if any(not row.is_reference for row in main):
                drawn = tuple(split for split in ("train", "valid", "test") if split in splits)
                out.append(Table("table2", "Table 2: 5x5, the six methods with the CNN", drawn, main, mazes=name))
        title = f"Table {number}: {name}" if number and is_first else name
        out.append(Table(f"table{number}" if number and is_first else slug, title, splits, rows, mazes=name))
        ablation = [_row(entry, side) for entry in group if entry.method == "bc"]
        if side == 5 and is_first and len(ablation) > 1:
            drawn = tuple(split for split in ("train", "valid", "test") if split in splits)
            out.append(
                Table("ablation", "Ablation: BC by encoder and length, 5x5", drawn, tuple(ablation), ("success",), name)
            )
    return out


def _row(entry: Entry, side: int) -> Row:
    scores = {}
    for split in entry.splits:
        beside = paper.value(side, split, entry.paper_row)
        gains = entry.matrix(split, "aer")
        scores[split, "success"] = Score(
            intervals.of_rate(entry.matrix(split)), None, beside.success if beside else None
        )
        scores[split, "aer"] = Score(
            intervals.of_mean(gains), float(gains.std(1).mean()), beside.aer if beside else None
        )
    return Row(entry.label, scores, len(entry.seeds))


def references(group: list[Entry]) -> tuple[Row, ...]:
    """Random, greedy and optimal on the mazes of a group; none where no entry kept its mazes."""
    known = next((entry.replay for entry in group if entry.replay is not None), None)
    if known is None:
        return ()
    scores: dict[str, dict[tuple[str, str], Score]] = {name: {} for name in REFERENCES}
    for split, mazes in known.splits.items():
        for name, found in _reference_scores(known.env, mazes).items():
            for metric, values in found.items():
                of = intervals.of_rate if metric == "success" else intervals.of_mean
                scores[name][split, metric] = Score(of(values), float(values.std()) if metric == "aer" else None)
    return tuple(Row(name, scores[name], 1, True) for name in REFERENCES)


def _reference_scores(env: Labyrinth, mazes: Maze) -> dict[str, dict[str, np.ndarray]]:
    """``{row: {metric: float64[1, mazes]}}``."""
    params = env.params(mazes)
    uniform = np.full((len(mazes), env.num_modes, env.num_cells, 4), 0.25, np.float32)
    short, _ = evaluate.sampled(env, params, uniform, evaluate.max_cost(env, params))
    out: dict[str, dict[str, np.ndarray]] = {RANDOM: {"success": np.asarray(short, np.float64)[None]}}
    walks = {GREEDY: evaluate.greedy_actions(params, env.num_modes), OPTIMAL: evaluate.optimal_actions(params)}
    for name, actions in walks.items():
        episodes = evaluate.score(env, params, actions)["episodes"]
        out[name] = {
            metric: np.array([[one[field] for one in episodes]], np.float64)
            for metric, field in entries.FIGURES.items()
        }
    return out


class Beside(NamedTuple):
    """One of our success rates beside the paper's.

    Attributes:
        mazes, row, split: the cell.
        interval: ours.
        paper: the paper's share of mazes solved.
        error: standard error of the paper's share, which is of this many mazes and one seed.
    """

    mazes: str
    row: str
    split: str
    interval: Interval
    paper: float
    error: float

    @property
    def verdict(self) -> str:
        """ "higher" or "lower" (ours) where the paper's value is outside our interval by more than its error."""
        if self.paper < self.interval.low - self.error:
            return "higher"
        return "lower" if self.paper > self.interval.high + self.error else "agrees"


def beside_paper(found: Iterable[Entry]) -> list[Beside]:
    """Every success rate that the paper has a value for, in the paper's order (host)."""
    out = []
    for name, group in entries.groups(found).items():
        height, width = group[0].shape
        for entry in group:
            for split in entry.splits:
                value = paper.value(height if height == width else 0, split, entry.paper_row)
                if value is not None:
                    scores = entry.matrix(split)
                    error = float(np.sqrt(value.success * (1 - value.success) / scores.shape[1]))
                    out.append(Beside(name, entry.label, split, intervals.of_rate(scores), value.success, error))
    return out


class Gap(NamedTuple):
    """How far one method is above another on a split, over the same mazes."""

    mazes: str
    split: str
    metric: str
    first: str
    second: str
    interval: Interval


def gaps(found: Iterable[Entry]) -> list[Gap]:
    """Paired differences between every two methods on the same mazes (host)."""
    out = []
    for name, group in entries.groups(found).items():
        for i, one in enumerate(group):
            for other in group[i + 1 :]:
                for split in one.splits:
                    if split in other.splits:
                        for metric in METRICS:
                            pair = one.matrix(split, metric), other.matrix(split, metric)
                            gap = intervals.of_difference(*pair)
                            out.append(Gap(name, split, metric, one.label, other.label, gap))
    return out
