"""Rows: the share of a graph that one process has, cut from a graph at hand or sent by the first process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse

from ncgc.graph.validation import Features
from ncgc.training.engines.distributed.graph_summary import GraphSummary
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.partition import Part, make_part, propagation_rows
from ncgc.training.engines.partition.part_operators import Source


@dataclass(frozen=True, eq=False)
class Rows:
    """What a process needs of a graph.

    Attributes:
        part: its m nodes, and h neighbours elsewhere.
        kind: of the propagation matrix, "gcn" or "mean".
        matrix: m×(m+h) its rows, in the numbers of the part.
        features: m×D, scaled.
    """

    part: Part
    kind: str
    matrix: sparse.csr_array
    features: Features


def cut_rows(source: Source, owner: np.ndarray, rank: int, kind: str, dtype: type = np.float32) -> Rows:
    """The rows of one process, out of a graph at hand; matrices of doubles are not rounded on the way."""
    adjacency = source.graph.adjacency if dtype is np.float32 else source.graph.adjacency.astype(dtype)
    part = make_part(adjacency, np.flatnonzero(owner == rank), hops=1)
    return Rows(part, kind, propagation_rows(adjacency, part, kind), source.rows(part.owned))


def dealt_rows(source: Source, owner: np.ndarray, group: Group, kind: str) -> Rows:
    """The rows of this process: cut here where every process has the graph, otherwise sent by the first, which has it."""
    if not int(group.highest(torch.tensor(int(isinstance(source.graph, GraphSummary))))):
        return cut_rows(source, owner, group.rank, kind)
    if group.first:
        for rank in range(1, group.size):
            _send(group, cut_rows(source, owner, rank, kind), rank)  # one at a time in memory
        return cut_rows(source, owner, 0, kind)
    return _received(group, kind)


def _send(group: Group, rows: Rows, rank: int) -> None:
    arrays = [rows.part.owned, rows.part.halo, *_arrays(rows.matrix), *_arrays(rows.features)]
    for array in arrays:
        group.give(torch.from_numpy(np.ascontiguousarray(array)), rank)


def _arrays(matrix: Features) -> list[np.ndarray]:
    """What a matrix consists of, after how many columns it has; three arrays where it is sparse."""
    columns = np.array([matrix.shape[1], int(sparse.issparse(matrix))])
    return [columns, matrix.indptr, matrix.indices, matrix.data] if sparse.issparse(matrix) else [columns, matrix]


def _received(group: Group, kind: str) -> Rows:
    owned, halo = group.taken().numpy(), group.taken().numpy()
    matrix = sparse.csr_array(_matrix(group, len(owned)))
    return Rows(Part(owned, halo, len(owned)), kind, matrix, _matrix(group, len(owned)))


def _matrix(group: Group, rows: int) -> Features:
    columns, is_sparse = group.taken().tolist()
    if not is_sparse:
        dense: np.ndarray = group.taken().numpy()
        return dense
    indptr, indices, data = (group.taken().numpy() for _ in range(3))
    return sparse.csr_array((data, indices, indptr), shape=(rows, columns))
