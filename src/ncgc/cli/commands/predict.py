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
from ncgc.runs.result import json_line

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


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a model, or of a run by ncgc fit.")],
    nodes: Annotated[
        Path | None,
        _text(
            "--nodes",
            "The new nodes, a row each, with the columns that the model's features are made of.",
            TABLES,
            "FILE",
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        _text(
            "--edges", "Their edges, a row each: from new node to new node, or to an old one by its id.", TABLES, "FILE"
        ),
    ] = None,
    id: Annotated[
        str | None, _text("--id", "Column of the nodes' ids. Default: as in the model's table.", TABLES)
    ] = None,
    source: Annotated[str | None, _text("--source", "Column of the edges: from. Default: likewise.", TABLES)] = None,
    target: Annotated[str | None, _text("--target", "Column of the edges: to. Default: likewise.", TABLES)] = None,
    weight: Annotated[str | None, _text("--weight", "Column of the edges' weights. Default: likewise.", TABLES)] = None,
    features: Annotated[
        Path | None,
        _text(
            "--features",
            "A .npz or .npy file with a row a new node, for a model that was fitted on one.",
            TABLES,
            "FILE",
        ),
    ] = None,
    delimiter: Annotated[
        str | None, _text("--delimiter", "Of text tables, where it is not the usual one.", TABLES, "CHAR")
    ] = None,
    alone: Annotated[
        bool,
        typer.Option(
            "--alone",
            help="Take the new nodes as a graph of their own: an id that an old node has too is that of another node.",
            rich_help_panel=TABLES,
        ),
    ] = False,
    out: Annotated[Path | None, _text("--out", "The .csv or .parquet file to write.", RESULT, "FILE")] = None,
    overwrite: Annotated[bool, _switch("--overwrite", "Replace the file if it is there.")] = False,
    as_json: Annotated[
        bool, _switch("--json", "One JSON object on stdout, without --out with every prediction; the rest on stderr.")
    ] = False,
    quiet: Annotated[bool, _switch("--quiet", "Show the result alone.")] = False,
) -> int:
    """Label new nodes with a model that ncgc fit or NCGC.save wrote.

    A model keeps the graph it was fitted on, whose nodes are the old ones. An edge may lead from a new node to an old one:
    the new nodes are then joined to the old graph, and old neighbours help to label them. Where no edge does, or with
    --alone, they are a graph of their own, labelled by their features and the edges among them.

    A column of labels, if there is one, is only compared with.
    """
    if nodes is None or edges is None:
        raise ParameterError(f"The {'nodes' if nodes is None else 'edges'} are missing; give --nodes and --edges.")
    if out is not None:
        _check_out(out, overwrite)
    from ncgc.io.predictions import write_predictions
    from ncgc.io.tables.new_nodes import attach_nodes  # slow from here on: torch
    from ncgc.io.tables.read_graph import TableSchema
    from ncgc.models.stored import load_model

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
        screen.facts([("written", str(out))])
    elif not as_json:
        screen.facts([("note", "Nothing was written; give --out predictions.csv for the label of every node.")])
    if as_json:
        rows = None if out is not None else _rows(frame)
        typer.echo(json_line({**summary, "out": None if out is None else str(out), "predictions": rows}))
    return 0


def _check_out(out: Path, overwrite: bool) -> None:
    """Before the work, not after: can the file be written?"""
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
    """What there is to say in numbers."""
    told = labels >= 0
    known = (attached.truth >= 0) & told
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
        "withheld": int((~told).sum()),
        "mean_confidence": float(confidence[told].mean()) if told.any() else None,
        "classes": classes,
        "compared": int(known.sum()),
        "accuracy": float((labels == attached.truth)[known].mean()) if known.any() else None,
    }


def _where(attached: Attached, old: int, alone: bool) -> str:
    """Which graph the new nodes are labelled in, and why."""
    if attached.bridges:
        return f"joined to the model's graph of {count(old, 'node')} by {count(attached.bridges, 'edge')}"
    why = "as --alone asks" if alone else "no edge leads to an old node of the model's graph"
    return f"a graph of their own: {why}"


def _show(summary: dict[str, Any], attached: Attached, screen: Screen, model: str, where: str) -> None:
    """The model, where the new nodes are, a row a class, and how good that is where labels are known."""
    notes = [("note" if number == 0 else "", note) for number, note in enumerate(attached.notes)]
    words = f"{summary['nodes'] - summary['withheld']:,} of {count(summary['nodes'], 'new node')} labelled"
    screen.facts([("model", model), ("nodes", f"{count(summary['nodes'], 'new node')}, {where}"), *notes])
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
        screen.facts([("accuracy", f"{right} on {labels} in the table")])
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
