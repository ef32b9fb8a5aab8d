"""The row and column helpers against torch's own reductions."""

import pytest
import torch

from ncgc.losses.softmax import column_sums, row_softmax, row_sums, shifted_exp


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_row_softmax_is_softmax(scale, dtype):
    values = scale * torch.randn(50, 6, generator=torch.Generator().manual_seed(0), dtype=dtype)
    torch.testing.assert_close(row_softmax(values), values.softmax(1))
    torch.testing.assert_close(row_softmax(values + 1e5).sum(1), torch.ones(50, dtype=dtype))


def test_row_softmax_of_impossible_classes_and_of_nothing():
    values = torch.tensor([[0.0, -torch.inf, 1.0], [5.0, 1.0, -torch.inf]])
    torch.testing.assert_close(row_softmax(values), values.softmax(1))
    assert row_softmax(torch.empty(0, 3)).shape == (0, 3)


def test_shift_brings_back_the_values():
    for scale in (1.0, 100.0):
        values = scale * torch.randn(30, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        exponentials, shift = shifted_exp(values)
        torch.testing.assert_close(exponentials.log() + shift, values)


@pytest.mark.parametrize("n", [0, 1, 100, 4095, 4096, 4097, 35_000])
def test_sums(n):
    generator = torch.Generator().manual_seed(n)
    values, weights = torch.rand(n, 5, generator=generator), torch.rand(n, generator=generator)
    torch.testing.assert_close(row_sums(values), values.sum(1))
    torch.testing.assert_close(column_sums(values), values.double().sum(0), rtol=2e-6, atol=0)
    weighed = (values.double() * weights.double()[:, None]).sum(0)
    torch.testing.assert_close(column_sums(values, weights), weighed, rtol=2e-6, atol=0)
    torch.testing.assert_close(column_sums(values.t().contiguous().t(), weights), weighed, rtol=2e-6, atol=0)
