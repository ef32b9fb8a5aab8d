"""Dropout by random bytes: its rate, its scale, its mask, and whose generator it draws from."""

import pytest
import torch
from torch.autograd import gradcheck

from ncgc.ops import dropout, keep_factors, keep_mask, kept_scale, random_bytes, relu_dropout

RATES = [0.1, 0.25, 0.5, 0.6, 0.8]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("p", RATES)
def test_keep_rate_within_five_standard_errors(p):
    size = 400_000
    mask, scale = keep_mask((1000, 400), p, seeded(1))
    rate = 1 - round(256 * p) / 256
    assert mask.dtype == torch.bool
    assert mask.shape == (1000, 400)
    assert abs(mask.double().mean().item() - rate) < 5 * (rate * (1 - rate) / size) ** 0.5
    assert abs(rate - (1 - p)) <= 1 / 512
    assert scale == 1 / rate  # so the expectation is exact for the rate really used


def test_every_byte_position_is_drawn():
    """Eight entries share a 64-bit draw: none of the eight may be stuck or repeat another."""
    mask, _ = keep_mask((20_000, 8), 0.5, seeded(2))
    columns = mask.double()
    assert ((columns.mean(dim=0) - 0.5).abs() < 0.02).all()
    correlation = torch.corrcoef(columns.t()) - torch.eye(8, dtype=torch.float64)
    assert correlation.abs().max() < 0.04


@pytest.mark.parametrize("p", [1e-6, 0.001, 0.999, 0.999999])
def test_extreme_rates_drop_something_and_keep_something(p):
    mask, scale = keep_mask((200, 200), p, seeded(3))
    assert 0 < mask.double().mean().item() < 1
    assert scale == 256 / (255 if p < 0.5 else 1)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (8,), (9,), (3, 5), (2, 3, 4), (4, 0)])
def test_any_shape(shape):
    mask, _ = keep_mask(shape, 0.5, seeded())
    assert mask.shape == shape


@pytest.mark.parametrize("p", RATES)
def test_entries_are_dropped_or_scaled_exactly(dtype, p):
    x = torch.randn(50, 40, generator=seeded(4)).to(dtype)
    mask, scale = keep_mask(x.shape, p, seeded(5))
    result = dropout(x, p, seeded(5))
    assert result.dtype == dtype
    assert torch.equal(result, torch.where(mask, x * scale, torch.zeros_like(x)))


@pytest.mark.parametrize("p", RATES)
def test_the_mean_is_preserved(p):
    result = dropout(torch.ones(1000, 300), p, seeded(6))
    assert abs(result.mean().item() - 1) < 5 * (p / (1 - p) / 300_000) ** 0.5 + 1e-6


@pytest.mark.parametrize("function", [dropout, relu_dropout])
def test_the_gradient_mask_is_the_forward_mask(function):
    x = (torch.rand(60, 30, generator=seeded(7)) + 0.1).requires_grad_()  # positive: the ReLU is open
    result = function(x, 0.5, seeded(8))
    result.sum().backward()
    assert torch.equal(x.grad, (result > 0).float() * 2)
    assert 0.4 < (x.grad > 0).float().mean() < 0.6


@pytest.mark.parametrize("p", RATES)
def test_relu_dropout_is_dropout_of_relu(dtype, p):
    x = torch.randn(40, 30, generator=seeded(9)).to(dtype).requires_grad_()
    other = x.detach().clone().requires_grad_()
    weight = torch.randn(40, 30, generator=seeded(10)).to(dtype)
    result, expected = relu_dropout(x, p, seeded(11)), dropout(torch.relu(other), p, seeded(11))
    assert torch.equal(result, expected)
    (result * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(x.grad, other.grad)


@pytest.mark.parametrize("function", [dropout, relu_dropout])
def test_gradcheck_with_a_generator_seeded_anew(normal, function):
    x = normal(6, 5).sign() * (normal(6, 5).abs() + 0.1)  # away from the ReLU's corner
    assert gradcheck(lambda x: function(x, 0.4, seeded(12)), x.requires_grad_())


@pytest.mark.parametrize("setting", [{"p": 0.0}, {"p": 0.5, "training": False}])
def test_identity_without_rate_or_training(setting):
    x = torch.randn(5, 4, generator=seeded(13))
    generator = seeded(14)
    before = generator.get_state()
    assert dropout(x, generator=generator, **setting) is x
    assert torch.equal(relu_dropout(x, generator=generator, **setting), torch.relu(x))
    assert torch.equal(generator.get_state(), before)  # nothing drawn


@pytest.mark.parametrize("function", [dropout, relu_dropout])
def test_same_seed_same_mask_and_each_draw_a_new_one(function):
    x = torch.ones(30, 30)
    generator = seeded(15)
    first, second = function(x, 0.5, generator), function(x, 0.5, generator)
    assert torch.equal(first, function(x, 0.5, seeded(15)))
    assert not torch.equal(first, second)
    assert not torch.equal(first, function(x, 0.5, seeded(16)))


@pytest.mark.parametrize("function", [dropout, relu_dropout])
def test_the_global_generator_is_untouched(function):
    before = torch.get_rng_state()
    function(torch.ones(30, 30, requires_grad=True), 0.5, seeded()).sum().backward()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("function", [dropout, relu_dropout])
def test_the_input_is_not_changed(function):
    x = torch.randn(10, 10, generator=seeded(17))
    before = x.clone()
    function(x, 0.5, seeded())
    assert torch.equal(x, before)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.999])
def test_factors_are_the_mask_times_its_scale(p, dtype):
    mask, scale = keep_mask((40, 30), p, seeded(6))
    factors = keep_factors(random_bytes((40, 30), seeded(6)), p, dtype)
    assert factors.dtype == dtype
    assert torch.equal(factors, mask.to(dtype) * scale)
    assert kept_scale(p) == scale
