"""networkx graphs, there and back."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from ncgc import Graph
from ncgc.errors import GraphError, InputError
from ncgc.io.formats.networkx import from_networkx, read_networkx, to_networkx


def example():
    graph = nx.Graph()
    graph.add_node("A", label="spam", age=20, town="Ulm")
    graph.add_node("B", age=30, town="Bern")
    graph.add_node("C", label="ham", age=40.5, town="Ulm")
    graph.add_node("D", town="Bern")
    graph.add_edges_from([("A", "B"), ("B", "C")])
    return graph


def test_attributes_are_labels_and_features():
    found = read_networkx(example())
    assert found.graph.node_ids.tolist() == ["A", "B", "C", "D"]
    assert found.graph.classes.tolist() == ["ham", "spam"]
    assert found.graph.labels.tolist() == [1, -1, 0, -1]
    assert found.encoder.describe() == [("age", "number", 2), ("town", "category", 2)]
    assert found.graph.num_edges == 2


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 8))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=20))
    weights = draw(st.none() | st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    labels = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    x = np.array(draw(st.lists(st.floats(-9, 9, width=32), min_size=2 * n, max_size=2 * n))).reshape(n, 2)
    ids = draw(st.sampled_from([None, [f"n{i}" for i in range(n)], [10 * i for i in range(n)]]))
    return Graph.from_edges(edges, x, labels, weights=weights, classes=["ham", "spam"], node_ids=ids)


@settings(deadline=None)
@given(graphs())
def test_round_trip(graph):
    back = from_networkx(to_networkx(graph))
    ids = list(range(graph.num_nodes)) if graph.node_ids is None else graph.node_ids.tolist()
    assert back.node_ids.tolist() == ids
    np.testing.assert_array_equal(back.adjacency.toarray(), graph.adjacency.toarray())
    np.testing.assert_array_equal(back.features, graph.features)
    assert [back.classes[k] if k >= 0 else None for k in back.labels] == [
        graph.classes[k] if k >= 0 else None for k in graph.labels
    ]


def test_sparse_features_and_none():
    graph = Graph.from_edges([[0, 1]], sparse.csr_array([[0, 2.0], [0, 0]]))
    assert to_networkx(graph).nodes[0] == {"x": [0.0, 2.0]}
    assert to_networkx(graph, features=False).nodes[0] == {}


def test_features_can_be_chosen():
    assert from_networkx(example(), features=np.ones((4, 7))).num_features == 7
    assert from_networkx(example(), features=["town"]).num_features == 2
    assert from_networkx(example(), features="none").num_features == 2 + 2  # a line of three: two vectors, two degrees
    assert from_networkx(example(), label="town").classes.tolist() == ["Bern", "Ulm"]
    with pytest.raises(GraphError, match="features have 3 rows but the graph has 4 nodes"):
        from_networkx(example(), features=np.ones((3, 7)))
    with pytest.raises(InputError, match="no column 'twon' to take the labels from; did you mean 'town'"):
        from_networkx(example(), label="twon")
    with pytest.raises(InputError, match="did you mean 'town'"):
        from_networkx(example(), features=["tovn"])


def test_directions_and_parallel_edges_are_merged():
    graph = nx.MultiDiGraph()
    graph.add_edge(1, 2, weight=3.0)
    graph.add_edge(1, 2, weight=5.0)
    graph.add_edge(2, 1)
    graph.add_edge(2, 2)
    graph.add_edge((3, 4), 2)
    found = read_networkx(graph)
    np.testing.assert_array_equal(found.graph.adjacency.toarray(), [[0, 5, 0], [5, 0, 1], [0, 1, 0]])
    assert found.graph.node_ids.tolist() == [1, 2, (3, 4)]
    assert found.notes[0] == "1 edge of graph joined a node to itself and was dropped."
    assert found.features == "structure"


def test_attributes_of_any_kind():
    graph = nx.path_graph(4)
    mixed = [1, "two", None, 3.5]
    for node in graph:
        graph.nodes[node].update(obj=object(), mixed=mixed[node], big=2**70 + node, flag=np.bool_(node > 1))
    assert read_networkx(graph).encoder.used_columns == ["flag"]
    assert from_networkx(graph, features=["mixed", "flag"]).num_nodes == 4


def test_sentences():
    with pytest.raises(InputError, match="graph has no nodes"):
        from_networkx(nx.Graph())
    with pytest.raises(InputError, match="vectors under 'x' have different lengths"):
        from_networkx(ragged())
    negative, unknown = example(), example()
    negative.edges["A", "B"]["weight"] = -1
    unknown.nodes["B"]["age"] = float("nan")
    with pytest.raises(InputError, match="graph edge 'A' to 'B': the edge has the weight -1"):
        from_networkx(negative)
    with pytest.raises(InputError, match="graph node 'B', column 'age': 'nan' is not a finite number"):
        from_networkx(unknown)


def ragged():
    graph = nx.path_graph(2)
    graph.nodes[0]["x"], graph.nodes[1]["x"] = [1.0], [1.0, 2.0]
    return graph
