"""as_graph: every graph object gives the same Graph, and anything else is refused with a list of what is accepted."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from torch_geometric.data import Data, HeteroData

from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.io import as_graph, to_networkx, to_pyg


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1], [1, 2]], np.eye(3), [1, -1, 0], weights=[1, 2])


def test_a_graph_is_returned_as_it_is(graph):
    assert as_graph(graph) is graph
    with pytest.raises(GraphError, match="A Graph is taken as it is; give no 'name', 'label' beside it"):
        as_graph(graph, name="other", label="town")


@pytest.mark.parametrize("convert", [to_networkx, to_pyg, Graph.to_scipy])
def test_every_form_gives_the_same_graph(graph, convert):
    found = as_graph(convert(graph))
    np.testing.assert_array_equal(found.adjacency.toarray(), graph.adjacency.toarray())
    np.testing.assert_array_equal(found.features, graph.features)
    np.testing.assert_array_equal(found.labels, graph.labels)


def test_labels_may_be_left_out(graph):
    adjacency, features, _ = graph.to_scipy()
    assert as_graph((adjacency, features)).labels.tolist() == [-1, -1, -1]


def test_options_reach_the_converter(graph):
    made = to_networkx(graph)
    nx.set_node_attributes(made, {0: "Ulm", 1: "Bern"}, "town")
    assert as_graph(made, label="town").classes.tolist() == ["Bern", "Ulm"]
    assert as_graph(to_pyg(graph), classes=["a", "b"]).classes.tolist() == ["a", "b"]
    assert as_graph(graph.to_scipy(), name="mine").name == "mine"


@pytest.mark.parametrize(
    "data",
    [
        [[0, 1]],
        None,
        "nodes.csv",
        sparse.eye_array(3),
        (np.eye(3), np.eye(3)),
        (sparse.eye_array(3),),
        HeteroData(),
        Data,
    ],
    ids=lambda data: type(data).__name__,
)
def test_anything_else_is_refused(data):
    with pytest.raises(
        GraphError, match=rf"a networkx graph, a PyG Data, .* Got {type(data).__name__} instead; give lists"
    ):
        as_graph(data)
