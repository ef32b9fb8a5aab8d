"""User input becomes checked arrays or is refused with a reason; graphs that fit a model, and those that do not."""

import numpy as np
import pytest
from scipy import sparse

from ncgc import Graph
from ncgc.errors import GraphError
from ncgc.graph.validation import (
    as_edges,
    as_features,
    as_labels,
    as_weights,
    check_is_graph,
    check_same_features,
    first_not_finite,
    is_whole,
    labels_among,
    listed,
)


@pytest.mark.parametrize("edges", [[], np.zeros((0, 2)), np.zeros((2, 0), dtype=int)])
def test_no_edges(edges):
    assert as_edges(edges, 3).shape == (0, 2)


def test_whole_floats_are_edges():
    pairs = as_edges(np.array([[0.0, 1.0]]), 2)
    assert pairs.dtype == np.int64
    assert pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([0, 1], r"must be an \(m, 2\) array of node numbers. Got the shape \(2,\) instead\.$"),
        ([[0, 1, 2], [1, 2, 0]], r"Got the shape \(2, 3\) instead; transpose a PyG edge_index first\.$"),
        ([[0.5, 1]], "must be whole node numbers from 0 to 2. Got the type float64"),
        ([["a", "b"]], "must be whole node numbers from 0 to 2"),
        ([[0, 1], [2, 3]], "Edge 1 joins nodes 2 and 3, but the nodes are numbered 0 to 2; remove the edge or add"),
        ([[-1, 0]], "Edge 0 joins nodes -1 and 0"),
    ],
)
def test_edges_refused(edges, message):
    with pytest.raises(GraphError, match=message):
        as_edges(edges, 3)


def test_weights():
    assert as_weights(None, 2).tolist() == [1, 1]
    assert as_weights([[1], [2]], 2).tolist() == [1, 2]
    with pytest.raises(GraphError, match="There are 1 edge weights for 2 edges; give one an edge"):
        as_weights([1], 2)
    for bad in (0, -1, np.nan, np.inf):
        with pytest.raises(GraphError, match=r"Edge 1 has the weight .*; weights must be finite and above 0"):
            as_weights([1, bad], 2)


def test_features():
    assert as_features([[1, 2], [3, 4]]).dtype == np.float32
    matrix = as_features(sparse.coo_matrix(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    assert isinstance(matrix, sparse.csr_array)
    assert (matrix.nnz, matrix.dtype) == (1, np.float32)
    assert matrix.toarray().tolist() == [[0, 3], [0, 0]]
    with pytest.raises(GraphError, match=r"must be an \(n, D\) array. Got the shape \(2,\)"):
        as_features([1, 2])
    with pytest.raises(GraphError, match="must be numbers, one row a node"):
        as_features([["a"]])


def test_labels():
    assert as_labels(None, 2).tolist() == [-1, -1]
    assert as_labels([1.0, -1.0], 2).dtype == np.int64
    with pytest.raises(GraphError, match=r"labels of the shape \(1,\) for 2 nodes; give one a node, -1 where unknown"):
        as_labels([1], 2)
    with pytest.raises(GraphError, match=r"must be whole class indices, -1 for unknown\. Got the type float64"):
        as_labels([0.5, 1], 2)
    with pytest.raises(GraphError, match="whole class indices"):
        as_labels([np.nan, 1], 2)


def test_labels_are_a_copy():
    given = np.array([0, 1])
    as_labels(given, 2)[0] = 9
    assert given[0] == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_first_not_finite(form):
    values = np.array([[0, 0, 0], [0, 1, 0], [0, 2, np.nan], [np.inf, 0, 0]])
    assert first_not_finite(form(values)) == (2, 2)


def test_listed():
    assert listed(np.array(["a", "b"])) == "'a', 'b'"
    assert listed(np.arange(10), most=2) == "0, 1 and 8 more"


def test_is_whole():
    assert is_whole(np.array([1, 2], dtype=np.uint8))
    assert is_whole(np.array([1.0]))
    assert not any(map(is_whole, (np.array([np.inf]), np.array([1.5]), np.array(["1"]), np.array([True]))))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: as_edges([[0, 1], [2]], 3), "Edges must be an"),
        (lambda: as_labels([[0], [1, 2]], 2), "Labels must be"),
        (lambda: as_weights(["heavy"], 1), "Edge weights must be numbers"),
    ],
)
def test_ragged_or_wordy_input_gets_a_sentence(call, words):
    with pytest.raises(GraphError, match=words):
        call()


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1]], np.eye(3), [0, -1, 1], classes=["spam", "ham", "eggs"])


def test_something_else_is_no_graph(graph):
    check_is_graph(graph)
    with pytest.raises(GraphError, match=r"must be an ncgc.Graph. Got list instead; build one with"):
        check_is_graph([[0, 1]])


def test_features_are_counted(graph):
    check_same_features(graph, 3)
    with pytest.raises(GraphError, match="has 3 features but the model was fitted on 4"):
        check_same_features(graph, 4)


def test_labels_go_by_name(graph):
    assert labels_among(graph, np.array(["ham", "spam"])).tolist() == [1, -1, 0]
    with pytest.raises(GraphError, match=r"of the class 'ham', which the model was not fitted with; .* 'eggs', 'spam'"):
        labels_among(graph, np.array(["eggs", "spam"]))
