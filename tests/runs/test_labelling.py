"""From tables to labels in Python: the same as the command, without a screen or a folder."""

import dataclasses

import numpy as np
import pytest

from ncgc.errors import InputError
from ncgc.runs.fit_config import FitConfig
from ncgc.runs.labelling import finish, label_tables, make_model, read_tables

BRIEF = {"hidden": 8, "epochs": 12, "warmup": 3, "ramp": 2}


@pytest.fixture
def config(tmp_path, make_tables):
    """A configuration of the tables; ``change`` may alter the node table before it is written."""

    def make(change=None, parameters=(), labelled=18, **options):
        nodes, edges = make_tables(labelled)
        nodes = nodes if change is None else change(nodes)
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        edges.to_csv(tmp_path / "edges.csv", index=False)
        paths = str(tmp_path / "nodes.csv"), str(tmp_path / "edges.csv")
        return FitConfig(*paths, **{"folds": 2} | options, parameters=BRIEF | dict(parameters))

    return make


def with_split(nodes):
    """Training, validation and test nodes in turn, by sixes."""
    return nodes.assign(part=np.array(["train", "val", "test"])[np.arange(len(nodes)) // 12 % 3])


def test_every_node_gets_a_label_and_given_ones_stay(config):
    labelling = label_tables(config())
    assert (labelling.labels >= 0).all()
    np.testing.assert_array_equal(labelling.labels[:18], labelling.tables.graph.labels[:18])
    np.testing.assert_array_equal(labelling.labels[18:], labelling.model.predict_proba().argmax(axis=1)[18:])
    assert (labelling.given >= 0).tolist() == [True] * 18 + [False] * 30
    assert labelling.truth is None
    assert labelling.threshold == 0
    assert {one.node for one in labelling.suggestions} == set(range(18, 48))


def test_below_the_threshold_only_given_labels_are_left(config):
    labelling = label_tables(config())
    confidence = labelling.model.predict_proba().max(axis=1)
    threshold = float(np.median(confidence[18:]))
    strict = dataclasses.replace(labelling, threshold=threshold)
    unsure = (confidence < threshold) & (np.arange(48) >= 18)
    assert 0 < unsure.sum() < 30
    np.testing.assert_array_equal(strict.labels < 0, unsure)
    np.testing.assert_array_equal(strict.labels[~unsure], labelling.labels[~unsure])
    assert strict.metrics()["withheld"] == unsure.sum()
    assert strict.metrics()["predicted"] == 30 - unsure.sum()


def test_nine_labels_are_too_few_to_promise_an_accuracy(config):
    labelling = label_tables(config(labelled=9, abstain=0.6))
    assert labelling.threshold == np.inf
    assert (labelling.labels[9:] < 0).all()
    assert labelling.metrics()["threshold"] is None
    assert labelling.metrics()["shares"] == pytest.approx([1 / 3] * 3)


def test_the_threshold_is_that_of_the_calibration(config):
    labelling = label_tables(config(abstain=0.6))
    assert labelling.threshold == labelling.model.calibration_.threshold(0.6)


def test_without_folds_nothing_is_calibrated(config):
    labelling = label_tables(config(folds=0))
    assert labelling.model.calibration_ is None
    metrics = labelling.metrics()
    assert [metrics[name] for name in ("temperature", "calibrated", "calibration_error")] == [None] * 3


# ---------------------------------------------------------------- the split


def test_a_split_keeps_labels_back(config):
    labelling = label_tables(config(with_split, split="part", labelled=48))
    split, graph = labelling.split, labelling.tables.graph
    assert split.val.tolist() == list(range(12, 24))
    assert split.test.tolist() == list(range(24, 36))
    held = np.arange(12, 36)
    assert (labelling.given[held] == -1).all()
    np.testing.assert_array_equal(labelling.truth[held], graph.labels[held])
    assert (np.delete(labelling.truth, held) == -1).all()
    metrics, predicted = labelling.metrics(), labelling.model.predict()
    for part, nodes in (("val", split.val), ("test", split.test)):
        assert metrics[f"{part}_accuracy"] == np.mean(predicted[nodes] == graph.classes[graph.labels[nodes]])
    assert metrics["calibrated"] == "on 12 validation labels"


def test_the_split_column_is_no_feature(config):
    tables, _ = read_tables(config(with_split, split="Part"))
    assert [name for name, _, width in tables.encoder.describe() if width] == ["age", "town"]
    assert tables.graph.name == "nodes"


def test_who_has_a_label_is_not_asked_for_one(config):
    """Validation and test nodes are not trained on, but their labels are known."""
    labelling = label_tables(config(with_split, split="part", labelled=36))
    assert {one.node for one in labelling.suggestions} == set(range(36, 48))


def test_a_split_column_that_is_not_there_is_called_so(config):
    with pytest.raises(InputError, match="no column 'fold' to take the split from"):
        read_tables(config(split="fold"))


def test_graphml_has_no_split_column(tmp_path):
    with pytest.raises(InputError, match="give the nodes and edges as tables"):
        read_tables(FitConfig(str(tmp_path / "g.graphml"), split="part"))


# ---------------------------------------------------------------- the model


def test_measurements_keep_their_scale_unless_one_is_asked_for(config):
    asked, measured, words = config(parameters={"features": "unit"}), config(), config(features="town")
    tables = read_tables(measured)[0]
    assert make_model(measured, tables).features == "raw"
    assert make_model(asked, tables).features == "unit"
    assert make_model(words, read_tables(words)[0]).features == "centred"


def test_dense_rows_are_centred_for_other_methods_too(config, tmp_path):
    settings = dataclasses.replace(
        config(), method="gcn", parameters={"hidden": 8}, features=str(tmp_path / "x.npy"), label="label"
    )
    for x, expected in ((np.ones((48, 4)), "centred"), (np.eye(48), "row")):
        np.save(tmp_path / "x.npy", x)
        assert make_model(settings, read_tables(settings)[0]).features == expected


def test_the_seed_is_that_of_the_model(config):
    settings = config(seed=7)
    assert make_model(settings, read_tables(settings)[0]).random_state == 7


def test_watchers_hear_of_training_and_folds(config):
    settings = config()
    epochs, folds = [], []
    tables, split = read_tables(settings)
    model = make_model(settings, tables).fit(tables.graph, split, watch=lambda epoch, quantities: epochs.append(epoch))
    finish(settings, tables, split, model, lambda fold, *rest: folds.append(fold))
    assert epochs == list(range(1, 13))
    assert folds == [1] * 12 + [2] * 12
