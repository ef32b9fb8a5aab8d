"""NormProp: prototypes, lengths and the loss, by dense formulas."""

import numpy as np
import pytest
import torch

from ncgc import Graph, Split
from ncgc.models.baselines.normprop import NormProp, NormPropNetwork, simplex


@pytest.mark.parametrize(("classes", "dimension"), [(2, 1), (2, 8), (3, 2), (7, 8), (15, 8)])
def test_prototypes_are_a_regular_simplex(classes, dimension):
    corners = simplex(classes, dimension)
    assert corners.shape == (classes, max(dimension, classes - 1))
    expected = np.full((classes, classes), -1 / (classes - 1)) + np.eye(classes) * classes / (classes - 1)
    np.testing.assert_allclose(corners @ corners.t(), expected, atol=1e-6)
    np.testing.assert_allclose(corners.sum(dim=0), 0, atol=1e-6)


@pytest.fixture
def started(make_planted):
    """A method, its data on the planted graph, and a network without dropout."""
    graph, split = make_planted()
    method = NormProp(dropout=0.0, threshold=0.0, warmup=3)
    data = method.training_data(graph, split)
    return method, data, method.network(data)


def states(data, network):
    """h, the cosines and the longest possible h, by dense matrices."""
    a = data.operators.gcn.csr.to_dense()
    x = data.operators.features.to_dense() @ network.first + network.first_bias
    x = (x - x.mean(dim=1, keepdim=True)) / (x.var(dim=1, keepdim=True, unbiased=False) + 1e-6).sqrt()
    z = torch.relu(x) @ network.second + network.second_bias
    h = a @ a @ (z / z.norm(dim=1, keepdim=True))
    return h, (h / h.norm(dim=1, keepdim=True)) @ network.prototypes.t(), (a @ a).sum(dim=1)


def test_network(started):
    _, data, network = started
    h, cosines, _ = states(data, network)
    found = network(data.operators)
    torch.testing.assert_close(found.embeddings, h, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found.logits, cosines, rtol=1e-4, atol=1e-5)


def test_loss_takes_the_lengths_of_sure_nodes_for_neither_training_nor_validation(started):
    method, data, network = started
    h, cosines, bound = states(data, network)
    assert (h.norm(dim=1) <= bound + 1e-5).all()
    parts = method.loss(data, network, epoch=4)
    torch.testing.assert_close(parts["class"], 1 - cosines[data.train, data.labels].mean(), rtol=1e-4, atol=1e-5)
    sure = [node for node in range(24, 45) if cosines[node].max() > 0]
    assert 0 < len(sure) <= 21
    lengths = torch.stack([h[node].norm() / bound[node] for node in sure])
    torch.testing.assert_close(parts["length"], 1.3 * (1 - lengths.mean()), rtol=1e-4, atol=1e-5)


def test_no_lengths_in_the_warm_up_and_without_sure_nodes(started):
    method, data, network = started
    assert set(method.loss(data, network, epoch=3)) == {"class"}
    method.threshold = 1.0
    assert set(method.loss(data, network, epoch=4)) == {"class"}


def test_prototypes_do_not_learn(started):
    _, _, network = started
    assert isinstance(network, NormPropNetwork)
    assert "prototypes" not in dict(network.named_parameters())


def test_two_classes_isolated_nodes_and_one_seed_one_result():
    graph = Graph.from_edges([[0, 1], [1, 2], [3, 4]], np.eye(7), labels=[0, 0, 0, 1, 1, 1, -1])
    split = Split([0, 3], [], [1, 2, 4])
    model = NormProp(epochs=60).fit(graph, split)
    assert model.score() == 1
    np.testing.assert_array_equal(NormProp(epochs=60).fit(graph, split).predict_proba(), model.predict_proba())
