"""GraphML: one XML file with nodes, edges and their attributes, read without ever expanding an entity."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

from ncgc.errors import InputError, OutputError
from ncgc.files import write_bytes
from ncgc.graph import Graph
from ncgc.graph.validation import Features
from ncgc.io.formats.networkx import VECTOR, read_networkx, to_networkx
from ncgc.io.tables.read_graph import GraphTables
from ncgc.io.tables.table import read_file

WIDTH = "num_features"  # graph attribute: length of the vectors on its nodes
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: str | Path, *, strict: bool = True, name: str | None = None, **options: Any) -> GraphTables:
    """Read a GraphML file, whose node attributes are labels and features.

    Files that declare a document type or an entity are refused: expanding entities can exhaust the memory.

    Args:
        path: the .graphml file.
        strict: whether some nodes must be labelled.
        name: of the graph; default: the file's name without its extension.
        options: further arguments of :func:`ncgc.io.formats.networkx.read_networkx`.

    Returns:
        The graph, the encoder of its attributes and notes on how they were read.

    Raises:
        InputError: names what is wrong with the file and what to do.
    """
    import networkx as nx

    path = Path(path)
    content = read_file(path)
    _check_safe(content, path.name)
    try:
        graph = nx.read_graphml(io.BytesIO(content))
    except Exception as error:  # networkx's reader may raise anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} is XML but not a graph that can be read ({reason}); export it again.") from None
    if options.get("features") is None and options.get("encoder") is None:
        options["features"] = _read_vectors(graph, path.name)
    options.setdefault("label", None if strict else "label")
    found = read_networkx(graph, strict=strict, name=path.name, **options)
    return _renamed(found, name or path.stem)


def write_graphml(graph: Graph, path: str | Path, features: bool = True) -> None:
    """Write a graph as GraphML, which Gephi, Cytoscape and :func:`read_graphml` read; node ids become text.

    Args:
        graph: any graph.
        path: the file to write.
        features: whether to write each node's features, as text under "x", which only ncgc reads.

    Raises:
        OutputError: if an id or a class name holds a character that XML cannot.
    """
    import networkx as nx

    made = to_networkx(graph, features=False)
    if features:
        made.graph[WIDTH] = graph.num_features
        for node, text in zip(list(made.nodes), _vector_texts(graph.features), strict=True):
            made.nodes[node][VECTOR] = text
    names = [*map(str, made.nodes), *map(str, graph.classes.tolist()), graph.name]
    wrong = next((text for text in names if _NOT_XML.search(text)), None)
    if wrong is not None:
        raise OutputError(f"{wrong!r} holds a character that XML cannot; rename it to write the graph as GraphML.")
    file = io.BytesIO()
    nx.write_graphml_xml(made, file)
    write_bytes(path, file.getvalue())


def _check_safe(content: bytes, name: str) -> None:
    """Raise an InputError for anything but XML, and for XML with declarations: entities could grow without bound."""
    parser = expat.ParserCreate()

    def refuse(*declared: Any) -> None:
        raise InputError(
            f"{name} declares a document type, which may hold unsafe entities; remove the <!DOCTYPE …> part."
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise InputError(
            f"{name} row {error.lineno}: this is not XML ({what}); export the GraphML file again."
        ) from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is in an encoding that cannot be read ({error}); save it in UTF-8.") from None


def _vector_texts(features: Features) -> list[str]:
    """Each row as text: all numbers where the features are dense, "column:value" of stored entries where sparse."""
    if not sparse.issparse(features):
        return [" ".join(map(repr, row)) for row in features.tolist()]
    columns, values, ends = features.indices.tolist(), features.data.tolist(), features.indptr.tolist()
    return [" ".join(f"{columns[at]}:{values[at]!r}" for at in range(start, end)) for start, end in pairwise(ends)]


def _read_vectors(graph: Any, name: str) -> Features | None:
    """n×D the features that :func:`_vector_texts` wrote; None where another program wrote the file."""
    width = graph.graph.get(WIDTH)
    texts = [attributes.get(VECTOR) for _, attributes in graph.nodes(data=True)]
    if not isinstance(width, int) or not all(isinstance(text, str) for text in texts):
        return None
    try:
        if any(":" in text for text in texts):
            cells = [(row, *cell.split(":")) for row, text in enumerate(texts) for cell in text.split()]
            rows, columns, values = zip(*cells, strict=True)
            entries = (np.array(values, dtype=np.float32), (np.array(rows), np.array(columns, dtype=np.int64)))
            return sparse.csr_array(entries, shape=(len(texts), width))
        return np.array([text.split() for text in texts], dtype=np.float32).reshape(len(texts), width)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{name}: the vectors under {VECTOR!r} do not hold together ({error}); write it again."
        ) from None


def _renamed(found: GraphTables, name: str) -> GraphTables:
    return replace(found, graph=replace(found.graph, name=name))
