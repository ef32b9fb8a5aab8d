"""Edges: ends looked up, weights read, errors with the row."""

import numpy as np
import pyarrow as pa
import pytest

from ncgc.errors import InputError
from ncgc.io.tables.edges import read_edges, read_weights
from ncgc.io.tables.table import Table

NODES = Table(pa.table({"id": ["A", "B", "C"]}), "nodes.csv")


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
    ("table", "message"),
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
def test_ends_that_are_not_there(table, message):
    with pytest.raises(InputError, match=message):
        read(table)


@pytest.mark.parametrize(
    ("weights", "message"),
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
def test_bad_weights(weights, message):
    with pytest.raises(InputError, match=message):
        read_weights(edges(weights), "weight")
