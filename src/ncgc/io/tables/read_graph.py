"""`read_graph`: a Graph from a node table and an edge table. Guesses about the tables are reported in notes."""

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
    """A graph read from tables or a file, and how it was read.

    Attributes:
        graph: node ids as in the file, classes sorted by name, labels -1 where the cell is empty.
        encoder: turned columns into features; None where they came from a file or the structure.
        notes: sentences for the user on what was guessed, dropped or merged.
        tables: names of the files.
        columns: the column of each role: id, label, source, target and weight; None where there is none.
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
    """Read a graph from a node table and an edge table, or from one GraphML file.

    Args:
        nodes: a table with a row a node: a .csv, .tsv (both also .gz) or .parquet file, a pandas DataFrame or a pyarrow
            Table; or a .graphml file, then without ``edges``.
        edges: a table with a row an edge; its ends must be ids of the node table.
        id: the node table's column of ids; this and the next four are guessed from the usual names by default.
        label: its column of labels; an empty cell is an unlabelled node.
        source: the edge table's column of one end.
        target: its column of the other end.
        weight: its column of positive weights.
        features: None for all other columns; a list of column names; a .npz or .npy file with a row a node, in the
            order of the node table; or "none" for features made from the graph's structure, as where no column is left.
        kinds: {"column": "number" | "category" | "text" | "drop"} where the guess would be wrong.
        delimiter: of both text files; by default from their extension and header.
        encoder: of a fitted model, to make the same features again; labels are then optional.
        classes: of a fitted model; labels are then optional, and other labels are refused.
        directed_note: whether to note how many edges have no counterpart in the other direction.
        name: of the graph; default: the node file's name without its extension.

    Returns:
        The graph, the encoder of its features and the notes.

    Raises:
        InputError: names the file and the row, and what to do.
    """
    if isinstance(nodes, str | Path) and Path(nodes).suffix.lower() in GRAPHML:
        from ncgc.io.formats.graphml import read_graphml  # which builds on this file

        if edges is not None:
            raise InputError(f"{Path(nodes).name} holds nodes and edges; give no second file beside it.")
        return read_graphml(
            nodes, label=label, weight=weight, features=features, kinds=kinds, encoder=encoder, classes=classes,
            directed_note=directed_note, name=name,
        )  # fmt: skip
    if edges is None:
        raise InputError("The edges are missing; give a table of edges beside that of the nodes.")
    table, links = as_table(nodes, "nodes", delimiter), as_table(edges, "edges", delimiter)

    id_name, id_notes = id_column(table, id)
    ids = id_cells(table, id_name)
    check_unique(table, id_name, ids)
    fitted = encoder is not None or classes is not None
    label_name = label_column(table, label, [id_name], needed=not fitted)
    labels = read_labels(table, label_name, classes, strict=not fitted)

    source_name, target_name, end_notes = end_columns(links, source, target)
    if end_notes:
        check_header(links, source_name, target_name, ids)
    weight_name = weight_column(links, weight, [source_name, target_name])
    merged = read_edges(links, table, ids, source_name, target_name, weight_name)
    chosen = choose_features(table, [id_name, label_name], features, kinds, encoder, merged.adjacency)

    columns = {"id": id_name, "label": label_name, "source": source_name, "target": target_name, "weight": weight_name}
    notes = [*table.notes, *links.notes, *id_notes, *end_notes, *_column_notes(table.name, links.name, columns)]
    notes += [*labels.notes, *merged.notes(links.name, directed_note), *chosen.notes]
    graph = Graph(
        adjacency=merged.adjacency,
        features=chosen.matrix,
        labels=labels.numbers,
        classes=labels.classes,
        node_ids=id_array(ids),
        name=name or (Path(nodes).name.split(".")[0] if isinstance(nodes, str | Path) else "graph"),
    )
    return GraphTables(
        graph.validate(), chosen.encoder, notes, (table.name, links.name), columns=columns, features=chosen.origin
    )


def _column_notes(nodes: str, edges: str, columns: Mapping[str, str | None]) -> list[str]:
    label, weight = (columns[role] for role in ("label", "weight"))
    ends = f"{columns['source']!r} and {columns['target']!r} as the ends of edges"
    return [
        f"Columns of {nodes}: {columns['id']!r} as id" + (f", {label!r} as label." if label else "."),
        f"Columns of {edges}: {ends}" + (f", {weight!r} as weight." if weight else "."),
    ]


@dataclass(frozen=True)
class TableSchema:
    """How the tables of a model were read, stored with it, so that new tables are read the same way.

    Attributes:
        columns: the column of each role (id, label, source, target, weight); None where there was none.
        features: where the features came from: "columns", "file", "array" or "structure".
        encoder: turns columns into features, where they came from columns.

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
        """The schema of tables that were read.

        Args:
            tables: from :func:`read_graph`.

        Returns:
            Their columns, the origin of the features and the encoder.
        """
        return cls(dict(tables.columns), tables.features, tables.encoder)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON, to be saved with a model as ``extra``."""
        encoder = None if self.encoder is None else self.encoder.to_json()
        return {"columns": self.columns, "features": self.features, "encoder": encoder}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TableSchema:
        """The schema in a model's ``extra``.

        Args:
            values: from :meth:`to_dict`; other entries are ignored, and missing ones mean features from an array.

        Returns:
            The schema.

        Raises:
            ModelFileError: if the entries contradict each other.
        """
        columns, origin, text = (
            values.get(key, default) for key, default in (("columns", {}), ("features", "array"), ("encoder", None))
        )
        sound = isinstance(columns, dict) and all(name is None or isinstance(name, str) for name in columns.values())
        if not sound or origin not in ORIGINS or not isinstance(text, str | None):
            raise ModelFileError("The model's record of its tables is inconsistent; fit and save it anew.")
        if (origin == "columns") != (text is not None):
            raise ModelFileError("The model lacks the encoder that its features were made with; fit and save it anew.")
        return cls(columns, origin, None if text is None else FeatureEncoder.from_json(text))
