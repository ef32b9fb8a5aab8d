"""Logistic regression: a linear model of the features alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression as Linear

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.graph.features import ROWS, FeatureNormalizer
from ncgc.models.base import FitOptions, NodeClassifier, Prediction
from ncgc.params.parameter import declared


class LogisticRegression(NodeClassifier):
    """argmin over W, b of C·Σ_i −log softmax(x_i·W + b)_{y_i} + ½‖W‖², by scikit-learn; the edges are not used.

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
    inductive = True
    deterministic = True

    C: float = declared(1.0, "weight of the labels against the penalty", low=0, open_low=True)
    features: str = declared(
        "unit", "features as they are, or each row divided by its sum, its length, …", choices=tuple(ROWS)
    )
    iterations: int = declared(1000, "most steps of L-BFGS", low=1)

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        self.normalizer_ = FeatureNormalizer.fit(graph, self.features)
        normalised, labels = self.normalizer_.apply(graph), graph.labels[split.train]
        self.linear_ = Linear(C=self.C, max_iter=self.iterations).fit(normalised.features[split.train], labels)
        self.shares_ = np.bincount(labels, minlength=graph.num_classes) / len(labels)
        return self._evaluate(normalised)

    def _predict_other(self, graph: Graph) -> Prediction:
        return self._evaluate(self.normalizer_.apply(graph))

    def _evaluate(self, normalised: Graph) -> Prediction:
        probabilities = np.zeros((normalised.num_nodes, len(self.shares_)))
        # a class may have no training node
        probabilities[:, self.linear_.classes_] = self.linear_.predict_proba(normalised.features)
        return Prediction.from_scores(probabilities, self.shares_)

    def _arrays(self) -> dict[str, np.ndarray]:
        model = self.linear_
        return {"weight": model.coef_, "bias": model.intercept_, "classes": model.classes_, "shares": self.shares_}

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray], details: Mapping[str, Any]) -> None:
        labels = graph.labels[split.train]
        classes = np.unique(labels)
        rows = 1 if len(classes) == 2 else len(classes)  # scikit-learn has one row for two classes
        shapes = {
            "weight": (rows, graph.num_features),
            "bias": (rows,),
            "classes": classes.shape,
            "shares": (graph.num_classes,),
        }
        found = {name: array.shape for name, array in arrays.items()}
        if found != shapes or not np.array_equal(arrays["classes"], classes):
            raise ValueError(f"weights.safetensors has tensors of the shapes {found}, and the model needs {shapes}")
        model = Linear(C=self.C, max_iter=self.iterations)
        model.coef_, model.intercept_, model.classes_ = (arrays[name] for name in ("weight", "bias", "classes"))
        model.n_features_in_ = graph.num_features
        self.linear_, self.shares_ = model, arrays["shares"]
