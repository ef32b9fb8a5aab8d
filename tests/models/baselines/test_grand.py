"""GRAND against dense formulas of the same draws."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from ncgc.models.baselines.grand import GRAND, RandomPropagation, _MeanOfPowers, consistency, sharpened
from ncgc.nn import GraphOperators
from ncgc.ops import keep_mask

ORDER, DELTA = 3, 0.4


def spread(operators, dense):
    """(1/(K+1))·Σ Âᵏ·H with powers of the dense Â."""
    a = operators.gcn.csr.to_dense()
    return sum(torch.linalg.matrix_power(a, k) @ dense for k in range(ORDER + 1)) / (ORDER + 1)


def network_of(operators, **options):
    settings = {"order": ORDER, "node_dropout": DELTA, "input_dropout": 0.0, "dropout": 0.0} | options
    generator = torch.Generator().manual_seed(1)
    return RandomPropagation(operators.features.shape[1], 5, 3, generator=generator, **settings)


def tail(network, x):
    h = torch.relu(x + network.first_bias)
    return h @ network.second + network.second_bias


@pytest.fixture(params=["sparse", "dense"])
def operators(request, make_planted):
    return GraphOperators(make_planted(request.param)[0])


@pytest.mark.parametrize("input_dropout", [0.0, 0.5])
def test_evaluation_takes_the_mean_of_the_features(operators, input_dropout):
    network = network_of(operators, input_dropout=input_dropout).eval()
    expected = tail(network, spread(operators, (1 - DELTA) * operators.features.to_dense()) @ network.first)
    torch.testing.assert_close(network(operators).logits, expected)


def test_views_are_those_of_the_drawn_rows(operators):
    network = network_of(operators).train()
    found = network.views(operators, torch.Generator().manual_seed(7), 2)
    masks, _ = keep_mask((45, 2), DELTA, torch.Generator().manual_seed(7))
    assert not torch.equal(masks[:, 0], masks[:, 1])
    for view in range(2):
        rows = masks[:, [view]] * operators.features.to_dense()  # not divided by 1−δ
        torch.testing.assert_close(found[view], tail(network, spread(operators, rows) @ network.first))


def test_input_dropout_acts_on_what_is_propagated(operators):
    network = network_of(operators, input_dropout=0.5).train()
    found = network.views(operators, torch.Generator().manual_seed(7), 1)[0]
    generator = torch.Generator().manual_seed(7)
    masks, _ = keep_mask((45, 1), DELTA, generator)
    kept, scale = keep_mask(operators.features.shape, 0.5, generator)
    x = spread(operators, masks * operators.features.to_dense()) * kept * scale
    torch.testing.assert_close(found, tail(network, x @ network.first))


def test_batch_normalisation_of_features_and_hidden_states(operators):
    network = network_of(operators, batch_norm=True).train()
    found = network.views(operators, torch.Generator().manual_seed(7), 1)[0]
    masks, _ = keep_mask((45, 1), DELTA, torch.Generator().manual_seed(7))

    def normal(x):
        return (x - x.mean(dim=0)) / (x.var(dim=0, unbiased=False) + 1e-5).sqrt()

    x = spread(operators, masks * operators.features.to_dense())
    h = normal(torch.relu(normal(x) @ network.first + network.first_bias))
    torch.testing.assert_close(found, h @ network.second + network.second_bias, rtol=1e-4, atol=1e-4)


def test_gradient_of_the_propagation(make_planted):
    a = GraphOperators(make_planted()[0], dtype=torch.float64).gcn
    start = torch.randn(45, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert gradcheck(lambda h: _MeanOfPowers.apply(a, h, ORDER), start)


def test_consistency_is_that_of_loops_and_its_target_has_no_gradient():
    generator = torch.Generator().manual_seed(0)
    views = torch.rand(3, 4, 2, generator=generator).softmax(dim=2).requires_grad_()
    mean = views.detach().mean(dim=0)
    target = mean**2 / (mean**2).sum(dim=1, keepdim=True)
    torch.testing.assert_close(sharpened(mean, 0.5), target)
    expected = sum(((views[s, i] - target[i]) ** 2).sum() for s in range(3) for i in range(4)) / 12
    loss = consistency(views, 0.5)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    torch.testing.assert_close(views.grad, 2 * (views.detach() - target) / 12)


def test_sharpening_bears_tiny_probabilities():
    assert torch.isfinite(sharpened(torch.tensor([[1.0, 0.0], [1e-30, 1.0]]), 0.05)).all()


@pytest.mark.parametrize("options", [{}, {"batch_norm": True}, {"input_dropout": 0.0, "views": 1}])
def test_it_learns_and_one_seed_is_one_result(make_planted, options):
    graph, split = make_planted("sparse")
    settings = {"epochs": 60, "learning_rate": 0.05, "hidden": 16, "order": 2, "dropout": 0.2} | options
    model = GRAND(**settings).fit(graph, split)
    assert model.score() > 0.5
    assert {"class", "consistency", "val_loss"} <= set(model.history_.columns)
    np.testing.assert_array_equal(GRAND(**settings).fit(graph, split).predict_proba(), model.predict_proba())
