"""GraphMix: the two networks, the mixture and its weight."""

import math

import numpy as np
import pytest
import torch

from ncgc.models.baselines.graphmix import GraphMix, ramp


@pytest.fixture
def started(make_planted):
    graph, split = make_planted()
    method = GraphMix(input_dropout=0.0)
    data = method.training_data(graph, split)
    return method, data, method.network(data)


def test_the_networks_share_their_weights(started):
    _, data, network = started
    x, a = data.operators.features.to_dense(), data.operators.gcn.csr.to_dense()
    torch.testing.assert_close(
        network.without_graph(data.operators, torch.tensor([3, 7])), torch.relu(x[[3, 7]] @ network.first)
    )
    torch.testing.assert_close(network(data.operators).logits, a @ torch.relu(a @ x @ network.first) @ network.second)


def test_mixture_is_that_of_the_draws(started):
    method, data, network = started
    targets = torch.eye(3)[data.labels]
    data.drops.manual_seed(5)
    found = method._mixed(data, network, data.train, targets)
    generator = torch.Generator().manual_seed(5)
    share = torch.rand((), generator=generator).item()
    other = torch.randperm(9, generator=generator)
    h = torch.relu(data.operators.features.to_dense() @ network.first)[data.train]
    p = ((share * h + (1 - share) * h[other]) @ network.second).softmax(dim=1)
    y = share * targets + (1 - share) * targets[other]
    terms = [y[i, c] * p[i, c].log() + (1 - y[i, c]) * (1 - p[i, c]).log() for i in range(9) for c in range(3)]
    torch.testing.assert_close(found, -sum(terms) / 27, rtol=1e-4, atol=1e-5)


def test_targets_are_sharpened_and_have_no_gradient(started):
    method, data, network = started
    nodes = torch.tensor([11, 40, 11, 20])
    p = network(data.operators).logits.softmax(dim=1).detach()[nodes] ** 10
    targets = method._targets(data, network, nodes)
    torch.testing.assert_close(targets, p / p.sum(dim=1, keepdim=True), rtol=1e-4, atol=1e-5)
    assert not targets.requires_grad


def test_a_coin_decides(started):
    method, data, network = started
    kinds = [isinstance(method.loss(data, network, 1), dict) for _ in range(60)]
    assert 15 < sum(kinds) < 45


def test_weight_of_the_unlabelled_nodes_grows():
    assert [ramp(epoch, 500, 1000) for epoch in (0, 500, 1000, 2000)] == [math.exp(-5), math.exp(-5), 1, 1]
    assert ramp(0, 10, 10) == 1


def test_it_learns_and_one_seed_is_one_result(make_planted):
    graph, split = make_planted("sparse")
    settings = {"epochs": 80, "ramp_from": 10, "ramp_to": 20, "passes": 2, "learning_rate": 0.05}
    model = GraphMix(**settings).fit(graph, split)
    assert model.score() > 0.5
    np.testing.assert_array_equal(GraphMix(**settings).fit(graph, split).predict_proba(), model.predict_proba())
