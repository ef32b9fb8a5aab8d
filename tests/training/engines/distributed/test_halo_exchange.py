"""A product with halo exchange is that of the whole matrix, forward and in the gradient."""

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import GraphOperators
from ncgc.ops import personalised_pagerank, propagate, propagate_soft_orthogonal
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.rank_operators import RankOperators
from ncgc.training.engines.distributed.scatter import cut_rows
from ncgc.training.engines.partition import partition
from ncgc.training.engines.partition.part_operators import PartSource


def z_of(n, seed=0):
    return torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


KINDS = {
    "mean": [lambda operators, z: propagate(operators.mean, z)],
    "gcn": [
        lambda operators, z: propagate_soft_orthogonal(
            operators.scaled_gcn(0.5), z, 0.2, reduction=operators.reduction
        ),
        lambda operators, z: personalised_pagerank(operators.gcn, z, 0.2, 3),
    ],
}


def products(operators, rows, kind):
    """Results and gradients of the ways in which layers multiply, for the rows at hand."""
    found = []
    for function in KINDS[kind]:
        z = z_of(45)[rows].requires_grad_()
        out = function(operators, z)
        (out * z_of(45, 1)[rows]).sum().backward()
        found += [out.detach(), z.grad]
    return torch.stack(found, 1).numpy()  # a tensor would travel as shared memory


def operators_of(graph, owner, group, kind):
    rows = cut_rows(PartSource(graph, FeatureNormalizer("raw")), owner, group.rank, kind, np.float64)
    return RankOperators(graph, rows, owner, group, torch.float64)


@pytest.mark.parametrize("size", [1, 3])
def test_products_of_shares_are_those_of_the_whole(make_planted, in_processes, size):
    graph, _ = make_planted()
    owner = partition(graph.adjacency, size)
    whole = {kind: products(GraphOperators(graph, torch.float64), torch.arange(45), kind) for kind in KINDS}

    def shares(group):
        own = torch.from_numpy(np.flatnonzero(owner == group.rank))
        return {kind: products(operators_of(graph, owner, group, kind), own, kind) for kind in KINDS}

    for rank, found in enumerate(in_processes(shares, size)):
        for kind in KINDS:
            np.testing.assert_allclose(found[kind], whole[kind][np.flatnonzero(owner == rank)], atol=1e-12)


def test_gradcheck(make_planted):
    graph, _ = make_planted()
    mean, gcn = (operators_of(graph, np.zeros(45, dtype=np.int32), Group(), kind) for kind in ("mean", "gcn"))
    z = z_of(45).requires_grad_()
    assert gradcheck(lambda z: propagate(mean.mean, z), z)
    assert gradcheck(lambda z: propagate_soft_orthogonal(gcn.gcn, z, 0.3, None, gcn.reduction), z)
