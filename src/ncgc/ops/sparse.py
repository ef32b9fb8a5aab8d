"""SparseMatrix: a CSR matrix with its transpose, so that a backward pass is one more product."""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

# torch warns once that CSR is in beta; the products we use are compared with dense ones in tests/ops.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta", category=UserWarning)


def product(csr: Tensor, dense: Tensor) -> Tensor:
    """Product of a CSR and a dense matrix.

    The buffer of the result is not cleared first, while ``csr @ dense`` zeroes it and copies it once more.

    Args:
        csr: (n, m) torch CSR tensor.
        dense: (m, d).

    Returns:
        (n, d).

    >>> product(torch.eye(2).to_sparse_csr(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    out = dense.new_empty(csr.shape[0], dense.shape[1])
    return torch.addmm(out, csr, dense, beta=0.0, out=out)


class SparseMatrix:
    """An n×m CSR matrix with int64 indices and, made on first use, its transpose.

    A symmetric matrix is its own transpose and is stored once. ``values`` may be replaced for one product
    (``with_values``), which is how attention coefficients and feature dropout reuse one pattern.

    Args:
        rows: (n+1,) row pointers.
        columns: (nnz,) column indices, ascending in each row.
        values: (nnz,).
        shape: (n, m).
        symmetric: the caller's promise that the matrix equals its transpose.

    >>> matrix = SparseMatrix.from_scipy(sparse.csr_array([[0.0, 2.0], [0.0, 1.0]]))
    >>> matrix.csr @ torch.eye(2)
    tensor([[0., 2.],
            [0., 1.]])
    >>> matrix.transposed @ torch.eye(2)
    tensor([[0., 0.],
            [2., 1.]])
    """

    def __init__(
        self, rows: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int], *, symmetric: bool = False
    ):
        self.row_pointers = rows  # (n+1,)
        self.columns = columns  # (nnz,)
        self.values = values  # (nnz,)
        self.shape = shape
        self.symmetric = symmetric

    @classmethod
    def from_scipy(
        cls, matrix: sparse.csr_array, *, symmetric: bool = False, dtype: torch.dtype = torch.float32
    ) -> SparseMatrix:
        """Copy of a scipy CSR matrix.

        Args:
            matrix: n×m.
            symmetric: the caller's promise that matrix == matrixᵀ; checked in tests, not here.
            dtype: of the values.

        Returns:
            The n×m matrix, with sorted columns.
        """
        matrix = sparse.csr_array(matrix)
        matrix.sort_indices()
        return cls(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(np.array(matrix.data)).to(dtype),
            (int(matrix.shape[0]), int(matrix.shape[1])),
            symmetric=symmetric,
        )

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.columns)

    @cached_property
    def csr(self) -> Tensor:
        """The matrix as a torch CSR tensor."""
        return self.with_values(self.values)

    @cached_property
    def transposed(self) -> Tensor:
        """The transpose as a torch CSR tensor (the same tensor when symmetric)."""
        return self.csr if self.symmetric else self.transposed_with_values(self.values)

    @cached_property
    def ones(self) -> Tensor:
        """The pattern alone, as a torch CSR tensor of ones."""
        return self.csr if self.is_unit else self.with_values(torch.ones_like(self.values))

    @cached_property
    def is_unit(self) -> bool:
        """Whether every stored value is 1."""
        return bool((self.values == 1).all())

    @cached_property
    def row_of(self) -> Tensor:
        """(nnz,) the row of each stored entry."""
        return torch.repeat_interleave(torch.arange(self.shape[0]), torch.diff(self.row_pointers))

    @cached_property
    def _transpose(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointers and columns of the transpose, and where each of its entries stands in ``values``."""
        order = torch.from_numpy(np.argsort(self.columns.numpy(), kind="stable"))
        counts = torch.bincount(self.columns, minlength=self.shape[1])
        pointers = torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])
        return pointers, self.row_of[order], order

    def with_values(self, values: Tensor) -> Tensor:
        """The same pattern with other values.

        Args:
            values: (nnz,), in the order of ``columns``.

        Returns:
            (n, m) torch CSR tensor.
        """
        return torch.sparse_csr_tensor(self.row_pointers, self.columns, values, self.shape, check_invariants=False)

    def transposed_with_values(self, values: Tensor) -> Tensor:
        """The transposed pattern with other values.

        Args:
            values: (nnz,), in the order of this matrix, not of its transpose.

        Returns:
            (m, n) torch CSR tensor.
        """
        pointers, columns, order = self._transpose
        return torch.sparse_csr_tensor(
            pointers, columns, values[order], (self.shape[1], self.shape[0]), check_invariants=False
        )

    def added(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        """β·start + α·P·dense.

        Args:
            start: (n, d).
            dense: (m, d).
            beta: factor of ``start``; 0 ignores it, even where it holds NaN.
            alpha: factor of the product.
            out: (n, d) tensor that takes the result, which may be ``start`` itself; a new one if None.

        Returns:
            (n, d).
        """
        return torch.addmm(start, self.csr, dense, beta=beta, alpha=alpha, out=out)

    def added_transposed(
        self, start: Tensor, dense: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
    ) -> Tensor:
        """β·start + α·Pᵀ·dense.

        Args:
            start: (m, d).
            dense: (n, d).
            beta, alpha, out: as in :meth:`added`.

        Returns:
            (m, d).
        """
        return torch.addmm(start, self.transposed, dense, beta=beta, alpha=alpha, out=out)

    def product(self, dense: Tensor) -> Tensor:
        """P·dense.

        Args:
            dense: (m, d).

        Returns:
            (n, d).
        """
        out = dense.new_empty(self.shape[0], dense.shape[1])
        return self.added(out, dense, beta=0.0, out=out)

    def transposed_product(self, dense: Tensor) -> Tensor:
        """Pᵀ·dense.

        Args:
            dense: (n, d).

        Returns:
            (m, d).
        """
        out = dense.new_empty(self.shape[1], dense.shape[1])
        return self.added_transposed(out, dense, beta=0.0, out=out)

    def scaled(self, factor: float) -> SparseMatrix:
        """factor·P, on the same pattern.

        Args:
            factor: of every value.

        Returns:
            A new matrix; this one stays as it is.
        """
        return SparseMatrix(self.row_pointers, self.columns, self.values * factor, self.shape, symmetric=self.symmetric)

    def __repr__(self) -> str:
        return f"SparseMatrix({self.shape[0]}×{self.shape[1]}, nnz={self.nnz}, symmetric={self.symmetric})"
