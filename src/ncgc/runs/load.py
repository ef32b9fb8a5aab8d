"""From a description to a graph with labels: read a data set or tables, and split the nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ncgc.datasets import Split, load_dataset, make_split
from ncgc.errors import InputError
from ncgc.graph import Graph
from ncgc.io import GraphTables, read_graph
from ncgc.io.tables.columns import named_column
from ncgc.io.tables.labels import read_split
from ncgc.io.tables.read_graph import GRAPHML
from ncgc.io.tables.table import as_table
from ncgc.runs.source import DatasetSource, TableSource


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph, and which of its labels train.

    Attributes:
        graph: the graph with all labels that are known.
        split: the nodes to train on, to choose an epoch by and to test on.
        val: validation nodes to measure on; those of the split unless they are kept from training.
        tables: how the tables were read, of a graph that came from some.
    """

    graph: Graph
    split: Split
    val: np.ndarray
    tables: GraphTables | None = None


def load(
    source: DatasetSource | TableSource, seed: int = 0, root: str | Path | None = None, graph: Graph | None = None
) -> LabelledGraph:
    """Read a graph and split its nodes.

    Args:
        source: what to read.
        seed: of the split of a data set.
        root: a folder to search for data sets first.
        graph: the data set, where it has been read already.

    Returns:
        The graph and its split.
    """
    if isinstance(source, TableSource):
        return load_tables(source)
    graph = _dataset(source.name, root) if graph is None else graph
    sizes = {"labels_per_class": source.labels_per_class, "val_per_class": source.val_per_class}
    split = make_split(graph, source.split, seed=seed, **sizes)
    shown = replace(split, val=split.val[:0]) if source.blind else split
    return LabelledGraph(graph, shown, split.val)


@lru_cache(maxsize=2)
def _dataset(name: str, root: str | Path | None) -> Graph:
    return load_dataset(name, root=root)


def load_tables(source: TableSource) -> LabelledGraph:
    """Read a graph from tables; all its labels train unless a column marks some for validation or test.

    Args:
        source: the files and what their columns mean.

    Returns:
        The graph, its split and how the tables were read.

    Raises:
        InputError: with the file, the row and what to do.
    """
    names, kinds = source.columns
    as_given = source.features_from_file or source.features == "none"
    features: Any = source.features if as_given else names
    nodes: Any = source.nodes
    if source.split is not None:
        if Path(nodes).suffix.lower() in GRAPHML:
            raise InputError("A split column is read from a node table; give the nodes and edges as tables.")
        nodes = as_table(nodes, "nodes", source.delimiter)  # once, for the graph and the split
        column = named_column(nodes, source.split, "split")
        kinds = {**kinds, column: "drop"} if features is None else kinds
    tables = read_graph(
        nodes, source.edges, id=source.id, label=source.label, source=source.source, target=source.target,
        weight=source.weight, features=features, kinds=kinds or None, delimiter=source.delimiter, name=source.name,
    )  # fmt: skip
    if source.split is None:
        split = Split.from_labels(tables.graph)
    else:
        split = read_split(nodes, source.split, tables.graph, source.delimiter)
    return LabelledGraph(tables.graph, split, split.val, tables)
