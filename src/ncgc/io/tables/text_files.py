"""CSV and TSV as a pyarrow table of strings; errors name the row as a text editor counts it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import csv

from ncgc.errors import InputError

SPELLED = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "spaces"}
SNIFFED = (",", ";", "\t", "|")
BOM = b"\xef\xbb\xbf"
_FOREIGN = {b"\xff\xfe": "UTF-16 text", b"\xfe\xff": "UTF-16 text", b"PK\x03\x04": "a spreadsheet or zip archive"}
_BLOCK = 1 << 22
QUOTE = b'"'


def spelled(delimiter: str) -> str:
    """The name of a delimiter for messages.

    Args:
        delimiter: one character.

    Returns:
        Such as "tabs"; the quoted character if it has no name.
    """
    return SPELLED.get(delimiter, repr(delimiter))


def check_delimiter(delimiter: str) -> str:
    """Check that a delimiter is one ASCII character.

    Args:
        delimiter: as the user gave it.

    Returns:
        The delimiter.

    Raises:
        InputError: for anything else, and for quotes and line ends.
    """
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(f"The delimiter must be one ASCII character such as ';' or a tab. Got {delimiter!r} instead.")
    return delimiter


def sniff(content: bytes, expected: str) -> str:
    r"""Guess the delimiter of a file: the expected one, unless the header has none of it but has another one.

    Args:
        content: of the file.
        expected: the delimiter that goes with its extension.

    Returns:
        The delimiter.

    >>> sniff(b"id;label\n", ","), sniff(b"id,a;b\n", ","), sniff(b"id\n", ",")
    (';', ',', ',')
    """
    first = next((line for line in content[:_BLOCK].splitlines() if line), b"")
    header = re.sub(rb'"[^"]*"', b"", first)
    counts = {one: header.count(one.encode()) for one in SNIFFED}
    return expected if counts[expected] else max(counts, key=lambda one: (counts[one], one == expected))


def parse(content: bytes, name: str, delimiter: str) -> tuple[list[str], pa.Table]:
    """Parse a delimited file; every cell stays a string, an empty cell an empty string.

    Args:
        content: of the file, without a byte-order mark.
        name: of the file, in messages.
        delimiter: one character.

    Returns:
        The cells of the header, and the rows below it.

    Raises:
        InputError: names the row and what to do.
    """
    foreign = next((what for mark, what in _FOREIGN.items() if content.startswith(mark)), None)
    if foreign:
        raise InputError(f"{name} is {foreign}, not text in UTF-8; save it as CSV in UTF-8.")
    if not content.strip():
        raise InputError(f"{name} is empty; give a header line with column names and a row a line below it.")
    if b"\n" not in content and b"\r" not in content:  # a lone header must end like a line to be one for pyarrow
        content += b"\n"
    table = _read(content, name, delimiter)
    header = [column[0].as_py() for column in table.columns]
    return header, table.slice(1)


def _read(content: bytes, name: str, delimiter: str) -> pa.Table:
    """All rows with the header among them, every cell as a string, so that "007" stays "007"."""
    width = _first(content, delimiter).cells
    for block in (_BLOCK, len(content) + 1):  # a row must fit in a block; most do, and small blocks are faster
        try:
            table = csv.read_csv(
                pa.BufferReader(content),
                csv.ReadOptions(use_threads=False, block_size=block, autogenerate_column_names=True),
                csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(width)}),
            )
            break
        except (pa.ArrowException, OverflowError, ValueError) as error:
            problem = error
            if "straddl" not in str(error):
                raise _explained(content, name, delimiter, error) from None
    else:
        raise _explained(content, name, delimiter, problem)
    if any(
        _runs_on(column[-1].as_py()) for column in table.columns
    ):  # an open quotation mark swallows the rest of the file
        _check_rows(content, name, delimiter)
    return table


def _first(content: bytes, delimiter: str) -> Record:
    head = next(records(content[:_BLOCK], delimiter), None)
    return next(records(content, delimiter)) if head is None or not head.closed else head


def _runs_on(cell: object) -> bool:
    return isinstance(cell, str) and ("\n" in cell or "\r" in cell)


def _explained(content: bytes, name: str, delimiter: str, error: Exception) -> InputError:
    """The error for a file that pyarrow refused, found by a slower scan that counts lines."""
    try:
        content.decode()
        _check_rows(content, name, delimiter)
    except UnicodeDecodeError as wrong:
        return InputError(
            f"{name} row {line_at(content, wrong.start)}: byte {wrong.start + 1} of the file (0x{content[wrong.start]:02X}) "
            "is not UTF-8; save the file in UTF-8."
        )
    except InputError as found:
        return found
    return InputError(f"{name} cannot be read as a table separated by {spelled(delimiter)} ({error}); check the file.")


def _check_rows(content: bytes, name: str, delimiter: str) -> None:
    """Raise an InputError for the first row with an open quotation mark or a wrong number of cells."""
    width = 0
    for row in records(content, delimiter):
        if not row.closed:
            raise InputError(
                f"{name} row {row.line}: a quotation mark is opened and never closed; close it, or remove it."
            )
        width = width or row.cells
        if row.cells != width:
            remedy = "put quotes around a cell that contains one" if row.cells > width else "add the missing cells"
            raise InputError(
                f"{name} row {row.line} has {row.cells} cell{'s' * (row.cells > 1)} but the header has {width}, "
                f"separated by {spelled(delimiter)}; {remedy}, or give the right delimiter."
            )


# -------------------------------------------------------------------- rows and lines


@dataclass(frozen=True)
class Record:
    """One row of a file: the line it begins on (from 1), its number of cells, and whether its quotes are closed."""

    line: int
    cells: int
    closed: bool = True


def records(content: bytes, delimiter: str) -> Iterator[Record]:
    r"""The rows of a file, header first, scanned only when an error needs a line number.

    Empty lines are no rows; a quoted cell may run over several lines.

    Args:
        content: of the file.
        delimiter: one character.

    Yields:
        A record for each row.

    >>> [(row.line, row.cells) for row in records(b'id,text\n\n1,"two\nlines"\n2,x\n', ",")]
    [(1, 2), (3, 2), (5, 2)]
    """
    separator = delimiter.encode()
    inside, first, separators = False, 0, 0
    for number, line in enumerate(content.splitlines(), start=1):
        if not inside:
            if not line:
                continue
            first, separators = number, 0
        found, inside = _scan(line, separator, inside)
        separators += found
        if not inside:
            yield Record(first, separators + 1)
    if inside:
        yield Record(first, separators + 1, closed=False)


def _scan(line: bytes, separator: bytes, inside: bool) -> tuple[int, bool]:
    """The number of separators outside quotes in a line, and whether a quoted cell is still open at its end.

    A quotation mark opens a quoted cell only as its first character; elsewhere it is a character like any other.
    """
    if not inside and QUOTE not in line:  # nearly every line
        return line.count(separator), False
    count, at = 0, 0
    while True:
        if not inside and line[at : at + 1] == QUOTE:
            inside, at = True, at + 1
        if inside:
            at = line.find(QUOTE, at)
            if at < 0:
                return count, True
            if line[at + 1 : at + 2] == QUOTE:  # a doubled mark stands for one
                at += 2
                continue
            inside, at = False, at + 1
        at = line.find(separator, at)
        if at < 0:
            return count, False
        count, at = count + 1, at + 1


def line_at(content: bytes, byte: int) -> int:
    r"""The number of the line that holds a byte.

    Args:
        content: of a text file.
        byte: position of the byte, from 0.

    Returns:
        Counted from 1.

    >>> line_at(b"a\nb\r\nc", 5)
    3
    """
    return len((content[:byte] + b"x").splitlines())
