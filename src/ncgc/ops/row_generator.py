"""RowGenerator: random bytes that depend on the seed, the step, the call and the *global* row, on nothing else.

A generator hands out one stream, so what a row gets depends on how many rows were drawn before it. Here every byte is a
hash of its address (splitmix64, Steele et al. 2014), so a row gets the same bytes in whichever process or part it is drawn,
and as a halo row too. There is no state but the step and the number of calls in it: training goes on from a checkpoint
with the draws it would have had.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor

from ncgc.ops.sparse import SparseMatrix

_GOLDEN = -0x61C8864680B583EB  # 2^64/φ as a signed number
_FIRST, _SECOND = -0x40A7B892E31B1A47, -0x6B2FB644ECCEEE15  # splitmix64's multipliers


def _shifted(x: Tensor, by: int) -> Tensor:
    """x >> by with zeros coming in; torch's own shift of a signed number copies the sign."""
    return (x >> by).bitwise_and_((1 << (64 - by)) - 1)


def mix(x: Tensor) -> Tensor:
    """splitmix64's finaliser of int64 tensors, entry by entry: every bit of the result depends on every bit of x.

    >>> mix(torch.tensor([1, 2])).tolist()
    [6238072747940578789, -2606959012126976886]
    """
    x = x.bitwise_xor(_shifted(x, 30)).mul_(_FIRST)
    x = x.bitwise_xor_(_shifted(x, 27)).mul_(_SECOND)
    return x.bitwise_xor_(_shifted(x, 31))


class RowGenerator:
    """Random bytes for dropout, by global row.

    Args:
        seed: of all draws.
        rows: (n,) the global numbers of the rows at hand, in their order.

    >>> whole, part = RowGenerator(7, torch.arange(5)), RowGenerator(7, torch.tensor([3, 1]))
    >>> torch.equal(whole.bytes((5, 20))[[3, 1]], part.bytes((2, 20)))
    True
    """

    def __init__(self, seed: int, rows: Tensor):
        self.seed, self.rows = seed, rows
        self.begin(0)

    def begin(self, step: int) -> None:
        """Start the draws of a step: the same step gives the same draws again."""
        self.step, self.calls = step, 0

    def bytes(self, shape: torch.Size | tuple[int, ...]) -> Tensor:
        """Random uint8 of the shape (n,) or (n, d), and one more call counted; n may be that of the first rows alone."""
        width = shape[1] if len(shape) > 1 else 1
        words = torch.arange(1, (width + 7) // 8 + 1).mul_(_GOLDEN)
        drawn = mix(self._keys(shape[0]).unsqueeze(1) + words).view(torch.uint8)
        return drawn[:, :width].reshape(shape)

    def entry_bytes(self, pattern: SparseMatrix) -> Tensor:
        """(nnz,) random uint8 for the stored entries of an n×D matrix, by global row and column; one more call counted."""
        return self._of_entries(pattern, pattern.columns)

    def edge_bytes(self, pattern: SparseMatrix) -> Tensor:
        """(nnz,) the same for an n×n matrix between the rows at hand, whose columns have their global numbers too."""
        return self._of_entries(pattern, self.rows[pattern.columns])

    def _of_entries(self, pattern: SparseMatrix, columns: Tensor) -> Tensor:
        keys = self._keys()[pattern.row_of]
        return mix(keys.add_((columns + 1).mul_(_GOLDEN))).bitwise_and_(255).to(torch.uint8)

    def _keys(self, rows: int | None = None) -> Tensor:
        """(n,) a key a row for the call at hand, for the first rows if they are counted."""
        self.calls += 1
        address = mix(mix(torch.tensor([self.seed]).add_(1).mul_(_GOLDEN)).add_(self.step).mul_(_GOLDEN)).add_(
            self.calls
        )
        return mix(mix(address.mul_(_GOLDEN)) + (self.rows[:rows] + 1) * _GOLDEN)


RandomSource: TypeAlias = torch.Generator | RowGenerator
