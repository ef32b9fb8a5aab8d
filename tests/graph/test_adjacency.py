"""Edges merged into an adjacency, and counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ncgc.graph.adjacency import merge_edges, symmetric_adjacency

PARTS = ("indptr", "indices", "data")


def by_hand(pairs, weights, n):
    """The adjacency entry by entry: both directions of every edge, the largest weight of each, no self-loops."""
    largest = {}
    for (i, j), weight in zip(pairs.tolist(), weights.tolist(), strict=True):
        if i != j:
            for place in ((i, j), (j, i)):
                largest[place] = max(largest.get(place, 0), weight)
    places = sorted(largest)
    counts = np.bincount([i for i, _ in places], minlength=n) if places else np.zeros(n, dtype=np.int64)
    values = np.array([largest[place] for place in places], dtype=np.float32)
    columns = np.array([j for _, j in places], dtype=np.int32)
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return sparse.csr_array((values, columns, pointers), shape=(n, n))


@st.composite
def edge_lists(draw):
    n = draw(st.integers(1, 8))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node, st.integers(1, 9)), max_size=40))
    return n, edges


@settings(deadline=None)
@given(edge_lists(), st.booleans())
def test_the_adjacency_is_that_made_by_hand(drawn, weighted):
    n, edges = drawn
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    weights = np.array([edge[2] if weighted else 1 for edge in edges], dtype=np.float32)
    expected = by_hand(pairs, weights, n)
    for found in (
        merge_edges(pairs[:, 0], pairs[:, 1], weights if weighted else None, n).adjacency,
        symmetric_adjacency(pairs, weights, n),
    ):
        check_same(found, expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_random_multigraph_with_repeated_reversed_and_looping_edges(seed, weighted):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(30, 60))  # few nodes, so that nearly every pair comes again
    pairs = generator.integers(0, n, (5000, 2))
    pairs[:100, 1] = pairs[:100, 0]
    pairs[100:1000] = pairs[1000:1900, ::-1]
    weights = generator.random(5000).astype(np.float32) * 3 + 0.01 if weighted else np.ones(5000, dtype=np.float32)
    check_same(symmetric_adjacency(pairs, weights, n), by_hand(pairs, weights, n))


@pytest.mark.parametrize("weight", [1, 2])
@pytest.mark.parametrize("pairs", [[], [[1, 1], [0, 0]]])
def test_no_edge_is_left(pairs, weight):
    pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = symmetric_adjacency(pairs, np.full(len(pairs), weight, dtype=np.float32), 3)
    check_same(found, by_hand(pairs, np.ones(len(pairs)), 3))


def test_narrow_numbers_do_not_overflow():
    source, target = np.array([99_999, 5], dtype=np.int32), np.array([99_998, 99_999], dtype=np.int32)
    found = merge_edges(source, target, None, 100_000).adjacency
    check_same(found, by_hand(np.stack([source, target], axis=1), np.ones(2), 100_000))


def check_same(found, expected):
    """Equal to the bit, in the same types."""
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert getattr(found, part).dtype == getattr(expected, part).dtype
    assert found.has_canonical_format


@settings(deadline=None)
@given(edge_lists())
def test_counts_are_those_of_sets(drawn):
    n, edges = drawn
    pairs = [edge[:2] for edge in edges]
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = merge_edges(array[:, 0], array[:, 1], None, n)
    proper = [pair for pair in pairs if pair[0] != pair[1]]
    assert found.edges == len(pairs)
    assert found.loops == len(pairs) - len(proper)
    assert found.repeated == len(proper) - len(set(proper))
    assert found.one_way == sum((j, i) not in set(proper) for i, j in set(proper))


@pytest.mark.parametrize(
    ("pairs", "notes"),
    [
        ([[0, 1], [1, 0]], []),
        ([[0, 1], [1, 2]], ["Edges are taken as undirected; each was given in one direction only in e.csv."]),
        ([[0, 1], [1, 0], [1, 2]], ["Edges are taken as undirected: 1 of 3 in e.csv had no counterpart in the other direction."]),
        ([[0, 1], [1, 0], [2, 2]], ["1 edge of e.csv joined a node to itself and was dropped."]),
        ([[1, 1], [2, 2]], ["2 edges of e.csv joined a node to itself and were dropped.", "No edge of e.csv joins two different nodes, so labels follow from the features alone."]),
        ([[0, 1], [1, 0], [0, 1], [0, 1]], ["2 edges of e.csv were given more than once and merged."]),
    ],
)  # fmt: skip
def test_notes(pairs, notes):
    source, target = np.array(pairs).T
    merged = merge_edges(source, target, None, 3)
    assert merged.notes("e.csv") == notes
    assert not any("undirected" in note for note in merged.notes("e.csv", directed=False))


def test_adjacency_keeps_the_largest_weight():
    pairs = np.array([[0, 1], [1, 0], [1, 2], [2, 2], [1, 2]])
    matrix = symmetric_adjacency(pairs, np.array([1, 3, 5, 9, 4], dtype=np.float32), 3)
    assert matrix.toarray().tolist() == [[0, 3, 0], [3, 0, 5], [0, 5, 0]]
    assert matrix.has_sorted_indices
