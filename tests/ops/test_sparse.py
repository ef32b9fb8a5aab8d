"""SparseMatrix against dense numpy."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc.ops import SparseMatrix
from ncgc.ops.sparse import product


def dense(tensor):
    return tensor.to_dense().numpy()


@pytest.mark.parametrize("shape", [(9, 9), (5, 8), (8, 5)])
def test_csr_and_transpose_hold_the_same_numbers(random_sparse, shape):
    source = random_sparse(*shape, seed=1)
    matrix = SparseMatrix.from_scipy(source, dtype=torch.float64)
    np.testing.assert_array_equal(dense(matrix.csr), source.toarray())
    np.testing.assert_array_equal(dense(matrix.transposed), source.toarray().T)
    assert matrix.nnz == source.nnz
    assert matrix.transposed.shape == shape[::-1]


def test_columns_of_the_transpose_are_sorted(random_sparse):
    transposed = SparseMatrix.from_scipy(random_sparse(seed=2)).transposed
    pointers, columns = transposed.crow_indices().tolist(), transposed.col_indices().tolist()
    for start, stop in pairwise(pointers):
        assert columns[start:stop] == sorted(columns[start:stop])


def test_row_of_names_the_row_of_every_entry(random_sparse):
    source = random_sparse(6, 9, seed=3)
    np.testing.assert_array_equal(SparseMatrix.from_scipy(source).row_of.numpy(), source.tocoo().row)


def test_other_values_keep_the_pattern(random_sparse):
    source = random_sparse(6, 9, seed=4)
    matrix = SparseMatrix.from_scipy(source, dtype=torch.float64)
    values = torch.arange(1.0, matrix.nnz + 1, dtype=torch.float64)
    expected = np.zeros(source.shape)
    coo = source.tocoo()
    expected[coo.row, coo.col] = values.numpy()
    np.testing.assert_array_equal(dense(matrix.with_values(values)), expected)
    np.testing.assert_array_equal(dense(matrix.transposed_with_values(values)), expected.T)
    np.testing.assert_array_equal(dense(matrix.csr), source.toarray())  # its own values are untouched


def test_symmetric_shares_one_tensor(random_sparse):
    source = random_sparse(symmetric=True)
    shared = SparseMatrix.from_scipy(source, symmetric=True)
    assert shared.transposed is shared.csr
    promised, computed = shared.transposed, SparseMatrix.from_scipy(source).transposed
    np.testing.assert_array_equal(dense(promised), dense(computed))


def test_unsorted_columns_are_sorted_and_the_source_is_copied():
    source = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2, 2])), shape=(2, 2))
    matrix = SparseMatrix.from_scipy(source)
    assert matrix.columns.tolist() == [0, 1]
    assert matrix.values.tolist() == [2.0, 1.0]
    source.data[:] = 7
    assert matrix.values.tolist() == [2.0, 1.0]


def test_a_matrix_without_entries_multiplies_to_zero():
    matrix = SparseMatrix.from_scipy(sparse.csr_array((3, 4)))
    assert torch.equal(matrix.csr @ torch.ones(4, 2), torch.zeros(3, 2))
    assert torch.equal(matrix.transposed @ torch.ones(3, 2), torch.zeros(4, 2))


@pytest.mark.parametrize("shape", [(9, 9), (5, 8), (8, 5)])
@pytest.mark.parametrize("columns", [1, 3, 16])
def test_product_is_the_dense_one_whatever_lies_in_memory(random_sparse, dtype, shape, columns):
    """Row 2 is empty: it must be written too."""
    source = random_sparse(*shape, seed=6)
    dense = torch.randn(shape[1], columns, generator=torch.Generator().manual_seed(0)).to(dtype)
    matrix = SparseMatrix.from_scipy(source, dtype=dtype)
    expected = torch.from_numpy(source.toarray()).to(dtype)
    torch.testing.assert_close(product(matrix.csr, dense), expected @ dense)
    assert torch.equal(
        product(SparseMatrix.from_scipy(sparse.csr_array(shape), dtype=dtype).csr, dense), expected @ dense * 0
    )
    wide = torch.randn(columns, shape[1], generator=torch.Generator().manual_seed(1)).to(dtype)
    torch.testing.assert_close(product(matrix.csr, wide.t()), expected @ wide.t())  # strided
    torch.testing.assert_close(
        product(matrix.csr, dense[:1].expand(shape[1], columns)), expected @ dense[:1].expand(shape[1], columns)
    )
