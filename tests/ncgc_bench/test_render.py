"""Tables in four forms, each read back."""

from __future__ import annotations

import csv
import io
import re

import pytest

from ncgc_bench.render import Table, as_csv, as_latex, as_markdown, as_text, escape_latex

TABLE = Table(
    "Test accuracy in per cent, 100 % & more",
    ("backbone", "method", "cora", "photo", "co_author"),
    (
        ("gcn", "ncgc", "81.3 ± 0.4", "", "90.0 ± 10.0 (3/5)"),
        ("gcn", "a|b", "+0.8 [−0.2, +1.9]", "92.1", ""),
        ("", "label_spreading", "[5]", "1", "2"),
    ),
    labels=2,
)


def test_text_is_aligned():
    lines = as_text(TABLE).splitlines()
    assert lines[0] == TABLE.title
    head, *rows = lines[2:]
    for title in TABLE.head[2:]:
        end = head.index(title) + len(title)
        assert all(len(row) <= end or row[end] == " " for row in rows)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("width", [45, 60, 80])
def test_narrow_text_has_every_cell_in_parts_that_fit(width):
    text = as_text(TABLE, width)
    table = text.split("\n\n", 1)[1]
    assert max(map(len, table.splitlines())) <= width
    assert all(cell in table for row in (TABLE.head, *TABLE.rows) for cell in row)


def test_text_narrower_than_a_column_is_still_whole():
    assert all(cell in as_text(TABLE, 10) for row in TABLE.rows for cell in row)


def test_markdown_has_as_many_cells_in_every_line():
    lines = as_markdown(TABLE).splitlines()[2:]
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == len(TABLE.head) + 1
    assert lines[1] == "|---|---|---:|---:|---:|"
    cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", lines[3])[1:-1]]
    assert tuple(cells) == TABLE.rows[1]


def test_latex_has_as_many_cells_and_no_bare_signs():
    lines = as_latex(TABLE).splitlines()
    assert lines[1] == r"\begin{tabular}{llrrr}"
    assert lines[-1] == r"\end{tabular}"
    body = [line for line in lines[2:-1] if line.endswith(r"\\")]
    assert len(body) == 1 + len(TABLE.rows)
    for line in body:
        assert len(re.findall(r"(?<!\\)&", line)) == len(TABLE.head) - 1
        assert not re.search(r"(?<!\\)[_#%]", line)
    assert lines[0].startswith("% ")
    assert r"81.3 $\pm$ 0.4" in body[1]
    assert r"label\_spreading & {[5]}" in body[3]
    assert "".join(lines[1:]).isascii() or "|" in "".join(lines)
    assert not any(sign in "".join(body) for sign in "±−")


@pytest.mark.parametrize("sign", list("&%$#_{}~^\\"))
def test_every_sign_with_a_meaning_in_latex_is_escaped(sign):
    assert escape_latex(f"a{sign}b") not in (f"a{sign}b", "ab")
    assert escape_latex(f"a{sign}b").startswith("a\\")


def test_csv_is_read_back():
    records = [
        {"method": 'a,"b"\nc', "mean": 0.1 + 0.2, "low": None},
        {"method": "±", "mean": 1, "low": -2.5, "more": "x"},
    ]
    rows = list(csv.DictReader(io.StringIO(as_csv(records))))
    assert rows[0] == {"method": 'a,"b"\nc', "mean": repr(0.1 + 0.2), "low": "", "more": ""}
    assert float(rows[1]["low"]) == -2.5
    assert rows[1]["more"] == "x"
