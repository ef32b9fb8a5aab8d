"""Tables in, Graph out: what people have, read with the guesses they would make, and every guess said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ncgc.errors import InputError, ModelFileError
from ncgc.graph import Graph
from ncgc.io.tables.columns import end_columns, id_column, label_column, weight_column
from ncgc.io.tables.edges import check_header, read_edges
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.features import choose_features
from ncgc.io.tables.ids import check_unique, id_array, id_cells
from ncgc.io.tables.labels import read_labels
from ncgc.io.tables.table import as_table

GRAPHML = (".graphml", ".xml")
ORIGINS = ("columns", "file", "array", "structure")


@dataclass(frozen=True)
class GraphTables:
    """A graph read from a person's files, and what there is to say about the reading.

    Attributes:
        graph: node ids as in the file, classes sorted by name, labels -1 where the cell is empty.
        encoder: what made the features out of columns; None where they came from a file or the structure.
        notes: plain sentences for the screen.
        tables: the names of the files.
        columns: what each column was used for: id, label, source, target and weight (None where there is none).
        features: where the features came from: "columns", "file", "array" or "structure".
    """

    graph: Graph
    encoder: FeatureEncoder | None
    notes: list[str]
    tables: tuple[str, ...]
    columns: dict[str, str | None] = field(default_factory=dict)
    features: str = "columns"


def read_graph(
    nodes: Any,
    edges: Any = None,
    *,
    id: str | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    features: str | Path | Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoder: FeatureEncoder | None = None,
    classes: Sequence[str] | None = None,
    directed_note: bool = True,
    name: str | None = None,
) -> GraphTables:
    """A Graph from a node table and an edge table, or from one GraphML file.

    Args:
        nodes: .csv, .tsv (both also .gz) or .parquet with a row a node; a DataFrame; or a .graphml file, then no ``edges``.
        edges: the same with a row an edge; its ends must be ids of the node table.
        id, label, source, target, weight: column names; default: guessed from the usual ones.
        features: None: every other column; names: these columns; a .npz or .npy file: its rows, in the order of the
            nodes; "none": made from the graph's structure, as where no column is left.
        kinds: {"column": "number" | "category" | "text" | "drop"} where the guess would be wrong.
        delimiter: of both text files; default: by their extension and header.
        encoder, classes: of a fitted model, to read a graph for it: then its columns are needed and labels are not.
        directed_note: whether to say how many edges had no counterpart.
        name: of the graph; default: that of the node file.

    Raises:
        InputError: one sentence with the file, the row and what to do.
    """
    if isinstance(nodes, str | Path) and Path(nodes).suffix.lower() in GRAPHML:
        from ncgc.io.formats.graphml import read_graphml

        if edges is not None:
            raise InputError(f"{Path(nodes).name} holds nodes and edges; give no second file beside it.")
        return read_graphml(
            nodes, label=label, weight=weight, features=features, kinds=kinds, encoder=encoder, classes=classes,
            directed_note=directed_note, name=name,
        )  # fmt: skip
    if edges is None:
        raise InputError("The edges are missing; give a table of edges beside that of the nodes.")
    table, links = as_table(nodes, "nodes", delimiter), as_table(edges, "edges", delimiter)

    id_name, told = id_column(table, id)
    ids = id_cells(table, id_name)
    check_unique(table, id_name, ids)
    fitted = encoder is not None or classes is not None
    label_name = label_column(table, label, [id_name], needed=not fitted)
    labels = read_labels(table, label_name, classes, strict=not fitted)

    source_name, target_name, told_ends = end_columns(links, source, target)
    if told_ends:
        check_header(links, source_name, target_name, ids)
    weight_name = weight_column(links, weight, [source_name, target_name])
    merged = read_edges(links, table, ids, source_name, target_name, weight_name)

    used = f"Columns of {links.name}: {source_name!r} and {target_name!r} as the ends of edges"
    notes = [
        *table.notes,
        *links.notes,
        *told,
        *told_ends,
        f"Columns of {table.name}: {id_name!r} as id" + (f", {label_name!r} as label." if label_name else "."),
        used + (f", {weight_name!r} as weight." if weight_name else "."),
        *labels.notes,
        *merged.notes(links.name, directed_note),
    ]
    chosen = choose_features(table, [id_name, label_name], features, kinds, encoder, merged.adjacency)
    graph = Graph(
        adjacency=merged.adjacency,
        features=chosen.matrix,
        labels=labels.numbers,
        classes=labels.classes,
        node_ids=id_array(ids),
        name=name or (Path(nodes).name.split(".")[0] if isinstance(nodes, str | Path) else "graph"),
    )
    return GraphTables(
        graph=graph.validate(),
        encoder=chosen.encoder,
        notes=notes + chosen.notes,
        tables=(table.name, links.name),
        columns={
            "id": id_name,
            "label": label_name,
            "source": source_name,
            "target": target_name,
            "weight": weight_name,
        },
        features=chosen.origin,
    )


@dataclass(frozen=True)
class TableSchema:
    """Which column was what, and where the features came from.

    Attributes:
        columns: by role (id, label, source, target, weight) the column's name, None where there was none.
        features: "columns", "file", "array" or "structure"; see :class:`GraphTables`.
        encoder: what made the features out of columns, if they came from there.

    >>> TableSchema.from_dict(TableSchema({"id": "doc"}).to_dict()).columns["id"]
    'doc'
    >>> TableSchema.from_dict({})  # a model that was fitted in Python on arrays
    TableSchema(columns={}, features='array', encoder=None)
    """

    columns: dict[str, str | None] = field(default_factory=dict)
    features: str = "array"
    encoder: FeatureEncoder | None = None

    @classmethod
    def of(cls, tables: GraphTables) -> TableSchema:
        return cls(dict(tables.columns), tables.features, tables.encoder)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it: what `save_model` is given as ``extra``."""
        encoder = None if self.encoder is None else self.encoder.to_json()
        return {"columns": self.columns, "features": self.features, "encoder": encoder}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableSchema:
        """What :meth:`to_dict` gave; other entries are left alone, and without any the features are an array."""
        columns, origin, text = (
            values.get(key, default) for key, default in (("columns", {}), ("features", "array"), ("encoder", None))
        )
        sound = isinstance(columns, dict) and all(name is None or isinstance(name, str) for name in columns.values())
        if not sound or origin not in ORIGINS or not isinstance(text, str | None):
            raise ModelFileError("What the model says of its tables does not hold together; fit and save it anew.")
        if (origin == "columns") != (text is not None):
            raise ModelFileError("The model lacks what its features were made with; fit and save it anew.")
        return cls(columns, origin, None if text is None else FeatureEncoder.from_json(text))
