"""What `ncgc fit` leaves behind, written whole or not at all.

run/predictions.csv   every node under its own id        run/report.html   to look at
run/model/            to label other nodes with          run/metrics.json  in numbers
run/config.toml       to repeat the run with             run/suggestions.csv  what to label next
"""

from __future__ import annotations

import json
import math
import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ncgc import __version__
from ncgc.errors import GraphError, OutputError
from ncgc.files import whole_folder
from ncgc.io import predictions_frame, write_predictions
from ncgc.models.base import NodeClassifier
from ncgc.models.ncgc import NCGC
from ncgc.models.stored import save_model
from ncgc.report import Abstain, Candidate, Reliability, ReportData, Suggestion, layout_2d, render_report
from ncgc.report.map_nodes import shown_nodes
from ncgc.runs.config import hyper_of
from ncgc.runs.labelling import Labelling
from ncgc.selection.active import names_of, suggestions_frame
from ncgc.selection.auto import Choice

OURS = (
    "predictions.csv",
    "predictions.parquet",
    "report.html",
    "config.toml",
    "metrics.json",
    "suggestions.csv",
    "model",
)
ON_PAGE = 20  # suggestions shown in the report


def write_run(folder: str | Path, labelling: Labelling, overwrite: bool = False, report: bool = True) -> None:
    """All files of a run; an earlier run's are replaced when ``overwrite``."""
    with whole_folder(folder, overwrite, OURS.__contains__) as place:
        try:
            _write(place, labelling, folder, report)
        except OutputError as error:  # of a file under its temporary name
            raise OutputError(str(error).replace(str(place), str(folder))) from None


def _write(place: Path, labelling: Labelling, folder: str | Path, report: bool) -> None:
    config = labelling.config
    write_predictions(place / f"predictions.{config.format}", frame(labelling))
    write_predictions(
        place / "suggestions.csv",
        suggestions_frame(labelling.tables.graph, labelling.model.predict_proba(), labelling.suggestions),
    )
    (place / "config.toml").write_text(config.to_toml(), encoding="utf-8")
    text = json.dumps(metrics_of(labelling), indent=2, ensure_ascii=False, allow_nan=False)
    (place / "metrics.json").write_text(text + "\n", encoding="utf-8")
    if report:
        (place / "report.html").write_text(render_report(report_data(labelling, folder)), encoding="utf-8")
    if leaves_model(labelling.model):
        save_model(labelling.model, place / "model", extra=_extra(labelling))


def leaves_model(model: NodeClassifier) -> bool:
    """Whether a fitted model can label nodes it has not seen; one that cannot leaves labels behind and no model."""
    return isinstance(model, NCGC) or model.inductive


def metrics_of(labelling: Labelling) -> dict[str, Any]:
    """What is in metrics.json; numbers that JSON has no word for are null."""
    values: dict[str, Any] = _finite({"version": __version__, **labelling.metrics()})
    return values


def frame(labelling: Labelling) -> Any:
    """One row a node: id, label, confidence, given, cluster and the probability of every class."""
    graph, model = labelling.tables.graph, labelling.model
    return predictions_frame(
        names_of(labelling.tables.graph), labelling.labels, model.predict_proba(), graph.classes,
        given=labelling.given >= 0, clusters=getattr(model, "clusters_", None),
    )  # fmt: skip


def report_data(labelling: Labelling, folder: str | Path) -> ReportData:
    """What the page shows."""
    graph, model, config = labelling.tables.graph, labelling.model, labelling.config
    probabilities, predicted, given = model.predict_proba(), labelling.predicted, labelling.given
    parameters = {name: value for name, value in model.get_params().items() if name != "random_state"}
    defaults = {name: row.default for name, row in hyper_of(config.method).items()}
    encoder = labelling.tables.encoder
    abstain = None
    if config.abstain is not None:
        withheld = int(((predicted < 0) & (given < 0)).sum())
        abstain = Abstain(config.abstain, min(labelling.threshold, 1.0), withheld)
    data = ReportData(
        title=graph.name,
        created=time.strftime("%d %B %Y, %H:%M"),
        version=__version__,
        seconds=model.seconds_,
        classes=[str(name) for name in graph.classes.tolist()],
        node_ids=names_of(labelling.tables.graph),
        given=given,
        predicted=predicted,
        probabilities=probabilities,
        summary_rows=_facts(labelling),
        notes=labelling.tables.notes,
        columns=[] if encoder is None else encoder.describe(),
        truth=labelling.truth,
        history=_history(labelling),
        best_epoch=model.best_epoch_,
        reliability=_reliability(labelling),
        abstain=abstain,
        suggestions=[
            Suggestion(one.node, one.score, f"uncertainty {one.uncertainty:.2f}, reach {one.reach:.2f}")
            for one in labelling.suggestions[:ON_PAGE]
        ],
        candidates=_candidates(labelling),
        choice="" if labelling.choice is None else _sentence(labelling.choice),
        settings={"method": config.method, **parameters, "seed": config.seed},
        changed=[name for name, value in parameters.items() if _differs(value, defaults[name])],
        command=f"ncgc fit --config {shlex.quote(str(Path(folder) / 'config.toml'))} --out again",
        seed=config.seed,
    )
    return replace(data, embedding2d=_places(data, _embeddings(labelling)))


