"""SGC against the dense formula and PyG's layer, and its rows against Âᵏ·X."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch_geometric.nn import SGConv

from ncgc import Graph
from ncgc.models.registry import find_classifier
from ncgc.models.row_classifier import smoothed_rows
from ncgc.nn import GraphOperators
from ncgc.ops import gcn_normalised, propagate

SGC = find_classifier("sgc")


@pytest.fixture(params=["sparse", "dense"])
def data(request, make_planted):
    graph, split = make_planted(request.param)
    coo = sparse.triu(graph.adjacency).tocoo()
    keep = (coo.row != 7) & (coo.col != 7)  # 7 is isolated
    weights = np.random.default_rng(1).uniform(0.2, 3, keep.sum())
    pairs = np.stack([coo.row, coo.col], axis=1)[keep]
    return Graph.from_edges(pairs, graph.features, graph.labels, weights=weights), split


def test_scores_are_those_of_pyg(data):
    graph, split = data
    model = SGC(steps=3, features="raw").fit(graph, split)
    operators = GraphOperators(graph)
    layer = SGConv(graph.num_features, 3, K=3)
    with torch.no_grad():
        layer.lin.weight.copy_(model.network_.weight.t())
        layer.lin.bias.copy_(model.network_.bias)
        expected = layer(operators.features.to_dense(), operators.edge_index, operators.edge_weight)
    np.testing.assert_allclose(model.decision_function(), expected.numpy(), atol=1e-4)


@pytest.mark.parametrize("count", [0, 1, 45])
def test_smoothed_rows_are_those_of_the_whole_product(data, count):
    operators = GraphOperators(data[0])
    nodes = torch.randperm(45, generator=torch.Generator().manual_seed(0))[:count]
    a = gcn_normalised(data[0].adjacency).toarray()
    rows = smoothed_rows(operators, nodes, lambda z: propagate(operators.gcn, propagate(operators.gcn, z)))
    np.testing.assert_allclose(rows, (a @ a @ operators.features.to_dense().numpy())[nodes.numpy()], atol=1e-5)


def test_many_rows_are_made_in_parts():
    n = 1100
    graph = Graph.from_edges([[i, i + 1] for i in range(n - 1)], np.arange(2.0 * n).reshape(n, 2))
    operators = GraphOperators(graph, torch.float64)
    rows = smoothed_rows(operators, torch.arange(n), lambda z: propagate(operators.gcn, z))
    np.testing.assert_allclose(rows, gcn_normalised(graph.adjacency.astype(float)) @ graph.features)


def test_validation_nodes_are_not_looked_at(data):
    graph, split = data
    model = SGC(epochs=7).fit(graph, split)
    assert model.best_epoch_ == 7
    other = graph.with_labels(np.where(np.isin(np.arange(45), split.val), (graph.labels + 1) % 3, graph.labels))
    np.testing.assert_array_equal(SGC(epochs=7).fit(other, split).predict_proba(), model.predict_proba())


def test_has_no_parameter_it_does_not_use():
    assert set(SGC().get_params()) == {
        "steps", "learning_rate", "weight_decay", "epochs", "features", "random_state",
    }  # fmt: skip
