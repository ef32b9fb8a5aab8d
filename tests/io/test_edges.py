"""Edges: looked up, merged, and counted."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.coerce import symmetric_adjacency
from ncgc.errors import InputError
from ncgc.io.edges import merge, read_edges, read_weights
from ncgc.io.tables import Table

NODES = Table(pa.table({"id": ["A", "B", "C"]}), "nodes.csv")


@st.composite
def edge_lists(draw):
    n = draw(st.integers(1, 8))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node, st.integers(1, 9)), max_size=40))
    return n, edges


@settings(deadline=None)
@given(edge_lists(), st.booleans())
def test_the_adjacency_is_that_of_a_graph_from_edges(drawn, weighted):
    n, edges = drawn
    pairs = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    weights = np.array([edge[2] if weighted else 1 for edge in edges], dtype=np.float32)
    found = merge(pairs[:, 0], pairs[:, 1], weights if weighted else None, n).adjacency
    expected = symmetric_adjacency(pairs, weights, n)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert getattr(found, part).dtype == getattr(expected, part).dtype
    assert found.has_canonical_format


@settings(deadline=None)
@given(edge_lists())
def test_counts_are_those_of_sets(drawn):
    n, edges = drawn
    pairs = [edge[:2] for edge in edges]
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    found = merge(array[:, 0], array[:, 1], None, n)
    proper = [pair for pair in pairs if pair[0] != pair[1]]
    assert found.edges == len(pairs)
    assert found.loops == len(pairs) - len(proper)
    assert found.repeated == len(proper) - len(set(proper))
    assert found.alone == sum((j, i) not in set(proper) for i, j in set(proper))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([[0, 1], [1, 0]], []),
        ([[0, 1], [1, 2]], ["Edges are taken as undirected; each was given in one direction only in e.csv."]),
        ([[0, 1], [1, 0], [1, 2]], ["Edges are taken as undirected: 1 of 3 in e.csv had no counterpart in the other direction."]),
        ([[0, 1], [1, 0], [2, 2]], ["1 edge of e.csv joined a node to itself and was dropped."]),
        ([[0, 1], [1, 0], [0, 1], [0, 1]], ["2 edges of e.csv were given more than once and merged."]),
    ],
)  # fmt: skip
def test_notes(pairs, said):
    source, target = np.array(pairs).T
    merged = merge(source, target, None, 3)
    assert merged.notes("e.csv") == said
    assert not any("undirected" in note for note in merged.notes("e.csv", directed=False))


def edges(weights=None, source=("A", "B"), target=("B", "C")):
    columns = {"source": list(source), "target": list(target)}
    if weights is not None:
        columns["weight"] = list(weights)
    return Table(pa.table(columns), "edges.csv", lambda row: f"row {row + 2}")


def read(table, weight=None):
    return read_edges(table, NODES, NODES.column("id"), "source", "target", weight)


def test_weights_are_read():
    merged = read(edges(["0.5", "2"]), "weight")
    np.testing.assert_array_equal(merged.adjacency.toarray(), [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            edges(source=["A", "A77", "B", "A78"], target=["B", "A", "C", "A"]),
            r"edges.csv row 3: unknown node id 'A77' \(not in nodes.csv\); add it to nodes.csv or remove the edge \(1 other edge likewise\)\.",
        ),
        (edges(target=["B", "D"]), r"row 3: unknown node id 'D' \(not in nodes.csv\); add it to nodes.csv or remove the edge\."),
        (edges(source=["A", " B"]), r"row 3: unknown node id ' B' .*nodes.csv has 'B': remove the spaces"),
        (edges(source=["x", "y"]), r"no edge joins two of its nodes, whose ids look like 'A': check .*\(1 other edge likewise\)"),
        (edges(source=["A", ""]), r"edges.csv row 3: the source \(column 'source'\) is missing"),
        (edges(target=[None, "B"]), r"edges.csv row 2: the target \(column 'target'\) is missing"),
    ],
)  # fmt: skip
def test_ends_that_are_not_there(table, said):
    with pytest.raises(InputError, match=said):
        read(table)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (
            ["1", "0"],
            r"edges.csv row 3: the edge has the weight 0 \(column 'weight'\); give each edge a weight above 0",
        ),
        (["-2", "1"], r"row 2: the edge has the weight -2 "),
        (["1", ""], r"row 3: the edge has no weight"),
        (["heavy", "1"], r"row 2, column 'weight': 'heavy' is not a finite number; give each edge"),
        (["1", "inf"], r"row 3, column 'weight': 'inf' is not"),
        (["1", "1e39"], r"the weight 1e\+39 \(column 'weight'\), too large to compute with"),
        (["1", "1e-60"], r"the weight 1e-60 \(column 'weight'\), too small"),
        ([1.0, None], r"row 3: the edge has no weight"),
        (
            [[1.0], [2.0]],
            r"edges.csv, column 'weight': cells of the type list.* cannot be used here; give each edge a weight",
        ),
    ],
)
def test_bad_weights(weights, said):
    with pytest.raises(InputError, match=said):
        read_weights(edges(weights), "weight")