def _candidates(labelling: Labelling) -> list[Candidate]:
    """What cross-validation found, in the order of trying, and then what there was no time for."""
    choice = labelling.choice
    if choice is None or not choice.trials:
        return []
    tried = [Candidate(t.method, t.accuracy, t.labels, t.seconds, t.method == choice.method) for t in choice.trials]
    return tried + [Candidate(name) for name in choice.left_out]


def _sentence(choice: Choice) -> str:
    """Which method, and why.

    >>> _sentence(Choice("sgc", (), (), "every class has one label, so none can be held out"))
    'sgc was taken: every class has one label, so none can be held out.'
    """
    return f"{choice.method} was taken: {choice.reason}."


def _method(labelling: Labelling) -> str:
    """The name of the method in the field, with the backbone of ours."""
    model = labelling.model
    return f"NCGC ({model.backbone})" if isinstance(model, NCGC) else str(model.title)


def _places(data: ReportData, embeddings: np.ndarray) -> np.ndarray:
    """(n, 2) places of the nodes that the map shows; a node that it leaves out is not laid out either, and stands at 0."""
    shown = shown_nodes(data)
    places = np.zeros((len(embeddings), 2), dtype=np.float32)
    places[shown] = layout_2d(embeddings[shown], seed=data.seed)
    return places


def _embeddings(labelling: Labelling) -> Any:
    """What the map is drawn from: the embeddings, or the probabilities of a method that has none."""
    try:
        return labelling.model.transform()
    except GraphError:
        return labelling.model.predict_proba()


def _facts(labelling: Labelling) -> list[tuple[str, Any]]:
    graph = labelling.tables.graph
    return [
        ("nodes", graph.num_nodes),
        ("edges", graph.num_edges),
        ("features", graph.num_features),
        ("classes", graph.num_classes),
        ("labels given", int((labelling.given >= 0).sum())),
        ("mean degree", round(float(graph.degrees.mean()), 1)),
        ("nodes without edges", int((graph.degrees == 0).sum())),
        ("weighted", graph.weighted),
        ("method", _method(labelling)),
    ]


def _reliability(labelling: Labelling) -> Reliability | None:
    """On the test nodes where there are some, otherwise as it was measured when calibrating."""
    calibration, graph, test = labelling.model.calibration_, labelling.tables.graph, labelling.split.test
    if len(test):
        return Reliability.of(
            labelling.model.predict_proba()[test], graph.labels[test], f"Measured on {len(test):,} test nodes."
        )
    if calibration is None or not len(calibration.right):
        return None
    return Reliability.of_confidence(calibration.confidence, calibration.right, f"Measured {calibration.measured}.")


def _history(labelling: Labelling) -> dict[str, list[float | None]]:
    history = labelling.model.history_
    return {
        name: [None if math.isnan(value) else float(value) for value in history[name]]
        for name in history.columns
        if name != "seconds"
    }


def _extra(labelling: Labelling) -> dict[str, Any]:
    tables = labelling.tables
    return {
        "encoder": None if tables.encoder is None else tables.encoder.to_json(),
        "columns": tables.columns,
        "features": tables.features,
        "tables": list(tables.tables),
        "threshold": labelling.threshold if math.isfinite(labelling.threshold) else None,
        "abstain": labelling.config.abstain,
    }


def _differs(value: Any, default: Any) -> bool:
    return not (value is default or value == default)


def _finite(value: Any) -> Any:
    """Numbers that JSON has no word for as null."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
