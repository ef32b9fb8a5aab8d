"""Confidence: its temperature, its thresholds, and that no label is measured on by a model that saw it."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

from ncgc import NCGC, Split
from ncgc.errors import ParameterError
from ncgc.evaluation import calibration
from ncgc.evaluation.calibration import Calibration, assign_folds, calibrate, cross_fit

BRIEF = {"hidden": 8, "epochs": 8, "warmup": 2, "ramp": 2}


@pytest.fixture
def fitted(make_planted):
    """A model of 24 training labels, none to validate with."""
    graph, _ = make_planted()
    return NCGC(**BRIEF).fit(graph, Split(np.arange(24), [], np.arange(24, 45)))


@pytest.fixture
def clones(monkeypatch):
    """The models that cross-fitting made, in their order."""
    made = []

    def remembered(model):
        made.append(NCGC(**model.get_params()))
        return made[-1]

    monkeypatch.setattr(calibration, "clone", remembered)
    return made


# ---------------------------------------------------------------- temperature and threshold


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_made_the_labels_is_found(temperature):
    generator = np.random.default_rng(0)
    logits = generator.normal(scale=3, size=(5000, 4))
    chances = softmax(logits / temperature, axis=1).cumsum(axis=1)
    labels = (generator.random((5000, 1)) > chances).sum(axis=1).clip(max=3)
    found = Calibration.fit(logits, labels, "")
    assert found.temperature == pytest.approx(temperature, rel=0.1)
    assert found.error < 0.03
    assert (np.diff(found.confidence) <= 0).all()
    assert found.right.mean() == np.mean(logits.argmax(axis=1) == labels)


def test_labels_that_all_come_out_right_do_not_make_certain():
    logits, labels = np.tile([[1.0, 0.0]], (12, 1)), np.zeros(12, dtype=int)
    calibration = Calibration.fit(logits, labels, "")
    assert 0.3 < calibration.temperature < 1
    assert 0.73 < calibration.confidence[0] < 0.97


def test_many_labels_outweigh_the_expectation():
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(20_000, 3)) * 3
    labels = (logits / 6 + generator.gumbel(size=logits.shape)).argmax(axis=1)
    assert abs(Calibration.fit(logits, labels, "").temperature - 6) < 0.6


def test_nine_nodes_are_too_few_for_a_temperature():
    logits, labels = np.tile([[5.0, 0.0]], (9, 1)), np.ones(9, dtype=int)
    assert Calibration.fit(logits, labels, "").temperature == 1
    assert Calibration.fit(np.vstack([logits, logits[:1]]), np.ones(10, dtype=int), "").temperature > 3


def naive_threshold(confidence, right, accuracy):
    fitting = [math.inf]
    for least in confidence:
        passed = [one for sure, one in zip(confidence, right, strict=True) if sure >= least]
        if len(passed) >= 10 and sum(passed) / len(passed) >= accuracy:
            fitting.append(0.0 if len(passed) == len(right) else least)
    return min(fitting)


@given(st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=8, max_size=40), st.floats(0.05, 0.95))
@example([(8, True)] * 12 + [(8, False)] * 8 + [(1, False)], 0.9)  # of those equally sure, the right ones first
def test_threshold_is_the_least_that_a_loop_finds(pairs, accuracy):
    """Confidences of eight values only, so that many nodes are equally sure."""
    pairs = sorted(pairs, key=lambda pair: -pair[0])
    confidence, right = np.array([sure / 8 for sure, _ in pairs]), np.array([one for _, one in pairs], dtype=bool)
    found = Calibration(1.0, confidence, right, "").threshold(accuracy)
    assert found == naive_threshold(confidence.tolist(), right.tolist(), accuracy)


@pytest.mark.parametrize("accuracy", [0, 1, 2, -0.5, math.nan])
def test_an_accuracy_that_cannot_be_asked_for(accuracy):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        Calibration(1.0, np.ones(20), np.ones(20, dtype=bool), "").threshold(accuracy)


# ---------------------------------------------------------------- folds


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(2, 6), st.integers(0, 5))
def test_every_class_is_spread_evenly_and_a_single_label_to_no_fold(labels, folds, seed):
    labels = np.array(labels)
    fold = assign_folds(labels, folds, seed)
    np.testing.assert_array_equal(fold, assign_folds(labels, folds, seed))
    for k in np.unique(labels):
        mine = fold[labels == k]
        if len(mine) == 1:
            assert mine[0] == -1
        else:
            counts = np.bincount(mine, minlength=folds)
            assert counts.max() - counts.min() <= 1
            assert counts.max() < len(mine)  # some of the class are left to train on
    sizes = np.bincount(fold[fold >= 0], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_another_seed_gives_other_folds():
    labels = np.repeat(np.arange(3), 20)
    assert not np.array_equal(assign_folds(labels, 5, 0), assign_folds(labels, 5, 1))


# ---------------------------------------------------------------- cross-fitting


def test_every_label_is_predicted_once(fitted):
    nodes, logits = cross_fit(fitted, folds=3)
    assert sorted(nodes.tolist()) == list(range(24))
    assert logits.shape == (24, 3)


def test_a_label_does_not_reach_the_model_it_is_measured_with(fitted, clones, monkeypatch):
    """Other labels on the nodes of the first fold: the model without them is the same, the model with them is not."""
    fold = np.arange(24) // 3 % 2
    monkeypatch.setattr(calibration, "assign_folds", lambda labels, folds, seed: fold)
    nodes, before = cross_fit(fitted, folds=2)
    labels = fitted.graph_.labels.copy()
    labels[:24][fold == 0] = (labels[:24][fold == 0] + 1) % 3
    fitted.graph_ = fitted.graph_.with_labels(labels)
    again, after = cross_fit(fitted, folds=2)
    np.testing.assert_array_equal(nodes, again)
    without, control = (
        [torch.equal(a, b) for a, b in zip(first.network_.parameters(), second.network_.parameters(), strict=True)]
        for first, second in ((clones[0], clones[2]), (clones[1], clones[3]))
    )
    assert all(without)
    assert not any(control)
    np.testing.assert_array_equal(before[:12], after[:12])
    assert not np.allclose(before[12:], after[12:])


def test_the_watcher_hears_of_every_fold(fitted):
    heard = []
    cross_fit(fitted, 3, lambda fold, folds, epoch, quantities: heard.append((fold, folds, epoch)))
    assert heard == [(fold, 3, epoch) for fold in (1, 2, 3) for epoch in range(1, 9)]


def test_one_fold_is_refused(fitted):
    with pytest.raises(ParameterError, match="2 folds or more"):
        cross_fit(fitted, 1)


def test_a_label_a_class_leaves_nothing_to_measure_on(make_planted):
    graph, _ = make_planted()
    model = NCGC(**BRIEF).fit(graph, Split([0, 1, 2], [], [])).calibrate(2)
    assert model.calibration_.temperature == 1
    assert model.calibration_.measured.startswith("not measured")
    assert math.isnan(model.calibration_.error)
    assert model.calibration_.threshold(0.5) == math.inf


# ---------------------------------------------------------------- of a model


def test_validation_labels_are_used_where_there_are_ten(make_planted, monkeypatch):
    graph, split = make_planted()
    model = NCGC(**BRIEF).fit(graph, split)
    expected = Calibration.fit(model.decision_function()[split.val], graph.labels[split.val], "")
    with monkeypatch.context() as patch:
        patch.setattr(calibration, "cross_fit", None)
        found = calibrate(model)
    assert found.temperature == expected.temperature
    assert found.measured == "on 15 validation labels"
    few = NCGC(**BRIEF).fit(graph, Split(np.arange(15), np.arange(15, 24), []))
    assert calibrate(few, 2).measured == "on 15 training labels, cross-fitted"


def test_calibration_changes_confidence_and_no_label(fitted):
    before, labels = fitted.predict_proba().copy(), fitted.predict()
    after = fitted.calibrate(2).predict_proba()
    assert fitted.calibration_.temperature != 1
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after.sum(axis=1), 1)
    np.testing.assert_array_equal(after.argmax(axis=1), before.argmax(axis=1))
    np.testing.assert_array_equal(fitted.predict(), labels)


def test_fitting_again_forgets_the_calibration(fitted):
    before = fitted.predict_proba().copy()
    fitted.calibrate(2).fit(fitted.graph_, fitted.split_)
    assert fitted.calibration_ is None
    np.testing.assert_array_equal(fitted.predict_proba(), before)


def test_a_model_is_fitted_before_it_is_calibrated():
    with pytest.raises(NotFittedError):
        NCGC().calibrate()


# ---------------------------------------------------------------- keeping


def test_json_and_back():
    kept = Calibration(1.7, np.array([0.9, 0.8, 0.123456]), np.array([True, False, True]), "on three nodes")
    again = Calibration.from_dict(json.loads(json.dumps(kept.to_dict(), allow_nan=False)))
    assert (again.temperature, again.measured) == (1.7, "on three nodes")
    np.testing.assert_array_equal(again.confidence, kept.confidence)
    np.testing.assert_array_equal(again.right, kept.right)


GOOD = {"temperature": 1.0, "confidence": [0.9], "right": [True], "measured": ""}


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 0.0},
        {"temperature": math.nan},
        {"temperature": 1e9},
        {"temperature": "warm"},
        {"temperature": None},
        {"confidence": [0.9, 0.8]},
        {"confidence": [[0.9]]},
        {"confidence": ["much"]},
    ],
)
def test_what_is_no_calibration_is_refused(wrong):
    assert Calibration.from_dict(GOOD).temperature == 1
    with pytest.raises((TypeError, ValueError)):
        Calibration.from_dict(GOOD | wrong)


@pytest.mark.parametrize("missing", GOOD)
def test_a_missing_entry_is_refused(missing):
    with pytest.raises(KeyError):
        Calibration.from_dict({name: value for name, value in GOOD.items() if name != missing})
