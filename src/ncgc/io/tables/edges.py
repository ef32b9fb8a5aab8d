"""The edge table: its ends looked up among the nodes, its weights read, its rows merged."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ncgc.errors import InputError
from ncgc.graph.adjacency import MergedEdges, merge_edges
from ncgc.io.tables.columns import numbers
from ncgc.io.tables.ids import id_cells, positions, shown
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
    """The edges of a table, whose ends are looked up among the ids of the node table (``elsewhere``: and of what else)."""
    ends = [id_cells(table, column, what) for column, what in ((source, "source"), (target, "target"))]
    found = [positions(cells, ids) for cells in ends]
    unknown = (found[0] < 0) | (found[1] < 0)
    if unknown.any():
        raise _unknown(table, nodes, ids, ends, found, unknown, elsewhere)
    weights = None if weight is None else read_weights(table, weight)
    return merge_edges(found[0], found[1], weights, len(ids))


def check_header(table: Table, source: str, target: str, ids: pa.ChunkedArray) -> None:
    """For columns whose names say nothing: raise an InputError if the header is an edge, of a file without one."""
    if (positions(pa.chunked_array([[source, target]]), ids) >= 0).all():
        raise InputError(
            f"{table.name} has no header: its first row holds node ids; add the header source,target above it."
        )


def read_weights(table: Table, name: str) -> np.ndarray:
    """(m,) float32, all above 0."""
    remedy = "give each edge a weight above 0 (1 is the usual one)"
    values = numbers(table, name, remedy)
    with np.errstate(over="ignore"):  # too large for float32 is said below
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
        remedy = f"no edge joins two of its nodes, whose ids look like {shown(ids[0])}: check which columns are used"
    else:
        remedy = f"add it to {nodes.name} or remove the edge"
    also = f" ({others:,} other edge{'s' * (others > 1)} likewise)" if others else ""
    where = nodes.name + (f" nor in {elsewhere}" if elsewhere else "")
    return InputError(f"{table.where(row)}: unknown node id {shown(cell)} (not in {where}); {remedy}{also}.")
