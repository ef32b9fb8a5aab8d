"""Linear maps H·W: of constant features X, sparse or dense by their density, and of hidden states.

A product with few columns is computed as (Bᵀ·Aᵀ)ᵀ: the other way round takes up to seven times as long on a CPU.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.graph.validation import Features
from ncgc.ops.dropout import dropout, keep_factors, random_bytes
from ncgc.ops.row_generator import RandomSource
from ncgc.ops.sparse import SparseMatrix, product

# A sparse product runs at about a tenth of the speed of a dense one for the same number of multiplications, so sparse is
# faster below about a tenth of non-zeros; we switch to dense a little earlier, since its time varies less.
SPARSE_COST = 10.0
DENSE_FROM = 0.06
# A dropout draw costs as much as a product with few columns, and sparse X has fewer entries to draw for.
DROPOUT_DENSE_FROM = 0.5
_FEW_COLUMNS = 12  # up to here the transposed product is faster than torch's own


def narrow_product(left: Tensor, right: Tensor) -> Tensor:
    """A·B, by the faster way for the number of columns of B; without a gradient.

    Args:
        left: A, (n, m).
        right: B, (m, k).

    Returns:
        (n, k), contiguous.

    >>> narrow_product(torch.eye(2), torch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    if right.shape[1] > _FEW_COLUMNS:
        return left @ right
    return (right.t() @ left.t()).t().contiguous()


class _FeatureLinear(torch.autograd.Function):
    """X·W for constant features X, whose values may be those of one dropout draw."""

    @staticmethod
    def forward(ctx: Any, features: FeatureMatrix, weight: Tensor) -> Tensor:
        ctx.features = features
        return features.product(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.features.transposed_product(gradients[0])


class FeatureMatrix:
    """Constant node features X (n×D) that multiply a weight: ``features.linear(W)`` is X·W.

    Args:
        features: X, scipy CSR or dense array.
        dense_from: density (fraction of non-zeros) from which X is stored dense.
        dtype: of the values.

    Attributes:
        shape: (n, D).
        density: fraction of non-zero entries.
        sparse: X as a SparseMatrix, or None.
        dense: X as an (n, D) tensor, or None; exactly one of the two is set.

    >>> features = FeatureMatrix(np.eye(3, dtype=np.float32))
    >>> features.is_sparse, features.linear(torch.ones(3, 2)).shape
    (False, torch.Size([3, 2]))
    """

    def __init__(self, features: Features, *, dense_from: float = DENSE_FROM, dtype: torch.dtype = torch.float32):
        size = max(features.shape[0] * features.shape[1], 1)
        stored = features.nnz if sparse.issparse(features) else int(np.count_nonzero(features))
        self.shape = (int(features.shape[0]), int(features.shape[1]))
        self.density = stored / size
        self.sparse: SparseMatrix | None = None
        self.dense: Tensor | None = None
        self._drawn = False
        self._values: Tensor | None = None  # those of one dropout draw, in place of the sparse matrix's own
        self._replaced = False  # whether dense X is that of one dropout draw
        self._rows: Tensor | None = None  # (n, 1) factors of the rows in one draw of whole rows
        # weight, its version and X·W, shared by all dropout draws; empty while no draw of whole rows would reuse it
        self._latest: list[Any] = []
        self._dtype = dtype
        if self.density < dense_from:
            self.sparse = SparseMatrix.from_scipy(sparse.csr_array(features), dtype=dtype)
        else:
            array = features.toarray() if sparse.issparse(features) else features
            self.dense = torch.from_numpy(np.ascontiguousarray(array)).to(dtype)

    @cached_property
    def gram(self) -> Tensor | None:
        """XᵀX (D×D) of dense X with D ≤ n and without a dropout draw, else None; computed once."""
        if self.dense is None or self._drawn or self.shape[1] > self.shape[0]:
            return None
        return self.dense.t() @ self.dense

    @property
    def is_sparse(self) -> bool:
        """Whether X is stored as a sparse matrix."""
        return self.sparse is not None

    @cached_property
    def for_dropout(self) -> FeatureMatrix:
        """X in the form that is cheaper when each product with few columns has a dropout draw of its own; made once."""
        if self.dense is None or self._drawn or self.density >= DROPOUT_DENSE_FROM:
            return self
        return FeatureMatrix(sparse.csr_array(self.dense.numpy()), dense_from=DROPOUT_DENSE_FROM, dtype=self._dtype)

    def dropout(self, p: float, generator: RandomSource | None = None, training: bool = True) -> FeatureMatrix:
        """X with each entry dropped with probability p and the others scaled by 1/(1−p).

        On sparse X only the stored entries are drawn: the others are zero either way.

        Args:
            p: drop rate, in [0, 1).
            generator: source of the random bytes; torch's global one if None.
            training: False gives X itself, as does p = 0.

        Returns:
            (n, D) features that hold this draw.
        """
        if not training or p == 0.0:
            return self
        drawn = copy(self)
        drawn._drawn = True
        drawn.__dict__.pop("gram", None)
        if self.sparse is None:
            assert self.dense is not None
            drawn.dense = dropout(self.dense, p, generator)
            drawn._replaced = True
        else:
            drawn._values = self.sparse.values * keep_factors(
                random_bytes((self.sparse.nnz,), generator, self.sparse), p, self._dtype
            )
        return drawn

    def drop_rows(self, p: float, generator: RandomSource | None = None, training: bool = True) -> FeatureMatrix:
        """X with each row, the features of a node, dropped with probability p and the others scaled by 1/(1−p).

        (M·X)·W = M·(X·W) for a diagonal M, so X itself is never copied.

        Args:
            p: drop rate, in [0, 1).
            generator: source of the random bytes; torch's global one if None.
            training: False gives X itself, as does p = 0.

        Returns:
            (n, D) features that hold this draw.
        """
        if not training or p == 0.0:
            return self
        factors = keep_factors(random_bytes((self.shape[0],), generator), p, self._dtype)
        drawn = copy(self)
        drawn._drawn = True
        drawn.__dict__.pop("gram", None)
        drawn._rows = factors.unsqueeze(1)
        if not self._latest:
            self._latest[:] = [None, -1, None]  # from now on X·W is worth keeping
        return drawn

    def linear(self, weight: Tensor) -> Tensor:
        """X·W, with the gradient XᵀU for W; X itself gets none.

        Args:
            weight: W, (D, d).

        Returns:
            (n, d).
        """
        result: Tensor = _FeatureLinear.apply(self, weight)
        return result

    def product(self, weight: Tensor) -> Tensor:
        """X·W, without a gradient.

        The evaluation pass after a step and the training pass of the next step use the same W and, but for the dropped
        ones, the same rows of X·W: the first caches the product for the second.

        Args:
            weight: W, (D, d).

        Returns:
            (n, d).
        """
        if self._rows is None:
            result = self._product(weight)
            if self._latest and not self._drawn:
                self._latest[:] = [weight, weight._version, result]
            return result
        same = self._latest[0] is weight and self._latest[1] == weight._version
        whole = self._latest[2] if same and self._values is None and not self._replaced else self._product(weight)
        return whole * self._rows

    def _product(self, weight: Tensor) -> Tensor:
        if self.sparse is None:
            assert self.dense is not None
            return narrow_product(self.dense, weight)
        return product(self.sparse.csr if self._values is None else self.sparse.with_values(self._values), weight)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """Xᵀ·U, without a gradient.

        Args:
            dense: U, (n, d).

        Returns:
            (D, d).
        """
        if self._rows is not None:
            dense = dense * self._rows
        if self.sparse is None:
            assert self.dense is not None
            return narrow_product(self.dense.t(), dense)
        values = self._values
        return product(self.sparse.transposed if values is None else self.sparse.transposed_with_values(values), dense)

    def first(self, rows: int) -> FeatureMatrix:
        """The first rows of X, with the same dropout draw.

        Args:
            rows: how many, at most n.

        Returns:
            (rows, D) features.
        """
        taken = copy(self)
        taken.shape = (rows, self.shape[1])
        taken.__dict__.pop("gram", None)
        taken._latest = [None, -1, None] if self._rows is not None else []
        taken._rows = None if self._rows is None else self._rows[:rows]
        if self.sparse is None:
            assert self.dense is not None
            taken.dense = self.dense[:rows]
            return taken
        pointers = self.sparse.row_pointers[: rows + 1]
        stored = slice(int(pointers[-1]))
        taken.sparse = SparseMatrix(pointers, self.sparse.columns[stored], self.sparse.values[stored], taken.shape)
        taken._values = None if self._values is None else self._values[stored]
        return taken

    def take(self, nodes: Tensor) -> FeatureMatrix:
        """The rows of X at some nodes, stored in the same form; only for X without a dropout draw.

        Args:
            nodes: (l,) row numbers.

        Returns:
            (l, D) features.
        """
        assert not self._drawn
        taken = copy(self)
        taken.shape = (len(nodes), self.shape[1])
        taken.__dict__.pop("gram", None)
        taken.__dict__.pop("for_dropout", None)
        taken._latest = []
        if self.sparse is None:
            assert self.dense is not None
            taken.dense = self.dense[nodes]
            return taken
        pointers, own = self.sparse.row_pointers, self.sparse
        whole = sparse.csr_array((own.values.numpy(), own.columns.numpy(), pointers.numpy()), self.shape)
        taken.sparse = SparseMatrix.from_scipy(whole[nodes.numpy()], dtype=self._dtype)
        return taken

    def to_dense(self) -> Tensor:
        """X as an (n, D) tensor, for layers that take no FeatureMatrix."""
        if self.sparse is None:
            assert self.dense is not None
            whole = self.dense
        else:
            whole = (self.sparse.csr if self._values is None else self.sparse.with_values(self._values)).to_dense()
        return whole if self._rows is None else whole * self._rows


def first_rows(h: Tensor | FeatureMatrix, rows: int) -> Tensor | FeatureMatrix:
    """The first rows of hidden states or features.

    Args:
        h: (n, d) hidden states, or features.
        rows: how many; n gives ``h`` itself.

    Returns:
        (rows, d) hidden states, or features.
    """
    if isinstance(h, FeatureMatrix):
        return h if rows == h.shape[0] else h.first(rows)
    return h if rows == len(h) else h[:rows]


def linear(h: Tensor | FeatureMatrix, weight: Tensor) -> Tensor:
    """H·W.

    Args:
        h: H, (n, d_in) hidden states or features.
        weight: W, (d_in, d).

    Returns:
        (n, d); the gradient reaches W and, of hidden states, H.
    """
    return h.linear(weight) if isinstance(h, FeatureMatrix) else h @ weight


class _NarrowLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(h, weight)
        return narrow_product(h, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        h, weight = ctx.saved_tensors
        u = gradients[0]
        return (
            u @ weight.t() if ctx.needs_input_grad[0] else None,
            narrow_product(h.t(), u) if ctx.needs_input_grad[1] else None,
        )


def narrow_linear(h: Tensor, weight: Tensor) -> Tensor:
    """H·W by :func:`narrow_product`; the gradients are dH = U·Wᵀ and dW = Hᵀ·U.

    Args:
        h: H, (n, d).
        weight: W, (d, K).

    Returns:
        (n, K).

    >>> narrow_linear(torch.ones(2, 3), torch.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    result: Tensor = _NarrowLinear.apply(h, weight)
    return result
