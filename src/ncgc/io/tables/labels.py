"""The label column as class indices, -1 where a cell is empty; and the split column: training, validation or test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ncgc.datasets.split import PARTS, Split
from ncgc.errors import InputError
from ncgc.graph import Graph
from ncgc.graph.validation import MOST_CLASSES
from ncgc.io.tables.columns import check_type, named_column, quoted, shortened, text_cells
from ncgc.io.tables.table import Table, as_table

SPLIT_WORDS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}
LONGEST = 500  # characters of a class name
SUSPICIOUS = ("na", "n/a", "nan", "null", "none", "unknown", "unlabelled", "unlabeled", "?", "-", "-1")


@dataclass(frozen=True)
class Labels:
    """Labels read from a column.

    Attributes:
        numbers: (n,) int64 class indices, -1 where unknown.
        classes: (K,) class names.
        notes: sentences for the user.
    """

    numbers: np.ndarray
    classes: np.ndarray
    notes: list[str]


def read_labels(table: Table, name: str | None, classes: Sequence[str] | None = None, strict: bool = True) -> Labels:
    """Read a column of labels, trimmed.

    Args:
        table: the node table.
        name: of the column; None where there is none.
        classes: of a fitted model; default: the distinct labels, sorted.
        strict: whether to refuse columns that hold no label, one class only, or what looks like ids or text.

    Returns:
        The labels, their classes and notes.

    Raises:
        InputError: names what is wrong with the column and what to do.
    """
    if name is None:
        return Labels(np.full(len(table), -1, dtype=np.int64), np.array(list(classes or []), dtype=str), [])
    check_type(table, name, "write the labels as text or whole numbers")
    cells = text_cells(table.column(name))
    names = sorted(pc.unique(cells.drop_null()).to_pylist())
    if classes is not None:
        _check_known(table, name, cells, classes)
        names = list(classes)
    elif strict:
        _check_names(table, name, names, len(cells) - cells.null_count)
    numbers = np.full(len(table), -1, dtype=np.int64)
    if names:
        found = pc.index_in(cells, value_set=pa.array(names, pa.string()), skip_nulls=True)
        numbers = np.asarray(pc.fill_null(found, -1).to_numpy()).astype(np.int64)
    return Labels(numbers, np.array(names, dtype=str), _notes(table, name, numbers, names) if strict else [])


def labels_to_compare(table: Table, name: str | None, classes: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """Labels to compare predictions with.

    Args:
        table: a table of nodes.
        name: the column of labels; None where there is none.
        classes: (K,) class names of the model.

    Returns:
        (n,) class indices, -1 where a cell is empty or holds another class, and a note on the latter.
    """
    labels = read_labels(table, name, strict=False)
    place = {str(known): number for number, known in enumerate(classes)}
    numbers = np.array([place.get(one, -1) for one in labels.classes.tolist()] + [-1])[labels.numbers]
    strange = int(((labels.numbers >= 0) & (numbers < 0)).sum())
    words = "1 label is none" if strange == 1 else f"{strange:,} labels are none"
    note = f"{table.name}, column {name!r}: {words} of the model's classes and not compared with."
    return numbers, [note] if strange else []


def _check_names(table: Table, name: str, names: list[str], labelled: int) -> None:
    where = f"{table.name}, column {name!r}"
    if not names:
        raise InputError(f"{where}: no node has a label; write the label of at least one node of each class into it.")
    if len(names) == 1:
        raise InputError(
            f"{where}: every labelled node is of the class {shortened(names[0])}; label a node of another class as well."
        )
    if len(names) > MOST_CLASSES:
        raise InputError(
            f"{where}: {len(names):,} different labels, more than {MOST_CLASSES:,}, look like an id column; "
            "say which column holds the labels with 'label'."
        )
    if len(names) == labelled and labelled > max(2, len(table) / 2):
        raise InputError(
            f"{where}: all {labelled:,} labels are different, which looks like an id column; "
            "say which column holds the labels with 'label'."
        )
    if max(map(len, names)) > LONGEST:
        raise InputError(
            f"{where}: {shortened(max(names, key=len))} is longer than {LONGEST} characters, which looks like a text; "
            "say which column holds the labels with 'label'."
        )
    if any("\0" in one for one in names):
        raise InputError(f"{where}: a label holds a NUL character; remove it.")


def _check_known(table: Table, name: str, cells: pa.ChunkedArray, classes: Sequence[str]) -> None:
    strange = pc.and_(pc.is_valid(cells), pc.invert(pc.is_in(cells, value_set=pa.array(list(classes), pa.string()))))
    row = pc.index(strange, True).as_py()
    if row >= 0:
        raise InputError(
            f"{table.where(row)}, column {name!r}: the label {shortened(cells[row].as_py())} is none of the model's classes "
            f"{quoted(classes, 8)}; correct it or leave the cell empty."
        )


def _notes(table: Table, name: str, numbers: np.ndarray, names: Sequence[str]) -> list[str]:
    notes = []
    counts = np.bincount(numbers[numbers >= 0], minlength=len(names))
    labelled = int(counts.sum())
    notes.append(f"{labelled:,} of {len(table):,} nodes have a label in the column {name!r}, of {len(names)} classes.")
    if labelled == len(table):
        notes.append("Every node has a label already: there is nothing left to predict.")
    single = [names[k] for k in np.flatnonzero(counts == 1).tolist()]
    if single:
        notes.append(f"A single node is labelled as {quoted(single, 5)}; a few more would help.")
    for one in (one for one in names if one.lower() in SUSPICIOUS):
        notes.append(f"The label {one!r} is taken as a class; leave the cell empty where it means that none is known.")
    return notes


def read_split(nodes: Any, column: str, graph: Graph, delimiter: str | None = None) -> Split:
    """Read the split from a column of the node table; cells of unlabelled nodes are ignored.

    Args:
        nodes: the node table: a file, a DataFrame or a Table.
        column: whose cells are train, val or test (also training, valid, validation), in any case.
        graph: read from the same table.
        delimiter: of a text file; by default from its extension and header.

    Returns:
        The split, validated.

    Raises:
        InputError: names the first labelled node without a part.
    """
    table = as_table(nodes, "nodes", delimiter)
    name = named_column(table, column, "split")
    labelled = np.flatnonzero(graph.labels >= 0)
    cells = text_cells(table.column(name)).take(pa.array(labelled))
    place = pc.index_in(pc.utf8_lower(cells), value_set=pa.array(list(SPLIT_WORDS)), skip_nulls=True)
    word = np.asarray(pc.fill_null(place, -1).to_numpy())
    if (word < 0).any():
        first = int((word < 0).argmax())
        cell = cells[first].as_py()
        found = f"{cell!r}" if cell else "an empty cell"
        raise InputError(
            f"{table.where(int(labelled[first]))}: a labelled node with {found} in the column {name!r}; "
            "write train, val or test."
        )
    parts = np.array(list(SPLIT_WORDS.values()))[word]
    return Split(*(labelled[parts == part] for part in PARTS)).validate(graph)
