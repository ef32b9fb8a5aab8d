"""Node ids: read and checked in the node table, and looked up for the ends of edges."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ncgc.errors import InputError
from ncgc.io.tables.columns import decoded, is_numeric, shortened
from ncgc.io.tables.table import Table

_DIRECT = 8  # entries per node up to which a look-up table is small enough


def id_cells(table: Table, name: str, what: str = "id") -> pa.ChunkedArray:
    """Read a column of ids; strings are not trimmed: " A" and "A" are two nodes.

    Args:
        table: the table.
        name: of the column.
        what: the ids are called in messages.

    Returns:
        (n,) strings, or int64 where all are whole numbers.

    Raises:
        InputError: names the first row without an id.
    """
    column = decoded(table.column(name))
    kind = column.type
    empty = column.is_null()
    if types.is_string(kind):
        empty = pc.or_kleene(empty, pc.equal(column, ""))
    elif types.is_floating(kind):
        empty = pc.or_kleene(empty, pc.is_nan(column.cast(pa.float64())))
    missing = pc.index(empty, True).as_py()
    if missing >= 0:
        raise InputError(
            f"{table.where(missing)}: the {what} (column {name!r}) is missing; fill it in or remove the row."
        )
    try:
        if types.is_integer(kind) or types.is_floating(kind):
            return column.cast(pa.int64())
        return column if types.is_string(kind) else column.cast(pa.string())
    except pa.ArrowException:
        if types.is_integer(kind) or (is_numeric(kind) and not types.is_floating(kind)):
            return column.cast(pa.string())
    raise InputError(
        f"{table.name}: the column {name!r} holds {kind}, which cannot be the {what} of a node; "
        "use whole numbers or text."
    )


def check_unique(table: Table, name: str, ids: pa.ChunkedArray) -> None:
    """Check that no id occurs twice.

    Args:
        table: of nodes.
        name: its column of ids.
        ids: (n,) the cells of that column.

    Raises:
        InputError: naming the first two rows with the same id.
    """
    distinct = pc.count_distinct(ids).as_py()
    if distinct == len(ids):
        return
    code = np.asarray(pc.index_in(ids, value_set=pc.unique(ids)).to_numpy())
    first = np.full(distinct, len(ids))
    np.minimum.at(first, code, np.arange(len(ids)))
    second = int((first[code] != np.arange(len(ids))).argmax())
    again = int((np.bincount(code) > 1).sum()) - 1
    others = f" ({again:,} other id{'s repeat' if again > 1 else ' repeats'} as well)" if again else ""
    raise InputError(
        f"{table.where(int(first[code[second]]))} and {table.place(second)} have the same id "
        f"{quoted_id(ids[second])}{others}; remove one, or say which column holds the ids with 'id'."
    )


def positions(cells: pa.ChunkedArray, ids: pa.ChunkedArray) -> np.ndarray:
    """Look up cells among ids. Numbers are compared with numbers; where one side is text, both are compared as text.

    Args:
        cells: (m,) to look up.
        ids: (n,) unique.

    Returns:
        (m,) int64 positions, -1 where a cell is no id.

    >>> positions(pa.chunked_array([["b", "x"]]), pa.chunked_array([["a", "b"]]))
    array([ 1, -1])
    """
    if types.is_integer(cells.type) and types.is_integer(ids.type):
        return _number_positions(np.asarray(cells.to_numpy()), np.asarray(ids.to_numpy()))
    cells, ids = cells.cast(pa.string()), ids.cast(pa.string())
    found = pc.index_in(cells, value_set=ids.combine_chunks())
    return np.asarray(pc.fill_null(found, -1).to_numpy()).astype(np.int64)


def _number_positions(cells: np.ndarray, ids: np.ndarray) -> np.ndarray:
    low, high = int(ids.min()), int(ids.max())
    if high - low > _DIRECT * len(ids) + 1024:
        found = pc.index_in(pa.array(cells), value_set=pa.array(ids))
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)
    place = np.full(high - low + 1, -1, dtype=np.int64)
    place[ids - low] = np.arange(len(ids))
    inside = (cells >= low) & (cells <= high)
    return np.where(inside, place[np.where(inside, cells, low) - low], -1)


def id_array(ids: pa.ChunkedArray) -> np.ndarray:
    """Node ids as an array.

    Args:
        ids: (n,) integers or text.

    Returns:
        (n,) int64, or Python strings (NumPy strings would all be as wide as the longest).
    """
    if types.is_integer(ids.type):
        return np.asarray(ids.to_numpy())
    array = np.empty(len(ids), dtype=object)
    array[:] = ids.to_pylist()
    return array


def quoted_id(cell: pa.Scalar) -> str:
    """Quote an id for a message.

    Args:
        cell: the id.

    Returns:
        The id, cut if it is long text.
    """
    value = cell.as_py()
    return shortened(value) if isinstance(value, str) else repr(value)
