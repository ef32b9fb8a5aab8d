"""Rows as a text editor counts them."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.io.tables.lines import line_at, records


@settings(deadline=None)
@given(st.lists(st.lists(st.text('ab",;\n\r', max_size=5), min_size=1, max_size=4), max_size=6))
def test_cells_are_counted_as_the_csv_module_writes_them(rows):
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    found = list(records(text.getvalue().encode(), ","))
    assert [row.cells for row in found] == [len(row) for row in rows]
    assert all(row.closed for row in found)


def test_lines_where_rows_begin():
    content = b'id,text\r\n\r\nA,"one\ntwo"\r\n\nB,"say ""no"" "\rC,5" pipe\nD,"x"y"z\n'
    assert [(row.line, row.cells) for row in records(content, ",")] == [(1, 2), (3, 2), (6, 2), (7, 2), (8, 2)]


def test_an_open_quote_is_told():
    (first, last) = records(b'a,b\n1,"x\n2,3\n', ",")
    assert (first.closed, last.closed, last.line) == (True, False, 2)


@pytest.mark.parametrize(("byte", "line"), [(0, 1), (1, 1), (2, 2), (3, 2), (5, 3)])
def test_line_of_a_byte(byte, line):
    assert line_at(b"a\nb\r\nc", byte) == line
