"""APPNP against PyG's propagation, what decays, and embeddings that know the graph."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import APPNP as Reference

from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

APPNP = find_classifier("appnp")


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_those_of_pyg(make_planted, form):
    graph, split = make_planted(form)
    model = APPNP(hidden=6, steps=5, alpha=0.2, epochs=4, features="raw").fit(graph, split)
    operators, network = GraphOperators(graph), model.network_
    with torch.no_grad():
        local = torch.relu(operators.features.to_dense() @ network.first) @ network.second
        expected = Reference(5, 0.2)(local, operators.edge_index, operators.edge_weight)
    np.testing.assert_allclose(model.decision_function(), expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.transform() @ network.second.detach().numpy(), expected.numpy(), atol=1e-5)


def test_only_the_first_layer_decays_and_nothing_has_a_bias(make_planted):
    model = APPNP(epochs=1).fit(*make_planted())
    assert {name for name, _ in model.network_.named_parameters()} == {"first", "second"}
    decays = {id(p): group["weight_decay"] for group in model.groups(model.network_) for p in group["params"]}
    assert decays == {id(model.network_.first): 5e-3, id(model.network_.second): 0.0}
