"""GraphSAGE against PyG's layers with the same weights."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import SAGEConv

from ncgc import Graph
from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

GraphSAGE = find_classifier("sage")


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_those_of_pyg(make_planted, form):
    graph, split = make_planted(form)
    model = GraphSAGE(hidden=6, epochs=4, features="raw").fit(graph, split)
    operators = GraphOperators(graph)
    h = operators.features.to_dense()
    with torch.no_grad():
        for layer, activation in ((model.network_.first, torch.relu), (model.network_.second, lambda x: x)):
            theirs = SAGEConv(layer.in_features, layer.out_features)
            theirs.lin_l.weight.copy_(layer.weight.t())
            theirs.lin_l.bias.copy_(layer.bias)
            theirs.lin_r.weight.copy_(layer.self_weight.t())
            h = activation(theirs(h, operators.edge_index))
    np.testing.assert_allclose(model.decision_function(), h.numpy(), atol=1e-5)


def test_an_isolated_node_has_its_own_features():
    graph = Graph.from_edges([[0, 1]], np.eye(4), [0, 1, 0, -1])
    model = GraphSAGE(epochs=40).fit(graph)
    assert model.predict()[2] == 0
    assert np.isfinite(model.predict_proba()).all()
