"""One column of a table as columns of X: its kind guessed, what `fit` learns from it, and how cells become features.

Each encoder has ``fit`` (None where the column carries no information), ``transform`` to an n×k block, and a dictionary
for JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from ncgc.io.tables.columns import (
    NOT_FINITE,
    NUMBER,
    decoded,
    is_numeric,
    is_text,
    numbers,
    parsed_numbers,
    plain_name,
    shortened,
    text_cells,
)
from ncgc.io.tables.table import Table

KINDS = ("number", "category", "text", "drop")
MISSING = r"(?i)^(na|n/a|#n/a|null|none)$"  # usual stand-ins for an empty cell
COMMA = r"^[+-]?[0-9]+,[0-9]+$"
WORDS = 3  # mean words in a cell from which a column is text,
LENGTH = 40  # or mean characters
SLIPS = 0.1  # fraction of words up to which the note calls a column one of numbers
MOST_CATEGORIES = 1000
MOST_WORDS = 5000
FARTHEST = 1e4  # standard deviations; no value of n < 1e8 rows lies farther out in the table it was fitted on
REMEDY = (
    "leave the cell empty if the value is unknown, correct it, or set the column's kind to 'category', 'text' or 'drop'"
)


def guess_kind(table: Table, name: str) -> tuple[str, str]:
    """Guess which kind of feature a column makes.

    Numbers: all cells are numbers, except those clearly meant as one ("nan", "NA", "1,5"), which the encoder then reports
    with their row. Text: mostly different cells of several words. Ids, short and nearly all different, are dropped: they
    would let a model recognise nodes instead of describing them. The rest are categories.

    Args:
        table: the node table.
        name: of the column.

    Returns:
        One of ``KINDS``, and the reason where it is "drop".
    """
    column = decoded(table.column(name))
    if not is_numeric(column.type) and not is_text(column.type):
        return "drop", f"cells of the type {column.type}"
    if column.null_count == len(column):
        return "drop", "empty"
    if is_numeric(column.type):
        return ("drop", "numbers the rows") if _numbers_the_rows(column, name) else ("number", "")
    cells = text_cells(column)
    known = cells.drop_null()
    if not len(known):
        return "drop", "empty"
    values = parsed_numbers(known)
    if values is not None:
        return ("drop", "numbers the rows") if _numbers_the_rows(values, name) else ("number", "")
    others = known.filter(pc.invert(pc.match_substring_regex(known, NUMBER)))
    if _meant_as_numbers(others, len(known)):
        return "number", ""
    kind, why = _kind_of_words(known)
    if kind == "drop" and len(others) <= SLIPS * len(known):
        row = pc.index(pc.match_substring_regex(cells, NUMBER), False).as_py()
        why = f"numbers but for {shortened(cells[row].as_py())} in {table.place(row)}"
    return kind, why


def _meant_as_numbers(others: pa.ChunkedArray, known: int) -> bool:
    """Whether the cells that are no numbers were meant as numbers: a few missing, or all with a decimal comma.

    Where there are no such cells, a number is too large for float64.
    """
    if not len(others):
        return True
    odd = pc.or_(pc.match_substring_regex(others, NOT_FINITE), pc.match_substring_regex(others, MISSING))
    comma = pc.match_substring_regex(others, COMMA)
    return bool(pc.all(pc.or_(odd, comma)).as_py()) and (len(others) < known or bool(pc.any(comma).as_py()))


def _kind_of_words(known: pa.ChunkedArray) -> tuple[str, str]:
    count, distinct = len(known), pc.count_distinct(known).as_py()
    words = pc.mean(pc.add(pc.count_substring_regex(known, r"\s+"), 1)).as_py()
    long = words >= WORDS or pc.mean(pc.utf8_length(known)).as_py() >= LENGTH
    few = min(max(20, count / 20), count / 2)  # so few distinct cells that each repeats: a category, however long
    if long and distinct > few:
        return "text", ""
    if not long and distinct > 0.9 * count and count > 1:
        return "drop", "ids, it seems: nearly every cell is different"
    return "category", ""


def _numbers_the_rows(column: pa.ChunkedArray, name: str) -> bool:
    """Whether a column of numbers counts 0, 1, 2, … down the table, or is called an id and never repeats."""
    values = np.asarray(column.drop_null().cast(pa.float64(), safe=False).to_numpy()) if _countable(column) else None
    if values is None or len(values) < 3:
        return False
    if values[0] in (0, 1) and bool((np.diff(values) == 1).all()):
        return True
    called = plain_name(name).split("_")[-1] in ("id", "index", "key")
    return called and len(np.unique(values)) == len(values) and bool((values == np.floor(values)).all())


def _countable(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


# -------------------------------------------------------------------- encoders


@dataclass(frozen=True)
class NumberColumn:
    """(x − mean) / std; a missing value becomes the mean, with a second column of flags if some were missing at fit.

    A column of 0 and 1 is left as it is: it stays sparse, and a rare 1 is not inflated.
    """

    name: str
    mean: float
    std: float
    missing: bool
    kind: ClassVar[str] = "number"

    @classmethod
    def fit(cls, table: Table, name: str) -> NumberColumn | None:
        """Learn mean and standard deviation of a column.

        Args:
            table: of the training graph's nodes.
            name: the column.

        Returns:
            The encoder; None where all cells are empty, or all hold the same number other than 0.
        """
        values = numbers(table, name, REMEDY)
        known = values[~np.isnan(values)]
        missing = len(known) < len(values)
        # a column of zeros costs nothing, and keeps the columns those of the data set
        if not len(known) or (known.min() == known.max() != 0 and not missing):
            return None
        if np.isin(known, (0, 1)).all():
            return cls(name, 0.0, 1.0, missing)
        scale = float(np.abs(known).max()) or 1.0  # squares of huge or tiny numbers would overflow or vanish
        mean, std = (float(x * scale) for x in ((known / scale).mean(), (known / scale).std()))
        return cls(name, mean, std if std > 0 else 1.0, missing)

    @property
    def width(self) -> int:
        """Number of feature columns: 1, or 2 with a flag for empty cells."""
        return 1 + self.missing

    def transform(self, table: Table) -> np.ndarray:
        """(n, 1) or, with flags, (n, 2) float32."""
        values = numbers(table, self.name, REMEDY)
        missing = np.isnan(values)
        with np.errstate(over="ignore"):  # clipped in the same line
            scaled = np.clip((values - self.mean) / self.std, -FARTHEST, FARTHEST)
        scaled[missing] = 0
        columns = [scaled, missing] if self.missing else [scaled]
        return np.stack(columns, axis=1).astype(np.float32)


@dataclass(frozen=True)
class CategoryColumn:
    """One-hot, the most frequent values first; empty cells and values not seen at fit are all zeros."""

    name: str
    values: Sequence[str]
    kind: ClassVar[str] = "category"

    @classmethod
    def fit(cls, table: Table, name: str) -> CategoryColumn | None:
        """Learn the values of a column, the most frequent first.

        Args:
            table: of the training graph's nodes.
            name: the column.

        Returns:
            The encoder; None where all cells are empty, or all hold the same value.
        """
        cells = text_cells(table.column(name))
        counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(cells.drop_null()).to_pylist()}
        if not counts or (len(counts) == 1 and not cells.null_count):
            return None
        order = sorted(counts, key=lambda value: (-counts[value], value))
        return cls(name, order[:MOST_CATEGORIES])

    @property
    def width(self) -> int:
        """Number of feature columns, one for each value."""
        return len(self.values)

    def transform(self, table: Table) -> sparse.csr_array:
        """n×k CSR, float32."""
        cells = text_cells(table.column(self.name))
        found = pc.index_in(cells, value_set=pa.array(self.values, pa.string()), skip_nulls=True)
        index = np.asarray(pc.fill_null(found, -1).to_numpy())
        rows = np.flatnonzero(index >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        return sparse.csr_array((ones, (rows, index[rows])), shape=(len(table), self.width))


@dataclass(frozen=True)
class TextColumn:
    """TF-IDF of the words: (1 + ln tf)·idf with idf = ln((1 + n)/(1 + df)) + 1, each row of unit length.

    At most 5,000 words, those of the highest count that occur in two cells or more (in one, where no word is in two).
    """

    name: str
    words: Sequence[str]
    idf: Sequence[float]
    kind: ClassVar[str] = "text"

    @classmethod
    def fit(cls, table: Table, name: str) -> TextColumn | None:
        """Learn the words of a column and their document frequencies.

        Args:
            table: of the training graph's nodes.
            name: the column.

        Returns:
            The encoder; None where there are no words.
        """
        from sklearn.feature_extraction.text import CountVectorizer

        cells = _documents(table, name)
        for least in (2, 1):
            try:
                counter = CountVectorizer(max_features=MOST_WORDS, min_df=least, dtype=np.float32)
                counts = counter.fit_transform(cells)
            except ValueError:  # no word is left
                continue
            frequency = np.bincount(counts.indices, minlength=counts.shape[1])
            idf = np.log((1 + len(cells)) / (1 + frequency)) + 1
            return cls(name, counter.get_feature_names_out().tolist(), idf.tolist())
        return None

    @property
    def width(self) -> int:
        """Number of feature columns, one for each word."""
        return len(self.words)

    def transform(self, table: Table) -> sparse.csr_array:
        """n×k CSR, float32."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(vocabulary=list(self.words), dtype=np.float32)
        counts = sparse.csr_array(counter.transform(_documents(table, self.name)))
        counts.data = (1 + np.log(counts.data)) * np.asarray(self.idf, dtype=np.float32)[counts.indices]
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(rows, weights=counts.data**2, minlength=counts.shape[0]))
        counts.data /= lengths[rows].astype(np.float32)
        return counts


def _documents(table: Table, name: str) -> list[str]:
    cells: list[str] = pc.fill_null(text_cells(table.column(name)), "").to_pylist()
    return cells


Column = NumberColumn | CategoryColumn | TextColumn
ENCODERS: dict[str, type[Column]] = {
    "number": NumberColumn,
    "category": CategoryColumn,
    "text": TextColumn,
}


def to_dict(column: Column) -> dict[str, Any]:
    """Convert an encoder to a dictionary for JSON.

    Args:
        column: a fitted encoder.

    Returns:
        Its kind and attributes.
    """
    return {"kind": column.kind, **asdict(column)}


def from_dict(values: dict[str, Any]) -> Column:
    """Rebuild the encoder of a dictionary.

    Args:
        values: of :func:`to_dict`.

    Returns:
        The fitted encoder.
    """
    rest = {key: value for key, value in values.items() if key != "kind"}
    return ENCODERS[values["kind"]](**rest)
