"""Matrices written row by row."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.datasets.synthetic import arrays
from ncgc.datasets.synthetic.arrays import write_npy, write_npz

BLOCKS = [(np.array([2, 0]), np.array([0, 3], dtype=np.int32)), (np.array([1]), np.array([1], dtype=np.int32))]
MATRIX = [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_npy(tmp_path):
    write_npy(tmp_path / "x.npy", BLOCKS, (3, 4))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), np.array(MATRIX, dtype=np.float32), strict=True)


def test_npz_is_scipys(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "PIECE", 2)
    write_npz(tmp_path / "x.npz", BLOCKS, (3, 4))
    matrix = sparse.load_npz(tmp_path / "x.npz")
    assert matrix.format == "csr"
    assert matrix.toarray().tolist() == MATRIX
    assert [file.name for file in tmp_path.iterdir()] == ["x.npz"]


def test_npz_without_a_one(tmp_path):
    write_npz(tmp_path / "x.npz", [(np.array([0, 0]), np.zeros(0, dtype=np.int32))], (2, 4))
    assert sparse.load_npz(tmp_path / "x.npz").nnz == 0
