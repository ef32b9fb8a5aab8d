"""Soft cross-entropy against loops, torch and finite differences."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from ncgc.errors import ParameterError
from ncgc.losses import soft_cross_entropy


def draw(n, k, seed=0, dtype=torch.float64, scale=3.0):
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(n, k, generator=generator, dtype=torch.float64)
    targets = torch.rand(n, k, generator=generator, dtype=torch.float64)
    return logits.to(dtype), (targets / targets.sum(1, keepdim=True)).to(dtype)


def by_loops(logits, targets):
    total = 0.0
    for row, target in zip(logits.tolist(), targets.tolist(), strict=True):
        top = max(row)
        normaliser = top + math.log(sum(math.exp(value - top) for value in row))
        total -= sum(share * (value - normaliser) for share, value in zip(target, row, strict=True))
    return total / len(logits)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
@pytest.mark.parametrize("scale", [0.1, 3.0, 300.0])
def test_equals_loops_and_torch(dtype, tolerance, scale):
    logits, targets = draw(40, 5, dtype=dtype, scale=scale)
    assert soft_cross_entropy(logits, targets).item() == pytest.approx(by_loops(logits, targets), rel=tolerance)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    soft_cross_entropy(ours, targets).backward()
    cross_entropy(theirs, targets).backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_gradcheck():
    logits, targets = draw(6, 4)
    logits.requires_grad_()
    index = torch.tensor([4, 0, 2])
    assert torch.autograd.gradcheck(lambda x: soft_cross_entropy(x, targets), logits)
    assert torch.autograd.gradcheck(
        lambda x: 3 * soft_cross_entropy(x, 2.5 * targets), logits
    )  # rows need not sum to 1
    assert torch.autograd.gradcheck(lambda x: soft_cross_entropy(x, targets[:3], index), logits)
    assert torch.autograd.gradcheck(lambda x: soft_cross_entropy(100 * x, targets), logits)  # a shift a row


def test_index_picks_rows():
    logits, targets = draw(10, 3)
    index = torch.tensor([7, 1, 4])
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    loss = soft_cross_entropy(ours, targets[:3], index)
    expected = cross_entropy(theirs[index], targets[:3])
    torch.testing.assert_close(loss, expected)
    loss.backward()
    expected.backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_gradient_reaches_logits_and_not_targets():
    logits, targets = draw(5, 3)
    logits.requires_grad_()
    targets.requires_grad_()
    loss = soft_cross_entropy(logits, targets)
    loss.backward(retain_graph=True)
    assert targets.grad is None
    once = logits.grad.clone()
    loss.backward()
    torch.testing.assert_close(logits.grad, 2 * once)


def test_hard_targets_are_cross_entropy():
    logits, _ = draw(8, 3)
    labels = torch.arange(8) % 3
    hard = torch.nn.functional.one_hot(labels, 3)
    torch.testing.assert_close(soft_cross_entropy(logits, hard), cross_entropy(logits, labels))


def test_many_rows_in_float32():
    logits, targets = draw(35_000, 10)
    assert soft_cross_entropy(logits.float(), targets.float()).item() == pytest.approx(
        soft_cross_entropy(logits, targets).item(), rel=1e-5
    )


@given(st.integers(0, 9), st.integers(1, 6), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_any_shape(n, k, seed):
    logits, targets = draw(n, k, seed)
    logits.requires_grad_()
    loss = soft_cross_entropy(logits, targets)
    loss.backward()
    assert loss.shape == ()
    assert torch.isfinite(loss)
    assert logits.grad.shape == (n, k)
    assert torch.isfinite(logits.grad).all()
    if n == 0:
        assert loss.item() == 0


def test_rows_and_columns_in_any_order():
    logits, targets = draw(12, 5)
    rows, columns = torch.randperm(12), torch.randperm(5)
    torch.testing.assert_close(
        soft_cross_entropy(logits[rows][:, columns], targets[rows][:, columns]), soft_cross_entropy(logits, targets)
    )


def test_bad_shapes_are_a_sentence():
    with pytest.raises(ParameterError, match=r"must have the shape \(4, 3\) of the logits .* Got the shape \(4, 2\)"):
        soft_cross_entropy(torch.zeros(4, 3), torch.zeros(4, 2))
    with pytest.raises(ParameterError, match=r"must have the shape \(2, 3\)"):
        soft_cross_entropy(torch.zeros(4, 3), torch.zeros(4, 3), torch.tensor([0, 1]))
