"""PyG's Data, there and back."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from torch_geometric.data import Data

from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.io import from_pyg, to_pyg


@st.composite
def edge_lists(draw):
    """(n, edges): from one node up, with isolated nodes, self-loops, duplicates and both directions."""
    n = draw(st.integers(1, 12))
    node = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(node, node), max_size=40))


@given(edge_lists(), st.data())
def test_round_trip(drawn, data):
    n, edges = drawn
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    weights = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=len(edges), max_size=len(edges)))
    graph = Graph.from_edges(edges, np.arange(2 * n).reshape(n, 2), labels, weights=weights)
    back = from_pyg(to_pyg(graph), classes=graph.classes)
    np.testing.assert_array_equal(back.adjacency.toarray(), graph.adjacency.toarray())
    np.testing.assert_array_equal(back.features, graph.features)
    np.testing.assert_array_equal(back.labels, graph.labels)


def test_masks_become_the_public_split_and_back():
    split = (np.array([0]), np.array([2]), np.array([1, 3]))
    graph = Graph.from_edges([[0, 1]], sparse.eye_array(4, format="csr"), [0, 1, 0, 1], public_split=split)
    data = to_pyg(graph)
    assert data.test_mask.tolist() == [False, True, False, True]
    assert data.x.dtype == torch.float32
    back = from_pyg(data)
    for mine, given_nodes in zip(back.public_split, split, strict=True):
        np.testing.assert_array_equal(mine, given_nodes)


def test_from_pyg_needs_both():
    with pytest.raises(GraphError, match="needs both 'x' and 'edge_index'"):
        from_pyg(Data(edge_index=torch.zeros(2, 0, dtype=torch.long)))


def test_from_pyg_without_labels():
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    assert from_pyg(data).labels.tolist() == [-1, -1]
