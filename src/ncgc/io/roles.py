"""A column that says which part each labelled node plays: training, validation or test."""

from __future__ import annotations

from typing import Any

import numpy as np

from ncgc.datasets import Split
from ncgc.errors import InputError
from ncgc.graph import Graph
from ncgc.io.cells import text_cells
from ncgc.io.columns import named_column
from ncgc.io.tables import as_table

WORDS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}


def read_split(nodes: Any, column: str, graph: Graph, delimiter: str | None = None) -> Split:
    """The split in a column of the node table, whose cells are train, val or test; an unlabelled node's cell is not read.

    Only the labels of training nodes are trained on: those of validation nodes choose the epoch and calibrate, those of
    test nodes are compared with.
    """
    table = as_table(nodes, "nodes", delimiter)
    name = named_column(table, column, "split")
    parts: dict[str, list[int]] = {"train": [], "val": [], "test": []}
    cells = text_cells(table.column(name)).to_pylist()
    for node in np.flatnonzero(graph.labels >= 0).tolist():
        word = (cells[node] or "").strip().lower()
        if word not in WORDS:
            found = f"{cells[node]!r}" if word else "an empty cell"
            raise InputError(
                f"{table.where(node)}: a labelled node with {found} in the column {name!r}; write train, val or test."
            )
        parts[WORDS[word]].append(node)
    train, val, test = (np.array(nodes, dtype=np.int64) for nodes in parts.values())
    return Split(train, val, test).validate(graph)
