"""JK-Net against PyG's layers with the same weights."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv, JumpingKnowledge

from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

JKNet = find_classifier("jknet")


@pytest.mark.parametrize(("combine", "theirs"), [("concat", "cat"), ("max", "max")])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_those_of_pyg(make_planted, form, combine, theirs):
    graph, split = make_planted(form)
    model = JKNet(hidden=4, num_layers=3, combine=combine, epochs=4, features="raw").fit(graph, split)
    operators, network = GraphOperators(graph), model.network_
    h, depths = operators.features.to_dense(), []
    with torch.no_grad():
        for weight, bias in zip(network.weights, network.biases, strict=True):
            layer = GCNConv(*weight.shape)
            layer.lin.weight.copy_(weight.t())
            layer.bias.copy_(bias)
            h = torch.relu(layer(h, operators.edge_index))
            depths.append(h)
        combined = JumpingKnowledge(theirs)(depths)
        expected = combined @ network.classes + network.classes_bias
    np.testing.assert_allclose(model.transform(), combined.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.decision_function(), expected.numpy(), atol=1e-5)
