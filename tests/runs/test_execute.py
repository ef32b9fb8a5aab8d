"""The executor: what is recorded, that a blind run never shows validation labels to training, and runs on tables."""

from __future__ import annotations

import dataclasses
import json
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.errors import NCGCError
from ncgc.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from ncgc.runs import load as loading
from ncgc.runs.execute import Observer, execute, make_model
from ncgc.runs.load import load_tables
from ncgc.runs.result import Interrupted
from ncgc.runs.spec import RunSpec

BRIEF = {"hidden": 8, "epochs": 12, "warmup": 3, "ramp": 2}
TINY = {"hidden": 8, "epochs": 12, "warmup": 1, "ramp": 1}


@pytest.fixture
def planted(make_planted, monkeypatch):
    """The planted graph and its split, whatever is asked for; labels of some nodes may be changed."""
    graph, split = make_planted()

    def use(labels=None):
        shown = graph if labels is None else make_planted(labels=labels)[0]
        monkeypatch.setattr(loading, "_dataset", lambda name, root: shown)
        monkeypatch.setattr(loading, "make_split", lambda *_, **__: split)
        return shown, split

    return use


def test_the_record_is_what_the_estimator_gives(planted):
    graph, split = planted()
    run = RunSpec.on_dataset("planted", "random", 3, 5, parameters=TINY)
    record = execute(run).record()
    model = NCGC(**TINY, random_state=5).fit(graph, split)
    probabilities, truth = model.predict_proba(), graph.labels
    predicted = probabilities.argmax(axis=1)
    assert record["test_accuracy"] == accuracy(predicted[split.test], truth[split.test])
    assert record["val_accuracy"] == accuracy(predicted[split.val], truth[split.val])
    assert record["test_macro_f1"] == macro_f1(predicted[split.test], truth[split.test], 3)
    assert record["test_calibration_error"] == expected_calibration_error(probabilities[split.test], truth[split.test])
    assert record["best_epoch"] == model.best_epoch_
    assert record["settings"] == run.settings
    assert record["threads"] == 1
    assert record["seconds"] > 0
    json.dumps(record, allow_nan=False)


def test_other_methods_run_through_the_same_door(planted):
    planted()
    record = execute(
        RunSpec.on_dataset("planted", "random", 3, method="label_spreading", parameters={"alpha": 0.5})
    ).record()
    assert record["settings"] == {"alpha": 0.5, "iterations": 1000, "tolerance": 1e-6}
    assert "best_epoch" not in record
    assert 0 <= record["test_accuracy"] <= 1


def test_a_blind_run_trains_the_same_whatever_the_validation_labels(planted, monkeypatch):
    graph, split = planted()
    fits = []
    fit = NCGC.fit

    def look(model, graph, split, **more):
        fitted = fit(model, graph, split, **more)
        fits.append((split, model.predict_proba()))
        return fitted

    monkeypatch.setattr(NCGC, "fit", look)
    run = RunSpec.on_dataset("planted", "random", 3, blind=True, parameters=TINY)
    before = execute(run).record()
    wrong = graph.labels.copy()
    wrong[split.val] = (wrong[split.val] + 1) % 3
    planted(labels=wrong)
    after = execute(run).record()
    assert all(len(seen.val) == 0 for seen, _ in fits)
    np.testing.assert_array_equal(fits[0][1], fits[1][1])
    assert before["test_accuracy"] == after["test_accuracy"]
    assert before["val_accuracy"] is not None
    assert before["val_accuracy"] != after["val_accuracy"]  # measured on the nodes all the same


def test_a_seeing_run_does_use_them(planted):
    """The other side of the test above: with these labels the choice of the epoch does change."""
    graph, split = planted()
    run = RunSpec.on_dataset("planted", "random", 3, parameters=TINY)
    before = execute(run).record()
    wrong = graph.labels.copy()
    wrong[split.val] = (wrong[split.val] + 1) % 3
    planted(labels=wrong)
    assert execute(run).record()["best_epoch"] != before["best_epoch"]


def test_without_validation_nodes_there_is_no_validation_accuracy():
    record = execute(RunSpec.on_dataset("digits", "few", 1, parameters={**TINY, "epochs": 2})).record()
    assert record["val_accuracy"] is None


