"""Labels and the split column, read and refused."""

import pandas as pd
import pyarrow as pa
import pytest

from ncgc.errors import InputError, SplitError
from ncgc.io import read_graph
from ncgc.io.tables.labels import read_labels, read_split
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
    notes = read_labels(table(["a", "NA", "NA", "-1", "-1"]), "label").notes
    assert "The label 'NA' is taken as a class; leave the cell empty where it means that none is known." in notes
    assert any("'-1' is taken as a class" in note for note in notes)


@pytest.mark.parametrize(
    ("values", "message"),
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
def test_what_is_refused(values, message):
    with pytest.raises(InputError, match=message):
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


EDGES = pd.DataFrame({"source": list("ABCDE"), "target": list("BCDEF")})


@pytest.fixture
def split_of(tmp_path):
    """The split of six nodes with these labels and words, through a file."""

    def read(words, labels=("x", "y", "x", "y", "x", None), column="part"):
        frame = pd.DataFrame({"id": list("ABCDEF"), "label": labels, "part": words, "f": [1.0, 2, 3, 4, 5, 7]})
        frame.to_csv(tmp_path / "nodes.csv", index=False)
        return read_split(tmp_path / "nodes.csv", column, read_graph(frame, EDGES).graph)

    return read


def parts(split):
    return split.train.tolist(), split.val.tolist(), split.test.tolist()


def test_three_parts(split_of):
    assert parts(split_of(["train", "train", "val", "test", "test", None])) == ([0, 1], [2], [3, 4])


def test_spellings_and_capitals(split_of):
    assert parts(split_of([" Train", "TRAINING", "valid", "Validation ", "Test", ""])) == ([0, 1], [2, 3], [4])


def test_the_column_is_found_but_for_capitals(split_of):
    assert parts(split_of(["train"] * 6, column="Part"))[0] == [0, 1, 2, 3, 4]


def test_the_cell_of_an_unlabelled_node_is_not_read(split_of):
    assert parts(split_of(["train", "train", "train", "train", "test", "whatever"])) == ([0, 1, 2, 3], [], [4])


@pytest.mark.parametrize(("word", "found"), [("tset", "'tset'"), (None, "an empty cell"), ("  ", "an empty cell")])
def test_another_word_is_a_sentence_with_its_row(split_of, word, found):
    with pytest.raises(InputError) as raised:
        split_of(["train", "train", "val", word, "test", None])
    assert str(raised.value) == (
        f"nodes.csv row 5: a labelled node with {found} in the column 'part'; write train, val or test."
    )


def test_a_column_that_is_not_there(split_of):
    with pytest.raises(
        InputError, match=r"nodes.csv has no column 'prt' to take the split from; did you mean 'part'\?"
    ):
        split_of(["train"] * 6, column="prt")


@pytest.mark.parametrize("words", [["test"] * 6, ["train", "test", "train", "val", "train", None]])
def test_training_needs_two_classes(split_of, words):
    with pytest.raises(SplitError):
        split_of(words)
