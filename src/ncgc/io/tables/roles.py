"""A column that says which part each labelled node plays: training, validation or test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ncgc.datasets import Split
from ncgc.datasets.split import PARTS
from ncgc.errors import InputError
from ncgc.graph import Graph
from ncgc.io.tables.cells import text_cells
from ncgc.io.tables.columns import named_column
from ncgc.io.tables.table import as_table

WORDS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def read_split(nodes: Any, column: str, graph: Graph, delimiter: str | None = None) -> Split:
    """The split in a column of the node table, whose cells are train, val or test; an unlabelled node's cell is not read.

    Only the labels of training nodes are trained on: those of validation nodes choose the epoch and calibrate, those of
    test nodes are compared with.
    """
    table = as_table(nodes, "nodes", delimiter)
    name = named_column(table, column, "split")
    labelled = np.flatnonzero(graph.labels >= 0)
    cells = text_cells(table.column(name)).take(pa.array(labelled))
    place = pc.index_in(pc.utf8_lower(cells), value_set=pa.array(list(WORDS)), skip_nulls=True)
    word = np.asarray(pc.fill_null(place, -1).to_numpy())
    if (word < 0).any():
        first = int((word < 0).argmax())
        cell = cells[first].as_py()
        found = f"{cell!r}" if cell else "an empty cell"
        raise InputError(
            f"{table.where(int(labelled[first]))}: a labelled node with {found} in the column {name!r}; "
            "write train, val or test."
        )
    parts = np.array(list(WORDS.values()))[word]
    return Split(*(labelled[parts == part] for part in PARTS)).validate(graph)
