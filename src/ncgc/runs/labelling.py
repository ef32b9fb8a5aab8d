"""From tables to labels: read, train, calibrate, abstain, suggest. What `ncgc fit` does, without a screen or a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncgc.datasets import Split
from ncgc.errors import InputError
from ncgc.evaluation.calibration import FoldWatcher
from ncgc.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from ncgc.graph.features import DENSE
from ncgc.io import GraphTables, read_graph
from ncgc.io.tables.columns import named_column
from ncgc.io.tables.labels import read_split
from ncgc.io.tables.read_graph import GRAPHML
from ncgc.io.tables.table import as_table
from ncgc.models.base import NodeClassifier
from ncgc.runs.config import hyper_of, make_estimator
from ncgc.runs.fit_config import FitConfig
from ncgc.selection.active import NextLabel, suggest_labels
from ncgc.selection.auto import Choice

SUGGESTED = 50


@dataclass(frozen=True)
class Labelling:
    """A fitted model with the tables it came from, and a label for every node.

    Attributes:
        config, tables, split, model: what was asked, read and fitted.
        threshold: the confidence below which a predicted label is withheld; 0: none is.
        suggestions: nodes worth labelling next, best first.
        choice: how the method was chosen, where it was left to us.
    """

    config: FitConfig
    tables: GraphTables
    split: Split
    model: NodeClassifier
    threshold: float
    suggestions: list[NextLabel]
    choice: Choice | None = None

    @property
    def given(self) -> np.ndarray:
        """(n,) the classes that training was given, -1 elsewhere."""
        return self.split.training_labels(self.tables.graph)

    @property
    def predicted(self) -> np.ndarray:
        """(n,) the class the model gives each node; -1 where it is not sure enough and no label was given."""
        probabilities = self.model.predict_proba()
        labels = probabilities.argmax(axis=1)
        unsure = (probabilities.max(axis=1) < self.threshold) & (self.given < 0)
        return np.where(unsure, -1, labels)

    @property
    def labels(self) -> np.ndarray:
        """(n,) the given class where given, otherwise the predicted one, -1 for none."""
        given = self.given
        return np.where(given >= 0, given, self.predicted)

    @property
    def truth(self) -> np.ndarray | None:
        """(n,) labels known but not trained on, -1 elsewhere; None without any."""
        held = np.concatenate([self.split.val, self.split.test])
        if not len(held):
            return None
        truth = np.full(self.tables.graph.num_nodes, -1, dtype=np.int64)
        truth[held] = self.tables.graph.labels[held]
        return truth

    def metrics(self) -> dict[str, Any]:
        """What there is to say in numbers; accuracies where labels were kept back."""
        graph, model, calibration = self.tables.graph, self.model, self.model.calibration_
        probabilities = model.predict_proba()
        best, free = probabilities.argmax(axis=1), self.given < 0
        shares = np.bincount(self.labels[self.labels >= 0], minlength=graph.num_classes)
        measured: dict[str, Any] = {}
        for part, nodes in (("val", self.split.val), ("test", self.split.test)):
            truth = graph.labels[nodes]
            measured[f"{part}_accuracy"] = accuracy(best[nodes], truth) if len(nodes) else None
        if len(self.split.test):
            truth = graph.labels[self.split.test]
            measured["test_macro_f1"] = macro_f1(best[self.split.test], truth, graph.num_classes)
            measured["test_calibration_error"] = expected_calibration_error(probabilities[self.split.test], truth)
        return {
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": graph.num_features,
            "classes": [str(name) for name in graph.classes.tolist()],
            "given": int((~free).sum()),
            "predicted": int((free & (self.labels >= 0)).sum()),
            "withheld": int((self.labels < 0).sum()),
            "mean_confidence": float(probabilities.max(axis=1)[free].mean()) if free.any() else None,
            "shares": (shares / max(shares.sum(), 1)).tolist(),
            **measured,
            "temperature": None if calibration is None else calibration.temperature,
            "calibrated": None if calibration is None else calibration.measured,
            "calibration_error": None if calibration is None or not len(calibration.right) else calibration.error,
            "threshold": self.threshold if np.isfinite(self.threshold) else None,
            "best_epoch": model.best_epoch_,
            "epochs": len(model.history_),
            "termination": model.termination_,
            "seconds": model.seconds_,
            "seed": self.config.seed,
            "method": self.config.method,
            "choice": None if self.choice is None else self.choice.to_dict(),
        }


def read_tables(config: FitConfig) -> tuple[GraphTables, Split]:
    """The graph of a configuration and which of its labels train."""
    names, kinds = config.columns
    features: Any = config.features if config.from_file or config.features == "none" else names
    nodes: Any = config.nodes
    if config.split is not None:
        if Path(nodes).suffix.lower() in GRAPHML:
            raise InputError("A split column is read from a node table; give the nodes and edges as tables.")
        nodes = as_table(nodes, "nodes", config.delimiter)  # once, for the graph and the split
        column = named_column(nodes, config.split, "split")
        kinds = {**kinds, column: "drop"} if features is None else kinds
    tables = read_graph(
        nodes, config.edges, id=config.id, label=config.label, source=config.source, target=config.target,
        weight=config.weight, features=features, kinds=kinds or None, delimiter=config.delimiter,
        name=Path(config.nodes).name.split(".")[0],
    )  # fmt: skip
    if config.split is None:
        return tables, Split.from_labels(tables.graph)
    return tables, read_split(nodes, config.split, tables.graph, config.delimiter)


def make_model(config: FitConfig, tables: GraphTables) -> Any:
    """The estimator of a configuration, its features scaled as suits the tables unless a scaling is asked for."""
    return make_estimator(config.method, {**_scaling(config.method, tables), **config.parameters}, config.seed)


def _scaling(method: str, tables: GraphTables) -> dict[str, str]:
    """What is better than a method's own default for these features.

    Columns that were standardised keep their scale: dividing a row of a few measurements by its length would leave only their
    ratios. Other dense rows are centred: divided by their sum, as most papers do with words, they are nearly equal
    (``benchmarks/studies/amazon-features.toml``: ten points of accuracy).
    """
    own = hyper_of(method).get("features")
    if own is None:
        return {}
    if _measurements(tables):
        return {"features": "raw"}
    return {"features": "centred"} if own.default == "row" and tables.graph.feature_density >= DENSE else {}


def finish(
    config: FitConfig, tables: GraphTables, split: Split, model: Any, watch: FoldWatcher | None = None
) -> Labelling:
    """Calibrate a fitted model, find the threshold that was asked for, and suggest what to label next."""
    if config.folds:
        model.calibrate(config.folds, watch)
    calibration = model.calibration_
    threshold = 0.0 if config.abstain is None or calibration is None else calibration.threshold(config.abstain)
    suggestions = suggest_labels(tables.graph, model.predict_proba(), tables.graph.labels, SUGGESTED)
    return Labelling(config, tables, split, model, threshold, suggestions)


def label_tables(config: FitConfig, watch: Callable[[int, dict[str, float]], None] | None = None) -> Labelling:
    """All of it: from the tables of a configuration to a label for every node.

    Example:
        labelling = label_tables(FitConfig("nodes.csv", "edges.csv"))
        labelling.labels, labelling.model.predict_proba()
    """
    tables, split = read_tables(config)
    model = make_model(config, tables).fit(tables.graph, split, watch=watch)
    return finish(config, tables, split, model)


def _measurements(tables: GraphTables) -> bool:
    """Whether some column of numbers was standardised (one of 0 and 1 is not)."""
    return tables.encoder is not None and tables.encoder.standardised
