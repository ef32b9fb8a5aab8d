"""FeatureEncoder: a whole table, the same way ever after."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.io import FeatureEncoder

FRAME = pd.DataFrame(
    {
        "id": ["A", "B", "C", "D"],
        "age": ["20", "30", "", "50"],
        "town": ["Ulm", "Bern", "Ulm", "Bern"],
        "about": ["likes graphs and cats", "writes about graphs a lot", "keeps cats and dogs", "about dogs and graphs"],
        "same": [1, 1, 1, 1],
        "code": ["a1", "b2", "c3", "d4"],
    }
)


def test_every_kind_in_one_table():
    encoder = FeatureEncoder(exclude=["id"]).fit(FRAME)
    described = encoder.describe()
    assert [(name, kind) for name, kind, _ in described] == [
        ("age", "number"),
        ("town", "category"),
        ("about", "text"),
        ("same", "drop"),
        ("code", "drop"),
    ]
    assert sum(width for *_, width in described) == encoder.num_features == encoder.transform(FRAME).shape[1]
    assert encoder.used_columns == ["age", "town", "about"]
    assert encoder.notes == [
        "Not used of table: 'same' (the same in every row).",
        "Not used of table: 'code' (ids, it seems: nearly every cell is different).",
    ]


def test_columns_come_in_their_order():
    x = FeatureEncoder(["town", "age"]).fit_transform(FRAME)
    np.testing.assert_array_equal(x[:, :2], [[0, 1], [1, 0], [0, 1], [1, 0]])  # Bern, Ulm
    np.testing.assert_allclose(x[:, 2].mean(), 0, atol=1e-6)
    np.testing.assert_array_equal(x[:, 3], [0, 0, 1, 0])
    assert x.dtype == np.float32


def test_kinds_can_be_set():
    encoder = FeatureEncoder(
        ["age", "code", "town"], kinds={"Age": "category", "code": "category", "town": "drop"}
    ).fit(FRAME)
    assert encoder.describe() == [("age", "category", 3), ("code", "category", 4), ("town", "drop", 0)]
    assert encoder.notes == []  # who drops a column knows
    with pytest.raises(
        ParameterError,
        match=r"kind of the column 'age' must be one of 'number', 'category', 'text', 'drop'. Got 'float'",
    ):
        FeatureEncoder(kinds={"age": "float"}).fit(FRAME)
    with pytest.raises(InputError, match=r"no column 'agee' .*did you mean 'age'"):
        FeatureEncoder(kinds={"agee": "number"}).fit(FRAME)
    with pytest.raises(InputError, match="table row 1, column 'town': 'Ulm' is not a finite number"):
        FeatureEncoder(kinds={"town": "number"}).fit(FRAME)


def test_few_non_zeros_are_kept_sparse():
    wide = pd.DataFrame(np.eye(40, dtype=int)).rename(columns=str)
    x = FeatureEncoder().fit_transform(wide)
    assert sparse.issparse(x)
    np.testing.assert_array_equal(x.toarray(), np.eye(40))
    assert isinstance(FeatureEncoder().fit_transform(wide.iloc[:, :5].iloc[:5]), np.ndarray)


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_through_json(name):
    frame = FRAME if name == "dense" else pd.DataFrame({"town": [f"t{i // 2}" for i in range(80)]})
    encoder = FeatureEncoder(exclude=["id"]).fit(frame)
    text = encoder.to_json()
    back = FeatureEncoder.from_json(text)
    assert back.describe() == encoder.describe()
    assert back.to_json() == text
    one, other = encoder.transform(frame), back.transform(frame)
    assert type(one) is type(other)
    assert abs(one - other).max() == 0


def test_new_tables():
    encoder = FeatureEncoder(["age", "town"]).fit(FRAME)
    new = pd.DataFrame({"town": ["Graz"], "age": [None], "more": [1]})
    np.testing.assert_array_equal(encoder.transform(new), [[0, 1, 0, 0]])
    with pytest.raises(
        InputError, match=r"table lacks the columns 'age', 'town' that .* \(for 'age' there is 'ages'\)"
    ):
        encoder.transform(pd.DataFrame({"ages": [1]}))
    with pytest.raises(InputError, match="table lacks the column 'town' that"):
        encoder.transform(pd.DataFrame({"age": [1]}))
    with pytest.raises(InputError, match="row 1, column 'age': 'old' is not a finite number"):
        encoder.transform(pd.DataFrame({"age": ["old"], "town": ["Ulm"]}))
    with pytest.raises(InputError, match="column 'town': cells of the type list"):
        encoder.transform(pd.DataFrame({"age": [1], "town": [[1]]}))


def test_nothing_left():
    encoder = FeatureEncoder().fit(pd.DataFrame({"same": [1, 1]}))
    assert encoder.transform(pd.DataFrame({"same": [1, 1]})).shape == (2, 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.update(format="other"),
        lambda content: content.pop("columns"),
        lambda content: content["columns"][0].update(kind="pickle"),
        lambda content: content["columns"][0].update(std=0.0),
        lambda content: content["columns"][0].update(mean="1"),
        lambda content: content["columns"][0].update(missing=5),
        lambda content: content["columns"][0].update(extra=1),
        lambda content: content["columns"][1].update(values="ab"),
        lambda content: content["columns"][1].update(values=["a", "a"]),
        lambda content: content["columns"][1].update(values=[1]),
        lambda content: content["columns"][2]["idf"].pop(),
        lambda content: content["columns"][2].update(name=3),
    ],
)
def test_damaged_json_is_refused(damage):
    content = json.loads(FeatureEncoder(exclude=["id"]).fit(FRAME).to_json())
    damage(content)
    with pytest.raises(InputError, match="feature encoder cannot be read from this JSON"):
        FeatureEncoder.from_json(json.dumps(content))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", '{"format": "ncgc-features-1", "columns": 3, "described": []}']
)
def test_other_json_is_refused(text):
    with pytest.raises(InputError, match="feature encoder cannot be read"):
        FeatureEncoder.from_json(text)


def test_many_categories_are_said():
    frame = pd.DataFrame({"town": [f"t{i % 1500}" for i in range(3000)]})
    encoder = FeatureEncoder().fit(frame)
    assert encoder.num_features == 1000
    assert encoder.notes == ["Of the column 'town' the 1,000 most frequent values are used."]


def test_wide_tables_keep_their_order():
    """Dense and sparse blocks beside each other, sparse as a whole."""
    frame = pd.DataFrame({"a": np.arange(200) % 7, "t": [f"t{i % 90}" for i in range(200)], "b": np.arange(200) % 5})
    encoder = FeatureEncoder().fit(frame)
    x = encoder.transform(frame)
    assert sparse.issparse(x)
    parts = [FeatureEncoder([name]).fit_transform(frame) for name in frame]
    dense = [part.toarray() if sparse.issparse(part) else part for part in parts]
    np.testing.assert_array_equal(x.toarray(), np.hstack(dense))


def test_dropped_columns_are_told_together():
    frame = pd.DataFrame({f"c{i}": ["same", "same"] for i in range(12)} | {"x": [1, 5]})
    notes = FeatureEncoder().fit(frame).notes
    assert notes == [
        f"Not used of table: {', '.join(repr(f'c{i}') for i in range(8))} and 4 more (the same in every row)."
    ]
