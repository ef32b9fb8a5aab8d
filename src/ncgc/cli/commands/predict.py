"""`ncgc predict`: labels for nodes that a saved model has never seen."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table

from ncgc.cli.screen import Screen, count, percent
from ncgc.errors import OutputError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from ncgc.io.tables.new_nodes import Attached
    from ncgc.models.base import NodeClassifier

TABLES, RESULT = "Tables", "Result"
ENDINGS = (".csv", ".parquet")


def _text(flag: str, help: str, panel: str, metavar: str = "NAME") -> Any:
    return typer.Option(flag, metavar=metavar, help=help, rich_help_panel=panel, show_default=False)


def _switch(flag: str, help: str) -> Any:
    return typer.Option(flag, help=help, rich_help_panel=RESULT)


_Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a model, or of a run by ncgc fit.")]
_Nodes = Annotated[
    Path | None,
    _text(
        "--nodes",
        "The new nodes, one per row, with the columns that the model's features are made of.",
        TABLES,
        "FILE",
    ),
]
_Edges = Annotated[
    Path | None,
    _text(
        "--edges",
        "Their edges, one per row: between new nodes, or from a new node to an old one by its id.",
        TABLES,
        "FILE",
    ),
]
_Id = Annotated[str | None, _text("--id", "Column with the node ids. Default: as in the model's table.", TABLES)]
_Source = Annotated[
    str | None,
    _text("--source", "Column with the first node of an edge. Default: as in the model's table.", TABLES),
]
_Target = Annotated[
    str | None,
    _text("--target", "Column with the second node of an edge. Default: as in the model's table.", TABLES),
]
_Weight = Annotated[
    str | None, _text("--weight", "Column with the edge weights. Default: as in the model's table.", TABLES)
]
_Features = Annotated[
    Path | None,
    _text(
        "--features",
        "A .npz or .npy file with one row per new node, for a model that was fitted on such a file.",
        TABLES,
        "FILE",
    ),
]
_Delimiter = Annotated[
    str | None, _text("--delimiter", "Delimiter of text tables. Default: comma, or tab in .tsv.", TABLES, "CHAR")
]
_Alone = Annotated[
    bool,
    typer.Option(
        "--alone",
        help="Treat the new nodes as a graph of their own, even where an id equals that of an old node.",
        rich_help_panel=TABLES,
    ),
]
_Out = Annotated[Path | None, _text("--out", "The .csv or .parquet file to write.", RESULT, "FILE")]
_Overwrite = Annotated[bool, _switch("--overwrite", "Replace an existing file.")]
_AsJson = Annotated[
    bool,
    _switch(
        "--json",
        "Print one JSON object to stdout (with every prediction unless --out is given), all else to stderr.",
    ),
]
_Quiet = Annotated[bool, _switch("--quiet", "Show only the result.")]


def predict(
    model: _Model,
    nodes: _Nodes = None,
    edges: _Edges = None,
    id: _Id = None,
    source: _Source = None,
    target: _Target = None,
    weight: _Weight = None,
    features: _Features = None,
    delimiter: _Delimiter = None,
    alone: _Alone = False,
    out: _Out = None,
    overwrite: _Overwrite = False,
    as_json: _AsJson = False,
    quiet: _Quiet = False,
) -> int:
    """Label new nodes with a model that ncgc fit or NCGC.save wrote.

    A model keeps the graph it was fitted on, whose nodes are the old ones. An edge may lead from a new node to an old
    one: the new nodes are then joined to the old graph, and old neighbours help to label them. Where no edge does, or
    with --alone, they are a graph of their own, labelled by their features and the edges among them.

    A column of labels, if there is one, is only compared with the predictions.
    """
    if nodes is None or edges is None:
        raise ParameterError(f"The {'nodes' if nodes is None else 'edges'} are missing; give --nodes and --edges.")
    if out is not None:
        _check_out(out, overwrite)
    from ncgc.io.predictions import write_predictions
    from ncgc.io.tables.new_nodes import attach_nodes  # slow from here on: torch
    from ncgc.io.tables.read_graph import TableSchema
    from ncgc.models.stored import load_model
    from ncgc.runs.result import json_line

    screen = Screen(to_stderr=as_json, quiet=quiet)
    fitted = load_model(model)
    attached = attach_nodes(
        fitted.graph_, nodes, edges, TableSchema.from_dict(fitted.extra_), id=id, source=source, target=target, weight=weight,
        features=features, delimiter=delimiter, alone=alone,
    )  # fmt: skip
    frame, labels = _label(fitted, attached)
    summary = _summary(fitted, attached, frame, labels)
    _show(summary, attached, screen, str(model), _where(attached, fitted.graph_.num_nodes, alone))
    if out is not None:
        write_predictions(out, frame)
        screen.rows([("written", str(out))])
    elif not as_json:
        screen.rows([("note", "Nothing was written; give --out predictions.csv for the label of every node.")])
    if as_json:
        rows = None if out is not None else _rows(frame)
        typer.echo(json_line({**summary, "out": None if out is None else str(out), "predictions": rows}))
    return 0


def _check_out(out: Path, overwrite: bool) -> None:
    """Raise an OutputError if the file cannot be written: before the work, not after."""
    if out.suffix.lower() not in ENDINGS:
        raise OutputError(f"Predictions are written as .csv or .parquet. Got --out {out.name!r} instead.")
    try:
        misplaced, there = out.is_dir() or not out.parent.is_dir(), out.exists()
    except OSError as error:
        raise OutputError(
            f"The predictions cannot be written to {out} ({error.strerror or error}); give another place."
        ) from None
    if misplaced:
        raise OutputError(f"The predictions cannot be written to {out}; --out must be a file in a folder that exists.")
    if not os.access(out.parent, os.W_OK):
        raise OutputError(f"The predictions cannot be written to {out}: you may not write there; give another place.")
    if there and not overwrite:
        raise OutputError(f"The file {out} exists; give another name, or --overwrite to replace it.")


def _label(model: NodeClassifier, attached: Attached) -> tuple[pd.DataFrame, np.ndarray]:
    """The table of predictions of the new nodes, and (m,) the classes so given, -1 where the model abstains."""
    from ncgc.io.predictions import predictions_frame

    probabilities = model.predict_proba(attached.graph)[attached.new]
    # only NCGC has clusters
    clusters = model.predict_clusters(attached.graph)[attached.new] if hasattr(model, "predict_clusters") else None
    labels = np.where(probabilities.max(axis=1) < _threshold(model), -1, probabilities.argmax(axis=1))
    return predictions_frame(attached.ids, labels, probabilities, model.classes_, clusters=clusters), labels


def _threshold(model: NodeClassifier) -> float:
    """The confidence below which a model that was fitted with --abstain gives no label."""
    if not isinstance(model.extra_.get("abstain"), int | float):
        return 0.0
    threshold = model.extra_.get("threshold")
    return float(threshold) if isinstance(threshold, int | float) else math.inf


def _summary(model: NodeClassifier, attached: Attached, frame: pd.DataFrame, labels: np.ndarray) -> dict[str, Any]:
    """The result in numbers."""
    labelled = labels >= 0
    known = (attached.truth >= 0) & labelled
    confidence = frame["confidence"].to_numpy(dtype=np.float64)
    classes = []
    for number, name in enumerate(model.classes_.tolist()):
        mine = labels == number
        classes.append(
            {
                "class": str(name),
                "nodes": int(mine.sum()),
                "mean_confidence": float(confidence[mine].mean()) if mine.any() else None,
            }
        )
    return {
        "nodes": len(labels),
        "joined": attached.joined,
        "bridges": attached.bridges,
        "calibrated": model.calibration_ is not None,
        "withheld": int((~labelled).sum()),
        "mean_confidence": float(confidence[labelled].mean()) if labelled.any() else None,
        "classes": classes,
        "compared": int(known.sum()),
        "accuracy": float((labels == attached.truth)[known].mean()) if known.any() else None,
    }


def _where(attached: Attached, old: int, alone: bool) -> str:
    """Which graph the new nodes are labelled in, and why."""
    if attached.bridges:
        return f"joined to the model's graph of {count(old, 'node')} by {count(attached.bridges, 'edge')}"
    why = "because of --alone" if alone else "no edge leads to an old node of the model's graph"
    return f"a graph of their own: {why}"


def _show(summary: dict[str, Any], attached: Attached, screen: Screen, model: str, where: str) -> None:
    """The model, where the new nodes are, one row per class, and the accuracy where labels are known."""
    notes = [("note" if number == 0 else "", note) for number, note in enumerate(attached.notes)]
    words = f"{summary['nodes'] - summary['withheld']:,} of {count(summary['nodes'], 'new node')} labelled"
    screen.rows([("model", model), ("nodes", f"{count(summary['nodes'], 'new node')}, {where}"), *notes])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("class", style="bold cyan")
    for title in ("nodes", "mean confidence"):
        table.add_column(title, justify="right")
    for row in summary["classes"]:
        sure = row["mean_confidence"]
        table.add_row(row["class"], f"{row['nodes']:,}", "" if sure is None else f"{sure:.2f}")
    if summary["withheld"]:
        table.add_row("(withheld)", f"{summary['withheld']:,}", "", style="dim")
    screen.say()
    screen.say(table)
    screen.say()
    if summary["accuracy"] is not None:
        right, labels = percent(summary["accuracy"]), count(summary["compared"], "label")
        screen.rows([("accuracy", f"{right} on {labels} in the table")])
        words += f", {right} right on {labels}"
    if screen.quiet:
        screen.say(words, result=True)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The table as JSON takes it: null for an empty cell."""
    rows = []
    for row in frame.astype(object).to_dict("records"):
        rows.append({name: _plain(value) for name, value in row.items()})
    return rows


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value
