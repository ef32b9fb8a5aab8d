"""GPR-GNN against the sum over all steps; its weights of the steps begin as PageRank's and are learnt without decay."""

import numpy as np
import pytest
import torch

from ncgc.models.registry import find_classifier
from ncgc.nn import GraphOperators
from ncgc.ops import gcn_normalised, personalised_pagerank

GPRGNN = find_classifier("gprgnn")


def test_scores_are_the_weighted_sum_of_the_steps(make_planted):
    graph, split = make_planted()
    model = GPRGNN(hidden=6, steps=3, epochs=20, features="raw").fit(graph, split)
    w = {name: value.detach().numpy() for name, value in model.network_.named_parameters()}
    a = gcn_normalised(graph.adjacency).toarray()
    h = np.maximum(graph.features @ w["first"] + w["first_bias"], 0)
    z = h @ w["second"] + w["second_bias"]
    expected = sum(g * np.linalg.matrix_power(a, k) @ z for k, g in enumerate(w["gamma"]))
    np.testing.assert_allclose(model.decision_function(), expected, atol=1e-5)
    begun = [0.1, 0.09, 0.081, 0.9**3]
    assert not np.allclose(w["gamma"], begun, atol=1e-3)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_begins_as_personalised_pagerank(make_planted, steps):
    graph, split = make_planted()
    model = GPRGNN(alpha=0.3, steps=steps)
    network, operators = model.network(model.training_data(graph, split)).eval(), GraphOperators(graph)
    z = torch.randn(45, 3, generator=torch.Generator().manual_seed(0))
    expected = personalised_pagerank(operators.gcn, z, 0.3, steps)
    np.testing.assert_allclose(network.propagate(operators, z).detach(), expected, atol=1e-6)


def test_the_weights_of_the_steps_do_not_decay(make_planted):
    model = GPRGNN(epochs=1).fit(*make_planted())
    last = model.groups(model.network_)[-1]
    assert last["weight_decay"] == 0.0
    assert [p is model.network_.gamma for p in last["params"]] == [True]
