"""Reduction: how a sum over some rows of the graph becomes the sum over all of them.

Everything that ties the nodes together beside the edges is a sum over nodes: the Gram matrix ZᵀZ of the soft orthogonal
term (d×d), the columns that Sinkhorn balances (K), the cluster frequencies f_k = Σ_i Q_ik (K), the mean prediction behind
an estimated prior (K), and the losses. Kernels and losses hand what they summed over the rows at hand to a ``Reduction``
and go on with what it returns. In one process with the whole graph that is the very same tensor (:data:`ALONE`); among
many it is an all-reduce, and with a part of the graph at a time a running estimate. n never appears in what is handed over.
"""

from __future__ import annotations

from torch import Tensor


class Reduction:
    """The whole graph in one process: every sum is whole already and is returned as it is, to the bit.

    >>> import torch
    >>> ALONE.total(torch.ones(2)), ALONE.count(3), ALONE.owned(5), ALONE.of("layer 0") is ALONE
    (tensor([1., 1.]), 3, 5, True)
    """

    alone = True  # whether the rows at hand are all rows

    def of(self, name: str) -> Reduction:
        """The reduction of one named quantity, for those that remember what they summed."""
        return self

    def owned(self, rows: int) -> int:
        """How many of these rows, the first ones, count; the others are a halo that somebody else counts."""
        return rows

    def total(self, values: Tensor) -> Tensor:
        """The sum over all rows of the graph of what ``values`` is the sum of over the owned ones. No gradient flows through."""
        return values

    def count(self, number: int) -> int:
        """How many there are in the whole graph of what there are ``number`` of here."""
        return number

    def highest(self, values: Tensor) -> Tensor:
        """The entry-wise maximum over all rows of the graph."""
        return values

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        """(m, d) the rows with these numbers in the whole graph, out of the (n, d) owned ones."""
        return values[index]

    def agreed(self, values: Tensor) -> Tensor:
        """One process's values for everybody: what all computed alike, but perhaps not to the last bit."""
        return values


ALONE = Reduction()


def total_logsumexp(values: Tensor, reduction: Reduction) -> Tensor:
    """log Σ_i exp(values_i), (), over all rows of the graph; ``values`` (n,) are those of the owned ones.

    >>> import torch
    >>> total_logsumexp(torch.zeros(2), ALONE)
    tensor(0.6931)
    """
    own = values.logsumexp(0)
    if reduction.alone:
        return own
    top = reduction.highest(own)
    return top + reduction.total((own - top).exp()).log()
