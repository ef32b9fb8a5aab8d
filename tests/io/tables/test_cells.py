"""Cells as numbers and as text, whatever their type."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import InputError
from ncgc.io.tables.cells import decoded, numbers, text_cells
from ncgc.io.tables.table import Table


def table(values, kind=None):
    return Table(pa.table({"x": pa.array(values, kind)}), "t.csv", lambda row: f"row {row + 2}")


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_written_as_text_are_read_to_the_bit(values):
    found = numbers(table(["" if value is None else f" {value!r} " for value in values]), "x", "fix")
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
    np.testing.assert_array_equal(numbers(table(values, kind), "x", "fix"), expected)


@pytest.mark.parametrize(
    ("values", "said"),
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
def test_what_is_no_number(values, said):
    with pytest.raises(InputError, match=said):
        numbers(table(values), "x", "fix it")


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
    assert text_cells(table(values, kind).column("x")).to_pylist() == expected


def test_bytes_that_are_no_text_stay_bytes():
    assert decoded(table([b"\xff"]).column("x")).type == pa.binary()
