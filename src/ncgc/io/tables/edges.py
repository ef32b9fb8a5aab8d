"""The edge table: ends looked up among the node ids, weights read, duplicates merged."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ncgc.errors import InputError
from ncgc.graph.adjacency import MergedEdges, merge_edges
from ncgc.io.tables.columns import numbers
from ncgc.io.tables.ids import id_cells, positions, quoted_id
from ncgc.io.tables.table import Table


def read_edges(
    table: Table,
    nodes: Table,
    ids: pa.ChunkedArray,
    source: str,
    target: str,
    weight: str | None,
    elsewhere: str = "",
) -> MergedEdges:
    """Read the edges of a table.

    Args:
        table: the edge table.
        nodes: the node table, for messages.
        ids: (n,) ids of the nodes.
        source: column of one end.
        target: column of the other end.
        weight: column of positive weights; None for 1 everywhere.
        elsewhere: what else the ids come from, for messages.

    Returns:
        The merged edges: a symmetric adjacency and counts.

    Raises:
        InputError: names the first row with an unknown id or a bad weight.
    """
    ends = [id_cells(table, column, what) for column, what in ((source, "source"), (target, "target"))]
    found = [positions(cells, ids) for cells in ends]
    unknown = (found[0] < 0) | (found[1] < 0)
    if unknown.any():
        raise _unknown(table, nodes, ids, ends, found, unknown, elsewhere)
    weights = None if weight is None else read_weights(table, weight)
    return merge_edges(found[0], found[1], weights, len(ids))


def check_header(table: Table, source: str, target: str, ids: pa.ChunkedArray) -> None:
    """Check that a file of edges begins with a header, not with an edge.

    Args:
        table: of edges.
        source, target: names of its two columns of ends.
        ids: (n,) ids of the nodes.

    Raises:
        InputError: if both names are node ids.
    """
    if (positions(pa.chunked_array([[source, target]]), ids) >= 0).all():
        raise InputError(
            f"{table.name} has no header: its first row holds node ids; add the header source,target above it."
        )


def read_weights(table: Table, name: str) -> np.ndarray:
    """Read a column of edge weights.

    Args:
        table: the edge table.
        name: of the column.

    Returns:
        (m,) float32, finite and above 0.
    """
    remedy = "give each edge a weight above 0 (1 is the usual one)"
    values = numbers(table, name, remedy)
    with np.errstate(over="ignore"):  # too large for float32 is reported below
        small = values.astype(np.float32)
    bad = ~(np.isfinite(small) & (small > 0))
    if bad.any():
        row = int(bad.argmax())
        found = "no weight" if np.isnan(values[row]) else f"the weight {values[row]:g}"
        why = ", too large to compute with" if np.isinf(small[row]) else ", too small" if values[row] > 0 else ""
        raise InputError(f"{table.where(row)}: the edge has {found} (column {name!r}){why}; {remedy}, or remove it.")
    return small


def _unknown(
    table: Table,
    nodes: Table,
    ids: pa.ChunkedArray,
    ends: list[pa.ChunkedArray],
    found: list[np.ndarray],
    unknown: np.ndarray,
    elsewhere: str,
) -> InputError:
    row = int(unknown.argmax())
    cell = ends[0 if found[0][row] < 0 else 1][row]
    others = int(unknown.sum()) - 1
    value = cell.as_py()
    if isinstance(value, str) and positions(pa.chunked_array([[value.strip()]]), ids)[0] >= 0:
        remedy = f"{nodes.name} has {value.strip()!r}: remove the spaces around the id"
    elif others + 1 == len(table):
        remedy = (
            f"no edge joins two of its nodes, whose ids look like {quoted_id(ids[0])}: check which columns are used"
        )
    else:
        remedy = f"add it to {nodes.name} or remove the edge"
    also = f" ({others:,} other edge{'s' * (others > 1)} likewise)" if others else ""
    where = nodes.name + (f" nor in {elsewhere}" if elsewhere else "")
    return InputError(f"{table.where(row)}: unknown node id {quoted_id(cell)} (not in {where}); {remedy}{also}.")
