"""Labels: class numbers out of a column, and what cannot be one."""

import pyarrow as pa
import pytest

from ncgc.errors import InputError
from ncgc.io.tables.labels import read_labels
from ncgc.io.tables.table import Table


def table(values, kind=None):
    return Table(pa.table({"label": pa.array(values, kind)}), "nodes.csv", lambda row: f"row {row + 2}")


@pytest.mark.parametrize(
    ("values", "classes", "numbers"),
    [
        (["spam", "", "ham", " spam ", None], ["ham", "spam"], [1, -1, 0, 1, -1]),
        ([10, None, 2, 2], ["10", "2"], [0, -1, 1, 1]),
        ([0.0, float("nan"), 1.0, 1.0], ["0", "1"], [0, -1, 1, 1]),
        ([True, False, None], ["false", "true"], [1, 0, -1]),
        (["é", "Z", "a", "a"], ["Z", "a", "é"], [2, 0, 1, 1]),
    ],
)
def test_classes_are_sorted_names(values, classes, numbers):
    labels = read_labels(table(values), "label")
    assert labels.classes.tolist() == classes
    assert labels.numbers.tolist() == numbers


def test_one_label_a_class_is_enough():
    labels = read_labels(table(["a", "b", "", "", ""]), "label")
    assert labels.notes == [
        "2 of 5 nodes have a label in the column 'label', of 2 classes.",
        "A single node is labelled as 'a', 'b'; a few more would help.",
    ]


def test_notes():
    assert (
        "Every node has a label already: there is nothing left to predict."
        in read_labels(table(["a", "b", "b"]), "label").notes
    )
    told = read_labels(table(["a", "NA", "NA", "-1", "-1"]), "label").notes
    assert "The label 'NA' is taken as a class; leave the cell empty where it means that none is known." in told
    assert any("'-1' is taken as a class" in note for note in told)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["", " ", None], r"nodes.csv, column 'label': no node has a label; write"),
        (pa.nulls(3), r"no node has a label"),
        (["a", "a", ""], r"every labelled node is of the class 'a'; label a node of another class"),
        (
            [f"n{i}" for i in range(1001)] + [""] * 5000,
            r"1,001 different labels, more than 1,000, look like an id column",
        ),
        (["a", "b", "c"], r"all 3 labels are different, which looks like an id column; say which .* with 'label'"),
        (["x" * 501, "a", "", "", ""], r"'x{40}…' is longer than 500 characters, which looks like a text"),
        (["a\0", "a", "", ""], r"a label holds a NUL character"),
        ([[1], [2]], r"cells of the type list.* cannot be used here; write the labels as text"),
    ],
)
def test_what_is_refused(values, said):
    with pytest.raises(InputError, match=said):
        read_labels(Table(pa.table({"label": values}), "nodes.csv"), "label")


def test_the_classes_of_a_model():
    labels = read_labels(table(["b", "", "b"]), "label", classes=["c", "b", "a"], strict=False)
    assert labels.numbers.tolist() == [1, -1, 1]
    assert labels.classes.tolist() == ["c", "b", "a"]
    assert read_labels(table(["b"]), None, classes=["a"]).numbers.tolist() == [-1]
    with pytest.raises(
        InputError, match=r"nodes.csv row 3, column 'label': the label 'x' is none of the model's classes 'a', 'b'"
    ):
        read_labels(table(["b", "x"]), "label", classes=["a", "b"], strict=False)


def test_labels_are_optional_where_not_strict():
    assert read_labels(table(["", ""]), "label", strict=False).numbers.tolist() == [-1, -1]
    assert read_labels(table(["a", "a"]), "label", strict=False).classes.tolist() == ["a"]
