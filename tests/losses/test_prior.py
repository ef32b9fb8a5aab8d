"""Class shares: what is taken, what is refused, and how the estimate moves."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import ParameterError
from ncgc.losses import PriorEstimate, resolve_prior


@pytest.mark.parametrize("prior", [[2, 1, 1], (0.5, 0.25, 0.25), np.array([2, 1, 1]), torch.tensor([2.0, 1.0, 1.0])])
def test_shares_of_any_kind_sum_to_one(prior):
    shares = resolve_prior(prior, 3)
    assert shares.dtype == torch.float64
    assert shares.tolist() == [0.5, 0.25, 0.25]


def test_uniform():
    assert resolve_prior("uniform", 4).tolist() == [0.25] * 4
    assert resolve_prior(None, 4).tolist() == [0.25] * 4


def test_what_was_given_is_left_alone():
    tensor, array = torch.tensor([2.0, 2.0], dtype=torch.float64), np.array([2.0, 2.0])
    resolve_prior(tensor, 2)
    resolve_prior(array, 2)
    assert tensor.tolist() == [2.0, 2.0]
    assert array.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("prior", "found"),
    [
        ([1, 1], "Got the shape (2,) instead."),
        ([[1, 1, 1]], "Got the shape (1, 3) instead."),
        ([1, -1, 1], "Got [1.0, -1.0, 1.0] instead."),
        ([0, 0, 0], "Got [0.0, 0.0, 0.0] instead."),
        ([1, float("nan"), 1], "nan"),
        ([1, float("inf"), 1], "inf"),
        ("estimated", "Got 'estimated' instead."),
        (["a", "b", "c"], "Got ['a', 'b', 'c'] instead."),
    ],
)
def test_bad_shares_are_a_sentence(prior, found):
    with pytest.raises(ParameterError) as caught:
        resolve_prior(prior, 3, owner="sinkhorn")
    assert str(caught.value).startswith("The 'prior' parameter of sinkhorn must be 'uniform' or 3 non-negative shares")
    assert found in str(caught.value)


def test_estimate_starts_uniform_and_follows_the_predictions():
    estimate = PriorEstimate(3, momentum=0.9, shrinkage=0.25)
    torch.testing.assert_close(estimate.value, torch.full((3,), 1 / 3, dtype=torch.float64))
    shares = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)
    mean = torch.full((3,), 1 / 3, dtype=torch.float64)
    for _ in range(5):
        mean = 0.9 * mean + 0.1 * shares
        estimate.update(shares.float().expand(10, 3))
        torch.testing.assert_close(estimate.value, 0.75 * mean + 0.25 / 3, rtol=1e-6, atol=0)
    for _ in range(500):
        estimate.update(shares.expand(10, 3))
    torch.testing.assert_close(estimate.value, 0.75 * shares + 0.25 / 3)


def test_estimate_at_its_limits():
    predictions = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert PriorEstimate(2, momentum=0.0, shrinkage=0.0).update(predictions).tolist() == [1.0, 0.0]
    assert PriorEstimate(2, momentum=0.0, shrinkage=1.0).update(predictions).tolist() == [0.5, 0.5]
    assert PriorEstimate(2, momentum=0.0).update(torch.empty(0, 2)).tolist() == [0.5, 0.5]


@given(st.integers(1, 6), st.floats(0, 1, exclude_max=True), st.floats(0, 1), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_estimate_is_always_a_distribution_above_its_floor(k, momentum, shrinkage, updates):
    estimate = PriorEstimate(k, momentum, shrinkage)
    for seed in range(updates):
        estimate.update(torch.randn(7, k, generator=torch.Generator().manual_seed(seed)).mul(5).softmax(1))
    assert float(estimate.value.sum()) == pytest.approx(1)
    assert float(estimate.value.min()) >= shrinkage / k - 1e-12


def test_estimate_keeps_no_gradient():
    estimate = PriorEstimate(2)
    assert not estimate.update(torch.rand(4, 2, requires_grad=True)).requires_grad


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"momentum": 2},
            "The 'momentum' parameter of PriorEstimate must be a float in the range [0.0, 1.0). Got 2 instead.",
        ),
        ({"shrinkage": -0.1}, "The 'shrinkage' parameter of PriorEstimate must be"),
        (
            {"num_classes": 0},
            "The 'num_classes' parameter of PriorEstimate must be an int in the range [1, inf). Got 0 instead.",
        ),
    ],
)
def test_bad_estimate_is_a_sentence(arguments, sentence):
    with pytest.raises(ParameterError) as caught:
        PriorEstimate(**({"num_classes": 2} | arguments))
    assert sentence in str(caught.value)


def test_bad_predictions_are_a_sentence():
    with pytest.raises(ParameterError, match=r"must be an \(n, 3\) matrix. Got the shape \(4, 2\) instead"):
        PriorEstimate(3).update(torch.rand(4, 2))
    with pytest.raises(ParameterError, match=r"PriorEstimate\.update"):
        PriorEstimate(2).update(torch.full((4, 2), torch.nan))
