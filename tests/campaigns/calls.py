"""Bad and extreme calls of every public function: what each gives, a value or the text of an error.

bash scripts/calls.sh                 # writes docs/bad-calls.md
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

import baselines
import jaxlab
from baselines import bc, bco, dagger, evaluate, gail, iupe, merge, results, sqil
from jaxlab import analysis, audit, datasets, files, generate, maze, solve, splits, text, wrappers

CORE = analysis, audit, datasets, files, generate, jaxlab, jnp, maze, solve, splits, text, wrappers
LEARNING = baselines, bc, bco, dagger, evaluate, gail, gymnasium, iupe, merge, results, sqil
MODULES = {module.__name__.rpartition(".")[2]: module for module in CORE + LEARNING}
CALLS = """
== A maze
jaxlab.from_edges([(0, 1)], (1, 1), 0, 0)
jaxlab.from_edges([], (0, 5), 0, 1)
jaxlab.from_edges([(0, 1)], (1, 2), 0, 0)
jaxlab.from_edges([(0, 1)], (1, 2), 0, 2)
jaxlab.from_edges([(0, 1)], (1, 2), 0.5, 1)
jaxlab.from_edges([(0, 1)], (1, 2), True, 0)
jaxlab.from_edges([(0, 3)], (2, 2), 0, 3)
jaxlab.from_edges([(0, "a")], (1, 2), 0, 1)
jaxlab.from_edges(None, (1, 2), 0, 1)
jaxlab.from_edges([(0, 1)], "ab", 0, 1)
jaxlab.from_edges([(0, 1)], (1, 2), 0, 1, key=1)
jaxlab.from_edges([(0, 1)], (1, 2), 0, 1, ice=[0])
jaxlab.from_edges([], (1, 2), 0, 1)
jaxlab.to_edges(TWO)
jaxlab.to_edges(None)
jaxlab.stack([])
jaxlab.stack(None)
jaxlab.stack([ONE, ROW])
jaxlab.stack([ONE, "maze"])
jaxlab.stack([ONE, MUDDY])
maze.concatenate([])
maze.concatenate([TWO, ROWS])
TWO[5]
ONE[0]
len(ONE)
maze.check(ONE.replace(walls=ONE.walls.astype(int)))
maze.check(ONE.replace(start=np.float32(0)))
maze.check(ONE.replace(goal=np.int32(9)))
maze.check(ONE.replace(goal=ONE.start))
maze.check(ONE.replace(ice=np.zeros((2, 3), bool)))
maze.transform(ONE, 8)
== Files
text.parse(b"labyrinth:")
text.parse("")
text.parse("labyrinth:\\n-----\\n| S |\\n-----\\nend")
text.format(TWO)
text.format(None)
text.format(ONE, None)
text.format(ONE, "key_and_lock")
text.format(MUDDY)
jaxlab.load("nowhere.labyrinth")
jaxlab.load(FOLDER)
jaxlab.save(FOLDER, ONE)
files.read_arrays(b"PK")
files.read_arrays("nowhere.npz")
== The environment
jaxlab.Labyrinth((1, 1))
jaxlab.Labyrinth((2, 2, 2))
jaxlab.Labyrinth(5)
jaxlab.Labyrinth((2, 2), observation="vektor")
jaxlab.Labyrinth((2, 2), reward="papper")
jaxlab.Labyrinth((2, 2), occlusion="yes")
jaxlab.Labyrinth((2, 2), pixels=0)
jaxlab.Labyrinth((2, 2), observation="grid", view=2)
jaxlab.Labyrinth((2, 2), view=3)
jaxlab.Labyrinth((2, 2), fall_return="low")
jaxlab.Labyrinth((2, 2), tiles=["mud"])
jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("a", same), jaxlab.Tile("a", same)))
jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("a", same, modes=65),))
jaxlab.Tile("", same)
jaxlab.Tile("mud", "wade")
jaxlab.Tile("mud", same, color=(1, 2))
jaxlab.Tile("mud", same, modes=0)
ENV.params(None)
ENV.params(TWO[np.zeros(0, int)])
ENV.params(ROWS)
ENV.params(KEYED)
ENV.params(ICY)
ENV.params(TWO, max_steps=0)
ENV.params(TWO, max_steps=2.5)
ENV.params(TWO.replace(goal=TWO.start))
ENV.params(TWO.replace(walls=np.zeros_like(TWO.walls)))
jaxlab.Labyrinth((2, 2), key_and_door=True).params(TWO)
jaxlab.Labyrinth((2, 2), tiles=(jaxlab.Tile("mud", same),)).params(TWO)
ENV.params(TWO).max_steps
ENV.bare_params(TWO)
ENV.reset(0, PARAMS)
ENV.reset(None, PARAMS)
ENV.reset_to(2, PARAMS)
ENV.reset_to("first", PARAMS)
ENV.reset_to(jnp.zeros(2, "int32"), PARAMS)
ENV.step(None, STATE, 4, PARAMS)
ENV.step(None, STATE, None, PARAMS)
ENV.step(None, STATE, jnp.float32(1), PARAMS)
ENV.step(None, STATE, jnp.int32(7), PARAMS).state.cell
ENV.place(STATE, -1)
jaxlab.Labyrinth((3, 3)).step(None, STATE, 0, PARAMS)
ENV.step(None, STATE, 0, BARE)
ENV.observation_space.contains(np.zeros(3))
wrappers.AutoReset(ENV, "no")
jaxlab.Labyrinth((1, 7)).params(ROWS).distance[0, 0]
== Pictures
jaxlab.render(ONE, 4, 64)
jaxlab.render(ONE, 0, 0)
jaxlab.render(ONE, 0, 2.5)
jaxlab.render(TWO, 0, 64)
jaxlab.render(ONE, 0, 1)
jaxlab.render(None, 0, 64)
== Solutions
solve.optimal(ENV, None)
solve.optimal(jaxlab.Labyrinth((3, 3)), PARAMS)
solve.optimal(ENV, ENV.params(APART)).distance[0, 0]
solve.paths(None)
solve.paths(ONE, -1)
solve.paths(ONE, 0).complete
solve.paths(APART[0]).as_lists()
solve.paths(ONE, env=jaxlab.Labyrinth((3, 3)))
solve.count_paths(TWO)
solve.count_paths(APART[0])
solve.sample_paths(APART[0], 1)
solve.sample_paths(ONE, 0)
solve.sample_paths(ONE, -1)
solve.iter_paths(TWO)
== Making mazes
generate.mazes(0, 2, (3, 3))
generate.mazes(KEY, 0, (3, 3))
generate.mazes(KEY, -1, (3, 3))
generate.mazes(KEY, 2, (1, 1))
generate.mazes(KEY, 2, (3, 3), "biassed")
generate.mazes(KEY, 2, (3, 3), (4, 4))
generate.mazes(KEY, 2, (3, 3), (0, 9))
generate.mazes(KEY, 2, (3, 3), "unbiased", 9)
generate.tree_mazes(KEY, 2, (3, 3), algorithm="kruskall")
generate.tree_mazes(KEY, 2, (3, 3), loops=1.5)
generate.unique(-1, 2, (3, 3))
generate.unique(0, 97, (3, 3))
generate.unique(0, 2, (1, 9))
generate.unique(0, 2, (3, 3), unique_up_to="mirror")
generate.key_and_door(ROWS[0])
generate.ice(ROWS[0])
generate.ice(TWO)
generate.new_start(ROWS[0])
generate.new_start(None)
generate.new_start_and_goal(ONE).shape
generate.key_moved(ONE)
generate.ice_moved(ONE)
generate.change_walls(ONE, 5)
generate.change_walls(ROWS[0], 1)
generate.same_solutions(ROWS[0])
generate.nearest(ONE, ROWS)
generate.edge_distances(ONE.walls, TWO.walls).tolist()
== Splits and data sets
splits.load("5x5-v2")
splits.make((3, 3), 97, 0, 0)
splits.make((3, 3), 0, 1, 1)
splits.make((3, 3), 1.5)
splits.make((1, 1))
splits.make((1, 5), 1, 1, 1)
splits.make((3, 3), 3, 3, 3, seed=-1)
splits.make((3, 3), 3, 3, 3, start_goal="corner")
splits.read(FOLDER)
splits.read("nowhere")
splits.unpack(None, {})
splits.load("3x3-v1")["eval"]
audit.audit({})
datasets.demonstrations(ENV, APART)
datasets.demonstrations(ENV, None)
datasets.episodes(ENV, TWO, "longest")
datasets.episodes(ENV, APART)
datasets.episodes(ENV, APART, "all-routes")
datasets.read_npz("nowhere.npz")
datasets.write_npz(FOLDER, datasets.episodes(ENV, TWO))
== Analysis
analysis.visits(ENV, None)
analysis.shortest_paths(ENV, APART)
analysis.jensen_shannon(np.ones(4), np.ones(5))
analysis.jensen_shannon(np.zeros(4), np.ones(4))
analysis.wasserstein(np.ones(4), np.ones(4), (3, 3))
analysis.permutation_test(analysis.jensen_shannon, np.zeros((0, 4)), np.ones((2, 4)))
analysis.permutation_test(np.ones(4), np.ones(4), np.ones(4))
== Gymnasium
gymnasium.make("Labyrinth-v0", shape="ab")
gymnasium.make("Labyrinth-v0", shape=(1, 1))
gymnasium.make("Labyrinth-v0", observation="picture")
gymnasium.make("Labyrinth-v0", shape=(3, 3), mazes=TWO)
gymnasium.make("Labyrinth-v0", render_mode="video")
gymnasium.make("Labyrinth-v0", start_goal="random")
gymnasium.make("Labyrinth-v0", max_steps=0)
GYM.step(4)
GYM.step(None)
GYM.step(1.5)
GYM.reset(options={"maze": 3})
GYM.load("nowhere.labyrinth")
gymnasium.make_vec("Labyrinth-v0", num_envs=0)
gymnasium.make_vec("Labyrinth-v0", num_envs=2, autoreset_mode="Never")
== Writers of data sets
datasets.demonstrations(ENV, ROWS)
datasets.demonstrations(ENV, TWO, -1)
datasets.write_npz(FOLDER, None)
datasets.read_huggingface(FOLDER)
datasets.write_huggingface(FOLDER, None)
datasets.write_minari(FOLDER, None)
== Learning and scores
baselines.load("nowhere")
baselines.load(FOLDER, which="first")
results.read("nowhere")
results.check(None)
results.check({})
evaluate.table(None, {"test": TWO})
evaluate.table(len, {})
evaluate.table(len, {"test": TWO}, observation="sound")
evaluate.table(len, "6x6-v1")
evaluate.table(len, {"test": TWO})
evaluate.score(ENV, PARAMS, np.zeros((2, 1, 3), int))
evaluate.score(ENV, PARAMS, np.full((2, 1, 4), 9))
bc.Config(encoder="transformer")
bc.Config(epochs=-1)
bc.Config(batch="half")
bc.Config(dropout=1.5)
bc.Config(learning_rate=0)
dagger.Config(beta="never")
gail.Config(reward="positive")
gail.Config(control="none of them")
sqil.Config(alpha=0)
bco.Config(alpha=-1)
iupe.Config(labels="best")
merge.merge([])
== Large
len(jaxlab.Labyrinth((2, 2)).params(ONE_OF[np.zeros(10**6, int)]).distance)
int(jaxlab.Labyrinth((200, 200)).params(LONG).distance[0, 0, 0])
len(text.format(LONG[0]))
jaxlab.render(LONG[0], 0, 64).shape
solve.paths(LONG[0]).lengths.tolist()
solve.paths(OPEN, 3).complete
generate.ice(OPEN)
generate.key_and_door(OPEN)
text.parse(text.format(OPEN).replace("icy_floor: False", "icy_floor: True"))
"""
LARGE = "Large"


def same(entering: Any, before: Any, move: Any) -> Any:
    """A tile that does nothing."""
    return move


@functools.cache
def names() -> dict[str, Any]:
    """What the calls speak of."""
    one = jaxlab.from_edges([(0, 1), (1, 3), (2, 3)], (2, 2), 0, 3)
    two = jaxlab.stack([one, one.replace(start=np.int32(1))])
    row = jaxlab.from_edges([(i, i + 1) for i in range(6)], (1, 7), 0, 6)
    env = jaxlab.Labyrinth((2, 2))
    params = env.params(two)
    snake = [(r * 200 + c, r * 200 + c + 1) for r in range(200) for c in range(199)]
    snake += [(r * 200 + (199 if r % 2 == 0 else 0), r * 200 + 200 + (199 if r % 2 == 0 else 0)) for r in range(199)]
    made = gymnasium.make("Labyrinth-v0", shape=(2, 2))
    made.reset(seed=0)
    wide = jaxlab.grid.edges((40, 40)).tolist()
    return {
        **MODULES,
        "jnp": jnp,
        "np": np,
        "same": same,
        "ONE": one,
        "TWO": two,
        "ONE_OF": jaxlab.stack([one]),
        "ROW": row,
        "ROWS": jaxlab.stack([row]),
        "MUDDY": one.replace(tiles={"mud": np.zeros((2, 2), bool)}),
        "KEYED": jaxlab.stack([one.replace(key=np.int32(2), door=np.int32(1))]),
        "ICY": jaxlab.stack([one.replace(ice=np.array([[False, False], [True, False]]))]),
        "APART": jaxlab.stack([jaxlab.from_edges([(0, 1), (2, 3)], (2, 2), 0, 3)]),
        "ENV": env,
        "PARAMS": params,
        "BARE": jaxlab.Labyrinth((2, 2), reward="released").bare_params(two),
        "STATE": env.reset_to(0, params)[1],
        "KEY": jax.random.key(0),
        "GYM": made.unwrapped,
        "FOLDER": tempfile.mkdtemp(),
        "LONG": jaxlab.stack([jaxlab.from_edges(snake, (200, 200), 0, 199 * 200)]),
        "OPEN": jaxlab.from_edges(wide, (40, 40), 0, 1599),
    }


def calls(*, large: bool) -> Iterator[tuple[str, str]]:
    """(section, call) of the table."""
    section = ""
    for line in CALLS.strip().splitlines():
        if line.startswith("== "):
            section = line[3:]
        elif large or section != LARGE:
            yield section, line


def compute(node: ast.expr, known: dict[str, Any]) -> Any:
    """The value of a call of the table: names, attributes, calls, items, and literals; nothing else is understood."""
    of = functools.partial(compute, known=known)
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return known[name] if name in known else getattr(builtins, name)
        case ast.Attribute(value, name):
            return getattr(of(value), name)
        case ast.Subscript(value, index):
            return of(value)[of(index)]
        case ast.Call(function, arguments, keywords):
            return of(function)(*map(of, arguments), **{str(word.arg): of(word.value) for word in keywords})
        case ast.Tuple(items):
            return tuple(map(of, items))
        case ast.List(items):
            return list(map(of, items))
        case ast.Dict(keys, values):
            return {of(key): of(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.UnaryOp(ast.USub(), value):
            return -of(value)
        case ast.BinOp(low, ast.Pow(), high):
            return of(low) ** of(high)
    raise ValueError(f"a call of the table may not hold {ast.unparse(node)!r}")


def outcome(call: str) -> str:
    """What a call gives: a value in a few words, or the error's type and text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = compute(ast.parse(call, mode="eval").body, names())
        except Exception as error:
            words = re.sub(r"0x[0-9a-f]{6,}", "0x...", str(error)).replace(names()["FOLDER"], "FOLDER")
            words = re.sub(r"'?FOLDER/[^ ']*'?", "FOLDER/...", words)
            return f"**{type(error).__name__}**: {' '.join(words.split())}"
    return f"`{_brief(value)}`"


