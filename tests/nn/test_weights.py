"""How weights begin, and that arrays bring them back."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from ncgc.nn.weights import fan_in, glorot, load_state, state_arrays


@pytest.mark.parametrize(("start", "bound"), [(glorot, math.sqrt(6 / 500)), (fan_in, 1 / math.sqrt(200))])
def test_weights_are_uniform_within_their_bound(start, bound):
    parameter = start(200, 300, torch.Generator().manual_seed(0))
    assert parameter.shape == (200, 300)
    assert parameter.requires_grad
    weight = parameter.detach()
    assert 0.99 * bound < float(weight.abs().max()) <= bound
    assert abs(float(weight.mean())) < 0.01 * bound
    assert torch.equal(weight, start(200, 300, torch.Generator().manual_seed(0)))


def test_state_goes_round():
    one, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    one(torch.randn(8, 3, generator=torch.Generator().manual_seed(0)))  # moves the buffers
    load_state(other, state_arrays(one))
    assert all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in one.state_dict().items())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"bias": None}, "no tensor 'bias'"),
        ({"more": np.ones(2)}, "a strange tensor 'more'"),
        ({"bias": np.ones(2, dtype=np.float32)}, r"'bias' has the type float32 and the shape \(2,\)"),
        ({"bias": np.ones(3)}, "'bias' has the type float64"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(change, sentence):
    network = nn.Linear(2, 3)
    arrays = {name: array for name, array in (state_arrays(network) | change).items() if array is not None}
    with pytest.raises(ValueError, match=sentence):
        load_state(network, arrays)
