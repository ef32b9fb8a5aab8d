"""`as_graph`: a Graph from whatever graph object another library made."""

from __future__ import annotations

import sys
from typing import Any

from scipy import sparse

from ncgc.errors import GraphError
from ncgc.graph import Graph


def as_graph(data: Any, **options: Any) -> Graph:
    """A Graph from the graph object of another library.

    Args:
        data: a Graph, which is returned as it is; a networkx graph; a PyG ``Data``; or a tuple (adjacency, features) or
            (adjacency, features, labels) whose adjacency is an n×n scipy sparse matrix.
        options: of the function that does the work: :func:`ncgc.io.from_networkx`, :func:`ncgc.io.from_pyg` or
            :meth:`Graph.from_scipy`; none where ``data`` is a Graph.

    Returns:
        The graph, validated.

    Raises:
        GraphError: if ``data`` is anything else.

    >>> import numpy as np
    >>> as_graph((sparse.csr_array([[0, 1], [0, 0]]), np.eye(2), [0, -1]), name="pair")
    Graph(nodes=2, edges=1, features=2, classes=1, labelled=1)
    """
    if isinstance(data, Graph):
        if options:
            raise GraphError(f"A Graph is taken as it is; give no {', '.join(map(repr, options))} beside it.")
        return data
    if _is_a(data, "networkx", "Graph"):
        from ncgc.io.formats.networkx import from_networkx

        return from_networkx(data, **options)
    if _is_a(data, "torch_geometric.data", "Data"):
        from ncgc.io.formats.pyg import from_pyg

        return from_pyg(data, **options)
    if isinstance(data, tuple) and len(data) in (2, 3) and sparse.issparse(data[0]):
        return Graph.from_scipy(*data, **options)
    raise GraphError(
        "A graph must be an ncgc.Graph, a networkx graph, a PyG Data, or a tuple (adjacency, features) or (adjacency, "
        f"features, labels) with a scipy sparse adjacency. Got {type(data).__name__} instead; give lists of edges to "
        "Graph.from_edges, and files and tables to ncgc.io.read_graph."
    )


def _is_a(data: Any, module: str, name: str) -> bool:
    """Whether data is of a library's class; where the library was never imported, it cannot be."""
    library = sys.modules.get(module)
    return library is not None and isinstance(data, getattr(library, name))
