"""PTA: propagated labels, the loss and the prediction, by loops."""

import math

import numpy as np
import pytest
import torch

from ncgc.models.baselines.pta import PTA, PTANetwork, propagated_labels
from ncgc.models.networks import TwoLayerMLP


@pytest.fixture
def started(make_planted):
    graph, split = make_planted()
    method = PTA(alpha=0.2, steps=4)
    data = method.training_data(graph, split)
    return method, data, method.network(data)


def slow_labels(a, nodes, labels, classes, alpha, steps):
    start = np.zeros((len(a), classes))
    for node, label in zip(nodes, labels, strict=True):
        start[node, label] = 1
    y = start
    for _ in range(steps):
        y = a @ y
        for node, label in zip(nodes, labels, strict=True):
            y[node] = np.eye(classes)[label]
        y = (1 - alpha) * y + alpha * start
    return y


def test_labels_are_propagated_and_clamped(started):
    _, data, _ = started
    a = data.operators.gcn
    found = propagated_labels(a, data.train, data.labels, 3, 0.2, 4)
    expected = slow_labels(a.csr.to_dense().double().numpy(), data.train.tolist(), data.labels.tolist(), 3, 0.2, 4)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[data.train], np.eye(3)[data.labels])


def test_loss_weighs_each_class_by_belief(started):
    method, data, network = started
    network.train()
    y = propagated_labels(data.operators.gcn, data.train, data.labels, 3, 0.2, 4)
    p = network(data.operators).logits.softmax(dim=1)
    gamma = math.log(1 + 49 / 100)
    expected = -0.05 / 3 * sum(y[i, c] * p[i, c].detach() ** gamma * p[i, c].log() for i in range(45) for c in range(3))
    loss = method.loss(data, network, epoch=50)
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)
    slow, fast = (torch.autograd.grad(value, network.second)[0] for value in (expected, loss))
    torch.testing.assert_close(fast, slow, rtol=1e-4, atol=1e-6)  # none through the belief


def test_prediction_propagates_probabilities(started):
    _, data, network = started
    p = network.train()(data.operators).logits.softmax(dim=1)
    a, h = data.operators.gcn.csr.to_dense(), p
    for _ in range(4):
        h = 0.8 * a @ h + 0.2 * p
    torch.testing.assert_close(network.eval()(data.operators).logits.exp(), h)


def test_only_the_first_weights_decay(started):
    method, _, network = started
    decaying, others = method.groups(network)
    assert decaying["weight_decay"] == 5e-3
    assert [id(value) for value in decaying["params"]] == [id(network.first)]
    assert others["weight_decay"] == 0
    assert len(others["params"]) == 3


def test_it_learns_and_one_seed_is_one_result(make_planted):
    graph, split = make_planted("sparse")
    model = PTA(epochs=40).fit(graph, split)
    assert model.score() > 0.5
    np.testing.assert_array_equal(PTA(epochs=40).fit(graph, split).predict_proba(), model.predict_proba())


def test_what_the_look_leaves_changes_nothing(make_planted, monkeypatch):
    """Losses and weights are the same to the bit when every pass is made anew."""
    graph, split = make_planted()
    left = PTA(epochs=12, random_state=1).fit(graph, split)
    monkeypatch.setattr(PTANetwork, "_versions", lambda self: [object()])  # never the same
    anew = PTA(epochs=12, random_state=1).fit(graph, split)
    assert left.history_["total"].tolist() == anew.history_["total"].tolist()
    np.testing.assert_array_equal(left.predict_proba(), anew.predict_proba())


def test_what_the_look_leaves_is_used_once_and_for_the_same_weights(started, monkeypatch):
    method, data, network = started
    made = []
    monkeypatch.setattr(TwoLayerMLP, "forward", counted(TwoLayerMLP.forward, made))
    method.loss(data, network.train(), 1)
    network.eval()(data.operators)
    method.loss(data, network.train(), 2).backward()
    assert len(made) == 2  # the first loss, the look
    network.eval()(data.operators)
    with torch.no_grad():
        network.first.mul_(2.0)
    method.loss(data, network.train(), 3)
    assert len(made) == 4  # other weights: a pass of its own


def counted(function, calls):
    def call(*given):
        calls.append(1)
        return function(*given)

    return call