def test_an_interrupted_training_has_no_record(planted, monkeypatch):
    planted()
    fit = NCGC.fit

    def stopped(model, *words, **more):
        fitted = fit(model, *words, **more)
        model.termination_ = "interrupted"
        return fitted

    monkeypatch.setattr(NCGC, "fit", stopped)
    result = execute(RunSpec.on_dataset("planted", "random", parameters=TINY))
    assert result.interrupted
    with pytest.raises(Interrupted):
        result.record()


def test_a_warning_of_ours_is_kept_with_the_record(planted, monkeypatch, recwarn):
    planted()
    fit = NCGC.fit

    def warning(model, *words, **more):
        for category in (RuntimeWarning, RuntimeWarning, UserWarning):
            warnings.warn("The loss was not finite", category, stacklevel=1)
        return fit(model, *words, **more)

    monkeypatch.setattr(NCGC, "fit", warning)
    assert execute(RunSpec.on_dataset("planted", "random", parameters=TINY)).record()["warnings"] == [
        "The loss was not finite"
    ]
    assert not recwarn.list
    monkeypatch.undo()


def test_no_warning_no_field(planted):
    planted()
    assert "warnings" not in execute(RunSpec.on_dataset("planted", "random", parameters=TINY)).record()


@pytest.mark.parametrize(
    "run",
    [
        RunSpec.on_dataset("nowhere", "few"),
        RunSpec.on_dataset("digits", "public"),
        RunSpec.on_dataset("digits", "few", method="magic"),
    ],
)
def test_what_cannot_be_run_is_a_sentence(run):
    with pytest.raises(NCGCError):
        execute(run)


# ---------------------------------------------------------------- tables


@pytest.fixture
def spec(tmp_path, make_tables):
    """A run on tables; ``change`` may alter the node table before it is written."""

    def make(change=None, parameters=(), labelled=18, **settings):
        nodes, edges = make_tables(labelled)
        nodes = nodes if change is None else change(nodes)
        nodes.to_csv(tmp_path / "nodes.csv", index=False)
        edges.to_csv(tmp_path / "edges.csv", index=False)
        paths = {"nodes": str(tmp_path / "nodes.csv"), "edges": str(tmp_path / "edges.csv")}
        return RunSpec.from_settings({**paths, "folds": 2, **settings, "parameters": BRIEF | dict(parameters)})

    return make


