"""RowGenerator: a counter-based random generator, whose bytes depend on seed, step, call and *global* row alone.

torch.Generator is one stream of numbers, so what a row gets depends on how many rows were drawn before it. Here every byte
is a hash (splitmix64, Steele et al. 2014) of these four numbers and its column. A row therefore gets the same bytes in every
process and partition, also as a halo row. The only state is the step and the number of calls in it, so training resumes
from a checkpoint with the random numbers it would have had.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from ncgc.ops.sparse import SparseMatrix

_GOLDEN = -0x61C8864680B583EB  # 2^64/φ as a signed number
_FIRST, _SECOND = -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15  # splitmix64's multipliers


def _shifted(x: Tensor, by: int) -> Tensor:
    """x >> by, filled with zeros; torch's own shift of a signed number copies the sign."""
    return (x >> by).bitwise_and_((1 << (64 - by)) - 1)


def mix(x: Tensor) -> Tensor:
    """splitmix64's finaliser, entry by entry: every bit of the result depends on every bit of the input.

    Args:
        x: int64, of any shape.

    Returns:
        int64, of the same shape.

    >>> mix(torch.tensor([1, 2])).tolist()
    [6238072747940578789, -2606959012126976886]
    """
    x = x.bitwise_xor(_shifted(x, 30)).mul_(_FIRST)
    x = x.bitwise_xor_(_shifted(x, 27)).mul_(_SECOND)
    return x.bitwise_xor_(_shifted(x, 31))


class RowGenerator:
    """Random bytes for dropout that are the same for a node wherever its row is computed.

    Args:
        seed: of all random numbers.
        rows: (n,) global numbers of the local rows, in their order.

    >>> whole, part = RowGenerator(7, torch.arange(5)), RowGenerator(7, torch.tensor([3, 1]))
    >>> torch.equal(whole.bytes((5, 20))[[3, 1]], part.bytes((2, 20)))
    True
    """

    def __init__(self, seed: int, rows: Tensor):
        self.seed, self.rows = seed, rows
        self.begin(0)

    def begin(self, step: int) -> None:
        """Start a training step; the same step gives the same bytes again.

        Args:
            step: number of the step.
        """
        self.step, self.calls = step, 0

    def bytes(self, shape: torch.Size | tuple[int, ...]) -> Tensor:
        """Random bytes for dense rows; counts as one call.

        Args:
            shape: (r,) or (r, d), for the first r ≤ n rows.

        Returns:
            uint8 tensor of that shape.
        """
        width = shape[1] if len(shape) > 1 else 1
        words = torch.arange(1, (width + 7) // 8 + 1).mul_(_GOLDEN)
        drawn = mix(self._keys(shape[0]).unsqueeze(1) + words).view(torch.uint8)
        return drawn[:, :width].reshape(shape)

    def entry_bytes(self, pattern: SparseMatrix) -> Tensor:
        """Random bytes for the stored entries of a matrix, by global row and column; counts as one call.

        Args:
            pattern: n×D, whose rows are the local ones.

        Returns:
            (nnz,) uint8.
        """
        return self._of_entries(pattern, pattern.columns)

    def edge_bytes(self, pattern: SparseMatrix) -> Tensor:
        """Random bytes for the edges between local rows, by the global numbers of both ends; counts as one call.

        Args:
            pattern: n×n.

        Returns:
            (nnz,) uint8.
        """
        return self._of_entries(pattern, self.rows[pattern.columns])

    def _of_entries(self, pattern: SparseMatrix, columns: Tensor) -> Tensor:
        keys = self._keys()[pattern.row_of]
        return mix(keys.add_((columns + 1).mul_(_GOLDEN))).bitwise_and_(255).to(torch.uint8)

    def _keys(self, rows: int | None = None) -> Tensor:
        """(n,) one key per row for a new call, or for the first ``rows`` rows only."""
        self.calls += 1
        address = mix(mix(torch.tensor([self.seed]).add_(1).mul_(_GOLDEN)).add_(self.step).mul_(_GOLDEN)).add_(
            self.calls
        )
        return mix(mix(address.mul_(_GOLDEN)) + (self.rows[:rows] + 1) * _GOLDEN)


# where dropout takes its random numbers from
RandomSource: TypeAlias = torch.Generator | RowGenerator
