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
        """The reduction of one named quantity, for reductions that keep running sums.

        Args:
            name: of the quantity, the same in every step.

        Returns:
            The reduction to use for its sums.
        """
        return self

    def owned(self, rows: int) -> int:
        """How many of the local rows count in sums; the rows after them are a halo, owned elsewhere.

        Args:
            rows: number of local rows.

        Returns:
            Number of owned rows, which come first.
        """
        return rows

    def total(self, values: Tensor) -> Tensor:
        """Complete a sum over the owned rows to the sum over all rows of the graph; no gradient flows through.

        Args:
            values: local sums, of any shape.

        Returns:
            Sums over the whole graph, of the same shape.
        """
        return values

    def count(self, number: int) -> int:
        """Complete a local count to the count over the whole graph.

        Args:
            number: the local count.

        Returns:
            The sum of all counts.
        """
        return number

    def highest(self, values: Tensor) -> Tensor:
        """Complete a local maximum to the maximum over the whole graph.

        Args:
            values: local maxima, of any shape.

        Returns:
            The entry-wise maximum, of the same shape.
        """
        return values

    def rows(self, values: Tensor, index: Tensor) -> Tensor:
        """Rows of the whole graph by their global numbers.

        Args:
            values: (n, d) owned rows.
            index: (m,) global numbers, the same in every process.

        Returns:
            (m, d).
        """
        return values[index]

    def agreed(self, values: Tensor) -> Tensor:
        """Make values equal to the last bit in all processes, each of which computed them.

        Args:
            values: of any shape.

        Returns:
            The values of one process.
        """
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