def with_split(nodes):
    """Training, validation and test nodes in turn, by twelves."""
    return nodes.assign(part=np.array(["train", "val", "test"])[np.arange(len(nodes)) // 12 % 3])


def test_every_node_gets_a_label_and_given_ones_stay(spec):
    result = execute(spec())
    assert (result.labels >= 0).all()
    np.testing.assert_array_equal(result.labels[:18], result.data.graph.labels[:18])
    np.testing.assert_array_equal(result.labels[18:], result.model.predict_proba().argmax(axis=1)[18:])
    assert (result.given >= 0).tolist() == [True] * 18 + [False] * 30
    assert result.truth is None
    assert result.threshold == 0
    assert {one.node for one in result.suggestions} == set(range(18, 48))


def test_below_the_threshold_only_given_labels_are_left(spec):
    result = execute(spec())
    confidence = result.probabilities.max(axis=1)
    threshold = float(np.median(confidence[18:]))
    strict = dataclasses.replace(result, threshold=threshold)
    uncertain = (confidence < threshold) & (np.arange(48) >= 18)
    assert 0 < uncertain.sum() < 30
    np.testing.assert_array_equal(strict.labels < 0, uncertain)
    np.testing.assert_array_equal(strict.labels[~uncertain], result.labels[~uncertain])
    assert strict.to_dict()["withheld"] == uncertain.sum()
    assert strict.to_dict()["predicted"] == 30 - uncertain.sum()


def test_nine_labels_are_too_few_to_promise_an_accuracy(spec):
    result = execute(spec(labelled=9, abstain=0.6))
    assert result.threshold == np.inf
    assert (result.labels[9:] < 0).all()
    assert result.to_dict()["threshold"] is None
    assert result.to_dict()["shares"] == pytest.approx([1 / 3] * 3)


def test_the_threshold_is_that_of_the_calibration(spec):
    result = execute(spec(abstain=0.6))
    assert result.threshold == result.model.calibration_.threshold(0.6)


def test_without_folds_nothing_is_calibrated(spec):
    result = execute(spec(folds=0))
    assert result.model.calibration_ is None
    values = result.to_dict()
    assert [values[name] for name in ("temperature", "calibrated", "calibration_error")] == [None] * 3


def test_a_split_keeps_labels_back(spec):
    result = execute(spec(with_split, split="part", labelled=48))
    split, graph = result.data.split, result.data.graph
    held = np.arange(12, 36)
    assert (result.given[held] == -1).all()
    np.testing.assert_array_equal(result.truth[held], graph.labels[held])
    assert (np.delete(result.truth, held) == -1).all()
    values, predicted = result.to_dict(), result.model.predict()
    for part, nodes in (("val", split.val), ("test", split.test)):
        assert values[f"{part}_accuracy"] == np.mean(predicted[nodes] == graph.classes[graph.labels[nodes]])
    assert values["calibrated"] == "on 12 validation labels"


def test_no_label_is_suggested_for_a_node_that_has_one(spec):
    """Validation and test nodes are not trained on, but their labels are known."""
    result = execute(spec(with_split, split="part", labelled=36))
    assert {one.node for one in result.suggestions} == set(range(36, 48))


def test_measurements_are_not_normalised_unless_the_run_says_so(spec):
    named, measured, words = spec(parameters={"features": "unit"}), spec(), spec(features="town")
    data = load_tables(measured.tables)
    assert make_model(measured, data).features == "raw"
    assert make_model(named, data).features == "unit"
    assert make_model(words, load_tables(words.tables)).features == "centred"


def test_dense_rows_are_centred_for_other_methods_too(spec, tmp_path):
    tables = dataclasses.replace(spec().tables, features=str(tmp_path / "x.npy"), label="label")
    run = dataclasses.replace(spec(), data=tables, method="gcn", parameters={"hidden": 8})
    for x, expected in ((np.ones((48, 4)), "centred"), (np.eye(48), "row")):
        np.save(tmp_path / "x.npy", x)
        assert make_model(run, load_tables(tables)).features == expected


def test_the_seed_is_that_of_the_model_and_other_parameters_are_at_their_defaults(spec):
    run = spec(seed=7, parameters={"backbone": "gcnii"})
    model = make_model(run, load_tables(run.tables))
    assert model.random_state == 7
    assert model.num_layers == 2  # a recipe is for who makes the run, not for the executor: its key says 2


class Listener(Observer):
    """Remembers what it hears; may interrupt a stage."""

    def __init__(self, stop=None):
        self.heard, self.stop = [], stop

    def loaded(self, data):
        self.heard.append("loaded")

    def chosen(self, choice):
        self.heard.append(choice.method)

    def begins(self, model, data):
        self.heard.append("begins")

    @contextmanager
    def working(self, stage, epochs):
        heard = []

        def watch(epoch, quantities):
            heard.append(epoch)
            if stage == self.stop and epoch == 3:
                self.interrupted = True
                raise KeyboardInterrupt

        yield watch
        self.heard.append((stage, epochs, heard))


def test_an_observer_hears_of_training_and_folds(spec):
    listener = Listener()
    execute(spec(), observer=listener)
    epochs = list(range(1, 13))
    assert listener.heard == ["loaded", "begins", ("training", 12, epochs), ("calibrating", 24, list(range(1, 25)))]


def test_an_interrupted_training_is_not_calibrated(spec):
    listener = Listener(stop="training")
    result = execute(spec(), observer=listener)
    assert result.interrupted
    assert result.model.calibration_ is None
    assert listener.heard[-1] == ("training", 12, [1, 2, 3])


def test_auto_becomes_a_method_with_its_recommended_parameters(spec):
    run = dataclasses.replace(spec(folds=0), method="auto", parameters={}, budget=1e-9)
    listener = Listener()
    result = execute(run, observer=listener)
    assert result.spec.method == result.choice.method == "label_spreading"
    assert "label_spreading" in listener.heard
    assert result.to_dict()["choice"]["left_out"][-1] == "ncgc"
