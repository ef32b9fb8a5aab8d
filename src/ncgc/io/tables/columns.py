"""The columns of a table: found by name, given or usual, and their cells as text or numbers, whatever their type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from ncgc.errors import InputError
from ncgc.io.tables.table import Table

IDS = ("id", "node_id", "node", "nodeid", "vertex", "key", "name")
LABELS = ("label", "labels", "class", "class_label", "y", "target")
WEIGHTS = ("weight", "edge_weight", "w")
ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("source_id", "target_id"),
    ("src_id", "dst_id"),
    ("from_id", "to_id"),
    ("start", "end"),
    ("node1", "node2"),
    ("id1", "id2"),
)
NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(nan|inf|infinity)$"
_WHOLE = 2**53  # up to here a float64 holds every whole number


# -------------------------------------------------------------------- which column is which


def quoted(names: Sequence[str], most: int = 20) -> str:
    """Quote the first names of a list for a message.

    Args:
        names: column names, for instance.
        most: number of names to quote.

    Returns:
        The names, and how many more there are.
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def plain_name(name: str) -> str:
    """A column name without differences of case and separators.

    Args:
        name: as it stands in the header.

    Returns:
        The name in lower case, its words joined by "_".

    >>> plain_name("Node ID"), plain_name("node-id")
    ('node_id', 'node_id')
    """
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def named_column(table: Table, name: str, what: str) -> str:
    """The column with a given name, where case and separators may differ.

    Args:
        table: the table.
        name: the name given.
        what: to be read from the column, in the message.

    Returns:
        The column's name as in the table.

    Raises:
        InputError: suggests the nearest name.
    """
    if name in table.columns:
        return name
    alike = [column for column in table.columns if plain_name(column) == plain_name(name)]
    if len(alike) == 1:
        return alike[0]
    near = get_close_matches(name, table.columns, n=1)
    meant = f"did you mean {near[0]!r}? Its" if near else "its"
    raise InputError(
        f"{table.name} has no column {name!r} to take the {what} from; {meant} columns are {quoted(table.columns)}."
    )


def guessed_column(table: Table, known: Sequence[str], taken: Sequence[str] = ()) -> str | None:
    """The column with the first usual name that the table has.

    Args:
        table: the table.
        known: usual names, best first.
        taken: columns that are used already.

    Returns:
        The column, or None.
    """
    free = {plain_name(column): column for column in reversed(table.columns) if column not in taken}
    return next((free[name] for name in known if name in free), None)


def id_column(table: Table, name: str | None) -> tuple[str, list[str]]:
    """The column of node ids.

    Args:
        table: the node table.
        name: given by the user; None for a usual name, or else the first column.

    Returns:
        The column, and notes on the guess.
    """
    if name is not None:
        return named_column(table, name, "ids"), []
    guess = guessed_column(table, IDS)
    if guess is not None:
        return guess, []
    first = table.columns[0]
    return first, [f"No column of {table.name} is called 'id' or 'node'; its first, {first!r}, is used for the ids."]


def label_column(table: Table, name: str | None, taken: Sequence[str], needed: bool = True) -> str | None:
    """The column of labels.

    Args:
        table: the node table.
        name: given by the user; None for a usual name.
        taken: columns that are used already.
        needed: whether it must exist.

    Returns:
        The column, or None where there is none.
    """
    if name is not None:
        column = named_column(table, name, "labels")
        if column in taken:
            raise InputError(f"{table.name}: the column {column!r} cannot hold both the ids and the labels.")
        return column
    guess = guessed_column(table, LABELS, taken)
    if guess is None and needed and table.columns == list(taken):
        raise InputError(
            f"{table.name} has only one column, {table.columns[0]!r}, and needs two, the ids and the labels; "
            "give the delimiter if the file is separated by something unusual."
        )
    if guess is None and needed:
        raise InputError(
            f"{table.name} has no column of labels (looked for {quoted(LABELS)}); say which it is with 'label'. "
            f"Its columns are {quoted(table.columns)}."
        )
    return guess


def end_columns(table: Table, source: str | None, target: str | None) -> tuple[str, str, list[str]]:
    """The columns of the two ends of edges.

    Args:
        table: the edge table.
        source: given by the user; None for a usual name.
        target: given by the user; None for a usual name.

    Returns:
        The two columns (the first two where no name is usual), and notes on the guess.
    """
    if len(table.columns) < 2:
        raise InputError(
            f"{table.name} has only one column, {table.columns[0]!r}, and needs two, the ends of each edge; "
            "give the delimiter if the file is separated by something unusual."
        )
    if source is not None and target is not None:
        ends = named_column(table, source, "sources"), named_column(table, target, "targets")
    elif source is not None or target is not None:
        ends = _partner(table, source, target)
    else:
        present = {plain_name(column): column for column in reversed(table.columns)}
        pair = next((pair for pair in ENDS if pair[0] in present and pair[1] in present), None)
        if pair is None:
            first, second = table.columns[:2]
            return (
                first,
                second,
                [f"The first two columns of {table.name}, {first!r} and {second!r}, are used as edges."],
            )
        ends = present[pair[0]], present[pair[1]]
    if ends[0] == ends[1]:
        raise InputError(f"{table.name}: the column {ends[0]!r} cannot be both ends of an edge; name two columns.")
    return *ends, []


