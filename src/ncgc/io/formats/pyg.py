"""PyG's ``Data`` to a Graph, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.graph.features import as_dense

if TYPE_CHECKING:
    from torch_geometric.data import Data

MASKS = ("train_mask", "val_mask", "test_mask")


def from_pyg(data: Data, **options: Any) -> Graph:
    """A Graph from a PyG ``Data``.

    Args:
        data: with x (n, D), edge_index (2, m) and, where present, y (n,), edge_weight (m,) and the masks train_mask,
            val_mask and test_mask (n,), which become the public split.
        options: classes, node_ids, name or public_split, as in :meth:`Graph.from_edges`.

    Returns:
        The graph.

    Raises:
        GraphError: if x or edge_index is missing, or the parts do not fit together.
    """
    if data.x is None or data.edge_index is None:
        raise GraphError("The PyG Data needs both 'x' and 'edge_index'; one of them is None.")
    weights = data.edge_weight if "edge_weight" in data else None
    split = None
    if all(key in data and data[key].dim() == 1 for key in MASKS):
        train, val, test = (data[key].numpy().nonzero()[0] for key in MASKS)
        split = (train, val, test)
    return Graph.from_edges(
        data.edge_index.numpy().T,
        data.x.numpy(),
        None if data.y is None else data.y.numpy(),
        weights=None if weights is None else weights.numpy(),
        num_nodes=data.num_nodes,
        **{"public_split": split, **options},
    )


def to_pyg(graph: Graph) -> Data:
    """A PyG ``Data`` from a Graph.

    Args:
        graph: any graph.

    Returns:
        A Data with dense x (n, D), both directions of every edge in edge_index (2, 2m), y (n,) with -1 for unknown,
        edge_weight where the graph is weighted, and the three masks where it has a public split.
    """
    import torch
    from torch_geometric.data import Data

    coo = graph.adjacency.tocoo()
    data = Data(
        x=torch.from_numpy(np.ascontiguousarray(as_dense(graph.features))),
        edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)),
        y=torch.from_numpy(graph.labels),
    )
    if graph.weighted:
        data.edge_weight = torch.from_numpy(coo.data)
    if graph.public_split is not None:
        for key, index in zip(MASKS, graph.public_split, strict=True):
            mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
            mask[torch.from_numpy(np.asarray(index))] = True
            data[key] = mask
    return data
