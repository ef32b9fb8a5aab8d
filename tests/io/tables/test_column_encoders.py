"""The kind of a column, guessed from its cells, and the features it becomes."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from ncgc.io.tables import column_encoders
from ncgc.io.tables.column_encoders import CategoryColumn, NumberColumn, TextColumn, from_dict, guess_kind, to_dict
from ncgc.io.tables.table import Table

TEXTS = ["The cat sat on the mat", "a cat, a dog and a mat", "dogs; cat cat cat", "", "Ünïcode mat"]


def table(values):
    return Table(pa.table({"x": values}), "t.csv")


def test_numbers_are_standardised():
    column = NumberColumn.fit(table([10.0, 20.0, 30.0, 40.0]), "x")
    np.testing.assert_allclose(column.transform(table([25.0, 25 + np.sqrt(125)])), [[0], [1]], atol=1e-6)


def test_missing_numbers_become_the_mean_and_a_flag():
    column = NumberColumn.fit(table(["1", "", "3"]), "x")
    np.testing.assert_array_equal(column.transform(table(["1", "", "3"])), [[-1, 0], [0, 1], [1, 0]])
    without = NumberColumn.fit(table(["1", "3"]), "x")
    np.testing.assert_array_equal(without.transform(table(["3", ""])), [[1], [0]])


def test_zeros_and_ones_stay():
    column = NumberColumn.fit(table(["0", "1", "0", "0"]), "x")
    np.testing.assert_array_equal(column.transform(table(["0", "1"])), [[0], [1]])


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_any_numbers_give_finite_features(values):
    column = NumberColumn.fit(table(values), "x")
    if min(values) == max(values) != 0:  # a column of zeros stays: a word that no node has
        assert column is None
    else:
        out = column.transform(table(values))
        assert np.isfinite(out).all()
        assert np.isfinite(column.transform(table([1.7e308, -1.7e308]))).all()


def test_columns_that_say_nothing():
    assert NumberColumn.fit(table([2.0, 2.0]), "x") is None
    assert NumberColumn.fit(table(["", ""]), "x") is None
    assert NumberColumn.fit(table(["2", ""]), "x").transform(table(["2", ""])).tolist() == [[0, 0], [0, 1]]
    assert CategoryColumn.fit(table(["a", "a"]), "x") is None
    assert CategoryColumn.fit(table(["", ""]), "x") is None
    assert CategoryColumn.fit(table(["a", ""]), "x").values == ["a"]
    assert TextColumn.fit(table(["!", "? a"]), "x") is None


def test_categories_are_one_hot_and_new_ones_zero():
    column = CategoryColumn.fit(table(["b", "a", "b", "", "c"]), "x")
    assert column.values == ["b", "a", "c"]
    out = column.transform(table(["a", " b ", "", "new", "c"]))
    np.testing.assert_array_equal(out.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]])


def test_only_the_most_frequent_categories(monkeypatch):
    monkeypatch.setattr(column_encoders, "MOST_CATEGORIES", 2)
    assert CategoryColumn.fit(table(["z", "a", "b", "z", "b", "z"]), "x").values == ["z", "b"]


def test_texts_are_as_sklearn_does_them():
    column = TextColumn.fit(table(TEXTS), "x")
    oracle = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(TEXTS)
    assert column.words == oracle.get_feature_names_out().tolist()
    fresh = ["mat cat cat unseen", "nothing here", "the"]
    np.testing.assert_allclose(column.transform(table(fresh)).toarray(), oracle.transform(fresh).toarray(), atol=1e-6)


def test_words_that_never_come_back_are_used_where_there_are_no_others():
    column = TextColumn.fit(table(["one two", "three four"]), "x")
    assert column.words == ["four", "one", "three", "two"]


def test_the_vocabulary_is_capped(monkeypatch):
    monkeypatch.setattr(column_encoders, "MOST_WORDS", 3)
    assert TextColumn.fit(table([f"word{i} word{i % 5}" for i in range(40)]), "x").width == 3


@pytest.mark.parametrize(
    ("encoder", "values"),
    [(NumberColumn, ["0.1", "", "7"]), (CategoryColumn, ["a", "b", "a"]), (TextColumn, TEXTS)],
)
def test_through_json(encoder, values):
    column = encoder.fit(table(values), "x")
    back = from_dict(json.loads(json.dumps(to_dict(column))))
    assert back == column
    assert back.width == column.transform(table(values)).shape[1]


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
        (["1", "2", "1e400"], "number"),  # too large; the encoder reports it
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
