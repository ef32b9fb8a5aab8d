"""Features from a file of their own: a numpy array or a scipy sparse matrix, rows in the order of the node table.

Opened with ``allow_pickle=False`` always: a file of numbers is read, a file of objects refused.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.errors import InputError
from ncgc.graph.features import SPARSE_BELOW
from ncgc.graph.validation import Features, all_finite, as_features, first_not_finite
from ncgc.io.tables.table import read_file

ENDINGS = (".npz", ".npy")
MAPPED_FROM = 1 << 26  # bytes from which a .npy stays on disk: float32 rows in C order are then never copied as a whole


def read_features(path: str | Path, rows: int, nodes: str) -> Features:
    """rows×D float32 from a ``.npy`` (one 2-D array) or ``.npz`` (scipy's ``save_npz``, or an archive of one 2-D array).

    ``nodes`` is what the node table is called, for messages. CSR below 6 % non-zeros, dense above.
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path.name} has an extension that is not known; give the features as .npz or .npy.")
    content = None if _large(path) else read_file(path)
    try:
        matrix = _mapped(path) if content is None else _load(content, path.suffix.lower())
    except Exception as error:  # a damaged archive may raise anything at all; none of it is our bug
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{path.name} cannot be read as features ({reason}); "
            "save one 2-D array of numbers with numpy.save, or a matrix with scipy.sparse.save_npz."
        ) from None
    if matrix.shape[0] != rows:
        raise InputError(
            f"{path.name} has {matrix.shape[0]} rows but {nodes} has {rows} nodes; give one row a node, in the same order."
        )
    if not matrix.shape[1]:
        raise InputError(f"{path.name} has no columns; give at least one feature.")
    return _checked(as_features(matrix), path.name)


def _large(path: Path) -> bool:
    """Whether the file is an array that had better stay on disk."""
    try:
        return path.suffix.lower() == ".npy" and path.is_file() and path.stat().st_size >= MAPPED_FROM
    except OSError:  # read_file says why
        return False


def _mapped(path: Path) -> Any:
    """The array in the file, memory-mapped: rows are brought in when they are used, and may be dropped again."""
    return _checked_kind(np.load(path, mmap_mode="r", allow_pickle=False))


def _load(content: bytes, ending: str) -> Any:
    """The 2-D matrix of numbers in the file; a ValueError says why there is none."""
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    matrix: Any = loaded
    if not isinstance(loaded, np.ndarray):
        if "format" in loaded.files:
            matrix = sparse.load_npz(io.BytesIO(content)).tocsr()
            matrix.check_format(full_check=True)
        elif len(loaded.files) == 1:
            matrix = loaded[loaded.files[0]]
        else:
            raise ValueError(f"it holds {len(loaded.files)} arrays, not one")
    return _checked_kind(matrix)


def _checked_kind(matrix: Any) -> Any:
    if matrix.ndim != 2:
        raise ValueError(f"its array has {matrix.ndim} dimension{'s' * (matrix.ndim != 1)}, not two")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"its entries are {matrix.dtype}, not numbers")
    return matrix


def _checked(features: Features, name: str) -> Features:
    if not all_finite(features):
        row, column = first_not_finite(features)
        raise InputError(
            f"{name} row {row + 1}, column {column + 1} is not a finite number (as float32); "
            "replace NaN and infinite values, for example with 0 or the column's mean."
        )
    count = features.nnz if sparse.issparse(features) else np.count_nonzero(features)
    lean = count < SPARSE_BELOW * features.shape[0] * features.shape[1]
    if lean and not sparse.issparse(features):
        return sparse.csr_array(features)
    return features.toarray() if sparse.issparse(features) and not lean else features
