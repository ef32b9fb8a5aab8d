"""What the report page shows of a run."""

from __future__ import annotations

import math
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ncgc import __version__
from ncgc.errors import GraphError
from ncgc.report import Abstain, Candidate, Reliability, ReportData, Suggestion, layout_2d
from ncgc.report.map_nodes import shown_nodes
from ncgc.runs.result import RunResult
from ncgc.runs.spec import defaults_of
from ncgc.selection.active import names_of
from ncgc.selection.auto import Choice

ON_PAGE = 20  # suggestions shown


def report_data(result: RunResult, folder: str | Path) -> ReportData:
    """Everything the report page shows of a run.

    Args:
        result: of a run on tables.
        folder: where the run is written, for the command that repeats it.

    Returns:
        The data of the page.
    """
    graph, model, spec, tables = result.data.graph, result.model, result.spec, result.data.tables
    assert tables is not None
    parameters = {name: value for name, value in model.get_params().items() if name != "random_state"}
    defaults = defaults_of(spec.method)
    data = ReportData(
        title=graph.name,
        created=time.strftime("%d %B %Y, %H:%M"),
        version=__version__,
        seconds=result.seconds,
        classes=[str(name) for name in graph.classes.tolist()],
        node_ids=names_of(graph),
        given=result.given,
        predicted=result.predicted,
        probabilities=result.probabilities,
        summary_rows=_rows(result),
        notes=tables.notes,
        columns=[] if tables.encoder is None else tables.encoder.describe(),
        truth=result.truth,
        history=_history(model),
        best_epoch=model.best_epoch_,
        reliability=_reliability(result),
        abstain=_abstain(result),
        suggestions=[
            Suggestion(one.node, one.score, f"uncertainty {one.uncertainty:.2f}, reach {one.reach:.2f}")
            for one in result.suggestions[:ON_PAGE]
        ],
        candidates=_candidates(result.choice),
        choice="" if result.choice is None else _sentence(result.choice),
        settings={"method": spec.method, **parameters, "seed": spec.seed},
        changed=[name for name, value in parameters.items() if _differs(value, defaults[name])],
        command=f"ncgc fit --config {shlex.quote(str(Path(folder) / 'config.toml'))} --out again",
        seed=spec.seed,
    )
    return replace(data, embedding2d=_places(data, _embeddings(model)))


def _rows(result: RunResult) -> list[tuple[str, Any]]:
    graph = result.data.graph
    return [
        ("nodes", graph.num_nodes),
        ("edges", graph.num_edges),
        ("features", graph.num_features),
        ("classes", graph.num_classes),
        ("labels given", int((result.given >= 0).sum())),
        ("mean degree", round(float(graph.degrees.mean()), 1)),
        ("nodes without edges", int((graph.degrees == 0).sum())),
        ("weighted", graph.weighted),
        ("method", result.model.display_name),
    ]


def _candidates(choice: Choice | None) -> list[Candidate]:
    """What cross-validation found, in the order of trying, and then what there was no time for."""
    if choice is None or not choice.trials:
        return []
    tried = [Candidate(t.method, t.accuracy, t.labels, t.seconds, t.method == choice.method) for t in choice.trials]
    return tried + [Candidate(name) for name in choice.left_out]


def _sentence(choice: Choice) -> str:
    """Which method, and why.

    >>> _sentence(Choice("sgc", (), (), "every class has one label, so none can be held out"))
    'sgc was chosen: every class has one label, so none can be held out.'
    """
    return f"{choice.method} was chosen: {choice.reason}."


def _abstain(result: RunResult) -> Abstain | None:
    if result.spec.abstain is None:
        return None
    withheld = int(((result.predicted < 0) & (result.given < 0)).sum())
    return Abstain(result.spec.abstain, min(result.threshold, 1.0), withheld)


def _reliability(result: RunResult) -> Reliability | None:
    """On the test nodes where there are some, otherwise as it was measured when calibrating."""
    calibration, test = result.model.calibration_, result.data.split.test
    if len(test):
        labels = result.data.graph.labels[test]
        return Reliability.of(result.probabilities[test], labels, f"Measured on {len(test):,} test nodes.")
    if calibration is None or not len(calibration.right):
        return None
    return Reliability.of_confidence(calibration.confidence, calibration.right, f"Measured {calibration.measured}.")


def _history(model: Any) -> dict[str, list[float | None]]:
    history = model.history_
    return {
        name: [None if math.isnan(value) else float(value) for value in history[name]]
        for name in history.columns
        if name != "seconds"
    }


def _embeddings(model: Any) -> np.ndarray:
    """What the map is drawn from: the embeddings, or the probabilities of a method that has none."""
    try:
        embeddings: np.ndarray = model.transform()
    except GraphError:
        embeddings = model.predict_proba()
    return embeddings


def _places(data: ReportData, embeddings: np.ndarray) -> np.ndarray:
    """(n, 2) places of the nodes on the map; a node that it leaves out is not laid out either, and stands at 0."""
    shown = shown_nodes(data)
    places = np.zeros((len(embeddings), 2), dtype=np.float32)
    places[shown] = layout_2d(embeddings[shown], seed=data.seed)
    return places


def _differs(value: Any, default: Any) -> bool:
    return not (value is default or value == default)
