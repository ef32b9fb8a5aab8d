"""Small sparse matrices and dense tensors for the kernels' oracles."""

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc.ops import SparseMatrix


@pytest.fixture(autouse=True)
def uncleared_memory_is_nan():
    """Kernels write into buffers that are not cleared first: here those hold NaN, so that one left unwritten is seen."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    assert torch.empty(3).isnan().all()
    yield
    torch.use_deterministic_algorithms(False)


@pytest.fixture(scope="session")
def random_sparse():
    """(rows, columns, seed) → scipy CSR with some empty rows and columns."""

    def make(rows=9, columns=9, seed=0, symmetric=False, weighted=True, density=0.35):
        generator = np.random.default_rng(seed)
        dense = generator.random((rows, columns)) < density
        dense[2], dense[:, 2] = False, False  # an isolated node, an empty column
        values = generator.uniform(0.3, 2.0, (rows, columns)) if weighted else np.ones((rows, columns))
        if symmetric:
            dense, values = np.triu(dense, 1), np.triu(values, 1)
            dense, values = dense | dense.T, values + values.T
        return sparse.csr_array(np.where(dense, values, 0.0))

    return make


@pytest.fixture(params=[torch.float32, torch.float64], ids=["float32", "float64"])
def dtype(request):
    return request.param


@pytest.fixture(scope="session")
def normal():
    """(shape, seed, dtype) → a normal tensor from its own generator."""

    def make(*shape, seed=0, dtype=torch.float64, grad=False):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(*shape, generator=generator, dtype=dtype).requires_grad_(grad)

    return make


@pytest.fixture(scope="session")
def to_matrix():
    def make(matrix, dtype=torch.float64, symmetric=False):
        return SparseMatrix.from_scipy(matrix, dtype=dtype, symmetric=symmetric)

    return make
