"""What kind of feature a column makes, guessed from its cells: a number, a category, a text, or nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ncgc.io.tables.cells import NOT_FINITE, NUMBER, decoded, is_numeric, is_text, parsed, shortened, text_cells
from ncgc.io.tables.columns import plain
from ncgc.io.tables.table import Table

KINDS = ("number", "category", "text", "drop")
MISSING = r"(?i)^(na|n/a|#n/a|null|none)$"  # what programs write for an empty cell
COMMA = r"^[+-]?[0-9]+,[0-9]+$"
WORDS = 3  # a cell of so many words on average is text
LENGTH = 40
SLIPS = 0.1  # a column of numbers may have such a share of words and still be called one


def guess_kind(table: Table, name: str) -> tuple[str, str]:
    """The kind of a column, and why where it is dropped.

    Numbers: all cells are numbers, but for what is clearly meant as one and is not ("nan", "NA", "1,5"), about which the
    encoder then complains with the row. Text: mostly different cells of several words. Ids, nearly all different and
    short, are dropped: they would let a model recognise nodes instead of describing them. The rest are categories.
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
    values = parsed(known)
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
    """Whether the cells that are no numbers were meant to be some: a few missing ones, or all with a decimal comma.

    Where there are no such cells, one is too large for a double.
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
    few = min(max(20, count / 20), count / 2)  # so few different ones that each comes back: a category, however long
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
    called = plain(name).split("_")[-1] in ("id", "index", "key")
    return called and len(np.unique(values)) == len(values) and bool((values == np.floor(values)).all())


def _countable(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))
