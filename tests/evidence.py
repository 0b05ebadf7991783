"""What the released implementation was seen to do, and what jaxlab computes in its place.

Both sides come in one layout: for each kind of maze a dictionary of arrays, one row a record.
`recorded` reads the golden folder; `computed` needs only the inputs stored in
``tests/data/golden_inputs.npz`` (mazes, actions, agent cells); `digest` reduces a row to a
SHA-256, and those of all recorded rows lie in ``tests/data/golden_digests.json``. So the
evidence stands in a clone without the golden folder.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import jaxlab
from jaxlab import maze as mazes_
from jaxlab import scene

DATA = Path(__file__).resolve().parent / "data"
INPUTS, DIGESTS = DATA / "golden_inputs.npz", DATA / "golden_digests.json"
NAVIGATION = ("3x3", "4x4", "nav5", "nav6", "nav10")
UNBIASED = ("unbiased4", "unbiased5")
KINDS = (*NAVIGATION, "key5", "key6", "ice5", "ice6", "occl5", "occl6", *UNBIASED)
LIMIT, NO_LIMIT = 45, 10_000
FIELDS = ("walls", "start", "goal", "key", "door", "ice")
SIZES = (64, 224)
FALL = -100.0


def settings_of(kind: str) -> jaxlab.Settings:
    return jaxlab.Settings(kind.startswith("key"), kind.startswith("ice"), kind.startswith("occl"))


def has_rollouts(kind: str) -> bool:
    return not kind.startswith("unbiased")


# -- the golden folder -----------------------------------------------------------------------------


@functools.cache
def all_records(golden: Path) -> dict[str, list[dict]]:
    """Every record, by kind, in the order of the files."""
    by_kind: dict[str, list[dict]] = {kind: [] for kind in KINDS}
    for name in ("mazes3", "mazes4", "variants", "unbiased"):
        for record in json.loads((golden / f"{name}.json").read_text()):
            by_kind[record["kind"]].append(record)
    return by_kind


def name_of(record: dict) -> str:
    """The name of a record: kind and file, or kind and index."""
    return f"{record['kind']}_{record['file'] if 'file' in record else format(record['index'], '02d')}"


def file_of(golden: Path, record: dict) -> Path:
    """The ``.labyrinth`` file of a record."""
    folder = {"3x3": "labyrinths3", "4x4": "labyrinths4"}.get(record["kind"], "variants")
    below = record["split"] if folder != "variants" else record["kind"]
    return golden / "mazes" / folder / below / f"{record['file']}.labyrinth"


def maze_of(record: dict) -> jaxlab.Maze:
    """The maze that a record describes by its passages and cells."""
    places = {name: record[name] for name in ("start", "goal", "key", "door", "ice")}
    return jaxlab.from_edges(record["edges"], (record["height"], record["width"]), **places)


def pictures_of(golden: Path) -> list[dict]:
    """Every picture that has one: those of images.json, and four of unbiased mazes."""
    pictures = json.loads((golden / "images.json").read_text())
    for record in (r for kind in UNBIASED for r in all_records(golden)[kind] if "png" in r):
        agent, size = record["png"].removesuffix(".png").split("_agent")[1].split("_")
        pictures.append({**record, "agent": int(agent), "size": int(size)})
    return pictures


def pixels_of(golden: Path, picture: dict) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(golden / "images" / picture["png"]).convert("RGB"))


def _kind_of_picture(picture: dict) -> str:
    return picture["kind"] if "kind" in picture else picture["maze"].rsplit("_", 1)[0]


def _scripts(record: dict) -> list[dict]:
    """The scripted rollouts of a record, without those of the bump into a wall with ice behind it."""
    names = ("script_reference_solution", "script_door_first", "script_step_on_ice", "script_safe_path")
    return [record[name] for name in names if record.get(name)]


def gather_inputs(golden: Path) -> dict[str, np.ndarray]:
    """What `computed` starts from: mazes, actions, resets, scripts and agent cells, by kind."""
    out: dict[str, np.ndarray] = {}
    for kind, records in all_records(golden).items():
        mazes = jaxlab.stack([maze_of(record) for record in records])
        out |= {f"{kind}/{field}": getattr(mazes, field) for field in FIELDS}
        out[f"{kind}/names"] = np.array([name_of(record) for record in records])
        if has_rollouts(kind):
            out[f"{kind}/actions"] = np.array([r["rollout"]["actions"] for r in records], np.int8)
            out[f"{kind}/resets"] = np.array([r["rollout"]["reset_after"] for r in records])
        scripts = [(i, script) for i, record in enumerate(records) for script in _scripts(record)]
        if scripts:
            longest = max(len(script["actions"]) for _, script in scripts)
            padded = [script["actions"] + [-1] * (longest - len(script["actions"])) for _, script in scripts]
            out[f"{kind}/script_maze"] = np.array([i for i, _ in scripts], np.int16)
            out[f"{kind}/script_actions"] = np.array(padded, np.int8)
        for size in SIZES:
            chosen = [p for p in pictures_of(golden) if _kind_of_picture(p) == kind and p["size"] == size]
            if chosen:
                shown = jaxlab.stack([maze_of(picture) for picture in chosen])
                out |= {f"{kind}/pictures{size}_{field}": getattr(shown, field) for field in FIELDS}
                out[f"{kind}/pictures{size}_agent"] = np.array([p["agent"] for p in chosen], np.int16)
                out[f"{kind}/pictures{size}_names"] = np.array([p["png"] for p in chosen])
    return out


def recorded(golden: Path, kind: str) -> dict[str, np.ndarray]:
    """What the released implementation gave for every record of a kind."""
    records = all_records(golden)[kind]
    out = {
        "vector": np.array([r["obs_reset"] for r in records], np.float32),
        "distance": np.array([r["dist_to_goal"] for r in records], np.int32),
        "optimal": np.array([[sum(1 << a for a in cell) for cell in r["optimal_actions"]] for r in records], np.uint8),
        "shortest": np.array([r["shortest_moves"] for r in records], np.int32),
    }
    if has_rollouts(kind):
        rollouts = {key: np.array([r["rollout"][key] for r in records]) for key in records[0]["rollout"]}
        out["cell"] = rollouts["cell"].astype(np.int32)
        out["reward"] = rollouts["reward"].astype(np.float32)
        out["done"] = rollouts["done"].astype(bool)
        out["truncated"] = (rollouts["truncated"] & ~rollouts["done"]) & up_to_first(rollouts["truncated"])
        bumps = bump_rows(kind, records)
        out["reward"][bumps] = 0
        out["done"][bumps] = False
        if kind.startswith("key"):
            out["key_held"], out["door_present"] = rollouts["key_held"], rollouts["door_present"]
    scripts = [script for record in records for script in _scripts(record)]
    if scripts:
        longest = max(len(script["actions"]) for script in scripts)
        for key, dtype in (("cell", np.int32), ("reward", np.float32), ("done", bool), ("obs_head", np.int32)):
            rows = [np.array(script[key], dtype) for script in scripts]
            out[f"script_{key}"] = np.stack([_pad(row, longest) for row in rows])
        if kind.startswith("key"):
            for key in ("key_held", "door_present"):
                out[f"script_{key}"] = np.stack([_pad(np.array(script[key]), longest) for script in scripts])
        out["script_obs_last"] = np.array([script["obs_last"] for script in scripts], np.float32)
    if masks := _recorded_occlusion(golden, kind, records):
        out["occluded"], out["mask"] = masks
    for size in SIZES:
        chosen = [p for p in pictures_of(golden) if _kind_of_picture(p) == kind and p["size"] == size]
        if chosen:
            out[f"pictures{size}"] = np.stack([pixels_of(golden, picture) for picture in chosen])
    return out


def _recorded_occlusion(golden: Path, kind: str, records: list[dict]) -> tuple[np.ndarray, np.ndarray] | None:
    if kind in ("3x3", "4x4"):
        with np.load(golden / f"occlusion{kind[0]}.npz") as file:
            return file["vector"].astype(np.float32), file["mask"]
    with np.load(golden / f"occlusion_{'unbiased' if kind.startswith('unb') else 'variants'}.npz") as file:
        if f"{name_of(records[0])}_vector" not in file:
            return None
        both = [[file[f"{name_of(record)}_{part}"] for record in records] for part in ("vector", "mask")]
    return np.stack(both[0]).astype(np.float32), np.stack(both[1])


def up_to_first(flags: np.ndarray) -> np.ndarray:
    """``bool[N, T]``: the rows up to and including the first True of each record."""
    return np.cumsum(flags, 1) - flags == 0


def bump_rows(kind: str, records: list[dict]) -> np.ndarray:
    """``bool[N, T]``: where the released code falls through ice behind a wall, without moving."""
    cell = np.array([[r["start"], *r["rollout"]["cell"]] for r in records])
    reset = np.array([[False, *r["rollout"]["reset_after"]] for r in records])
    before = np.where(reset, np.array([r["start"] for r in records])[:, None], cell)[:, :-1]
    fell = np.array([r["rollout"]["reward"] for r in records]) == FALL
    return fell & (cell[:, 1:] == before)


def _pad(rows: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([rows, np.zeros((length - len(rows), *rows.shape[1:]), rows.dtype)])


# -- what jaxlab computes --------------------------------------------------------------------------


@functools.cache
def stored_inputs() -> dict[str, np.ndarray]:
    with np.load(INPUTS) as file:
        return dict(file)


def stored_mazes(kind: str, prefix: str = "") -> jaxlab.Maze:
    inputs = stored_inputs()
    fields = {field: inputs[f"{kind}/{prefix}{field}"] for field in FIELDS}
    return jaxlab.Maze(**fields)


def environment(kind: str, **choices) -> jaxlab.Labyrinth:
    shape = stored_mazes(kind).shape
    return jaxlab.Labyrinth.from_settings(shape, settings_of(kind), reward="released", **choices)


@functools.partial(jax.jit, static_argnums=(0, 5))
def play(env, params, mazes, actions, resets, watch):
    """Play ``actions int32[B, T]`` in ``mazes int32[B]``, beginning anew after each of ``resets``.

    Returns a Step with leading axes [B, T]; without observations unless ``watch``.
    """

    def one(maze, actions, resets):
        _, fresh = env.reset_to(maze, params)

        def advance(state, row):
            action, again = row
            out = env.step(None, state, action, params)
            state = jax.tree.map(lambda new, old: jnp.where(again, new, old), fresh, out.state)
            return state, out if watch else out._replace(obs=())

        return jax.lax.scan(advance, fresh, (actions, resets))[1]

    return jax.vmap(one)(mazes, actions, resets)


@functools.partial(jax.jit, static_argnums=0)
def first_sight(env, params):
    return jax.vmap(lambda maze: env.reset_to(maze, params)[0])(jnp.arange(len(params.mazes)))


@functools.partial(jax.jit, static_argnums=0)
def look_everywhere(env, params):
    """Occluded vector and mask with the agent on every cell: [N, H*W, ...]."""

    def one(maze, cell):
        state = env.place(env.reset_to(maze, params)[1], cell)
        walls = params.mazes.walls[maze]
        fine = jnp.pad(mazes_.lattice(walls), 1, constant_values=1)
        hidden = ~scene.visible_cells(walls, cell)
        return env.observe(state, params), fine.at[1::2, 1::2].set(hidden.astype(jnp.uint8))

    cells, mazes = jnp.arange(env.num_cells), jnp.arange(len(params.mazes))
    return jax.vmap(lambda maze: jax.vmap(lambda cell: one(maze, cell))(cells))(mazes)


@functools.partial(jax.jit, static_argnums=(2, 3))
def draw(mazes, cells, size, occlusion):
    return jax.vmap(lambda maze, cell: jaxlab.render(maze, cell, size, occlusion=occlusion))(mazes, cells)


def as_released_shows_it(vectors: np.ndarray, mazes: jaxlab.Maze) -> np.ndarray:
    """Occluded vectors with the fault of the released code: no passage is hidden behind the goal's position."""
    height, width = mazes.shape
    fine = np.asarray(mazes_.lattice(mazes.walls)).reshape(len(mazes), 1, -1).astype(np.float32)
    goal = 2 * (mazes.goal // width) * (2 * width - 1) + 2 * (mazes.goal % width)
    row, column = np.divmod(np.arange((2 * height - 1) * (2 * width - 1)), 2 * width - 1)
    spared = ((row + column) % 2 == 1) & (np.arange(row.size) > goal[:, None, None])
    out = vectors.copy()
    out[..., 3:] = np.where(spared, fine, vectors[..., 3:])
    return out


@functools.cache
def computed(kind: str) -> dict[str, np.ndarray]:
    """What jaxlab gives for every stored record of a kind, in the layout of `recorded`."""
    inputs, mazes = stored_inputs(), stored_mazes(kind)
    env = environment(kind)
    bare = jaxlab.Labyrinth(mazes.shape)
    nothing = np.full(len(mazes), -1, np.int32)
    solved = bare.params(mazes.replace(key=nothing, door=nothing, ice=np.zeros_like(mazes.ice)))
    params = env.params(mazes, max_steps=NO_LIMIT)
    out = {
        "vector": first_sight(env, params),
        "distance": solved.distance[:, 0],
        "optimal": solved.optimal[:, 0],
        "shortest": solved.shortest,
    }
    if has_rollouts(kind):
        out |= _computed_rollouts(kind, env, params)
    if not kind.startswith(("key", "ice")):
        seeing = jaxlab.Labyrinth(mazes.shape, occlusion=True)
        out["occluded"], out["mask"] = look_everywhere(seeing, seeing.params(mazes))
        if kind.startswith("unbiased"):
            out["occluded"] = as_released_shows_it(np.asarray(out["occluded"]), mazes)
    for size in SIZES:
        if f"{kind}/pictures{size}_agent" in inputs:
            shown = stored_mazes(kind, f"pictures{size}_")
            agent = inputs[f"{kind}/pictures{size}_agent"].astype(np.int32)
            out[f"pictures{size}"] = draw(shown, agent, size, settings_of(kind).occlusion)
    return {key: np.asarray(value) for key, value in out.items()}


def _computed_rollouts(kind: str, env: jaxlab.Labyrinth, params: jaxlab.Params) -> dict[str, np.ndarray]:
    inputs, mazes = stored_inputs(), stored_mazes(kind)
    actions, resets = inputs[f"{kind}/actions"].astype(np.int32), inputs[f"{kind}/resets"]
    count, length = actions.shape
    which = np.arange(count)
    scripted = f"{kind}/script_actions" in inputs
    batch, again = actions, resets
    if scripted:
        # Rollouts and scripts are played in one batch, so that they share a compilation.
        scripts = inputs[f"{kind}/script_actions"].astype(np.int32)
        width = max(length, scripts.shape[1])
        batch = np.concatenate([np.pad(rows, ((0, 0), (0, width - rows.shape[1]))) for rows in (actions, scripts)])
        again = np.zeros(batch.shape, bool)
        again[:count, :length] = resets
        which = np.concatenate([which, inputs[f"{kind}/script_maze"]])
    # What the agent sees changes no rollout, so kinds of one shape share a compilation, too.
    env = dataclasses.replace(env, occlusion=False)
    limit = dataclasses.replace(params, max_steps=jnp.int32(LIMIT))
    both = [play(env, p, which, np.maximum(batch, 0), again, scripted) for p in (params, limit)]
    played, limited = jax.tree.map(np.asarray, both)
    free, limited = jax.tree.map(lambda leaf: leaf[:count, :length], (played, limited))
    valid = up_to_first(limited.state.t >= LIMIT)
    for ours, under_limit in ((free.state.cell, limited.state.cell), (free.reward, limited.reward)):
        assert np.array_equal(ours[valid], under_limit[valid]), "the limit changes nothing before it is reached"
    bumps = jaxlab_bumps(mazes, free.state.cell, actions, resets)
    out = {
        "cell": free.state.cell,
        "reward": np.where(bumps, np.float32(0), free.reward),
        "done": free.terminated,
        "truncated": limited.truncated & valid,
    }
    has_key = kind.startswith("key")
    if has_key:
        out |= {"key_held": free.state.mode >= 1, "door_present": free.state.mode < 2}
    if scripted:
        steps = jax.tree.map(lambda leaf: leaf[count:, : scripts.shape[1]], played)
        there = scripts >= 0
        out |= {
            "script_cell": np.where(there, steps.state.cell, 0),
            "script_reward": np.where(there, steps.reward, np.float32(0)),
            "script_done": there & steps.terminated,
            "script_obs_head": np.where(there[..., None], steps.obs[..., : 5 if has_key else 3], 0).astype(np.int32),
            "script_obs_last": steps.obs[np.arange(len(scripts)), there.sum(1) - 1],
        }
        if has_key:
            out["script_key_held"] = there & (steps.state.mode >= 1)
            out["script_door_present"] = there & (steps.state.mode < 2)
    return out


def jaxlab_bumps(mazes: jaxlab.Maze, cell: np.ndarray, actions: np.ndarray, resets: np.ndarray) -> np.ndarray:
    """``bool[N, T]``: where the agent bumps a wall that has ice behind it."""
    before = np.concatenate([mazes.start[:, None], cell[:, :-1]], 1)
    again = np.concatenate([np.zeros((len(mazes), 1), bool), resets[:, :-1]], 1)
    before = np.where(again, mazes.start[:, None], before)
    behind = jaxlab.grid.neighbours(tuple(mazes.shape))[before, actions]
    icy = np.take_along_axis(mazes.ice.reshape(len(mazes), -1), np.maximum(behind, 0), 1) & (behind >= 0)
    return icy & (cell == before)


# -- digests ---------------------------------------------------------------------------------------


def digest(*rows: np.ndarray) -> str:
    """SHA-256 of arrays: type, shape and bytes (little endian)."""
    total = hashlib.sha256()
    for row in rows:
        row = np.ascontiguousarray(row)
        total.update(f"{row.dtype.str}{row.shape}".encode())
        total.update(row.tobytes())
    return total.hexdigest()


PARTS = {
    "vector": ("vector",),
    "table": ("distance", "optimal", "shortest"),
    "rollout": ("cell", "reward", "done", "truncated", "key_held", "door_present"),
    "script": tuple(
        f"script_{name}" for name in ("cell", "reward", "done", "obs_head", "obs_last", "key_held", "door_present")
    ),
    "occlusion": ("occluded", "mask"),
    "pictures64": ("pictures64",),
    "pictures224": ("pictures224",),
}


def digests_of(arrays: dict[str, np.ndarray]) -> dict[str, list[str]]:
    """The digest of every row of every part."""
    out = {}
    for part, names in PARTS.items():
        present = [arrays[name] for name in names if name in arrays]
        if present:
            out[part] = [digest(*rows) for rows in zip(*present, strict=True)]
    return out
