"""A table as text, Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

GAP = "  "


@dataclass(frozen=True)
class Table:
    """A table of strings.

    Args:
        title: above it.
        head: titles of the columns.
        rows: as many strings each.
        labels: how many of the first columns name the row; the others hold numbers.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1


def as_text(table: Table, width: int | None = None) -> str:
    """A table with aligned columns.

    Args:
        table: the table.
        width: characters of a line; columns that do not fit go beneath the others. None for no limit.

    Returns:
        The text, without a newline at its end.

    >>> print(as_text(Table("Test", ("", "cora"), (("gcn", "81.3"), ("gat", "7.5"))), width=40))
    Test
    <BLANKLINE>
         cora
    gcn  81.3
    gat   7.5
    """
    widths = [max(map(len, column)) for column in zip(table.head, *table.rows, strict=True)]
    parts = [_lines(table, widths, columns) for columns in _parts(table, widths, width)]
    return "\n\n".join([table.title, *("\n".join(lines) for lines in parts)])


def _parts(table: Table, widths: Sequence[int], width: int | None) -> list[list[int]]:
    """The columns of numbers, as many together as fit; a column that fits nowhere stands alone."""
    taken = sum(widths[: table.labels]) + len(GAP) * (table.labels - 1)
    parts: list[list[int]] = [[]]
    room = None if width is None else width - taken
    for column in range(table.labels, len(table.head)):
        needed = len(GAP) + widths[column]
        if room is not None and parts[-1] and needed > room:
            parts.append([])
            room = (width or 0) - taken
        parts[-1].append(column)
        room = None if room is None else room - needed
    return parts


def _lines(table: Table, widths: Sequence[int], columns: Sequence[int]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        named = [f"{cells[column]:<{widths[column]}}" for column in range(table.labels)]
        return GAP.join(named + [f"{cells[column]:>{widths[column]}}" for column in columns]).rstrip()

    return [line(table.head), *map(line, table.rows)]


def as_markdown(table: Table) -> str:
    """A table in Markdown.

    Args:
        table: the table.

    Returns:
        The text, without a newline at its end.

    >>> print(as_markdown(Table("Test", ("", "cora"), (("a|b", "81.3"),))))
    **Test**
    <BLANKLINE>
    |  | cora |
    |---|---:|
    | a\\|b | 81.3 |
    """

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "---|" * table.labels + "---:|" * (len(table.head) - table.labels)
    return "\n".join([f"**{table.title}**", "", line(table.head), rule, *map(line, table.rows)])


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "β": r"$\beta$",
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
}


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it.

    Args:
        text: plain text.

    Returns:
        LaTeX.

    >>> print(escape_latex("label_spreading 81.3 ± 0.4 %"))
    label\\_spreading 81.3 $\\pm$ 0.4 \\%
    """
    return "".join(_LATEX.get(sign, sign) for sign in text)


def as_latex(table: Table) -> str:
    """A table in LaTeX: a tabular with the rules of the package booktabs.

    Args:
        table: the table.

    Returns:
        The text, without a newline at its end.
    """

    def line(cells: Iterable[str]) -> str:
        # a bracket after \\ would be taken for its argument
        words = [escape_latex(cell) for cell in cells]
        return " & ".join("{" + word + "}" if word.startswith("[") else word for word in words) + r" \\"

    layout = "l" * table.labels + "r" * (len(table.head) - table.labels)
    lines = [f"% {table.title}; \\usepackage{{booktabs}}", rf"\begin{{tabular}}{{{layout}}}", r"\toprule"]
    lines += [line(table.head), r"\midrule", *map(line, table.rows), r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


def as_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV, one line each under the names of all their fields; None is empty.

    Args:
        records: field → value of each.

    Returns:
        The text, with a newline at its end.

    >>> print(as_csv([{"a": 1, "b": None}, {"a": 2, "c": "x,y"}]), end="")
    a,b,c
    1,,
    2,,"x,y"
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
