"""Columns by their usual names, by the names given, or a sentence."""

import pyarrow as pa
import pytest

from ncgc.errors import InputError
from ncgc.io.tables.columns import end_columns, id_column, label_column, named_column, weight_column
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
    column, told = id_column(table("paper", "age"), None)
    assert column == "paper"
    assert told == ["No column of t.csv is called 'id' or 'node'; its first, 'paper', is used for the ids."]


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
