"""The tuned network and its three convolutions against PyG's layers with the same weights."""

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.utils import add_self_loops

from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

CONVOLUTIONS = {"gcn_star": GCNConv, "gat_star": GATConv, "sage_star": SAGEConv}


def same(name: str, ours: nn.Module) -> nn.Module:
    size = tuple(ours.weight.shape)
    if name == "gcn_star":
        theirs = GCNConv(*size)
        theirs.lin.weight.copy_(ours.weight.t())
        theirs.bias.copy_(ours.bias)
    elif name == "gat_star":
        theirs = GATConv(*size, add_self_loops=False, bias=False)
        theirs.lin.weight.copy_(ours.weight.t())
        theirs.att_src.copy_(ours.source.unsqueeze(0))
        theirs.att_dst.copy_(ours.target.unsqueeze(0))
    else:
        theirs = SAGEConv(*size)
        theirs.lin_l.weight.copy_(ours.weight.t())
        theirs.lin_l.bias.copy_(ours.bias)
        theirs.lin_r.weight.copy_(ours.self_weight.t())
    return theirs


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize(("norm", "residual"), [(None, False), ("layer", True), ("batch", True)])
def test_scores_are_those_of_pyg_with_self_loops(make_planted, name, form, norm, residual):
    graph, split = make_planted(form)
    model = find_classifier(name)(hidden=6, norm=norm, residual=residual, num_layers=2, epochs=4).fit(graph, split)
    operators, network = GraphOperators(graph), model.network_
    edges, _ = add_self_loops(operators.edge_index, num_nodes=45)
    h = operators.features.to_dense()
    with torch.no_grad():
        for i, convolution in enumerate(network.convolutions):
            z = same(name, convolution)(h, edges)
            if residual:
                z = z + h @ network.residuals[i].weight + network.residuals[i].bias
            h = torch.relu(network.norms[i](z))
        expected = h @ network.classes.weight + network.classes.bias
    np.testing.assert_allclose(model.transform(), h.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.decision_function(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_all_parameters_get_a_gradient(make_planted, name):
    graph, split = make_planted()
    model = find_classifier(name)(hidden=4, norm="layer", residual=True)
    data = model.training_data(graph, split)
    network = model.network(data)
    model.loss(data, network, 1).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())


def test_keeps_the_first_epoch_of_highest_validation_accuracy(make_planted):
    model = find_classifier("gcn_star")(hidden=8, epochs=30).fit(*make_planted())
    accuracy = model.history_["val_accuracy"]
    assert model.best_epoch_ == 1 + int(np.argmax(accuracy))
    assert len(accuracy) == 30
