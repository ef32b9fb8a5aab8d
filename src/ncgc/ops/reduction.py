"""Reduction: how a sum over the local rows becomes the sum over all rows of the graph.

Beside the edges, only sums over nodes connect the nodes: the Gram matrix ZᵀZ of the soft orthogonal term (d×d), the
columns that Sinkhorn balances (K), the cluster frequencies f_k = Σ_i Q_ik (K), the mean prediction behind an estimated
prior (K), and the losses. Kernels and losses pass what they summed over the local rows to a ``Reduction`` and continue
with its result. In one process with the whole graph that is the same tensor (:data:`ALONE`); in several processes it is an
all-reduce, and with partitions a running estimate. The size of what is passed never depends on n.
"""

from __future__ import annotations

from torch import Tensor


class Reduction:
    """The whole graph in one process: every sum is complete and is returned as it is, to the bit.

    A subclass that holds some of the rows overrides every method and sets ``alone = False``.

    >>> import torch
    >>> ALONE.total(torch.ones(2)), ALONE.count(3), ALONE.owned(5), ALONE.of("layer 0") is ALONE
    (tensor([1., 1.]), 3, 5, True)
    """

    alone = True  # whether the local rows are all rows of the graph

    def of(self, name: str) -> Reduction:
        """The reduction of one named quantity, for reductions that keep running sums."""
        return self

    def owned(self, rows: int) -> int:
        """How many of these rows, the first ones, count in sums; the others are a halo, owned elsewhere."""
        return rows

    def total(self, values: Tensor) -> Tensor:
        """The sum over all rows of the graph, from the sum over the owned ones; no gradient flows through."""
        return values

    def count(self, number: int) -> int:
        """A count over the whole graph, from the local one."""
        return number

    def highest(self, values: Tensor) -> Tensor:
        """The entry-wise maximum over the whole graph, from the local one."""
        return values

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        """(m, d) rows by their (m,) global numbers, from the (n, d) owned ones."""
        return values[index]

    def agreed(self, values: Tensor) -> Tensor:
        """One process's values for all of them: each computed the same, but perhaps not to the last bit."""
        return values


ALONE = Reduction()


def total_logsumexp(values: Tensor, reduction: Reduction) -> Tensor:
    """log Σ_i exp(values_i) over all rows of the graph.

    Args:
        values: (n,) of the owned rows.
        reduction: completes the sum.

    Returns:
        Scalar tensor.

    >>> import torch
    >>> total_logsumexp(torch.zeros(2), ALONE)
    tensor(0.6931)
    """
    own = values.logsumexp(0)
    if reduction.alone:
        return own
    top = reduction.highest(own)
    return top + reduction.total((own - top).exp()).log()
