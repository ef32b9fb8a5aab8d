"""From a description to a graph with labels."""

import numpy as np
import pytest

from ncgc import load_dataset
from ncgc.datasets import make_split
from ncgc.errors import InputError
from ncgc.runs.load import load, load_tables
from ncgc.runs.source import DatasetSource, TableSource


@pytest.fixture
def tables(tmp_path, make_tables):
    """The tables of 48 nodes with a column of the split, as a source."""

    def make(**settings):
        nodes, edges = make_tables(48)
        nodes["part"] = np.array(["train", "val", "test"])[np.arange(48) // 12 % 3]
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        edges.to_csv(tmp_path / "edges.csv", index=False)
        return TableSource(str(tmp_path / "nodes.csv"), str(tmp_path / "edges.csv"), **settings)

    return make


def test_a_split_column_says_which_labels_train(tables):
    data = load(tables(split="part"))
    assert data.split.val.tolist() == data.val.tolist() == list(range(12, 24))
    assert data.split.test.tolist() == list(range(24, 36))


def test_the_split_column_is_no_feature(tables):
    data = load_tables(tables(split="Part"))
    assert [name for name, _, width in data.tables.encoder.describe() if width] == ["age", "town"]
    assert data.graph.name == "nodes"


def test_a_split_column_that_is_not_there_is_a_sentence(tables):
    with pytest.raises(InputError, match="no column 'fold' to take the split from"):
        load_tables(tables(split="fold"))


def test_graphml_has_no_split_column(tmp_path):
    with pytest.raises(InputError, match="give the nodes and edges as tables"):
        load_tables(TableSource(str(tmp_path / "g.graphml"), split="part"))


def test_a_data_set_is_split_by_the_seed():
    data = load(DatasetSource("digits", "few", 2, 1), seed=3)
    split = make_split(load_dataset("digits"), "few", seed=3, labels_per_class=2, val_per_class=1)
    np.testing.assert_array_equal(data.split.train, split.train)
    np.testing.assert_array_equal(data.val, split.val)


def test_blind_validation_nodes_are_kept_from_training():
    data = load(DatasetSource("digits", blind=True))
    assert len(data.split.val) == 0
    assert len(data.val) == 300
