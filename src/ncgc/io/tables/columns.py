"""Which column is which: by the names people give them, unless they say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

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


def quoted(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def plain(name: str) -> str:
    """
    >>> plain("Node ID"), plain("node-id")
    ('node_id', 'node_id')
    """
    return re.sub(r"[\s\-.]+", "_", name.strip().lower())


def named_column(table: Table, name: str, what: str) -> str:
    """The column a person named: exactly, or but for capitals; an InputError with the nearest name otherwise."""
    if name in table.columns:
        return name
    alike = [column for column in table.columns if plain(column) == plain(name)]
    if len(alike) == 1:
        return alike[0]
    near = get_close_matches(name, table.columns, n=1)
    meant = f"did you mean {near[0]!r}? Its" if near else "its"
    raise InputError(
        f"{table.name} has no column {name!r} to take the {what} from; {meant} columns are {quoted(table.columns)}."
    )


def guessed_column(table: Table, known: Sequence[str], taken: Sequence[str] = ()) -> str | None:
    """The first column whose name is one of those known, in their order."""
    free = {plain(column): column for column in reversed(table.columns) if column not in taken}
    return next((free[name] for name in known if name in free), None)


def id_column(table: Table, name: str | None) -> tuple[str, list[str]]:
    """The column of node ids, and what there is to say about the choice; the first column where no name tells."""
    if name is not None:
        return named_column(table, name, "ids"), []
    guess = guessed_column(table, IDS)
    if guess is not None:
        return guess, []
    first = table.columns[0]
    return first, [f"No column of {table.name} is called 'id' or 'node'; its first, {first!r}, is used for the ids."]


def label_column(table: Table, name: str | None, taken: Sequence[str], needed: bool = True) -> str | None:
    """The column of labels, or None where there is none and none is needed."""
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
    """The columns of an edge's two ends, and what there is to say; the first two where no name tells."""
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
        present = {plain(column): column for column in reversed(table.columns)}
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
    """Both ends where a person named one: the other by its usual name."""
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
    if name is not None:
        return named_column(table, name, "weights")
    return guessed_column(table, WEIGHTS, taken)
