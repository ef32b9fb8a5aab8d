"""Graph: symmetric and clean whatever it is built from, or refused with a reason."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ncgc.errors import GraphError
from ncgc.graph import Graph


@st.composite
def edge_lists(draw):
    """(n, edges): from one node up, with isolated nodes, self-loops, duplicates and both directions."""
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(node, node), max_size=40))


@given(edge_lists())
def test_any_edges_give_a_clean_graph(drawn):
    n, edges = drawn
    graph = Graph.from_edges(edges, np.ones((n, 2)))
    expected = {(i, j) for i, j in edges if i != j} | {(j, i) for i, j in edges if i != j}
    coo = graph.adjacency.tocoo()
    assert sorted(zip(coo.row.tolist(), coo.col.tolist(), strict=True)) == sorted(expected)
    assert (coo.data == 1).all()
    assert graph.num_edges == len(expected) // 2
    assert graph.degrees.tolist() == [sum(i == node for i, _ in expected) for node in range(n)]
    assert graph.adjacency.has_canonical_format
    assert not graph.weighted


@given(edge_lists(), st.data())
def test_weights_take_the_largest(drawn, data):
    n, edges = drawn
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    graph = Graph.from_edges(edges, np.ones((n, 1)), weights=weights)
    expected = np.zeros((n, n))
    for (i, j), weight in zip(edges, weights, strict=True):
        if i != j:
            expected[i, j] = expected[j, i] = max(expected[i, j], weight)
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)


def test_from_scipy():
    upper = sparse.csr_matrix(np.triu(np.ones((3, 3))))
    graph = Graph.from_scipy(upper, np.eye(3), [0, 1, -1], name="triangle")
    assert (graph.num_edges, graph.name) == (3, "triangle")
    with pytest.raises(GraphError, match=r"must be a square scipy sparse matrix. Got \(2, 3\) instead"):
        Graph.from_scipy(sparse.csr_matrix((2, 3)), np.eye(2))
    with pytest.raises(GraphError, match=r"Got list instead"):
        Graph.from_scipy([[0, 1], [1, 0]], np.eye(2))


def test_properties():
    graph = Graph.from_edges([[0, 1]], [[1, 0], [0, 0]], [1, -1])
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (2, 1, 2, 2)
    assert graph.feature_density == 0.25
    assert graph.with_features(sparse.csr_array([[1, 0], [0, 0]])).feature_density == 0.25
    assert graph.with_features(np.zeros((2, 0))).feature_density == 0
    assert Graph.from_edges([[0, 1]], np.eye(2), weights=[2]).weighted


def test_immutable():
    graph = Graph.from_edges([[0, 1]], np.eye(2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.name = "other"


def test_with_labels():
    graph = Graph.from_edges([[0, 1]], np.eye(3), classes=["ham", "spam"], node_ids=["A", "B", "C"])
    assert graph.with_labels({"C": "ham", "A": "spam"}).labels.tolist() == [1, -1, 0]
    assert graph.with_labels([1, 0, -1]).labels.tolist() == [1, 0, -1]
    assert graph.labels.tolist() == [-1, -1, -1]
    assert Graph.from_edges([], np.eye(2), classes=["a", "b"]).with_labels({1: "b"}).labels.tolist() == [-1, 1]
    with pytest.raises(GraphError, match="Unknown node id 'Z' among the labels; the graph's ids look like 'A'"):
        graph.with_labels({"Z": "ham"})
    with pytest.raises(
        GraphError, match="Node 'A' has the unknown class 'eggs'; the graph's classes are 'ham', 'spam'"
    ):
        graph.with_labels({"A": "eggs"})


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_row_normalised(form):
    graph = Graph.from_edges([], form([[1.0, 3.0], [0.0, 0.0], [-2.0, 2.0]])).row_normalised()
    dense = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    assert sparse.issparse(graph.features) == (form is sparse.csr_array)
    np.testing.assert_allclose(dense, [[0.25, 0.75], [0, 0], [-0.5, 0.5]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": np.zeros((0, 2))}, "The graph has no nodes; give at least one"),
        (
            {"features": np.eye(2), "num_nodes": 3},
            "The features have 2 rows but the graph has 3 nodes; give one row a node",
        ),
        ({"features": [[1, np.nan]]}, "The feature in row 0, column 1 is not a finite number; replace NaN"),
        ({"features": sparse.csr_array([[0, np.inf]])}, "The feature in row 0, column 1 is not a finite number"),
        ({"features": np.eye(2), "labels": [0]}, r"labels of the shape \(1,\) for 2 nodes"),
        ({"features": np.eye(2), "labels": [0, -2]}, "Node 1 has the label -2; labels are class indices from 0"),
        (
            {"features": np.eye(2), "labels": [0, 2], "classes": ["a", "b"]},
            "Node 1 has the label 2 but there are only 2 classes",
        ),
        ({"features": np.eye(2), "classes": ["a", "a"]}, "The class names 'a', 'a' repeat themselves"),
        ({"features": np.eye(2), "node_ids": ["x"]}, "There are 1 node ids for 2 nodes"),
        ({"features": np.eye(2), "node_ids": ["x", "x"]}, r"The node id .*'x'.* appears 2 times; ids must be unique"),
    ],
)
def test_refused(arguments, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges([], **arguments)


def test_labels_of_the_wrong_length_in_the_plain_constructor():
    graph = Graph.from_edges([], np.eye(2))
    with pytest.raises(GraphError, match="There are 3 labels for 2 nodes"):
        dataclasses.replace(graph, labels=np.array([0, 0, 0])).validate()


def test_to_scipy_gives_copies():
    graph = Graph.from_edges([[0, 1]], np.eye(2), [0, 1])
    adjacency, features, labels = graph.to_scipy()
    adjacency.data[:] = 7
    features[:] = 7
    labels[:] = 0
    back = Graph.from_scipy(*graph.to_scipy())
    np.testing.assert_array_equal(back.adjacency.toarray(), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(back.features, np.eye(2))
    np.testing.assert_array_equal(back.labels, [0, 1])
