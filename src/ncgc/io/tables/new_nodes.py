"""New nodes for a fitted model: attached to the graph it was fitted on, or as a graph of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from ncgc.errors import InputError, ModelFileError
from ncgc.graph import Graph
from ncgc.graph.adjacency import MergedEdges
from ncgc.graph.validation import Features, as_features
from ncgc.io.tables.columns import end_columns, id_column, label_column, weight_column
from ncgc.io.tables.edges import check_header, read_edges
from ncgc.io.tables.features import read_features
from ncgc.io.tables.ids import check_unique, id_array, id_cells, positions, quoted_id
from ncgc.io.tables.labels import labels_to_compare
from ncgc.io.tables.read_graph import TableSchema
from ncgc.io.tables.table import Table, as_table

OLD = "the model's graph"


@dataclass(frozen=True)
class Attached:
    """New nodes in a graph that a model can be applied to.

    Attributes:
        graph: the model's nodes, then the new ones in the order of their table; or, not ``joined``, the new ones alone.
        new: (m,) indices of the new nodes in ``graph``.
        ids: (m,) their ids as in the table.
        truth: (m,) their labels as indices of the model's classes, -1 where unknown; not part of ``graph``.
        joined: whether ``graph`` contains the model's nodes.
        bridges: number of edges between a new node and one of the model's.
        notes: sentences for the user.
    """

    graph: Graph
    new: np.ndarray
    ids: np.ndarray
    truth: np.ndarray
    joined: bool
    bridges: int
    notes: list[str]


def attach_nodes(
    old: Graph,
    nodes: Any,
    edges: Any,
    schema: TableSchema,
    *,
    id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    features: Any = None,
    delimiter: str | None = None,
    alone: bool = False,
) -> Attached:
    """A graph for a fitted model from a table of new nodes and a table of edges among them and to the model's nodes.

    Args:
        old: the graph the model was fitted on.
        nodes: a table with a row a new node; a file or data frame as in :func:`ncgc.io.read_graph`.
        edges: a table with a row an edge; an end is a new id or one of ``old``.
        schema: how the tables of ``old`` were read; gives the names of columns that are not given here.
        id: the column of ids.
        source: the column of one end of an edge.
        target: the column of the other end.
        weight: the column of weights.
        features: a .npz or .npy file or an (m, D) array, where the model's features did not come from columns.
        delimiter: of both text files; by default from their extension and header.
        alone: leave the model's graph out: the tables are another graph, whose ids may repeat those of ``old``.

    Returns:
        The graph with the new nodes.

    Raises:
        InputError: names the file and the row, and what to do.
    """
    table, links = as_table(nodes, "nodes", delimiter), as_table(edges, "edges", delimiter)
    usual = schema.columns
    id_name, id_notes = id_column(table, id or usual.get("id"))
    ids = id_cells(table, id_name)
    check_unique(table, id_name, ids)
    count = 0 if alone else old.num_nodes
    known = ids if alone else _together(table, id_name, _arrow_ids(old), ids)
    source_name, target_name, end_notes = end_columns(
        links, source or usual.get("source"), target or usual.get("target")
    )
    if end_notes:
        check_header(links, source_name, target_name, known)
    ends = [source_name, target_name]
    if alone:
        _check_alone(links, ends, ids, _arrow_ids(old))
    weight_name = weight_column(links, weight or _present(links, usual.get("weight")), ends)
    merged = read_edges(links, table, known, source_name, target_name, weight_name, "" if alone else OLD)
    matrix = _features(table, features, schema, old.num_features)
    label_name = label_column(table, None, [id_name], needed=False) if usual.get("label") is None else usual["label"]
    truth, label_notes = labels_to_compare(table, _present(table, label_name), old.classes.tolist())
    joined = bool(merged.adjacency.indptr[count])
    notes = [*table.notes, *links.notes, *id_notes, *end_notes, *merged.notes(links.name, directed=False), *label_notes]
    if joined and old.weighted and weight_name is None:
        notes.append(f"The edges of {OLD} have weights and those of {links.name} have none: each counts 1.")
    graph = _graph(old, merged, matrix, known, ids, joined, count)
    return Attached(
        graph=graph.validate(),
        new=np.arange(graph.num_nodes - len(ids), graph.num_nodes),
        ids=id_array(ids),
        truth=truth,
        joined=joined,
        bridges=int(merged.adjacency[:count, count:].nnz),
        notes=notes,
    )


def _graph(
    old: Graph,
    merged: MergedEdges,
    matrix: Features,
    known: pa.ChunkedArray,
    ids: pa.ChunkedArray,
    joined: bool,
    count: int,
) -> Graph:
    """The graph of old and new nodes, or of the new ones alone; the new ones without labels."""
    unlabelled = np.full(len(ids), -1, dtype=np.int64)
    if not joined:
        own = sparse.csr_array(merged.adjacency[count:, count:])
        return Graph(own, matrix, unlabelled, old.classes, id_array(ids), old.name)
    wide = old.adjacency.copy()
    wide.resize(merged.adjacency.shape)
    adjacency = sparse.csr_array(wide.maximum(merged.adjacency))
    adjacency.sort_indices()
    if sparse.issparse(old.features):
        features = sparse.csr_array(sparse.vstack([old.features, sparse.csr_array(matrix)], format="csr"))
    else:
        features = np.vstack([old.features, matrix.toarray() if sparse.issparse(matrix) else matrix])
    labels = np.concatenate([old.labels, unlabelled])
    return Graph(adjacency, features, labels, old.classes, id_array(known), old.name)


def _arrow_ids(graph: Graph) -> pa.ChunkedArray:
    ids = np.arange(graph.num_nodes) if graph.node_ids is None else graph.node_ids
    if ids.dtype.kind == "i":
        return pa.chunked_array([ids.astype(np.int64)])
    return pa.chunked_array([[str(one) for one in ids.tolist()]], pa.string())


def _together(table: Table, name: str, old: pa.ChunkedArray, new: pa.ChunkedArray) -> pa.ChunkedArray:
    """The old ids, then the new; an InputError for an id that is in both. Where one side is text, all become text."""
    twice = positions(new, old) >= 0
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"{table.where(row)}: the id {quoted_id(new[row])} (column {name!r}) is a node of {OLD} already{_likewise(twice)}; "
            "leave its row out (edges may name it all the same), or give --alone if the table is of another graph that "
            "happens to use the same ids."
        )
    if old.type != new.type:
        old, new = old.cast(pa.string()), new.cast(pa.string())
    return pa.chunked_array([*old.chunks, *new.chunks])


def _check_alone(links: Table, ends: list[str], ids: pa.ChunkedArray, old: pa.ChunkedArray) -> None:
    """Raise an InputError for an edge to a node of the model's graph, which is left out."""
    cells = [id_cells(links, end, what) for end, what in zip(ends, ("source", "target"), strict=True)]
    outside = [(positions(one, ids) < 0) & (positions(one, old) >= 0) for one in cells]
    wrong = outside[0] | outside[1]
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{links.where(row)}: {quoted_id(cells[0 if outside[0][row] else 1][row])} is a node of {OLD}, which --alone leaves "
            f"out{_likewise(wrong)}; leave --alone out to join the new nodes to it, or remove the edge."
        )


