"""FeatureEncoder: the columns of a node table as a feature matrix, encoded the same way at fit and later."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Any

import numpy as np
from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.graph.features import SPARSE_BELOW
from ncgc.graph.validation import Features
from ncgc.io.tables.column_encoders import (
    ENCODERS,
    KINDS,
    MOST_CATEGORIES,
    Column,
    NumberColumn,
    TextColumn,
    from_dict,
    guess_kind,
    to_dict,
)
from ncgc.io.tables.columns import check_type, named_column, quoted
from ncgc.io.tables.table import Table, as_table

TYPES = "write numbers or text, or set the column's kind to 'drop'"
FORMAT = "ncgc-features-1"


class FeatureEncoder:
    """Numbers standardised, categories one-hot, texts as TF-IDF; ids, constants and empty columns dropped.

    Args:
        columns: the columns to use; default: all but those excluded.
        kinds: {"column": "number" | "category" | "text" | "drop"} where the guess would be wrong.
        exclude: columns that are no features, such as ids and labels.

    Attributes:
        notes: sentences on what was dropped and why.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [20.0, 30.0, 40.0, None], "town": ["Ulm", "Ulm", "Bern", "Bern"], "one": [1, 1, 1, 1]})
    >>> encoder = FeatureEncoder().fit(table)
    >>> encoder.describe()
    [('age', 'number', 2), ('town', 'category', 2), ('one', 'drop', 0)]
    >>> encoder.transform(table).shape
    (4, 4)
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        exclude: Sequence[str] = (),
    ):
        self.columns = columns
        self.kinds = kinds
        self.exclude = exclude
        self.notes: list[str] = []
        self._used: list[Column] = []
        self._described: list[tuple[str, str, int]] = []

    # ---------------------------------------------------------------- learning

    def fit(self, table: Any) -> FeatureEncoder:
        """Learn kinds, means, categories and words from a table.

        Args:
            table: a file, a pandas DataFrame, a pyarrow Table or a Table.

        Returns:
            The encoder itself.

        Raises:
            InputError: names the column or row that cannot be used.
        """
        table = as_table(table, "table")
        kinds = self._given_kinds(table)
        if self.columns is None:
            names = [name for name in table.columns if name not in self.exclude]
        else:
            names = [named_column(table, name, "features") for name in dict.fromkeys(self.columns)]
        self.notes, self._used, self._described = [], [], []
        dropped: dict[str, list[str]] = {}
        for name in names:
            self._learn(table, name, kinds.get(name), dropped)
        self.notes += [f"Not used of {table.name}: {quoted(found, 8)} ({why})." for why, found in dropped.items()]
        return self

    def _given_kinds(self, table: Table) -> dict[str, str]:
        kinds = {}
        for name, kind in (self.kinds or {}).items():
            if kind not in KINDS:
                raise ParameterError(
                    f"The kind of the column {name!r} must be one of {quoted(KINDS)}. Got {kind!r} instead."
                )
            kinds[named_column(table, name, "features")] = kind
        return kinds

    def _learn(self, table: Table, name: str, given: str | None, dropped: dict[str, list[str]]) -> None:
        """Learn one column; one without information goes to ``dropped``, by the reason."""
        kind, why = guess_kind(table, name) if given is None else (given, "")
        column: Column | None = None
        if kind != "drop":
            check_type(table, name, TYPES)
            column = ENCODERS[kind].fit(table, name)
            why = "no words" if kind == "text" else "the same in every row"
        if column is not None:
            self._used.append(column)
            if kind == "category" and column.width == MOST_CATEGORIES:
                self.notes.append(f"Of the column {name!r} the {MOST_CATEGORIES:,} most frequent values are used.")
        elif given != "drop":
            dropped.setdefault(why, []).append(name)
        self._described.append((name, "drop", 0) if column is None else (name, column.kind, column.width))

    # ---------------------------------------------------------------- using

    def transform(self, table: Any) -> Features:
        """Encode a table that has the columns of the fitted one.

        Args:
            table: a file, a pandas DataFrame, a pyarrow Table or a Table.

        Returns:
            n×D float32: CSR where fewer than 6 % of the entries are non-zero, dense otherwise.

        Raises:
            InputError: names the columns that are missing, or the row that cannot be used.
        """
        table = as_table(table, "table")
        self._check_present(table)
        blocks = [_compact(column.transform(table)) for column in self._used]
        if not blocks:
            return np.zeros((len(table), 0), dtype=np.float32)
        size = len(table) * sum(block.shape[1] for block in blocks)
        stored = sum(block.nnz if sparse.issparse(block) else np.count_nonzero(block) for block in blocks)
        if stored < SPARSE_BELOW * size:
            return sparse.csr_array(sparse.hstack(_joined(blocks), format="csr", dtype=np.float32))
        return np.hstack([block.toarray() if sparse.issparse(block) else block for block in blocks])

    def fit_transform(self, table: Any) -> Features:
        """Fit on a table and encode it.

        Args:
            table: a file, a pandas DataFrame, a pyarrow Table or a Table.

        Returns:
            n×D float32, CSR or dense, as :meth:`transform`.
        """
        return self.fit(table).transform(table)

    def _check_present(self, table: Table) -> None:
        absent = [column.name for column in self._used if column.name not in table.columns]
        if absent:
            near = get_close_matches(absent[0], table.columns, n=1)
            hint = f" (for {absent[0]!r} there is {near[0]!r})" if near else ""
            raise InputError(
                f"{table.name} lacks the column{'s' * (len(absent) > 1)} {quoted(absent)} that the features were made of{hint}; "
                "add what is missing, under the same name."
            )
        for column in self._used:
            check_type(table, column.name, TYPES)

    @property
    def num_features(self) -> int:
        """Number of feature columns that the encoder makes."""
        return sum(column.width for column in self._used)

    @property
    def used_columns(self) -> list[str]:
        """The columns a table must have to be transformed."""
        return [column.name for column in self._used]

    @property
    def standardised(self) -> bool:
        """Whether a column of numbers was standardised; columns of 0 and 1 are not."""
        return any(
            isinstance(column, NumberColumn) and (column.mean, column.std) != (0.0, 1.0) for column in self._used
        )

    def describe(self) -> list[tuple[str, str, int]]:
        """(column, kind, number of features) of every column; "drop" and 0 for those not used."""
        return list(self._described)

    # ---------------------------------------------------------------- storing

    def to_json(self) -> str:
        """Everything :meth:`transform` needs, as JSON."""
        columns = [to_dict(column) for column in self._used]
        return json.dumps({"format": FORMAT, "columns": columns, "described": self._described}, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> FeatureEncoder:
        """Restore an encoder; nothing is unpickled.

        Args:
            text: from :meth:`to_json`.

        Returns:
            The fitted encoder.

        Raises:
            InputError: if the text is no encoder, or inconsistent.
        """
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, not {FORMAT!r}")
            encoder = cls()
            encoder._used = [from_dict(entry) for entry in content["columns"]]
            encoder._described = [(str(name), str(kind), int(width)) for name, kind, width in content["described"]]
            for column in encoder._used:
                _check_sound(column)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"The feature encoder cannot be read from this JSON ({error}); write it again.") from None
        return encoder


