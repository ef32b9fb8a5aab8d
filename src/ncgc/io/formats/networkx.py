"""networkx graphs with attributes on their nodes to Graphs, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from ncgc.errors import InputError
from ncgc.graph import Graph
from ncgc.graph.adjacency import merge_edges
from ncgc.graph.validation import Features, as_features
from ncgc.io.tables.columns import guessed_column, label_column, named_column
from ncgc.io.tables.edges import read_weights
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.features import ChosenFeatures, choose_features
from ncgc.io.tables.labels import read_labels
from ncgc.io.tables.read_graph import GraphTables
from ncgc.io.tables.table import Table

if TYPE_CHECKING:
    import networkx as nx

EMPTY = ""  # the one column of a table without any
LABEL = "label"
VECTOR = "x"  # the node attribute that holds a whole row of features


def from_networkx(graph: nx.Graph, features: Any = None, label: str | None = LABEL, **options: Any) -> Graph:
    """A Graph from a networkx graph, whose node attributes are labels and features.

    Args:
        graph: any networkx graph; directions and parallel edges are merged.
        features: see :func:`read_networkx`.
        label: the node attribute with the class.
        options: further arguments of :func:`read_networkx`, which also reports how the attributes were read.

    Returns:
        The graph; nodes in the order of networkx.
    """
    return read_networkx(graph, features, label, **options).graph


def read_networkx(
    graph: nx.Graph,
    features: Any = None,
    label: str | None = LABEL,
    *,
    weight: str | None = None,
    kinds: Mapping[str, str] | None = None,
    encoder: FeatureEncoder | None = None,
    classes: Sequence[str] | None = None,
    directed_note: bool = True,
    strict: bool = False,
    name: str = "graph",
) -> GraphTables:
    """A Graph from a networkx graph, with the encoder of its attributes and notes on how they were read.

    Args:
        graph: any networkx graph; directions and parallel edges are merged.
        features: None for the vectors under "x" where every node has one, otherwise all attributes but the label,
            encoded; a list of attribute names; an (n, D) array in the order of the nodes; a .npz or .npy file; or
            "none" for features made from the graph's structure.
        label: the node attribute with the class; nodes without it are unlabelled.
        weight: the edge attribute with the weight, "weight" where present by default; edges without it weigh 1.
        kinds: {"attribute": "number" | "category" | "text" | "drop"} where the guess would be wrong.
        encoder: of a fitted model, to make the same features again.
        classes: of a fitted model; other labels are then refused.
        directed_note: whether to note how many edges have no counterpart in the other direction.
        strict: whether some nodes must be labelled; a ``label`` of None is then guessed from the usual names.
        name: of the graph, also in messages.

    Returns:
        The graph, its encoder and the notes.

    Raises:
        InputError: names the node, edge or attribute that is wrong, and what to do.
    """
    keys = list(graph.nodes)
    if not keys:
        raise InputError(f"{name} has no nodes; give at least one.")
    table = _node_table(graph, keys, name)
    strict = strict and classes is None and encoder is None
    if label == LABEL and label not in table.columns and not strict:
        label = None  # the default may be absent; a name that was given may not, see below
    label_name = label_column(table, label, [], needed=strict) if label or strict else None
    labels = read_labels(table, label_name, classes, strict)
    links, source, target = _edge_table(graph, keys, name, weight or "weight")
    weight = named_column(links, weight, "weights") if weight else guessed_column(links, ["weight"])
    merged = merge_edges(source, target, None if weight is None else read_weights(links, weight), len(keys))
    if features is None and encoder is None:
        features = _vectors(graph, keys)
    if features is None or isinstance(features, str | Path) or _are_names(features):
        chosen = choose_features(table, [label_name, EMPTY], features, kinds, encoder, merged.adjacency)
    else:
        chosen = ChosenFeatures(as_features(features), None, "array", [])
    made = Graph(
        adjacency=merged.adjacency,
        features=chosen.matrix,
        labels=labels.numbers,
        classes=labels.classes,
        node_ids=_ids(keys),
        name=name,
    )
    return GraphTables(
        graph=made.validate(),
        encoder=chosen.encoder,
        notes=[*labels.notes, *merged.notes(name, directed_note), *chosen.notes],
        tables=(name,),
        columns={"id": None, "label": label_name, "source": None, "target": None, "weight": weight},
        features=chosen.origin,
    )


def _are_names(features: Any) -> bool:
    return isinstance(features, list | tuple) and all(isinstance(name, str) for name in features)


def _vectors(graph: nx.Graph, keys: list[Any]) -> np.ndarray | None:
    """(n, D) the vectors under "x", which must be of one length; None where a node has none."""
    rows = [graph.nodes[node].get(VECTOR) for node in keys]
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        return None
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"The vectors under {VECTOR!r} have different lengths; give each node as many numbers.")
    return np.array(rows)


def to_networkx(graph: Graph, features: bool = True) -> nx.Graph:
    """A networkx graph from a Graph.

    Args:
        graph: any graph.
        features: whether to store each node's features, as a list under "x".

    Returns:
        An undirected networkx graph: nodes by their ids, "label" where one is known, "weight" on weighted edges.

    >>> back = to_networkx(Graph.from_edges([[0, 1]], np.eye(2), [1, -1], classes=["ham", "spam"], node_ids=["A", "B"]))
    >>> back.nodes["A"], list(back.edges)
    ({'label': 'spam', 'x': [1.0, 0.0]}, [('A', 'B')])
    """
    import networkx as nx

    ids = list(range(graph.num_nodes)) if graph.node_ids is None else graph.node_ids.tolist()
    names = graph.classes.tolist()
    made = nx.Graph(name=graph.name)
    for row, (node, label) in enumerate(zip(ids, graph.labels.tolist(), strict=True)):
        attributes = {LABEL: names[label]} if label >= 0 else {}
        if features:
            attributes[VECTOR] = _row(graph.features, row).tolist()
        made.add_node(node, **attributes)
    upper = sparse.triu(graph.adjacency, format="coo")
    ends = [(ids[i], ids[j]) for i, j in zip(upper.row.tolist(), upper.col.tolist(), strict=True)]
    if graph.weighted:
        made.add_weighted_edges_from((*pair, weight) for pair, weight in zip(ends, upper.data.tolist(), strict=True))
    else:
        made.add_edges_from(ends)
    return made


def _row(features: Features, row: int) -> np.ndarray:
    return np.asarray(features[[row]].toarray() if sparse.issparse(features) else features[row]).ravel()


def _node_table(graph: nx.Graph, keys: list[Any], name: str) -> Table:
    attributes = [{str(key): value for key, value in graph.nodes[node].items()} for node in keys]
    return Table(_attribute_table(attributes), name, lambda row: f"node {keys[row]!r}")


def _edge_table(graph: nx.Graph, keys: list[Any], name: str, weight: str) -> tuple[Table, np.ndarray, np.ndarray]:
    """The weights of edges as a table (1 where an edge has none but others do), and the numbers of their ends."""
    place = {node: index for index, node in enumerate(keys)}
    edges = list(graph.edges(data=True))
    source = np.array([place[edge[0]] for edge in edges], dtype=np.int64)
    target = np.array([place[edge[1]] for edge in edges], dtype=np.int64)
    weighted = any(weight in edge[2] for edge in edges)
    attributes = [{weight: edge[2].get(weight, 1)} if weighted else {} for edge in edges]
    data = _attribute_table(attributes)
    return Table(data, name, lambda row: f"edge {edges[row][0]!r} to {edges[row][1]!r}"), source, target


def _attribute_table(attributes: list[dict[str, Any]]) -> pa.Table:
    """A row for each dictionary, a column for each key with numbers or text; vectors and other objects are left out."""
    names = dict.fromkeys(name for entry in attributes for name in entry)
    columns = {name: _column([entry.get(name) for entry in attributes]) for name in names}
    usable = {name: column for name, column in columns.items() if column is not None}
    return pa.table(usable or {EMPTY: pa.nulls(len(attributes))})


def _column(values: list[Any]) -> pa.Array | None:
    """The values of one attribute: numbers where all are, otherwise text; None where some are neither."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not all(value is None or isinstance(value, bool | int | float | str) for value in plain):
        return None
    try:
        return pa.array(plain)
    except (pa.ArrowException, OverflowError, UnicodeError):  # mixed types, too large, or not Unicode
        texts = [None if value is None else str(value).encode(errors="replace").decode() for value in plain]
        return pa.array(texts, pa.string())


def _ids(keys: list[Any]) -> np.ndarray:
    if all(isinstance(key, int) and not isinstance(key, bool) and abs(key) < 2**63 for key in keys):
        return np.array(keys, dtype=np.int64)
    array = np.empty(len(keys), dtype=object)
    for index, key in enumerate(keys):  # one by one: a key may be a tuple, which numpy would take apart
        array[index] = key
    return array
