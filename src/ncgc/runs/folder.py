"""The folders that runs write, whole or not at all.

`ncgc fit`:
    predictions.csv   every node by its own id        report.html      the result on a page
    model/            to label other nodes with       metrics.json     the numbers
    config.toml       to repeat the run with          suggestions.csv  what to label next
`ncgc train`:
    config.toml, metrics.json, and for each run history.csv and predictions.csv
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncgc.errors import OutputError
from ncgc.files import whole_folder
from ncgc.runs.result import RunResult, json_line, summary
from ncgc.runs.spec import RunSpec

FIT_FILES = (
    "predictions.csv",
    "predictions.parquet",
    "report.html",
    "config.toml",
    "metrics.json",
    "suggestions.csv",
    "model/",  # a folder, by whole_folder's rule
)
_TRAIN_FILES = re.compile(r"(history|predictions)(-\d+)?\.csv|config\.toml|metrics\.json|results\.csv")


def is_train_file(name: str) -> bool:
    """Whether a file of this name comes from an earlier `ncgc train`, and may be removed when that is overwritten.

    Args:
        name: of the file, without its folder.

    Returns:
        True for the names that :func:`write_train_files` and `ncgc demo` write.

    >>> is_train_file("history-3.csv"), is_train_file("holiday.csv")
    (True, False)
    """
    return _TRAIN_FILES.fullmatch(name) is not None


# ---------------------------------------------------------------- ncgc train


def write_train_folder(folder: str | Path, spec: RunSpec, results: Sequence[RunResult], overwrite: bool) -> None:
    """Write the folder of `ncgc train`.

    Args:
        folder: where to write.
        spec: all runs together.
        results: of the runs that were made.
        overwrite: replace the files of an earlier run; other files stay.
    """
    with whole_folder(folder, overwrite, is_train_file) as place:
        write_train_files(place, spec, results, summary(spec, results))


def write_train_files(place: Path, spec: RunSpec, results: Sequence[RunResult], metrics: Mapping[str, Any]) -> None:
    """Write the files of `ncgc train` to a folder that is not in its place yet.

    Args:
        place: an existing folder.
        spec: all runs together.
        results: of the runs that were made; each gets a history and a table of predictions.
        metrics: the contents of metrics.json.
    """
    (place / "config.toml").write_text(spec.to_toml([result.drawn for result in results]), encoding="utf-8")
    (place / "metrics.json").write_text(json_line(metrics, indent=2) + "\n", encoding="utf-8")
    for result in results:
        ending = f"-{result.spec.seed}.csv" if spec.runs > 1 else ".csv"
        (place / f"history{ending}").write_text(result.model.history_.to_csv(), encoding="utf-8")
        (place / f"predictions{ending}").write_text(predictions_csv(result), encoding="utf-8")


def predictions_csv(result: RunResult) -> str:
    """The predictions of `ncgc train` as CSV: node, label, its probability, and whether it was given or predicted.

    Args:
        result: of a run.

    Returns:
        The text, one line per node after the head.
    """
    graph, given, labels = result.data.graph, result.given, result.labels
    confidence = result.probabilities[np.arange(graph.num_nodes), labels]
    names = graph.classes.tolist()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["node", "label", "confidence", "source"])
    for node, label, share, known in zip(_ids(result), labels.tolist(), confidence, given >= 0, strict=True):
        writer.writerow([node, names[label], f"{share:.6f}", "given" if known else "predicted"])
    return text.getvalue()


def _ids(result: RunResult) -> list[Any]:
    from ncgc.selection.active import names_of

    return list(names_of(result.data.graph).tolist())


# ---------------------------------------------------------------- ncgc fit


def write_fit_folder(folder: str | Path, result: RunResult, overwrite: bool = False, report: bool = True) -> None:
    """Write the folder of `ncgc fit`.

    Args:
        folder: where to write.
        result: of a run on tables.
        overwrite: replace the files of an earlier run; other files stay.
        report: whether to draw the page, which takes longest.
    """
    with whole_folder(folder, overwrite, FIT_FILES.__contains__) as place:
        try:
            _write_fit_files(place, result, folder, report)
        except OutputError as error:  # of a file under its temporary name
            raise OutputError(str(error).replace(str(place), str(folder))) from None


def _write_fit_files(place: Path, result: RunResult, folder: str | Path, report: bool) -> None:
    from ncgc.io import write_predictions
    from ncgc.report import render_report
    from ncgc.runs.report_data import report_data
    from ncgc.selection.active import suggestions_frame

    write_predictions(place / f"predictions.{result.spec.format}", predictions_table(result))
    suggested = suggestions_frame(result.data.graph, result.probabilities, result.suggestions)
    write_predictions(place / "suggestions.csv", suggested)
    (place / "config.toml").write_text(result.spec.to_toml(), encoding="utf-8")
    (place / "metrics.json").write_text(json_line(result.to_dict(), indent=2) + "\n", encoding="utf-8")
    if report:
        (place / "report.html").write_text(render_report(report_data(result, folder)), encoding="utf-8")
    if result.model.inductive:  # a model that cannot label other nodes is not written
        result.model.save(place / "model", extra=_how_to_read(result))


def predictions_table(result: RunResult) -> Any:
    """The predictions of `ncgc fit`: id, label, confidence, given, cluster and the probability of every class.

    Args:
        result: of a run on tables.

    Returns:
        A data frame with one row per node.
    """
    from ncgc.io import predictions_frame
    from ncgc.selection.active import names_of

    graph = result.data.graph
    return predictions_frame(
        names_of(graph), result.labels, result.probabilities, graph.classes,
        given=result.given >= 0, clusters=result.model.clusters_,
    )  # fmt: skip


def _how_to_read(result: RunResult) -> dict[str, Any]:
    """What a model file needs to read new tables as these were read, and to abstain as this run does."""
    tables = result.data.tables
    assert tables is not None
    return {
        "encoder": None if tables.encoder is None else tables.encoder.to_json(),
        "columns": tables.columns,
        "features": tables.features,
        "tables": list(tables.tables),
        "threshold": result.threshold if np.isfinite(result.threshold) else None,
        "abstain": result.spec.abstain,
    }
