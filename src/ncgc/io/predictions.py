"""Predictions as a table under the nodes' own ids, and as CSV or Parquet files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from ncgc.errors import OutputError
from ncgc.files import write_bytes

FORMULA = r"^[=+\-@\t\r]"  # how a cell starts that a spreadsheet would run as a formula
QUOTE = '"'
NEEDS_QUOTES = r'[",\r\n]'
DIGITS = 6  # after the point, in CSV


def predictions_frame(
    ids: Sequence[Any] | np.ndarray,
    labels: Sequence[Any] | np.ndarray,
    probabilities: np.ndarray,
    classes: Sequence[Any] | np.ndarray,
    *,
    given: np.ndarray | None = None,
    clusters: np.ndarray | None = None,
) -> pd.DataFrame:
    """Predictions as a data frame.

    Args:
        ids: (n,) ids of the nodes.
        labels: (n,) class indices, -1 where the model abstains: then label and confidence are empty.
        probabilities: (n, K), columns in the order of ``classes``.
        classes: (K,) class names.
        given: (n,) whether the label came with the data; default: none did.
        clusters: (n,) cluster numbers; default: empty.

    Returns:
        A row a node with the columns id, label, confidence, given, cluster, and p_<class> for each class.

    >>> predictions_frame(["A", "B"], [1, -1], np.array([[0.2, 0.8], [0.5, 0.5]]), ["ham", "spam"]).iloc[:, :3]
      id label  confidence
    0  A  spam         0.8
    1  B   NaN         NaN
    """
    probabilities = np.asarray(probabilities, dtype=np.float64)
    numbers = np.asarray(labels, dtype=np.int64)
    n, count = len(numbers), len(classes)
    if probabilities.shape != (n, count) or len(ids) != n:
        raise OutputError(
            f"There are {len(ids)} ids, {n} labels and probabilities of the shape {probabilities.shape} for {count} classes; "
            "give a row a node and a column a class."
        )
    known = numbers >= 0
    names = pd.array([str(name) for name in classes], dtype="str")
    confidence = np.where(known, probabilities[np.arange(n), np.where(known, numbers, 0)], np.nan)
    columns: dict[str, Any] = {
        "id": ids,
        "label": names.take(numbers, allow_fill=True),
        "confidence": confidence,
        "given": np.zeros(n, dtype=bool) if given is None else np.asarray(given, dtype=bool),
        "cluster": pd.array([pd.NA] * n if clusters is None else np.asarray(clusters), dtype="Int64"),
    }
    for k, name in enumerate(classes):
        columns[f"p_{name}"] = probabilities[:, k]
    return pd.DataFrame(columns)


def write_predictions(path: str | Path, frame: pd.DataFrame) -> None:
    """Write a frame of predictions as ``.csv`` or ``.parquet``, whole or not at all.

    In CSV, text that starts with = + - @, a tab or a carriage return gets an apostrophe in front, header cells too, so
    that a spreadsheet shows it instead of running it; remove the apostrophe to join on such ids. Numbers are rounded to
    six digits after the point. Parquet keeps everything as it is.

    Args:
        path: the file; its extension decides the format.
        frame: from :func:`predictions_frame`.

    Raises:
        OutputError: if the extension is neither, or the file cannot be written.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".parquet"):
        raise OutputError(f"Predictions are written as .csv or .parquet. Got {path.name!r} instead.")
    if ending == ".csv":
        write_bytes(path, csv_bytes(frame))
        return
    file = io.BytesIO()
    pq.write_table(_arrow(frame), file)
    write_bytes(path, file.getvalue())


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Predictions as CSV.

    Args:
        frame: from :func:`predictions_frame`.

    Returns:
        The bytes of the .csv file that :func:`write_predictions` would write.
    """
    return _csv(_arrow(frame))


def _arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _csv(table: pa.Table) -> bytes:
    """The table as CSV with its header, quotes only where a cell needs them."""
    names = _safe(pa.chunked_array([table.column_names])).to_pylist()
    header = ",".join(
        f'"{name.replace(QUOTE, 2 * QUOTE)}"' if re.search(NEEDS_QUOTES, name) else name for name in names
    )
    cells = pa.table([_safe(column) for column in table.columns], names=table.column_names)
    rows = io.BytesIO()
    style = "none" if _plain(cells) else "needed"
    csv.write_csv(cells, rows, csv.WriteOptions(include_header=False, quoting_style=style))
    return header.encode() + b"\n" + rows.getvalue()


def _safe(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_floating(column.type):
        return pc.round(column, DIGITS)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    return pc.replace_substring_regex(column, FORMULA, r"'\0")


def _plain(table: pa.Table) -> bool:
    """Whether no text holds a comma, a quotation mark or a line's end, so that quotes are not needed."""
    texts = [column for column in table.columns if not pa.types.is_primitive(column.type)]
    return not any(pc.any(pc.match_substring_regex(column, NEEDS_QUOTES)).as_py() for column in texts)
