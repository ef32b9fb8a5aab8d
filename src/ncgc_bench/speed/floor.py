"""A lower bound on the time of an epoch: its dense and sparse products alone, into preallocated buffers."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ncgc.graph import Graph
from ncgc.nn import SOGN, GraphOperators
from ncgc.ops.soft_orthogonal import gram
from ncgc.ops.soft_orthogonal_layer import first_layer_algorithm


def floor(graph: Graph, network: SOGN) -> Callable[[], None]:
    """The products of one of our GCN epochs and nothing else, into preallocated buffers.

    Only sizes and sparsity matter for the time, so dense operands are random.

    Args:
        graph: the graph with its n nodes and features.
        network: the GCN whose epoch is bounded, for its width d and its depth.

    Returns:
        A function that computes all products once.
    """
    n, d, k = graph.num_nodes, network.hidden, graph.num_classes
    operators = GraphOperators(graph)
    a, features = operators.gcn.csr, operators.features
    z, u, out, w, small = torch.randn(n, d), torch.randn(n, d), torch.empty(n, d), torch.randn(d, d), torch.empty(d, d)
    w_in, d_in = torch.randn(graph.num_features, d), torch.empty(graph.num_features, d)
    d_more, constant, way = torch.randn(graph.num_features, d), features.gram, first_layer_algorithm(features, d)
    narrow, head, d_head = torch.randn(n, k), torch.randn(d, k), torch.empty(d, k)
    if features.sparse is None:
        x, x_t = features.to_dense(), features.to_dense().t()
    else:
        x, x_t = features.sparse.csr, features.sparse.transposed

    def products() -> None:
        for layer in range(len(network.convs)):
            if layer == 0 and way != "plain":
                torch.addmm(out, x, w_in, beta=0, out=out)  # Z = X·W
                torch.mm(constant, w_in, out=d_in) if constant is not None else torch.addmm(
                    d_in, x_t, z, beta=0, out=d_in
                )  # F
                torch.mm(w_in.t(), d_in, out=small)  # G
                torch.mm(z, small, out=out)  # Z·M
                torch.addmm(out, a, z, out=out)  # Â·Z
                torch.addmm(out, a, u, beta=0, out=out)  # Â·U
                if way == "twice":
                    torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # XᵀU
                    torch.mm(w_in.t(), d_in, out=small)  # dM
                    torch.mm(d_in, w, out=d_more)  # (XᵀU)·Mᵀ
                else:
                    torch.mm(z.t(), u, out=small)  # dM
                    torch.addmm(out, u, w, out=out)  # U·Mᵀ
                torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # Xᵀ(…)
                torch.addmm(d_in, d_more, small, out=d_in)  # F·S
                continue
            torch.mm(z, w, out=out) if layer else torch.addmm(out, x, w_in, beta=0, out=out)  # Z = H·W
            gram(z)  # G
            torch.mm(z, small, out=out)  # Z·M
            torch.addmm(out, a, z, out=out)  # Â·Z
            torch.addmm(out, a, u, beta=0, out=out)  # Â·U
            torch.mm(z.t(), u, out=small)  # ZᵀU
            torch.addmm(out, u, w, out=out)  # U·Mᵀ
            torch.addmm(out, z, w, out=out)  # Z·(dG + dGᵀ)
            torch.mm(z.t(), u, out=small) if layer else torch.addmm(d_in, x_t, u, beta=0, out=d_in)  # dW
            if layer:
                torch.mm(u, w.t(), out=out)  # dH
        for _ in range(2):  # the head and the clustering loss each go forward once and back twice
            torch.mm(z, head, out=narrow)
            torch.mm(narrow, head.t(), out=out)
            torch.mm(z.t(), narrow, out=d_head)

    return products
