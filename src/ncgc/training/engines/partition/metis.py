"""Which part owns which node: METIS (Karypis and Kumar, 1998), few edges between parts and as many nodes in each."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ncgc.errors import MissingPackageError, ParameterError


def check_pymetis() -> None:
    """Check that pymetis is installed, before any work is done.

    Raises:
        MissingPackageError: if it is not, with the command that installs it.
    """
    try:
        import pymetis  # noqa: F401
    except ImportError:
        raise MissingPackageError(
            "Cutting a graph into parts needs pymetis; install it with: pip install 'ncgc[scale]'."
        ) from None


def partition(adjacency: sparse.csr_array, parts: int) -> np.ndarray:
    """Cut a graph into parts with few edges between them; the same graph is always cut in the same way.

    Args:
        adjacency: n×n symmetric CSR without self-loops; edge weights are ignored.
        parts: how many.

    Returns:
        (n,) int32 the part, from 0 to parts−1, that owns each node; no part is empty.

    Raises:
        ParameterError: if there are fewer nodes than parts.
        MissingPackageError: if pymetis is not installed.

    >>> ring = sparse.csr_array(np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1))
    >>> owner = partition(ring, 2)
    >>> np.bincount(owner).tolist(), int(np.abs(np.diff(owner)).sum()) <= 2
    ([4, 4], True)
    """
    n = adjacency.shape[0]
    if not 1 <= parts <= n:
        raise ParameterError(f"A graph of {n} nodes cannot be cut into {parts} parts; take from 1 to {n}.")
    if parts == 1:
        return np.zeros(n, dtype=np.int32)
    check_pymetis()
    import pymetis

    graph = pymetis.CSRAdjacency(adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64))
    owner = np.asarray(pymetis.part_graph(parts, graph)[1], dtype=np.int32)
    return _none_empty(owner, parts)


def _none_empty(owner: np.ndarray, parts: int) -> np.ndarray:
    """Where METIS left a part without nodes (tiny or torn graphs), it gets one of the largest part's."""
    counts = np.bincount(owner, minlength=parts)
    for part in np.flatnonzero(counts == 0).tolist():
        donor = int(counts.argmax())
        owner[np.flatnonzero(owner == donor)[-1]] = part
        counts[donor], counts[part] = counts[donor] - 1, 1
    return owner