def _likewise(found: np.ndarray) -> str:
    """The number of further rows with the same problem, for a message."""
    others = int(found.sum()) - 1
    return f" ({others:,} other{'s' * (others > 1)} likewise)" if others else ""


def _present(table: Table, name: str | None) -> str | None:
    return name if name in table.columns else None


def _features(table: Table, given: Any, schema: TableSchema, width: int) -> Features:
    """m×D features of the new nodes, made like those of the model's nodes."""
    if schema.features == "structure":
        raise InputError(
            f"The model was fitted on features of its graph's structure, which new nodes do not have; put the rows of "
            f"{table.name} into the graph's own tables and fit again."
        )
    if schema.encoder is not None:
        if given is not None:
            raise InputError(
                f"The features of this model are made from the columns of {table.name}; give no --features."
            )
        matrix = schema.encoder.transform(table)
        if matrix.shape[1] != width:
            raise ModelFileError(
                f"The model has {width} features but its columns make {matrix.shape[1]}; fit and save it anew."
            )
        return matrix
    if given is None:
        raise InputError(
            f"The features of this model do not come from columns; give those of the {len(table):,} nodes in {table.name} "
            "as a .npz or .npy file with --features."
        )
    from_file = isinstance(given, str | Path)
    name = Path(given).name if from_file else "The array of features"
    matrix = read_features(given, len(table), table.name) if from_file else as_features(given)
    if matrix.shape != (len(table), width):
        raise InputError(
            f"{name} has {matrix.shape[0]:,} rows and {matrix.shape[1]:,} columns, and for {table.name} {len(table):,} and "
            f"{width:,} are needed; give the features that the model was fitted on, in the same order."
        )
    return matrix
