"""Logistic regression: what a linear model of the features alone says."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression as Linear

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.methods.declared import declared
from ncgc.methods.method import Method, Solution
from ncgc.scaling import ROWS, FeatureScaling
from ncgc.training import Watcher


class LogisticRegression(Method):
    """argmin over W, b of C·Σ_i −log softmax(x_i·W + b)_{y_i} + ½‖W‖², by scikit-learn; the edges are not looked at.

    Nothing is drawn and nothing tuned: C is scikit-learn's, and validation nodes are not used.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> LogisticRegression().fit(graph, few_split(graph, 3, seed=0)).predict_proba().shape
    (1797, 10)
    """

    title = "Logistic regression (features only)"
    paper = "a penalised linear model"
    family = "no learning"  # from the graph
    cost = "a convex problem of D·K weights, once"

    C: float = declared(1.0, "weight of the labels against the penalty", low=0, open_low=True)
    features: str = declared(
        "unit", "features as they are, or each row divided by its sum, its length, …", choices=tuple(ROWS)
    )
    iterations: int = declared(1000, "most steps of L-BFGS", low=1)

    def _solve(self, graph: Graph, split: Split, watch: Watcher | None) -> Solution:
        features = FeatureScaling.fit(graph, self.features).apply(graph).features
        labels = graph.labels[split.train]
        model = Linear(C=self.C, max_iter=self.iterations).fit(features[split.train], labels)
        probabilities = np.zeros((graph.num_nodes, graph.num_classes))
        probabilities[:, model.classes_] = model.predict_proba(features)  # a class may have no training node
        return Solution.from_scores(probabilities, np.bincount(labels, minlength=graph.num_classes) / len(labels))
