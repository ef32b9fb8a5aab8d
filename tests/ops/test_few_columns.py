"""Products with few columns against torch's own."""

import pytest
import torch
from torch.autograd import gradcheck

from ncgc.ops import product_of_few, to_classes


@pytest.mark.parametrize("columns", [1, 7, 12, 13, 40])
def test_the_product_is_that_of_torch(normal, dtype, columns):
    left, right = normal(30, 6, dtype=dtype), normal(6, columns, seed=1, dtype=dtype)
    found = product_of_few(left, right)
    assert found.is_contiguous()
    torch.testing.assert_close(found, left @ right)
    torch.testing.assert_close(product_of_few(left.t(), left[:, :3]), left.t() @ left[:, :3])


@pytest.mark.parametrize("columns", [2, 15])
def test_gradcheck(normal, columns):
    h, weight = normal(8, 5, grad=True), normal(5, columns, seed=1, grad=True)
    assert gradcheck(to_classes, (h, weight))


def test_who_needs_no_gradient_gets_none(normal):
    h, weight = normal(8, 5), normal(5, 2, seed=1, grad=True)
    to_classes(h, weight).sum().backward()
    torch.testing.assert_close(weight.grad, h.t() @ torch.ones(8, 2, dtype=h.dtype))
    assert h.grad is None
