"""A product with halo exchange is that of the whole matrix, forward and in the gradient."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from ncgc.distributed.group import Group
from ncgc.distributed.operators import RankOperators
from ncgc.nn import GraphOperators
from ncgc.ops import personalised_pagerank, propagate, propagate_soft_orthogonal
from ncgc.partition import partition
from ncgc.partition.operators import Source
from ncgc.scaling import FeatureScaling


def z_of(n, seed=0):
    return torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def products(operators, rows):
    """Results and gradients of the three ways in which layers multiply, for the rows at hand."""
    found = []
    for function in (
        lambda z: propagate(operators.mean, z),
        lambda z: propagate_soft_orthogonal(operators.scaled_gcn(0.5), z, 0.2, reduction=operators.reduction),
        lambda z: personalised_pagerank(operators.gcn, z, 0.2, 3),
    ):
        z = z_of(45)[rows].requires_grad_()
        out = function(z)
        (out * z_of(45, 1)[rows]).sum().backward()
        found += [out.detach(), z.grad]
    return torch.stack(found, 1).numpy()  # a tensor would travel as shared memory


@pytest.mark.parametrize("size", [1, 3])
def test_products_of_shares_are_those_of_the_whole(make_planted, in_processes, size):
    graph, _ = make_planted()
    owner = partition(graph.adjacency, size)
    whole = products(GraphOperators(graph, torch.float64), torch.arange(45))
    shares = in_processes(
        lambda group: products(
            RankOperators(Source(graph, FeatureScaling("raw")), owner, group, torch.float64),
            torch.from_numpy(np.flatnonzero(owner == group.rank)),
        ),
        size,
    )
    for rank, found in enumerate(shares):
        np.testing.assert_allclose(found, whole[np.flatnonzero(owner == rank)], atol=1e-12)


def test_gradcheck(make_planted):
    graph, _ = make_planted()
    operators = RankOperators(
        Source(graph, FeatureScaling("raw")), np.zeros(45, dtype=np.int32), Group(), torch.float64
    )
    z = z_of(45).requires_grad_()
    assert gradcheck(lambda z: propagate(operators.mean, z), z)
    assert gradcheck(lambda z: propagate_soft_orthogonal(operators.gcn, z, 0.3, None, operators.reduction), z)
