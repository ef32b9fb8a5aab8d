"""Sums over shares of the rows, made whole, are the sums over all rows: forward and in the gradient."""

import pytest
import torch
from scipy import sparse
from torch.autograd import gradcheck

from ncgc.ops import ALONE, FeatureMatrix, SparseMatrix, soft_orthogonal, soft_orthogonal_layer, total_logsumexp
from ncgc.ops.reduction import Reduction

SHARES = (torch.tensor([0, 3, 4, 9]), torch.tensor([1, 2, 5, 6, 7, 8]), torch.tensor([], dtype=torch.long))


def test_alone_hands_back_the_very_tensor():
    values = torch.ones(3)
    assert ALONE.total(values) is values
    assert ALONE.highest(values) is values
    assert ALONE.alone
    assert ALONE.rows(torch.eye(3), torch.tensor([2])).tolist() == [[0, 0, 1]]


def test_logsumexp_over_shares(in_shares):
    values = torch.tensor([-500.0, 3.0, 2.0, 900.0, 1.0, 899.0, 0.0, 0.0, 5.0, 7.0])
    for found in in_shares(lambda reduction, rows: total_logsumexp(values[rows], reduction), SHARES):
        torch.testing.assert_close(found, values.logsumexp(0))


@pytest.mark.parametrize("width", [1, 5])
def test_soft_orthogonal_over_shares_is_that_of_all_rows(in_shares, width):
    z = torch.randn(10, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    upstream = torch.randn(10, width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    whole = z.clone().requires_grad_()
    expected = soft_orthogonal(whole, 0.3)
    (expected * upstream).sum().backward()

    def share(reduction, rows):
        own = z[rows].clone().requires_grad_()
        out = soft_orthogonal(own, 0.3, reduction)
        (out * upstream[rows]).sum().backward()
        return out.detach(), own.grad

    for rows, (out, gradient) in zip(SHARES, in_shares(share, SHARES), strict=True):
        torch.testing.assert_close(out, expected[rows].detach())
        torch.testing.assert_close(gradient, whole.grad[rows])


@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_first_layer_over_shares(in_shares, form):
    """Shares without edges between them: what ties them together is the Gram matrix alone."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(10, 6, dtype=torch.float64, generator=generator)
    x = x * (torch.rand(10, 6, generator=generator) < (0.3 if form == "sparse" else 1.1))
    weight = torch.randn(6, 4, dtype=torch.float64, generator=generator)
    upstream = torch.randn(10, 4, dtype=torch.float64, generator=generator)

    def layer(rows, reduction):
        given = x[rows].numpy()
        features = FeatureMatrix(
            sparse.csr_array(given), dense_from=0.5 if form == "sparse" else 0.0, dtype=torch.float64
        )
        identity = SparseMatrix.from_scipy(sparse.eye_array(len(rows), format="csr"), dtype=torch.float64)
        own = weight.clone().requires_grad_()
        out = soft_orthogonal_layer(features, own, identity, 0.3, None, reduction)
        (out * upstream[rows]).sum().backward()
        return out.detach(), own.grad

    expected, gradient = layer(torch.arange(10), ALONE)
    found = in_shares(lambda reduction, rows: layer(rows, reduction), SHARES[:2])
    for rows, (out, _) in zip(SHARES, found, strict=False):
        torch.testing.assert_close(out, expected[rows])
    torch.testing.assert_close(found[0][1] + found[1][1], gradient)


class Fixed(Reduction):
    """Three owned rows of five, the rest a halo; sums are as they are."""

    alone = False

    def owned(self, rows):
        return 3


def test_gradcheck_with_a_halo():
    """G over the owned rows, everything else over all: the gradient follows."""
    z = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    assert gradcheck(lambda z: soft_orthogonal(z, 0.4, Fixed()), z)
