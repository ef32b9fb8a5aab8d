"""Small raw files in the two formats, so that most tests need no benchmark data."""

from __future__ import annotations

import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse


def write_planetoid(folder: Path, name: str = "cora") -> Path:
    """Nine nodes: 0-1 train, 2-4 the rest of allx, test nodes 8, 5, 7 in that order; 6 is missing and isolated."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.arange(1, 25, dtype=np.float32).reshape(8, 3)
    one_hot = np.eye(2, dtype=np.int32)[[0, 1, 1, 0, 1, 1, 0, 1]]
    graph = defaultdict(list, {0: [1, 1, 2], 1: [0, 0], 2: [0, 2], 3: [4], 4: [3, 8], 8: [4], 5: [7], 7: [5]})
    parts = {
        "x": sparse.csr_matrix(rows[:2]),
        "allx": sparse.csr_matrix(rows[:5]),
        "tx": sparse.csr_matrix(rows[5:]),
        "y": one_hot[:2],
        "ally": one_hot[:5],
        "ty": one_hot[5:],
        "graph": graph,
    }
    for part, value in parts.items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol=2))
    (folder / f"ind.{name}.test.index").write_text("8\n5\n7\n")
    return folder


def npz_arrays() -> dict[str, np.ndarray]:
    """Four nodes in a path, one direction of each edge, a self-loop, a duplicate; node 3 is isolated."""
    adjacency = sparse.csr_matrix(
        (np.ones(4, dtype=np.float32), np.array([1, 1, 2, 2]), np.array([0, 2, 3, 4, 4])), shape=(4, 4)
    )
    attributes = sparse.csr_matrix(np.array([[2, 0, 1], [0, 5, 0], [0, 0, -1], [0, 0, 0]], dtype=np.float32))
    arrays = {"labels": np.array([0, 1, 1, 0])}
    for prefix, matrix in (("adj", adjacency), ("attr", attributes)):
        arrays |= {f"{prefix}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
        arrays[f"{prefix}_shape"] = np.array(matrix.shape)
    return arrays


@pytest.fixture
def planetoid_raw(tmp_path: Path) -> Path:
    return write_planetoid(tmp_path / "data" / "Cora" / "raw")


@pytest.fixture
def npz_parts() -> dict[str, np.ndarray]:
    return npz_arrays()