def _partner(table: Table, source: str | None, target: str | None) -> tuple[str, str]:
    """Both ends where one was given: the other by its usual name."""
    if source is not None:
        first = named_column(table, source, "sources")
        second = guessed_column(table, [pair[1] for pair in ENDS], [first])
    else:
        second = named_column(table, target or "", "targets")
        first = guessed_column(table, [pair[0] for pair in ENDS], [second])  # type: ignore[assignment]
    if first is None or second is None:
        missing = "target" if second is None else "source"
        raise InputError(
            f"{table.name}: no column has a usual name for the {missing} of an edge; say which it is with {missing!r}. "
            f"Its columns are {quoted(table.columns)}."
        )
    return first, second


def weight_column(table: Table, name: str | None, taken: Sequence[str]) -> str | None:
    """Find the column of edge weights.

    Args:
        table: of edges.
        name: the column that the user named; None to search by the usual names.
        taken: columns with another use.

    Returns:
        The column's name, or None if there is none.

    Raises:
        InputError: if the table has no column ``name``.
    """
    if name is not None:
        return named_column(table, name, "weights")
    return guessed_column(table, WEIGHTS, taken)


# -------------------------------------------------------------------- cells


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without dictionary encoding, and with strings, and bytes that are UTF-8, as ``pa.string()``.

    Args:
        column: (n,) of any type.

    Returns:
        (n,) the same cells.
    """
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if (
        types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    ):
        with suppress(pa.ArrowInvalid):  # bytes that are no text stay bytes, which check_type refuses
            column = column.cast(pa.string())
    return column


def is_numeric(kind: pa.DataType) -> bool:
    """Whether cells of a type are numbers: integers, floats, decimals, booleans or dates.

    Args:
        kind: type of a column.

    Returns:
        False for text, even if it spells numbers.
    """
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_temporal(kind)
    ) and not types.is_interval(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of a type are text, or all empty.

    Args:
        kind: type of a column.

    Returns:
        False for bytes and lists.
    """
    return bool(types.is_string(kind) or types.is_null(kind))


def check_type(table: Table, name: str, remedy: str) -> None:
    """Check that the cells of a column are numbers or text, not lists or bytes.

    Args:
        table: the table.
        name: the column.
        remedy: what to do instead, to end the message.

    Raises:
        InputError: for any other type.
    """
    kind = decoded(table.column(name)).type
    if not (is_numeric(kind) or is_text(kind)):
        raise InputError(f"{table.name}, column {name!r}: cells of the type {kind} cannot be used here; {remedy}.")


def text_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells as trimmed strings, null where empty; whole numbers stored as floats lose their ".0".

    Args:
        column: cells of any usable type.

    Returns:
        (n,) strings.

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


def parsed_numbers(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Convert text to numbers if every cell is one; a cast is faster than a pattern.

    Args:
        cells: (n,) trimmed text.

    Returns:
        (n,) float64, or None if any cell is not a finite number.
    """
    try:
        values = cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return values if pc.all(pc.is_finite(values), min_count=0).as_py() else None


def numbers(table: Table, name: str, remedy: str) -> np.ndarray:
    """The cells of a column as numbers.

    Args:
        table: the table.
        name: of the column.
        remedy: what the user can do, for the message.

    Returns:
        (n,) float64, NaN where the cell is empty.

    Raises:
        InputError: names the first row that holds no finite number.
    """
    check_type(table, name, remedy)
    column = decoded(table.column(name))
    if is_numeric(column.type):
        if types.is_temporal(column.type):
            column = column.cast(pa.int32() if column.type.bit_width == 32 else pa.int64())
        values = column.cast(pa.float64(), safe=False)
    else:
        column = text_cells(column)
        values = parsed_numbers(column)
        if values is None:
            wrong = pc.index(pc.match_substring_regex(column, NUMBER), False).as_py()
            if wrong >= 0:
                raise _not_a_number(table, name, wrong, column, remedy)
            values = column.cast(pa.float64())  # all are numbers, but one is too large for float64
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
    """Quote a cell for a message.

    Args:
        cell: its text.
        most: number of characters to keep.

    Returns:
        The text in quotes, with "…" where it was cut.

    >>> shortened("a" * 50, 5)
    "'aaaaa…'"
    """
    return repr(cell if len(cell) <= most else cell[:most] + "…")