def _joined(blocks: list[Features]) -> list[Features]:
    """The blocks as CSR, adjacent dense ones as one block: joining many narrow blocks is slow."""
    groups = groupby(blocks, key=sparse.issparse)
    return [
        block for lean, group in groups for block in (group if lean else [sparse.csr_array(np.hstack(list(group)))])
    ]


def _compact(block: Features) -> Features:
    """A block as CSR where that is smaller: a wide table of mostly zeros is never dense as a whole."""
    if not sparse.issparse(block) and np.count_nonzero(block) < SPARSE_BELOW * block.size:
        return sparse.csr_array(block)
    return block


def _check_sound(column: Column) -> None:
    """Raise a ValueError unless an encoder read from JSON has the right types and lengths."""
    values = to_dict(column)
    lists = [values[key] for key in ("values", "words", "idf") if key in values]
    if not all(isinstance(one, list) for one in lists) or not isinstance(values.get("missing", True), bool):
        raise ValueError(f"its entry for the column {column.name!r} is of the wrong type")
    texts = [column.name, *values.get("values", []), *values.get("words", [])]
    figures = [values[key] for key in ("mean", "std") if key in values] + values.get("idf", [])
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name in it is not text")
    if not all(isinstance(figure, float | int) and math.isfinite(figure) for figure in figures):
        raise ValueError("a figure in it is not a finite number")
    repeated = any(len(set(one)) != len(one) for one in (values.get("values", []), values.get("words", [])))
    if repeated or values.get("std", 1) <= 0 or (isinstance(column, TextColumn) and column.width != len(column.idf)):
        raise ValueError(f"its entry for the column {column.name!r} is inconsistent")
