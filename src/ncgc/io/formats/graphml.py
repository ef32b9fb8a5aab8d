"""GraphML: one XML file with nodes, edges and their attributes. Read without ever expanding an entity."""

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
from ncgc.io.formats.networkx import VECTOR, from_networkx, to_networkx
from ncgc.io.tables.assemble import GraphTables
from ncgc.io.tables.tables import read_file

WIDTH = "num_features"  # the graph's attribute that says how long its nodes' vectors are
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_graphml(path: str | Path, *, strict: bool = True, name: str | None = None, **options: Any) -> GraphTables:
    """A Graph from a GraphML file; node attributes are the columns, and ``options`` those of :func:`from_networkx`.

    A file that declares a document type or an entity is refused. With ``strict`` the file must label some nodes.
    """
    import networkx as nx

    path = Path(path)
    content = read_file(path)
    _check_safe(content, path.name)
    try:
        graph = nx.read_graphml(io.BytesIO(content))
    except Exception as error:  # networkx raises whatever its reader stumbles on
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path.name} is XML but not a graph that can be read ({reason}); export it again.") from None
    if options.get("features") is None and options.get("encoder") is None:
        options["features"] = _read_vectors(graph, path.name)
    options.setdefault("label", None if strict else "label")
    found = from_networkx(graph, strict=strict, name=path.name, **options)
    return _renamed(found, name or path.stem)


def write_graphml(graph: Graph, path: str | Path, features: bool = True) -> None:
    """Nodes by their ids (as text), "label", edge weights, and the features as text under "x", which only ncgc reads."""
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
    """Raise an InputError for what is not XML, and for XML that declares anything: entities could grow without bound."""
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
    """A row of numbers as text: all of them of a dense one, "column:value" for each stored entry of a sparse one."""
    if not sparse.issparse(features):
        return [" ".join(map(repr, row)) for row in features.tolist()]
    columns, values, ends = features.indices.tolist(), features.data.tolist(), features.indptr.tolist()
    return [" ".join(f"{columns[at]}:{values[at]!r}" for at in range(start, end)) for start, end in pairwise(ends)]


def _read_vectors(graph: Any, name: str) -> Features | None:
    """n×D what :func:`_vector_texts` wrote; None where the file is not of ours."""
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
