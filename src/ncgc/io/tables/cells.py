"""The cells of a column as strings or as numbers, whatever type the file gave them."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ncgc.errors import InputError
from ncgc.io.tables.table import Table

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(nan|inf|infinity)$"
_WHOLE = 2**53  # up to here a double names every whole number


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without dictionary encoding, strings (and bytes that are UTF-8) as pa.string()."""
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if (
        types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    ):
        with suppress(pa.ArrowInvalid):  # bytes that are no text stay bytes, which no one uses
            column = column.cast(pa.string())
    return column


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a Parquet column of this type is a number as it stands: whole, real, yes/no or a date."""
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_temporal(kind)
    ) and not types.is_interval(kind)


def is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_null(kind))


def check_type(table: Table, name: str, remedy: str) -> None:
    """Raise an InputError unless the cells of a column can be taken as numbers or text: lists and bytes cannot."""
    kind = decoded(table.column(name)).type
    if not (is_numeric(kind) or is_text(kind)):
        raise InputError(f"{table.name}, column {name!r}: cells of the type {kind} cannot be used here; {remedy}.")


def text_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells as trimmed strings, null where empty. Whole numbers stored as doubles lose their ".0".

    >>> text_cells(pa.chunked_array([[" a ", "", None]])).to_pylist(), text_cells(pa.chunked_array([[1.0, 2.5]])).to_pylist()
    (['a', None, None], ['1', '2.5'])
    """
    column = decoded(column)
    if types.is_null(column.type):
        return column.cast(pa.string())
    if types.is_floating(column.type):
        values = column.cast(pa.float64())
        column = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
        known = column.drop_null()
        if not len(known) or pc.all(pc.and_(pc.equal(known, pc.floor(known)), pc.less(pc.abs(known), _WHOLE))).as_py():
            column = column.cast(pa.int64())
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.string()))
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def parsed(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Trimmed text as doubles where every cell is a finite number, which a cast finds out sooner than a pattern does."""
    try:
        values = cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return values if pc.all(pc.is_finite(values), min_count=0).as_py() else None


def numbers(table: Table, name: str, remedy: str) -> np.ndarray:
    """(n,) float64, NaN where the cell is empty; an InputError with the row and the remedy for one that is no number."""
    check_type(table, name, remedy)
    column = decoded(table.column(name))
    if is_numeric(column.type):
        if types.is_temporal(column.type):
            column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
        values = column.cast(pa.float64(), safe=False)
    else:
        column = text_cells(column)
        values = parsed(column)
        if values is None:
            wrong = pc.index(pc.match_substring_regex(column, NUMBER), False).as_py()
            if wrong >= 0:
                raise _not_a_number(table, name, wrong, column, remedy)
            values = column.cast(pa.float64())  # numbers all, but one is too large for a double
    missing = values.is_null().to_numpy()
    array: np.ndarray = np.array(values.to_numpy(), dtype=np.float64)
    bad = ~np.isfinite(array) & ~missing
    if bad.any():
        raise _not_a_number(table, name, int(bad.argmax()), column, remedy)
    return array


def _not_a_number(table: Table, name: str, row: int, column: pa.ChunkedArray, remedy: str) -> InputError:
    cell = str(column[row].as_py())
    point = cell.replace(",", ".")
    if point != cell and re.fullmatch(NUMBER, point):
        remedy = f"write {point} with a decimal point"
    return InputError(f"{table.where(row)}, column {name!r}: {shortened(cell)} is not a finite number; {remedy}.")


def shortened(cell: str, most: int = 40) -> str:
    """
    >>> shortened("a" * 50, 5)
    "'aaaaa…'"
    """
    return repr(cell if len(cell) <= most else cell[:most] + "…")
