"""Cora, CiteSeer and PubMed from the raw files of Planetoid (Yang, Cohen & Salakhutdinov 2016, arXiv:1603.08861).

Eight files a data set, ``ind.<name>.<part>``: ``allx``/``ally`` hold features and one-hot labels of the nodes 0..a-1,
``tx``/``ty`` those of the test nodes in the order of ``test.index``, ``x``/``y`` the training nodes (the first rows of
``allx``), and ``graph`` the neighbours of every node. Features stay as they are in the files; `Graph.row_normalised`
divides by row sums.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.datasets.catalogue import PLANETOID_PARTS
from ncgc.datasets.raw_files import damaged, read_pickle, unreadable
from ncgc.graph import Graph

VALIDATION_NODES = 500


def read_planetoid(folder: Path, name: str) -> Graph:
    """Read a Planetoid data set with its public split.

    Row i of ``tx`` is the node ``test.index[i]``. Numbers missing from ``test.index`` (15 nodes of CiteSeer; often
    called isolated, but each has a neighbour or two) become nodes with all-zero features and class 0: the argmax of an
    empty one-hot row, as in PyG. The public split is train = the first len(y) nodes, validation = the next 500, test =
    sorted ``test.index``.

    Args:
        folder: with the eight files.
        name: of the data set, as in the file names.

    Returns:
        The graph: n = max(test.index) + 1 nodes, X n×D CSR, labels (n,) in 0..K-1.

    Raises:
        DatasetError: if a file is missing or damaged.
    """
    paths = {part: folder / f"ind.{name}.{part}" for part in PLANETOID_PARTS}
    test = _read_index(paths["test.index"])
    x, tx, allx = (_read_features(paths[part]) for part in ("x", "tx", "allx"))
    y, ty, ally = (_read_one_hot(paths[part]) for part in ("y", "ty", "ally"))
    known, n = allx.shape[0], int(test.max()) + 1

    _expect(paths["tx"], tx.shape, (len(test), allx.shape[1]))
    _expect(paths["x"], x.shape, (len(y), allx.shape[1]))
    _expect(paths["ally"], ally.shape, (known, y.shape[1]))
    _expect(paths["ty"], ty.shape, (len(test), y.shape[1]))
    if test.min() < known or len(y) > known:
        raise damaged(paths["allx"], f"its {known} rows overlap the test nodes or miss training nodes")

    labels = np.zeros(n, dtype=np.int64)
    labels[:known] = ally.argmax(axis=1)
    labels[test] = ty.argmax(axis=1)
    train = np.arange(len(y))
    validation = np.arange(len(y), min(len(y) + VALIDATION_NODES, known))
    return Graph.from_edges(
        _read_edges(paths["graph"], n),
        _place_rows(allx, tx, test, n),
        labels,
        classes=np.arange(y.shape[1]),
        name=name,
        public_split=(train, validation, np.sort(test)),
    )


def _place_rows(allx: sparse.csr_array, tx: sparse.csr_array, test: np.ndarray, n: int) -> sparse.csr_array:
    """The n×D features: ``allx`` on top, row i of ``tx`` moved to row ``test[i]``, zeros where neither has a row."""
    top, bottom = allx.tocoo(), tx.tocoo()
    rows = np.concatenate([top.row, test[bottom.row]])
    columns = np.concatenate([top.col, bottom.col])
    values = np.concatenate([top.data, bottom.data]).astype(np.float32)
    return sparse.csr_array((values, (rows, columns)), shape=(n, allx.shape[1]))


def _read_features(path: Path) -> sparse.csr_array:
    found = read_pickle(path)
    if not sparse.issparse(found) or found.dtype.kind not in "fiub":
        raise damaged(path, f"it should hold a sparse matrix of numbers but holds {_kind(found)}")
    return found


def _read_one_hot(path: Path) -> np.ndarray:
    found = read_pickle(path)
    if not isinstance(found, np.ndarray) or found.ndim != 2 or 0 in found.shape or found.dtype.kind not in "fiub":
        raise damaged(path, f"it should hold one-hot labels but holds {_kind(found)}")
    return found


def _read_edges(path: Path, n: int) -> np.ndarray:
    """(m, 2) pairs from a dictionary of neighbour lists; duplicates and self-loops still inside."""
    found = read_pickle(path)
    if not isinstance(found, dict) or not all(isinstance(near, list) for near in found.values()):
        raise damaged(path, f"it should hold a dictionary of neighbour lists but holds {_kind(found)}")
    try:
        source = np.repeat(np.array(list(found), dtype=np.int64), [len(near) for near in found.values()])
        target = np.array([node for near in found.values() for node in near], dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise damaged(path, "a neighbour in it is not a node number") from None
    pairs = np.stack([source, target], axis=1)
    outside = ((pairs < 0) | (pairs >= n)).any(axis=1)
    if outside.any():
        raise damaged(path, f"it joins the nodes {pairs[outside][0].tolist()} but there are only {n} nodes")
    return pairs


def _read_index(path: Path) -> np.ndarray:
    try:
        index = np.array(path.read_text(encoding="ascii").split(), dtype=np.int64)
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, OverflowError):
        raise damaged(path, "it should hold one node number a line") from None
    if not len(index) or index.min() < 0 or len(np.unique(index)) != len(index):
        raise damaged(path, "it should hold different node numbers, at least one")
    return index


def _expect(path: Path, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if tuple(shape) != wanted:
        raise damaged(path, f"it has the shape {tuple(shape)} where the other files need {wanted}")


def _kind(found: Any) -> str:
    shape = getattr(found, "shape", None)
    return type(found).__name__ + ("" if shape is None else f" of the shape {shape}")
