"""Johnson's enumeration of simple paths, compiled with numba. Imported only when it is needed.

D. B. Johnson, "Finding all the elementary circuits of a directed graph", SIAM J. Comput. 4
(1975): once an edge goal -> start is added, the paths from start to goal are the circuits
through that edge. A state from which the goal could not be reached stays blocked until a
state that shut it off leaves the path, so that no dead end is walked again for nothing.

Before the search a maze is cut down to its junctions: dead ends are removed, and corridors
become single edges that carry their cells.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import numba
import numpy as np


def _compiled(function):
    """Compile at the first call; keep the machine code beside Python's own bytecode, where that is wanted.

    numba falls back on the user's cache folder when the package can't be written to.
    """
    if not sys.dont_write_bytecode or "NUMBA_CACHE_DIR" in os.environ:
        try:
            return numba.njit(function, nogil=True, cache=True, forceinline=function.__name__ != "_run")
        except RuntimeError:  # no folder that can be written to
            pass
    return numba.njit(function, nogil=True, forceinline=function.__name__ != "_run")


class Work(NamedTuple):
    """Work space for one graph of S states, used again for each. The last entry, S, stands for "no state" (-1)."""

    cell_of: np.ndarray  # [S + 1]: the cell of each state
    num_in: np.ndarray  # int32[S + 1]: live states that lead here
    num_out: np.ndarray  # int32[S + 1]: live states that this one leads to
    alive: np.ndarray  # bool[S + 1]
    met: np.ndarray  # bool[S + 1]: junctions that are in the list
    junctions: np.ndarray  # int32[S + 1]
    left: np.ndarray  # int32[S + 1]: edges of a junction; they are 4 * state, 4 * state + 1, ...
    heads: np.ndarray  # int32[4 S + 4]: the junction or goal that an edge leads to
    cells: np.ndarray  # [4 S + 4]: the cells on the way, the head's own the last
    low: np.ndarray  # int32[4 S + 4]: an edge's cells are cells[low : high]
    high: np.ndarray
    waiting: np.ndarray  # int32[S + 1]: heads Johnson's list B(w), the edges v -> w whose v waits for w
    after: np.ndarray  # int32[4 S + 4]: the next edge of that list
    listed: np.ndarray  # bool[4 S + 4]: is the edge in its list?
    blocked: np.ndarray  # bool[S + 1]
    found: np.ndarray  # bool[S + 1]: did a path to the goal go through this state, since it was pushed?
    free: np.ndarray  # int32[S + 1]
    stack: np.ndarray  # int32[S + 1]
    tried: np.ndarray  # int32[S + 1]: how many edges of stack[d] were tried
    sizes: np.ndarray  # int32[S + 1]: cells of the path up to stack[d]


def _work(num_states: int, num_cells: int, dtype) -> Work:
    per_edge = ("heads", "cells", "low", "high", "after", "listed")
    dtypes = dict.fromkeys(("alive", "met", "listed", "blocked", "found"), np.bool_)
    dtypes |= {"cells": dtype, "cell_of": dtype}
    size = num_states + 1
    w = Work(*(np.empty(4 * size if f in per_edge else size, dtypes.get(f, np.int32)) for f in Work._fields))
    w.cell_of[:] = np.arange(size) % num_cells
    return w


@_compiled
def _grown(array, used, size):
    """A copy with room for twice ``size``."""
    larger = np.empty(2 * size, array.dtype)
    for i in range(used):
        larger[i] = array[i]
    return larger


@_compiled
def _prune(successors, n, begin, end, w):
    """Remove dead ends: states that can only be left for the one state from which they are entered.

    Then that state is looked at again, so a dead end goes however long it is. States that
    lead into a trap, or stand on a loop beside the way, may stay: the search bears them.
    """
    num_states, degree = successors.shape[1:]
    for state in range(num_states):
        w.alive[state] = True
        w.met[state] = False
        w.num_in[state] = 0
    w.alive[num_states] = False
    for state in range(num_states):
        num_out = 0
        for a in range(degree):
            to = successors[n, state, a]
            w.num_in[to] += 1  # -1, no edge, counts for the last entry
            num_out += to >= 0
        w.num_out[state] = num_out
    for leaf in range(num_states):
        state = leaf
        while w.num_out[state] <= 1 and w.alive[state] and state != begin and w.cell_of[state] != end:
            onward = -1
            for a in range(degree):
                to = successors[n, state, a]
                onward = to if w.alive[to] else onward
            if onward == -1:
                w.alive[state] = w.num_in[state] > 0
                break
            comes_back = False
            for a in range(degree):
                comes_back |= successors[n, onward, a] == state
            if w.num_in[state] > 1 or (w.num_in[state] == 1 and not comes_back):
                break
            w.alive[state] = False
            w.num_in[onward] -= 1
            w.num_out[onward] -= comes_back
            state = onward


@_compiled
def _contract(successors, n, begin, end, w):
    """Find the junctions that can be reached from ``begin``, and join the corridors between them to edges.

    A corridor is a state with two neighbours and no choice: two-way to both, or entered
    from one and left for the other. No edge of the graph is walked twice, so ``cells``
    needs no more room than there are edges.
    """
    degree = successors.shape[2]
    w.junctions[0] = begin
    w.met[begin] = True
    num_junctions = 1
    used = 0
    at = 0
    while at < num_junctions:
        junction = w.junctions[at]
        at += 1
        w.waiting[junction] = -1
        w.blocked[junction] = False
        e = 4 * junction
        for a in range(degree):
            state = successors[n, junction, a]
            if not w.alive[state]:
                continue
            before = junction
            w.low[e] = used
            while True:
                w.cells[used] = w.cell_of[state]
                used += 1
                if state == begin or w.cell_of[state] == end or w.num_in[state] > 2 or w.num_out[state] > 2:
                    break
                onward = -1
                others = 0
                for b in range(degree):
                    to = successors[n, state, b]
                    other = w.alive[to] and to != before
                    onward = to if other else onward
                    others += other
                if others != 1 or w.num_in[state] != w.num_out[state]:
                    break
                comes_back = False
                for b in range(degree):
                    comes_back |= successors[n, onward, b] == state
                if comes_back != (w.num_in[state] == 2):
                    break
                before = state
                state = onward
            if state in (junction, begin):
                continue
            if junction == begin and before != begin:
                w.alive[before] = False  # nobody need walk this corridor back to the start
            w.high[e] = used
            w.heads[e] = state
            w.listed[e] = False
            e += 1
            if not w.met[state]:
                w.met[state] = True
                w.junctions[num_junctions] = state
                num_junctions += 1
        w.left[junction] = e - 4 * junction


@_compiled
def _search(begin, end, w, out, ends, totals, limit, max_cells):
    """Johnson's search on the junctions, appending paths to ``out``.

    Args:
        begin, end, limit, max_cells: first state, goal cell; as in `enumerate_paths`.
        w: filled by `_contract`.
        out: the cells of all paths found so far, one after another.
        ends: where each of them ends.
        totals: ``int64[3]``: paths, cells, longest path so far; updated.

    Returns:
        (out, ends, complete).
    """
    num_paths, used, longest = totals
    most = num_paths + limit
    complete = True
    depth = 0
    w.stack[0] = begin
    w.tried[0] = 0
    w.blocked[begin] = True
    w.found[begin] = False
    if used == out.size:
        out = _grown(out, used, used + 1)
    out[used] = w.cell_of[begin]  # the path up to stack[depth] lies at out[used : used + sizes[depth]]
    w.sizes[0] = 1
    while depth >= 0:
        state = w.stack[depth]
        if w.tried[depth] < w.left[state]:
            e = 4 * state + w.tried[depth]
            w.tried[depth] += 1
            to = w.heads[e]
            if w.blocked[to]:
                continue
            size = w.sizes[depth]
            low = w.low[e]
            extra = w.high[e] - low
            at_goal = w.cell_of[to] == end
            if at_goal:
                w.found[state] = True
                widest = max(longest, size + extra)
                if num_paths == most or (num_paths + 1) * widest > max_cells:
                    complete = False
                    break
                longest = widest
            if used + 2 * (size + extra) > out.size:
                out = _grown(out, used + size, used + 2 * (size + extra))
            for i in range(extra):
                out[used + size + i] = w.cells[low + i]
            if at_goal:
                # The path stays where it is, and the search goes on with a copy of its stem.
                above = used + size + extra
                for i in range(size):
                    out[above + i] = out[used + i]
                used = above
                if num_paths == ends.size:
                    ends = _grown(ends, num_paths, num_paths + 1)
                ends[num_paths] = used
                num_paths += 1
            else:
                depth += 1
                w.stack[depth] = to
                w.tried[depth] = 0
                w.sizes[depth] = size + extra
                w.blocked[to] = True
                w.found[to] = False
            continue
        depth -= 1
        if not w.found[state]:
            for e in range(4 * state, 4 * state + w.left[state]):
                to = w.heads[e]
                if not w.listed[e]:
                    w.listed[e] = True
                    w.after[e] = w.waiting[to]
                    w.waiting[to] = e
            continue
        if depth >= 0:
            w.found[w.stack[depth]] = True
        # Unblock the state, and with it all that waited for it.
        w.free[0] = state
        w.blocked[state] = False
        pending = 1
        while pending > 0:
            pending -= 1
            freed = w.free[pending]
            e = w.waiting[freed]
            w.waiting[freed] = -1
            while e != -1:
                w.listed[e] = False
                v = e // 4
                if w.blocked[v]:
                    w.blocked[v] = False
                    w.free[pending] = v
                    pending += 1
                e = w.after[e]
    totals[0], totals[1], totals[2] = num_paths, used, longest
    return out, ends, complete


@_compiled
def _run(successors, source, goal, limit, max_cells, w, out):
    num_graphs = len(successors)
    ends = np.empty(256, np.int64)
    counts = np.zeros(num_graphs, np.int64)
    complete = np.ones(num_graphs, np.bool_)
    totals = np.zeros(3, np.int64)
    for n in range(num_graphs):
        begin, end = source[n], goal[n]
        before = totals[0]
        _prune(successors, n, begin, end, w)
        _contract(successors, n, begin, end, w)
        out, ends, complete[n] = _search(begin, end, w, out, ends, totals, limit, max_cells)
        counts[n] = totals[0] - before
    num_paths, _, longest = totals
    table = np.empty((num_paths, longest), out.dtype)
    lengths = np.empty(num_paths, np.int32)
    low = 0
    for p in range(num_paths):
        size = ends[p] - low
        lengths[p] = size
        for i in range(size):
            table[p, i] = out[low + i]
        for i in range(size, longest):
            table[p, i] = -1
        low = ends[p]
    return table, lengths, counts, complete


def enumerate_paths(successors, source, goal, num_cells, limit, max_cells, dtype):
    """All simple paths of every graph, in the order of the actions.

    Args:
        successors: ``int32[N, S, 4]``, -1 no edge, no two edges of a state the same.
        source: ``int32[N]``, first state.
        goal: ``int32[N]``, goal cell; a path ends at the first state on it.
        num_cells: cell of a state = state % num_cells.
        limit: at most so many paths of each graph.
        max_cells: stop when a padded table of all paths would hold more cells than this.
        dtype: of the cells.

    Returns:
        (cells ``[P, L]`` padded with -1, lengths ``int32[P]``, counts ``int64[N]``, complete ``bool[N]``).
    """
    arrays = (np.ascontiguousarray(array, np.int32) for array in (successors, source, goal))
    w = _work(successors.shape[1], num_cells, dtype)
    return _run(*arrays, limit, max_cells, w, np.empty(4096, dtype))
