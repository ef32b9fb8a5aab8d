"""GraphOperators: each matrix once, and the edges PyG would see."""

import numpy as np
import torch

from ncgc.io.formats.pyg import to_pyg
from ncgc.nn import GraphOperators


def test_matrices_are_made_once_and_symmetric_ones_are(make_graph):
    operators = GraphOperators(make_graph(weighted=True), dtype=torch.float64)
    assert operators.gcn is operators.gcn
    assert operators.scaled_gcn(0.9) is operators.scaled_gcn(0.9)
    for matrix in (operators.gcn, operators.scaled_gcn(0.9)):  # the promise behind symmetric=True
        dense = matrix.csr.to_dense()
        assert matrix.symmetric
        torch.testing.assert_close(dense, dense.t())


def test_the_mean_of_a_weighted_graph_is_not_taken_for_symmetric(make_graph):
    operators = GraphOperators(make_graph(weighted=True), dtype=torch.float64)
    dense = operators.mean.csr.to_dense()
    assert not torch.allclose(dense, dense.t())
    torch.testing.assert_close(operators.mean.transposed.to_dense(), dense.t())


def test_scaled_is_the_factor_times(operators):
    torch.testing.assert_close(operators.scaled_gcn(0.3).csr.to_dense(), 0.3 * operators.gcn.csr.to_dense())


def test_edge_index_is_that_of_to_pyg(make_graph):
    graph = make_graph(weighted=True)
    operators, data = GraphOperators(graph), to_pyg(graph)
    assert torch.equal(operators.edge_index, data.edge_index)
    assert torch.equal(operators.edge_weight, data.edge_weight)
    assert GraphOperators(make_graph()).edge_weight is None


def test_neighbourhood_is_a_plus_i(graph, operators):
    np.testing.assert_array_equal(
        operators.neighbourhood.csr.to_dense().numpy(), graph.adjacency.toarray() + np.eye(graph.num_nodes)
    )


def test_the_type_reaches_every_tensor(graph):
    for dtype in (torch.float32, torch.float64):
        operators = GraphOperators(graph, dtype=dtype)
        assert operators.features.to_dense().dtype == dtype
        assert {m.values.dtype for m in (operators.gcn, operators.mean, operators.neighbourhood)} == {dtype}
