"""Delimited text: every cell kept, every fault named with its row."""

import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import InputError
from ncgc.io.tables import text_files
from ncgc.io.tables.text_files import check_delimiter, line_at, parse, records, sniff


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=2, max_size=2), min_size=1
    ),
    st.sampled_from(",;\t|"),
)
def test_every_cell_is_kept(rows, delimiter):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["id", "x"], *rows])
    header, table = parse(text.getvalue().encode(), "t.csv", delimiter)
    assert header == ["id", "x"]
    assert [list(row.values()) for row in table.to_pylist()] == rows


def test_a_row_longer_than_a_block(monkeypatch):
    monkeypatch.setattr(text_files, "_BLOCK", 64)
    _, table = parse(b"a,b\n1,2\n3," + b"x" * 500 + b"\n", "t.csv", ",")
    assert len(table[1][1].as_py()) == 500


@pytest.mark.parametrize(
    ("header", "expected", "found"),
    [
        (b"id,label\n", ",", ","),
        (b"id;label\n", ",", ";"),
        (b"id\tlabel,x\n", ",", ","),
        (b"id\tlabel\n", ",", "\t"),
        (b"id,label\n", "\t", ","),
        (b'"a;b"\n', ",", ","),
        (b"\r\n\r\na|b|c;d\n", ",", "|"),
        (b"id\n", "\t", "\t"),
    ],
)
def test_sniffing(header, expected, found):
    assert sniff(header, expected) == found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t.csv is empty; give a header"),
        (b" \r\n\n", r"t.csv is empty; give a header"),
        (b"a,b\n1,2\n\n3,4,5\n", r"t.csv row 4 has 3 cells but the header has 2, separated by commas; put quotes"),
        (b'a,b\n1,"x\ny"\n3\n', r"t.csv row 4 has 1 cell but the header has 2, separated by commas; add the missing"),
        (b"a,b\n1,2\n3,\xe9\n", r"t.csv row 3: byte 11 of the file \(0xE9\) is not UTF-8"),
        (b"a,\xe9\n1,2\n", r"t.csv row 1: byte 3 of the file"),
        (b'a,b\n1,2\n3,"4\n5,6\n', r"t.csv row 3: a quotation mark is opened and never closed"),
        ("a,b\n1,2\n".encode("utf-16"), r"t.csv is UTF-16 text, not text in UTF-8; save it as CSV in UTF-8"),
        (b"PK\x03\x04rest", r"t.csv is a spreadsheet or zip archive"),
    ],
)
def test_errors_name_the_row(content, message):
    with pytest.raises(InputError, match=message):
        parse(content, "t.csv", ",")


def test_an_error_that_the_scan_cannot_explain_still_names_the_file(monkeypatch):
    monkeypatch.setattr(text_files, "_check_rows", lambda *given: None)
    with pytest.raises(InputError, match=re.escape("t.csv cannot be read as a table separated by commas (")):
        parse(b"a,b\n1\n", "t.csv", ",")


@pytest.mark.parametrize("wrong", ["", ";;", "é", "\n", '"'])
def test_bad_delimiters(wrong):
    with pytest.raises(InputError, match="must be one ASCII character"):
        check_delimiter(wrong)


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


def test_an_open_quote_is_found():
    (first, last) = records(b'a,b\n1,"x\n2,3\n', ",")
    assert (first.closed, last.closed, last.line) == (True, False, 2)


@pytest.mark.parametrize(("byte", "line"), [(0, 1), (1, 1), (2, 2), (3, 2), (5, 3)])
def test_line_of_a_byte(byte, line):
    assert line_at(b"a\nb\r\nc", byte) == line
