"""SOGN: the network that every backbone shares, with one head for classes and clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ncgc.errors import ParameterError
from ncgc.nn.graph_operators import GraphOperators
from ncgc.nn.layers import ForwardPass, GATLayer, GCNIILayer, GCNLayer, Hidden, Layer, MLPLayer, SAGELayer
from ncgc.nn.soft_orthogonal import wrap
from ncgc.nn.weights import fan_in
from ncgc.ops import FeatureMatrix, RandomSource, first_rows, linear, personalised_pagerank, relu_dropout
from ncgc.params.ncgc import BACKBONES, DEFAULTS, NCGC_PARAMETERS

__all__ = ["BACKBONES", "SOGN", "Output"]

Factory = Callable[[int, int], nn.Module]


class Output(NamedTuple):
    """Result of one forward pass: embeddings H (n×d) and logits H·W_proto (n×K)."""

    embeddings: Tensor
    logits: Tensor


class SOGN(nn.Module):
    """A soft orthogonal graph network.

        H⁰ = X,    H^{l+1} = dropout(σ(norm(P(Z) − β·Z̃Z̃ᵀZ [+ H^l·R]))),    Y' = softmax(H·W_proto)

    The head W_proto (d×K, no bias) holds the class prototypes for labelled nodes and the cluster centroids for all others.
    Defaults are NCGC's.

    Args:
        in_features: D, columns of X.
        num_classes: K.
        backbone: "gcn", "gat", "sage", "gcnii", "appnp", or a function ``(in, out) -> PyG layer``.
        hidden: d, width of the hidden states.
        num_layers: number of propagation layers; for APPNP, of hidden layers of its MLP.
        beta: strength β of the soft orthogonal term; 0 is the plain backbone.
        dropout: rate on every hidden state.
        input_dropout: rate on the entries of X.
        node_dropout: rate on whole rows of X, so that the network must use a node's neighbours.
        norm: None, "layer" or "batch", before the activation.
        residual: whether to add H^l·R (R learnt) before the norm.
        heads: attention heads (GAT); must divide ``hidden``.
        attention_dropout: rate on the attention (GAT).
        alpha: teleport probability α (GCNII, APPNP).
        theta: λ, decay of the weights with depth (GCNII).
        steps: propagation steps of the logits (APPNP).
        generator: source of the first weights; torch's global one if None.

    Raises:
        ParameterError: for an unknown backbone or norm, or heads that do not divide ``hidden``.

    >>> from ncgc import Graph
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], torch.eye(3))
    >>> network = SOGN(3, 2, hidden=4, generator=torch.Generator().manual_seed(0))
    >>> network.eval()(GraphOperators(graph)).logits.shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        backbone: str | Factory = DEFAULTS["backbone"],
        *,
        hidden: int = DEFAULTS["hidden"],
        num_layers: int = DEFAULTS["num_layers"],
        beta: float = DEFAULTS["beta"],
        dropout: float = DEFAULTS["dropout"],
        input_dropout: float = 0.0,  # NCGC's "auto" depends on the graph, so the caller resolves it; here it is off
        node_dropout: float = DEFAULTS["node_dropout"],
        norm: str | None = None,  # "auto" in NCGC, as above
        residual: bool = DEFAULTS["residual"],
        heads: int = DEFAULTS["heads"],
        attention_dropout: float = DEFAULTS["attention_dropout"],
        alpha: float = DEFAULTS["alpha"],
        theta: float = DEFAULTS["theta"],
        steps: int = DEFAULTS["steps"],
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        NCGC_PARAMETERS["backbone"].check(backbone, "SOGN")
        self.backbone, self.hidden, self.beta = backbone, hidden, beta
        self.dropout, self.input_dropout, self.node_dropout = dropout, input_dropout, node_dropout
        self.heads, self.attention_dropout = heads, attention_dropout
        self.alpha, self.theta, self.steps = alpha, theta, steps
        # GCNII layers keep their width, so X is first mapped to it
        self.entry = fan_in(in_features, hidden, generator) if backbone == "gcnii" else None
        self.entry_bias = nn.Parameter(torch.zeros(hidden)) if backbone == "gcnii" else None
        widths = [hidden if backbone == "gcnii" else in_features] + [hidden] * num_layers
        self.convs = nn.ModuleList(
            self.init_conv(widths[i], widths[i + 1], i + 1, generator) for i in range(num_layers)
        )
        self.norms = nn.ModuleList(_norm(norm, hidden) for _ in range(num_layers)) if norm else None
        self.residuals = (
            nn.ParameterList(fan_in(widths[i], hidden, generator) for i in range(num_layers)) if residual else None
        )
        self.prototypes = fan_in(hidden, num_classes, generator)  # W_proto

    def init_conv(self, in_features: int, out_features: int, layer: int, generator: torch.Generator | None) -> Layer:
        """Build one layer of the backbone; the hook for a new one.

        Args:
            in_features: width of its input.
            out_features: width of its output.
            layer: its number, from 1.
            generator: source of its first weights.

        Returns:
            The layer.
        """
        if self.backbone == "gcn":
            return GCNLayer(in_features, out_features, self.beta, generator)
        if self.backbone == "sage":
            return SAGELayer(in_features, out_features, self.beta, generator)
        if self.backbone == "gat":
            return GATLayer(in_features, out_features, self.beta, self.heads, self.attention_dropout, generator)
        if self.backbone == "gcnii":
            return GCNIILayer(out_features, self.beta, layer, self.alpha, self.theta, generator)
        if self.backbone == "appnp":
            return MLPLayer(in_features, out_features, self.beta, generator)
        assert callable(self.backbone)
        seed = int(torch.randint(2**31, (1,), generator=generator))
        return wrap(self.backbone, in_features, out_features, self.beta, seed)

    @property
    def decoupled(self) -> bool:
        """Whether the logits are propagated and not the hidden states (APPNP)."""
        return self.backbone == "appnp"

    def clustered(self, output: Output) -> Tensor:
        """The matrix on which the embedded clustering works: H, or the logits of a decoupled network.

        Propagating the d columns of H for the clustering alone would take most of an epoch.

        Args:
            output: of a forward pass.

        Returns:
            (n, d) embeddings or (n, K) logits.
        """
        return output.logits if self.decoupled else output.embeddings

    def forward(
        self, operators: GraphOperators, generator: RandomSource | None = None, embeddings: bool = True
    ) -> Output:
        """Embeddings and logits of all nodes.

        Args:
            operators: the graph.
            generator: source of the dropout's random numbers in training mode; torch's global one if None.
            embeddings: whether the embeddings are needed; without them APPNP propagates K columns and not d.

        Returns:
            Embeddings (n×d) and logits (n×K).
        """
        forward_pass = ForwardPass(operators, self.training, generator)
        h = self.enter(operators.features, forward_pass)
        for i in range(len(self.convs)):
            h = self.layer(i, h, forward_pass)
        assert isinstance(h, Tensor)
        if not self.decoupled:
            return Output(h, h @ self.prototypes)
        if not embeddings:
            return Output(h, personalised_pagerank(operators.gcn, h @ self.prototypes, self.alpha, self.steps))
        # propagation and head commute, so propagating H gives the same logits, and embeddings that use the graph
        h = personalised_pagerank(operators.gcn, h, self.alpha, self.steps)
        return Output(h, h @ self.prototypes)

    def enter(self, features: FeatureMatrix, forward_pass: ForwardPass) -> Hidden:
        """Input of the first layer.

        Args:
            features: X, (n, D).
            forward_pass: in GCNII its ``initial`` is set to H⁰.

        Returns:
            X after dropout or, in GCNII, H⁰ = dropout(σ(X·W + b)), (n, d).
        """
        features = features.dropout(self.input_dropout, forward_pass.generator, self.training)
        h: Hidden = features.drop_rows(self.node_dropout, forward_pass.generator, self.training)
        if self.entry is not None and self.entry_bias is not None:
            h = linear(h, self.entry) + self.entry_bias
            h = relu_dropout(h, self.dropout, forward_pass.generator, self.training)
            forward_pass.initial = h
        return h

    def layer(self, i: int, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        """One layer with residual, norm, activation and dropout.

        Args:
            i: number of the layer, from 0.
            h: H^i.
            forward_pass: graph, mode and random numbers.

        Returns:
            H^{i+1}, (n, d).
        """
        operators = forward_pass.operators
        reduction = operators.reduction.of(f"layer {i}")
        forward_pass = replace(forward_pass, operators=operators.of_layer(i), reduction=reduction)
        out: Tensor = self.convs[i](h, forward_pass)
        if self.residuals is not None:
            out = out + linear(first_rows(h, len(out)), self.residuals[i])
        if self.norms is not None:
            out = self.norms[i](out)
        return relu_dropout(out, self.dropout, forward_pass.generator, self.training)


def _norm(name: str, width: int) -> nn.Module:
    if name == "layer":
        return nn.LayerNorm(width)
    if name == "batch":
        return nn.BatchNorm1d(width)
    raise ParameterError(f"The 'norm' parameter of SOGN must be None, 'layer' or 'batch'. Got {name!r} instead.")
