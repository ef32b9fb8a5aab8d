"""GCNII's layers against PyG's and a plain loop, their gradient, and what decays how."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch_geometric.nn import GCN2Conv

from ncgc.models.baselines.gcnii import residual_layers
from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators

GCNII = find_classifier("gcnii")


def drawn(*shapes):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_scores_are_those_of_pyg(make_planted, form):
    graph, split = make_planted(form)
    model = GCNII(hidden=6, num_layers=5, alpha=0.2, theta=0.7, epochs=4, features="raw").fit(graph, split)
    operators, network = GraphOperators(graph), model.network_
    with torch.no_grad():
        start = h = torch.relu(operators.features.to_dense() @ network.entry + network.entry_bias)
        for i in range(5):
            layer = GCN2Conv(6, alpha=0.2, theta=0.7, layer=i + 1)
            layer.weight1.copy_(network.layers[i])
            h = torch.relu(layer(h, start, operators.edge_index))
        expected = h @ network.classes + network.classes_bias
    np.testing.assert_allclose(model.transform(), h.numpy(), atol=1e-5)
    np.testing.assert_allclose(model.decision_function(), expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.4])
def test_gradient(make_planted, p):
    operators = GraphOperators(make_planted()[0], torch.float64)
    h, start, weights = drawn((45, 3), (45, 3), (4, 3, 3))

    def layers(h, start, weights):
        return residual_layers(operators.gcn, h, start, weights, 0.1, 0.5, p, torch.Generator().manual_seed(1))

    assert gradcheck(layers, (h, start, weights), fast_mode=True)


def test_gradient_is_that_of_the_plain_loop(make_planted):
    operators = GraphOperators(make_planted()[0], torch.float64)
    h, start, weights = drawn((45, 3), (45, 3), (6, 3, 3))
    plain = h
    a = operators.gcn.csr.to_dense()
    for i, weight in enumerate(weights):
        m = 0.9 * a @ plain + 0.1 * start
        theta = np.log(0.5 / (i + 1) + 1)
        plain = torch.relu(theta * m @ weight + (1 - theta) * m)
    ours = residual_layers(operators.gcn, h, start, weights)
    torch.testing.assert_close(ours, plain)
    pull = torch.randn(45, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for mine, theirs in zip(
        torch.autograd.grad(ours, (h, start, weights), pull),
        torch.autograd.grad(plain, (h, start, weights), pull),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs)


def test_layers_and_linear_maps_decay_apart(make_planted):
    model = GCNII(num_layers=2, epochs=1, weight_decay=0.3, dense_decay=0.1).fit(*make_planted())
    layers, others = model.groups(model.network_)
    assert (layers["weight_decay"], [p.shape for p in layers["params"]]) == (0.3, [(2, 64, 64)])
    assert (others["weight_decay"], len(others["params"])) == (0.1, 4)
