"""The column that says train, val or test."""

import pandas as pd
import pytest

from ncgc.errors import InputError, SplitError
from ncgc.io import read_graph
from ncgc.io.tables.roles import read_split

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
