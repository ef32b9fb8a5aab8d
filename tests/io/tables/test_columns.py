"""Columns found by name, and their cells as text and numbers."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import InputError
from ncgc.io.tables.columns import (
    decoded,
    end_columns,
    id_column,
    label_column,
    named_column,
    numbers,
    text_cells,
    weight_column,
)
from ncgc.io.tables.table import Table


def table(*columns):
    return Table(pa.table({name: ["x"] for name in columns}), "t.csv")


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("Label", "ID"), "ID"),
        (("name", "Node ID"), "Node ID"),
        (("name", "age"), "name"),
        (("node", "id"), "id"),
        (("NODE", "y"), "NODE"),
    ],
)
def test_ids(columns, found):
    assert id_column(table(*columns), None) == (found, [])


def test_the_first_column_where_no_name_tells():
    column, notes = id_column(table("paper", "age"), None)
    assert column == "paper"
    assert notes == ["No column of t.csv is called 'id' or 'node'; its first, 'paper', is used for the ids."]


@pytest.mark.parametrize(
    ("columns", "found"),
    [(("id", "Label"), "Label"), (("id", "y", "class"), "class"), (("id", "target"), "target"), (("id", "Y"), "Y")],
)
def test_labels(columns, found):
    assert label_column(table(*columns), None, ["id"]) == found


def test_no_labels():
    with pytest.raises(InputError, match=r"t.csv has no column of labels .*'label'.*Its columns are 'id', 'age'"):
        label_column(table("id", "age"), None, ["id"])
    assert label_column(table("id", "age"), None, ["id"], needed=False) is None
    with pytest.raises(InputError, match="'id' cannot hold both the ids and the labels"):
        label_column(table("id", "age"), "id", ["id"])


@pytest.mark.parametrize(
    ("columns", "given", "ends"),
    [
        (("source", "target"), (None, None), ("source", "target")),
        (("Dst", "weight", "Src"), (None, None), ("Src", "Dst")),
        (("to", "from", "v", "u"), (None, None), ("from", "to")),
        (("a", "b", "target"), ("b", None), ("b", "target")),
        (("a", "b", "src"), (None, "a"), ("src", "a")),
        (("a", "b", "c"), ("c", "a"), ("c", "a")),
        (("target", "a"), (None, None), ("target", "a")),
    ],
)
def test_ends(columns, given, ends):
    assert end_columns(table(*columns), *given)[:2] == ends


def test_words_about_the_ends():
    assert end_columns(table("a", "b"), None, None)[2] == [
        "The first two columns of t.csv, 'a' and 'b', are used as edges."
    ]
    with pytest.raises(InputError, match=r"t.csv has only one column, 'a;b', and needs two"):
        end_columns(table("a;b"), None, None)
    with pytest.raises(InputError, match="'a' cannot be both ends"):
        end_columns(table("a", "b"), "a", "a")
    with pytest.raises(InputError, match=r"no column has a usual name for the target .* with 'target'"):
        end_columns(table("a", "b"), "a", None)
    with pytest.raises(InputError, match="no column has a usual name for the source"):
        end_columns(table("a", "b"), None, "a")


def test_weights():
    assert weight_column(table("source", "target", "W"), None, ["source", "target"]) == "W"
    assert weight_column(table("w", "v"), None, ["w", "v"]) is None
    assert weight_column(table("a", "b", "cost"), "Cost", []) == "cost"


def test_unknown_names():
    with pytest.raises(
        InputError, match=r"t.csv has no column 'lable' .*; did you mean 'label'\? Its columns are 'id', 'label'"
    ):
        named_column(table("id", "label"), "lable", "labels")
    with pytest.raises(InputError, match="to take the labels from; its columns are 'id'"):
        named_column(table("id"), "zzz", "labels")
    with pytest.raises(InputError, match="has no column 'ID'"):
        named_column(table("Id", "iD"), "ID", "ids")  # two are alike: which is not for us to say
    with pytest.raises(InputError, match="'c19' and 10 more"):
        named_column(table(*[f"c{i}" for i in range(30)]), "zzz", "ids")


def cells(values, kind=None):
    return Table(pa.table({"x": pa.array(values, kind)}), "t.csv", lambda row: f"row {row + 2}")


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_written_as_text_are_read_to_the_bit(values):
    found = numbers(cells(["" if value is None else f" {value!r} " for value in values]), "x", "fix")
    np.testing.assert_array_equal(found, [np.nan if value is None else value for value in values])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["+5", ".5", "5.", "1E3", ""], None, [5, 0.5, 5, 1000, np.nan]),
        ([1, None], pa.int8(), [1, np.nan]),
        ([1.5, None], pa.float16(), [1.5, np.nan]),
        ([True, None], None, [1, np.nan]),
        ([decimal.Decimal("1.5")], None, [1.5]),
        ([datetime.date(1970, 1, 3)], None, [2]),
        ([datetime.datetime(1970, 1, 1, 0, 0, 1)], pa.timestamp("s"), [1]),
        ([2**63], pa.uint64(), [2.0**63]),
        ([None, None], pa.null(), [np.nan, np.nan]),
    ],
)
def test_numbers_of_any_type(values, kind, expected):
    np.testing.assert_array_equal(numbers(cells(values, kind), "x", "fix"), expected)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", "nan"], r"t.csv row 3, column 'x': 'nan' is not a finite number; fix it"),
        (["inf"], r"row 2, column 'x': 'inf' is not"),
        (["1", "", "1e999"], r"row 4, column 'x': '1e999' is not"),
        (["1,5"], r"'1,5' is not a finite number; write 1.5 with a decimal point"),
        (["1", "two"], r"row 3, column 'x': 'two' is not"),
        (["1_0"], r"'1_0' is not"),
        (["١"], r"'١' is not"),
        (["y" * 100], r"'y{40}…' is not"),
        ([0.5, float("nan")], r"row 3, column 'x': 'nan' is not"),
        ([float("-inf")], r"row 2, column 'x': '-inf' is not"),
    ],
)
def test_what_is_no_number(values, message):
    with pytest.raises(InputError, match=message):
        numbers(cells(values), "x", "fix it")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([" a\t", "", "  ", None], None, ["a", None, None, None]),
        ([1.0, None, float("nan")], None, ["1", None, None]),
        ([1.5, 2.0], None, ["1.5", "2"]),
        ([2.0**60], None, ["1.152921504606847e+18"]),
        ([3, None], None, ["3", None]),
        ([True, False], None, ["true", "false"]),
        (["a", "b"], pa.dictionary(pa.int8(), pa.large_string()), ["a", "b"]),
        ([b"a"], pa.binary(), ["a"]),
        ([None], pa.null(), [None]),
        ([datetime.date(2020, 1, 2)], None, ["2020-01-02"]),
    ],
)
def test_text_of_any_type(values, kind, expected):
    assert text_cells(cells(values, kind).column("x")).to_pylist() == expected


def test_bytes_that_are_no_text_stay_bytes():
    assert decoded(cells([b"\xff"]).column("x")).type == pa.binary()
