"""Computers, Photo, CS and Physics from the ``.npz`` files of Shchur et al. 2018 (arXiv:1811.05868).

A file holds two CSR matrices by their parts (``adj_*`` and ``attr_*``: data, indices, indptr, shape) and ``labels``.
Plain arrays only: it is opened with ``allow_pickle=False``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from ncgc.datasets.raw_files import damaged, unreadable
from ncgc.errors import GraphError
from ncgc.graph import Graph


def read_npz(path: Path, name: str) -> Graph:
    """Read a data set of Shchur et al.; attributes above 0 become 1, as in PyG.

    Args:
        path: the .npz file.
        name: of the graph.

    Returns:
        The graph: X n×D CSR, labels (n,) in 0..K-1, nodes in the order of the file.

    Raises:
        DatasetError: if the file is damaged.
    """
    arrays = _read_arrays(path)
    adjacency, features = (_csr(path, arrays, prefix) for prefix in ("adj", "attr"))
    labels = arrays["labels"]
    if labels.dtype.kind not in "iu" or labels.ndim != 1 or not len(labels) or labels.min() < 0:
        raise damaged(path, "its labels are not class numbers from 0")

    features.sum_duplicates()
    features.data = np.where(features.data > 0, 1, features.data).astype(np.float32)
    coo = adjacency.tocoo()
    try:
        return Graph.from_edges(
            np.stack([coo.row, coo.col], axis=1), features, labels, num_nodes=adjacency.shape[0], name=name
        )
    except GraphError as error:
        raise damaged(path, str(error)) from None


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    keys = [f"{prefix}_{part}" for prefix in ("adj", "attr") for part in ("data", "indices", "indptr", "shape")]
    try:
        with np.load(path, allow_pickle=False) as file:
            return {key: file[key] for key in (*keys, "labels")}
    except OSError as error:
        raise unreadable(path, error) from None
    except KeyError as error:
        raise damaged(path, f"it lacks an array ({error.args[0]})") from None
    except Exception as error:  # a damaged archive may raise anything at all; none of it is our bug
        raise damaged(path, str(error) or type(error).__name__) from None


def _csr(path: Path, arrays: dict[str, np.ndarray], prefix: str) -> sparse.csr_array:
    """The CSR array whose parts begin with ``prefix``, every index checked to lie inside."""
    parts = tuple(arrays[f"{prefix}_{part}"] for part in ("data", "indices", "indptr"))
    try:
        rows, columns = (int(size) for size in arrays[f"{prefix}_shape"])
        matrix = sparse.csr_array(parts, shape=(rows, columns))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise damaged(path, f"the matrix '{prefix}' in it does not hold together ({error})") from None
    if prefix == "adj" and rows != columns:
        raise damaged(path, f"its adjacency is {rows}×{columns} and should be square")
    return matrix
