"""What training gave, as JSON, as tables and as a folder that is written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc import __version__
from ncgc.files import whole_folder
from ncgc.runs.config import RunConfig

if TYPE_CHECKING:
    from ncgc.models.base import NodeClassifier

LOSS = ("class", "kl", "pl", "total")
INTERRUPTED = "interrupted"
_OURS = re.compile(r"(history|predictions)(-\d+)?\.csv|config\.toml|metrics\.json|results\.csv")


@dataclass(frozen=True)
class RunResult:
    """One trained model, as what is shown and written of it."""

    seed: int
    labels_per_class: int | None  # None where the classes have different numbers
    val_accuracy: float | None  # None without validation nodes
    test_accuracy: float | None
    best_epoch: int
    epochs: int
    seconds: float
    loss: dict[str, float | None]
    termination: str
    prior: list[float]
    drawn: dict[str, int]
    history: str
    predictions: str

    @classmethod
    def of(cls, model: NodeClassifier, seed: int) -> RunResult:
        graph, split = model.graph_, model.split_
        present = np.bincount(graph.labels[split.train])
        sizes = set(present[present > 0].tolist())
        row = model.history_.at(model.best_epoch_)
        return cls(
            seed=seed,
            labels_per_class=sizes.pop() if len(sizes) == 1 else None,
            val_accuracy=model.score(nodes=split.val) if len(split.val) else None,
            test_accuracy=model.score(nodes=split.test) if len(split.test) else None,
            best_epoch=model.best_epoch_,
            epochs=len(model.history_),
            seconds=model.seconds_,
            loss={part: finite(row.get(part)) for part in LOSS},
            termination=model.termination_,
            prior=[float(share) for share in getattr(model, "prior_", ())],
            drawn={"seed": seed, **{name: int(value) for name, value in getattr(model, "seeds_", {}).items()}},
            history=model.history_.to_csv(),
            predictions=predictions_csv(model),
        )

    def to_dict(self) -> dict[str, Any]:
        names = ("seed", "val_accuracy", "test_accuracy", "best_epoch", "epochs", "seconds", "loss", "termination")
        return {name: getattr(self, name) for name in (*names, "prior")}


def summary(config: RunConfig, results: Sequence[RunResult]) -> dict[str, Any]:
    """The JSON object of `ncgc train`. Of several runs: means (and standard deviations, n-1) of accuracies and losses,
    the sum of seconds, and null for what has no mean; each run is under "runs".
    """
    first = results[0]
    terminations = {result.termination for result in results}
    together = {
        "dataset": config.dataset,
        "method": config.method,
        "backbone": config.parameters.get("backbone"),
        "split": config.split,
        "seed": config.seed,
        "labels_per_class": first.labels_per_class,
    }
    if config.runs == 1:
        return {**together, **first.to_dict(), "version": __version__}
    return {
        **together,
        "val_accuracy": mean([result.val_accuracy for result in results]),
        "val_accuracy_std": deviation([result.val_accuracy for result in results]),
        "test_accuracy": mean([result.test_accuracy for result in results]),
        "test_accuracy_std": deviation([result.test_accuracy for result in results]),
        "best_epoch": None,
        "epochs": None,
        "seconds": sum(result.seconds for result in results),
        "loss": {part: mean([result.loss[part] for result in results]) for part in LOSS},
        "termination": INTERRUPTED
        if INTERRUPTED in terminations
        else (terminations.pop() if len(terminations) == 1 else None),
        "prior": None,
        "version": __version__,
        "runs": [result.to_dict() for result in results],
    }


def write_results(folder: Path, config: RunConfig, results: Sequence[RunResult], overwrite: bool) -> None:
    """config.toml, metrics.json, and a history and predictions of each run."""
    with whole_folder(folder, overwrite, ours) as place:
        config_text = config.to_toml([result.drawn for result in results])
        (place / "config.toml").write_text(config_text, encoding="utf-8")
        (place / "metrics.json").write_text(json_line(summary(config, results), indent=2) + "\n", encoding="utf-8")
        for result in results:
            ending = f"-{result.seed}.csv" if config.runs > 1 else ".csv"
            (place / f"history{ending}").write_text(result.history, encoding="utf-8")
            (place / f"predictions{ending}").write_text(result.predictions, encoding="utf-8")


def ours(name: str) -> bool:
    """Whether a file of this name comes from an earlier run, and may be removed when it is overwritten.

    >>> ours("history-3.csv"), ours("holiday.csv")
    (True, False)
    """
    return _OURS.fullmatch(name) is not None


def predictions_csv(model: NodeClassifier) -> str:
    """node, label, the probability the model gives that label, and whether the label was given or is predicted."""
    graph = model.graph_
    given = model.split_.training_labels(graph)
    probabilities = model.predict_proba()
    labels = np.where(given >= 0, given, probabilities.argmax(axis=1))
    confidence = probabilities[np.arange(graph.num_nodes), labels]
    nodes = range(graph.num_nodes) if graph.node_ids is None else graph.node_ids.tolist()
    names = graph.classes.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["node", "label", "confidence", "source"])
    for node, label, share, known in zip(nodes, labels.tolist(), confidence, given >= 0, strict=True):
        writer.writerow([node, names[label], f"{share:.6f}", "given" if known else "predicted"])
    return text.getvalue()


def json_line(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, allow_nan=False, ensure_ascii=False)


def finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def mean(values: Sequence[float | None]) -> float | None:
    """
    >>> mean([1.0, 2.0, None]), mean([None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def deviation(values: Sequence[float | None]) -> float | None:
    """The sample standard deviation; None for fewer than two values.

    >>> deviation([1.0, 3.0]), deviation([1.0])
    (1.4142135623730951, None)
    """
    known = [value for value in values if value is not None]
    return float(np.std(known, ddof=1)) if len(known) > 1 else None
