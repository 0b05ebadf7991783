"""Spanning trees: every one reachable, with the chance that theory gives it."""

from __future__ import annotations

import functools
import itertools

import jax
import numpy as np
import pytest

from jaxlab import generate, grid, maze
from jaxlab.generate.trees import ALGORITHMS, count_trees, tree_mazes

SIDE = (3, 3)
DRAWS = 20_000


@functools.cache
def drawn(algorithm):
    """How often each spanning tree of 3x3 is drawn, by its edges as bits."""
    is_open = maze.open_edges(np.asarray(tree_mazes(jax.random.key(1), DRAWS, SIDE, algorithm).walls))
    trees, counts = np.unique(is_open @ (1 << np.arange(12)), return_counts=True)
    return dict(zip(trees.tolist(), counts.tolist(), strict=True))


@functools.cache
def all_trees():
    """Every spanning tree of 3x3, by trying all sets of 8 edges."""
    pairs = grid.edges(SIDE).tolist()
    found = []
    for chosen in itertools.combinations(range(12), 8):
        part = list(range(9))
        for edge in chosen:
            a, b = part[pairs[edge][0]], part[pairs[edge][1]]
            part = [a if p == b else p for p in part]
        if len(set(part)) == 1:
            found.append(sum(1 << edge for edge in chosen))
    return found


def chi_square(counts, chances):
    """The statistic in standard deviations from its mean; rare trees are taken together."""
    rare = [tree for tree, chance in chances.items() if DRAWS * chance < 8]
    groups = [[tree] for tree in chances if tree not in rare] + ([rare] if rare else [])
    statistic = 0.0
    for group in groups:
        expected = DRAWS * sum(chances[tree] for tree in group)
        statistic += (sum(counts.get(tree, 0) for tree in group) - expected) ** 2 / expected
    freedom = len(groups) - 1
    return (statistic - freedom) / (2 * freedom) ** 0.5


def kruskal_chances():
    """Chance of each tree under a random order of the edges: by the parts that are joined so far."""
    pairs = grid.edges(SIDE).tolist()

    @functools.cache
    def below(part, tree):
        joining = [e for e in range(12) if part[pairs[e][0]] != part[pairs[e][1]]]
        if not joining:
            return {tree: 1.0}
        out = {}
        for e in joining:  # the next edge that joins is uniform among those that can
            a, b = part[pairs[e][0]], part[pairs[e][1]]
            rest = below(tuple(min(a, b) if p in (a, b) else p for p in part), tree | 1 << e)
            for leaf, chance in rest.items():
                out[leaf] = out.get(leaf, 0) + chance / len(joining)
        return out

    return below(tuple(range(9)), 0)


def prim_chances():
    pairs = grid.edges(SIDE).tolist()

    @functools.cache
    def below(reached, tree):
        out_of = [e for e in range(12) if (pairs[e][0] in reached) != (pairs[e][1] in reached)]
        if not out_of:
            return {tree: 1.0}
        out = {}
        for e in out_of:
            for leaf, chance in below(reached | frozenset(pairs[e]), tree | 1 << e).items():
                out[leaf] = out.get(leaf, 0) + chance / len(out_of)
        return out

    return below(frozenset([0]), 0)


def test_kirchhoff_counts_the_spanning_trees():
    assert len(all_trees()) == count_trees(SIDE) == 192
    # OEIS A007341: spanning trees of the n x n grid.
    assert [count_trees((n, n)) for n in range(2, 7)] == [4, 192, 100352, 557568000, 32565539635200]
    assert count_trees((2, 5)) == count_trees((5, 2)) == 209 and count_trees((1, 7)) == 1


def test_wilson_draws_all_trees_alike():
    assert set(drawn("wilson")) == set(all_trees())
    assert abs(chi_square(drawn("wilson"), dict.fromkeys(all_trees(), 1 / 192))) < 4


@pytest.mark.parametrize(("algorithm", "chances"), [("kruskal", kruskal_chances), ("prim", prim_chances)])
def test_kruskal_and_prim_have_their_own_distribution(algorithm, chances):
    expected = chances()
    assert set(drawn(algorithm)) <= set(expected) == set(all_trees())
    assert abs(sum(expected.values()) - 1) < 1e-9
    assert abs(chi_square(drawn(algorithm), expected)) < 4
    assert chi_square(drawn(algorithm), dict.fromkeys(all_trees(), 1 / 192)) > 15  # and it is not the uniform one


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_trees_of_a_wide_shape_and_the_density_of_loops(algorithm):
    shape, n = (3, 5), 200
    trees = tree_mazes(jax.random.key(2), n, shape, algorithm, start_goal="unbiased")
    maze.check(trees)
    assert (maze.open_edges(np.asarray(trees.walls)).sum(1) == 14).all()
    distance = grid.manhattan(shape)[np.asarray(trees.start), np.asarray(trees.goal)]
    assert distance.min() >= 4 and len(set(np.asarray(trees.start).tolist())) > 5
    looped = tree_mazes(jax.random.key(2), n, shape, algorithm, loops=0.25, start_goal="unbiased")
    more = maze.open_edges(np.asarray(looped.walls)).sum() - 14 * n
    others = (22 - 14) * n
    assert abs(more - others / 4) < 5 * (others * 3 / 16) ** 0.5
    assert not (np.asarray(looped.walls) & ~np.asarray(trees.walls)).any()  # the same trees, opened further
    full = tree_mazes(jax.random.key(2), n, shape, algorithm, loops=1.0, start_goal="unbiased")
    assert maze.open_edges(np.asarray(full.walls)).all()


def test_trees_are_made_inside_jit_and_from_the_package():
    traced = jax.eval_shape(lambda key: generate.tree_mazes(key, 5, (2, 2), "wilson", loops=0.5), jax.random.key(3))
    assert traced.walls.shape == (5, 2, 2) and traced.walls.dtype == np.uint8
    with pytest.raises(ValueError, match="did you mean 'wilson'"):
        tree_mazes(jax.random.key(0), 1, (3, 3), "wilsn")
    with pytest.raises(ValueError, match="loops"):
        tree_mazes(jax.random.key(0), 1, (3, 3), loops=1.5)
