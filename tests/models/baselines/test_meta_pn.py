"""Meta-PN: the mixture of propagated labels, and its exact gradient through the step not taken."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from ncgc.models.baselines.meta_pn import Batch, MetaPN, Propagator, _parts, slopes
from ncgc.ops import FeatureMatrix


@pytest.fixture(params=["sparse", "dense"])
def started(request, make_planted):
    method = MetaPN(hidden=6, steps=3, batch_size=20)
    data = method.training_data(*make_planted(request.param))
    return method, data, method.network(data)


def test_labels_are_mixed(started):
    _, data, _ = started
    propagator = Propagator(data, 3)
    a, y0 = data.operators.gcn.csr.to_dense(), torch.zeros(45, 3)
    y0[data.train, data.labels] = 1
    for node in (0, 20, 44):
        ys = [torch.linalg.matrix_power(a, k) @ y0 for k in (1, 2, 3)]
        scores = [torch.relu(y[node] @ propagator.inner + propagator.inner_bias) @ propagator.outer for y in ys]
        shares = torch.cat(scores).softmax(dim=0)
        expected = sum(share * y[node] for share, y in zip(shares, ys, strict=True)) + y0[node]
        torch.testing.assert_close(propagator(torch.tensor([node]))[0], expected)


def mlp(x, weights):
    return torch.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]


def test_slopes_are_those_of_differences():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(8, 5, dtype=torch.float64, generator=generator)
    shapes = [(5, 6), (6,), (6, 3), (3,)]
    weights, direction = (
        [torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes] for _ in range(2)
    )
    ahead, behind = (
        mlp(x, [weight + step * change for weight, change in zip(weights, direction, strict=True)]).log_softmax(dim=1)
        for step in (1e-6, -1e-6)
    )
    found = slopes(FeatureMatrix(x.numpy(), dtype=torch.float64), weights, direction)
    torch.testing.assert_close(found, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-6)


def test_the_gradient_of_the_mixture_is_that_of_autograd(started):
    """The same through a graph of gradients of gradients."""
    method, data, network = started
    batch = Batch(data, torch.arange(5, 30), method.rows)
    assert batch.gold_labels.tolist() == data.labels[:5].tolist()
    propagator = Propagator(data, 3)
    names = ("first", "first_bias", "second", "second_bias")
    weights = [network.get_parameter(name) for name in names]
    x = data.operators.features.to_dense()
    targets = propagator(batch.nodes)
    loss = -0.05 / 3 * (targets * mlp(x[5:30], weights).log_softmax(dim=1)).sum()
    gradients = torch.autograd.grad(loss, weights, create_graph=True)
    moved = [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients, strict=True)]
    gold = cross_entropy(mlp(x[:5], moved), data.labels[:5])
    expected = torch.autograd.grad(gold, list(propagator.parameters()), retain_graph=True)
    surrogate = method.meta_loss(network, batch, propagator)
    found = torch.autograd.grad(surrogate, list(propagator.parameters()))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize(("size", "number"), [(1000, 2), (20, 3), (1, 45)])
def test_every_node_is_in_one_batch(started, size, number):
    _, data, _ = started
    parts = _parts(data, size)
    assert len(parts) == number
    assert max(len(part) for part in parts) <= max(size, 23)
    assert sorted(torch.cat(list(parts)).tolist()) == list(range(45))


def test_it_learns_and_one_seed_is_one_result(make_planted):
    graph, split = make_planted("sparse")
    model = MetaPN(epochs=30).fit(graph, split)
    assert model.score() > 0.5
    np.testing.assert_array_equal(MetaPN(epochs=30).fit(graph, split).predict_proba(), model.predict_proba())
