"""Ids: unique, complete, and found again."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncgc.errors import InputError
from ncgc.io.tables.ids import check_unique, id_array, id_cells, positions
from ncgc.io.tables.table import Table


def table(values, kind=None):
    return Table(pa.table({"id": pa.array(values, kind)}), "nodes.csv", lambda row: f"row {row + 2}")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["007", " 7"], None, ["007", " 7"]),
        ([3, 1], pa.int16(), [3, 1]),
        ([3.0, 1.0], None, [3, 1]),
        ([2**64 - 1], pa.uint64(), ["18446744073709551615"]),
        (["a"], pa.dictionary(pa.int8(), pa.string()), ["a"]),
        (["a"], pa.large_string(), ["a"]),
        ([datetime.date(2020, 1, 1)], None, ["2020-01-01"]),
        ([True, False], None, ["true", "false"]),
    ],
)
def test_ids_of_any_type(values, kind, expected):
    assert id_array(id_cells(table(values, kind), "id")).tolist() == expected


@pytest.mark.parametrize("values", [["a", ""], ["a", None], [1, None], [1.0, float("nan")]])
def test_a_missing_id(values):
    with pytest.raises(InputError, match=r"nodes.csv row 3: the id \(column 'id'\) is missing; fill it in"):
        id_cells(table(values), "id")


@pytest.mark.parametrize(
    ("values", "message"), [([1.5], "holds double"), ([[1]], "holds list"), ([b"\xff"], "holds binary")]
)
def test_what_is_no_id(values, message):
    with pytest.raises(InputError, match=f"nodes.csv: the column 'id' {message}.*cannot be the id of a node"):
        id_cells(table(values), "id")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b", "c", "b"], r"nodes.csv row 3 and row 5 have the same id 'b'; remove one"),
        ([5, 5, 1, 1, 2, 2], r"nodes.csv row 2 and row 3 have the same id 5 \(2 other ids repeat as well\)"),
        (["a", "b", "a", "b"], r"row 2 and row 4 have the same id 'a' \(1 other id repeats as well\)"),
    ],
)
def test_repeated_ids(values, message):
    given_table = table(values)
    with pytest.raises(InputError, match=message):
        check_unique(given_table, "id", id_cells(given_table, "id"))


def test_unique_ids_pass():
    check_unique(table(["a", "A", "a "]), "id", table(["a", "A", "a "]).column("id"))


@settings(deadline=None)
@given(st.data())
def test_positions_are_those_of_a_dictionary(data):
    some = data.draw(
        st.sampled_from(
            [st.integers(-5, 30), st.integers(-(2**63), 2**63 - 1), st.text(st.characters(codec="utf-8"), max_size=2)]
        )
    )
    ids = data.draw(st.lists(some, min_size=1, unique=True))
    cells = data.draw(st.lists(some | st.sampled_from(ids), min_size=1))
    place = {node: index for index, node in enumerate(ids)}
    found = positions(pa.chunked_array([cells]), pa.chunked_array([ids]))
    assert found.dtype == np.int64
    assert found.tolist() == [place.get(cell, -1) for cell in cells]


def test_numbers_meet_text():
    assert positions(pa.chunked_array([["2", "02"]]), pa.chunked_array([[1, 2]])).tolist() == [1, -1]
    assert positions(pa.chunked_array([[2, 7]]), pa.chunked_array([["1", "2"]])).tolist() == [1, -1]