def _brief(value: Any) -> str:
    if isinstance(value, (np.ndarray, jax.Array)) and value.size <= 8:
        return f"{value.dtype} {value.tolist()}"
    if isinstance(value, (np.ndarray, jax.Array)):
        return f"{value.dtype}{list(value.shape)}"
    words = " ".join(repr(value).split())
    return words if len(words) <= 60 else words[:57] + "..."


def row(call: str) -> str:
    """One line of the page."""
    return f"| `{_cell(call)}` | {_cell(outcome(call))} |"


def markdown() -> str:
    """The page of all calls."""
    lines = [
        "# Bad calls",
        "",
        "What every public function does with wrong shapes, types, ranges, empty sets and extreme mazes: a value or",
        "an error that says what was given and what is allowed. `bash scripts/calls.sh` writes this page, and a test",
        "compares it with what the functions do. `ONE` is a maze of 2 x 2, `TWO` a set of two such, `ROW` a maze of",
        "1 x 7, `APART` a set with a goal out of reach, `LONG` one of 200 x 200, `OPEN` 40 x 40 without inner walls,",
        "`GYM` an environment of 2 x 2 that was reset.",
    ]
    before = ""
    for section, call in calls(large=True):
        if section != before:
            lines += ["", f"## {section}", "", "| call | gives |", "| --- | --- |"]
            before = section
        print(call, file=sys.stderr, flush=True)
        lines.append(row(call))
    return "\n".join(lines) + "\n"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else "docs/bad-calls.md").write_text(markdown(), "utf-8")
