"""How features are scaled before a network sees them: learnt on one graph, the same for every other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ncgc.errors import GraphError
from ncgc.graph import Graph
from ncgc.params.heuristics import DENSE

# what each row is divided by
ROWS = {"raw": None, "row": "sum", "unit": "length", "centred": "length", "binary": "sum"}


@dataclass(frozen=True, eq=False)
class FeatureNormalizer:
    """The scaling that the ``features`` parameter names, with what it learnt from the fitted graph.

    Attributes:
        kind: "raw", "row" (rows divided by their sum), "unit" (by their length), "centred" (centred, then by their length)
            or "binary" (1 where there is something, then by their sum).
        mean: (D,) float32 column means of the fitted graph; None where nothing is taken off.

    >>> graph = Graph.from_edges([[0, 1]], [[3.0, 0.0], [1.0, 4.0]])
    >>> scaling = FeatureNormalizer.fit(graph, "centred")
    >>> scaling.mean
    array([2., 2.], dtype=float32)
    >>> scaling.apply(Graph.from_edges([], [[2.0, 5.0]])).features
    array([[0., 1.]], dtype=float32)
    """

    kind: str
    mean: np.ndarray | None = None

    @classmethod
    def fit(cls, graph: Graph, kind: str) -> FeatureNormalizer:
        """Learn the means where ``kind`` needs them and the features are dense.

        Rows of many positive numbers all point the same way, and a network spends its first epochs unlearning that. With
        few non-zeros the mean is near zero anyway, and taking it off would make X dense.
        """
        centre = kind == "centred" and graph.feature_density >= DENSE
        return cls(kind, graph.feature_mean() if centre else None)

    def apply(self, graph: Graph) -> Graph:
        """The same graph with its features scaled; the mean is the fitted one, whatever this graph's own is."""
        if self.mean is not None:
            if graph.num_features != len(self.mean):
                raise GraphError(
                    f"The graph has {graph.num_features} features but the scaling was fitted on {len(self.mean)}; "
                    "give the same columns in the same order."
                )
            graph = graph.centred(self.mean)
        if self.kind == "binary":
            graph = replace(graph, features=(graph.features != 0).astype(graph.features.dtype))
        by = ROWS[self.kind]
        return graph if by is None else graph.row_normalised(by)
