"""One run: its record says what was reached, and a blind one never shows validation labels to training."""

from __future__ import annotations

import json
import re
import subprocess
import warnings

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.errors import NCGCError
from ncgc.evaluation.metrics import accuracy, expected_calibration_error, macro_f1
from ncgc.runs import execute as module
from ncgc.runs.execute import Interrupted, execute, revision
from ncgc.runs.spec import Run

TINY = {"hidden": 8, "epochs": 12, "warmup": 1, "ramp": 1}


@pytest.fixture
def planted(make_planted, monkeypatch):
    """The planted graph and its split, whatever is asked for; labels of some nodes may be changed."""
    graph, split = make_planted()

    def use(labels=None):
        shown = graph if labels is None else make_planted(labels=labels)[0]
        monkeypatch.setattr(module, "_graph", lambda name, root: shown)
        monkeypatch.setattr(module, "make_split", lambda *_, **__: split)
        return shown, split

    return use


def test_the_record_is_what_the_estimator_gives(planted):
    graph, split = planted()
    run = Run("planted", "random", 3, 5, parameters=TINY)
    record = execute(run)
    model = NCGC(**TINY, random_state=5).fit(graph, split)
    probabilities, truth = model.predict_proba(), graph.labels
    predicted = probabilities.argmax(axis=1)
    assert record["test_accuracy"] == accuracy(predicted[split.test], truth[split.test])
    assert record["val_accuracy"] == accuracy(predicted[split.val], truth[split.val])
    assert record["macro_f1"] == macro_f1(predicted[split.test], truth[split.test], 3)
    assert record["ece"] == expected_calibration_error(probabilities[split.test], truth[split.test])
    assert record["best_epoch"] == model.best_epoch_
    assert record["settings"] == run.settings
    assert record["threads"] == 1
    assert record["seconds"] > 0
    json.dumps(record, allow_nan=False)


def test_other_methods_run_through_the_same_door(planted):
    planted()
    record = execute(Run("planted", "random", 3, method="label_spreading", parameters={"alpha": 0.5}))
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
    run = Run("planted", "random", 3, blind=True, parameters=TINY)
    before = execute(run)
    wrong = graph.labels.copy()
    wrong[split.val] = (wrong[split.val] + 1) % 3
    planted(labels=wrong)
    after = execute(run)
    assert all(len(seen.val) == 0 for seen, _ in fits)
    np.testing.assert_array_equal(fits[0][1], fits[1][1])
    assert before["test_accuracy"] == after["test_accuracy"]
    assert before["val_accuracy"] is not None
    assert before["val_accuracy"] != after["val_accuracy"]  # measured on the nodes all the same


def test_a_seeing_run_does_use_them(planted):
    """The other side of the test above: with these labels the choice of the epoch does change."""
    graph, split = planted()
    run = Run("planted", "random", 3, parameters=TINY)
    before = execute(run)
    wrong = graph.labels.copy()
    wrong[split.val] = (wrong[split.val] + 1) % 3
    planted(labels=wrong)
    assert execute(run)["best_epoch"] != before["best_epoch"]


def test_without_validation_nodes_there_is_no_validation_accuracy():
    record = execute(Run("digits", "few", 1, parameters={**TINY, "epochs": 2}))
    assert record["val_accuracy"] is None


def test_an_interrupted_training_has_no_record(planted, monkeypatch):
    planted()
    fit = NCGC.fit

    def stopped(model, *words, **more):
        fitted = fit(model, *words, **more)
        model.termination_ = "interrupted"
        return fitted

    monkeypatch.setattr(NCGC, "fit", stopped)
    with pytest.raises(Interrupted):
        execute(Run("planted", "random", parameters=TINY))


def test_a_warning_of_ours_is_kept_with_the_record(planted, monkeypatch, recwarn):
    planted()
    fit = NCGC.fit

    def warning(model, *words, **more):
        for category in (RuntimeWarning, RuntimeWarning, UserWarning):
            warnings.warn("The loss was not finite", category, stacklevel=1)
        return fit(model, *words, **more)

    monkeypatch.setattr(NCGC, "fit", warning)
    assert execute(Run("planted", "random", parameters=TINY))["warnings"] == ["The loss was not finite"]
    assert not recwarn.list
    monkeypatch.undo()


def test_no_warning_no_field(planted):
    planted()
    assert "warnings" not in execute(Run("planted", "random", parameters=TINY))


@pytest.mark.parametrize("run", [Run("nowhere", "few"), Run("digits", "public"), Run("digits", "few", method="magic")])
def test_what_cannot_be_run_is_a_sentence(run):
    with pytest.raises(NCGCError):
        execute(run)


def test_revision_is_that_of_git_or_nothing(monkeypatch):
    found = revision()
    assert found is None or re.fullmatch(r"[0-9a-f]{10}\+?", found)

    def no_git(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(subprocess, "run", no_git)
    assert revision() is None
