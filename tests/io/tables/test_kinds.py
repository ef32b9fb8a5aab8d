"""Kinds of columns, guessed as a person would."""

import datetime

import pyarrow as pa
import pytest

from ncgc.io.tables.kinds import guess_kind
from ncgc.io.tables.table import Table

WORDS = ["the cat sat on the mat", "a dog ate my homework", "graphs are made of nodes", "labels are few and far"]
PLACES = ["Ulm", "Bern", "Graz"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "-3e5"], "number"),
        ([" 7 ", "8"], "number"),
        ([1.5, 2.5, None], "number"),
        ([True, False, True], "number"),
        ([datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "number"),
        (["1", "2", "nan"], "number"),  # the encoder complains, with the row
        (["1", "NA", "3"], "number"),
        (["1,5", "2,5"], "number"),
        (["1", "2", "1e400"], "number"),  # too large, and told so by the encoder
        (["yes", "no", "yes"], "category"),
        (["true", "false", "true", ""], "category"),
        (PLACES * 10, "category"),
        (["NA", "NA"], "category"),
        (["nan", "inf", "nan"], "category"),
        ([f"town {i % 60}" for i in range(200)], "category"),
        (["in the middle of town"] * 5 + ["out of the way"] * 5, "category"),
        (WORDS, "text"),
        ([f"{WORDS[i % 4]} {i}" for i in range(300)], "text"),
        (["x" * 50, "y" * 50, "z" * 50], "text"),
        (["1", "2", "three", "3", "4", "five"], "drop"),
    ],
)
def test_kinds(values, kind):
    assert guess_kind(Table(pa.table({"x": values}), "t.csv"), "x")[0] == kind


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", [f"u{i}" for i in range(30)], "ids, it seems"),
        ("x", ["Ann", "Bob", "Cid"], "ids, it seems"),
        ("x", ["", "", ""], "empty"),
        ("x", pa.nulls(3), "empty"),
        ("x", pa.nulls(3, pa.int64()), "empty"),
        ("x", ["0", "1", "2", "3"], "numbers the rows"),
        ("x", [1, 2, 3, 4], "numbers the rows"),
        ("user_id", [17, 4, 93, 5], "numbers the rows"),
        ("x", ["1", "2.5", "", "l7", *(f"{i}.5" for i in range(20))], "numbers but for 'l7' in row 4"),
        ("x", [[1.0], [2.0]], "cells of the type list"),
        ("x", [b"\xff", b"\xfe"], "cells of the type binary"),
    ],
)
def test_what_is_dropped_and_why(name, values, why):
    kind, reason = guess_kind(Table(pa.table({name: values}), "t.csv"), name)
    assert kind == "drop"
    assert reason.startswith(why)


def test_numbers_that_only_look_like_a_count():
    assert guess_kind(Table(pa.table({"x": [2, 3, 4, 6]}), "t.csv"), "x") == ("number", "")
    assert guess_kind(Table(pa.table({"id": [0.5, 1.5, 7.25]}), "t.csv"), "id") == ("number", "")
    assert guess_kind(Table(pa.table({"x": ["0", "1"]}), "t.csv"), "x") == ("number", "")
