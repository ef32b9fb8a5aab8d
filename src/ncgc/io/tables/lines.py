"""Where a row of a delimited file begins, as a text editor counts: only asked when there is something to complain about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

QUOTE = b'"'


@dataclass(frozen=True)
class Record:
    """One row of a file: the line it begins on (from 1), how many cells it has, and whether its quotes are closed."""

    line: int
    cells: int
    closed: bool = True


def records(content: bytes, delimiter: str) -> Iterator[Record]:
    r"""The rows of a file, header first. Empty lines are no rows; a quoted cell may run over several lines.

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
        found, inside = _walk(line, separator, inside)
        separators += found
        if not inside:
            yield Record(first, separators + 1)
    if inside:
        yield Record(first, separators + 1, closed=False)


def _walk(line: bytes, separator: bytes, inside: bool) -> tuple[int, bool]:
    """How many separators of a line stand outside quotes, and whether a quoted cell is still open at its end.

    A quotation mark opens a quoted cell at the cell's beginning only; elsewhere it is a mark like any other.
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
            if line[at + 1 : at + 2] == QUOTE:  # two marks stand for one
                at += 2
                continue
            inside, at = False, at + 1
        at = line.find(separator, at)
        if at < 0:
            return count, False
        count, at = count + 1, at + 1


def line_at(content: bytes, byte: int) -> int:
    r"""The line (from 1) that holds the byte at this position.

    >>> line_at(b"a\nb\r\nc", 5)
    3
    """
    return len((content[:byte] + b"x").splitlines())
