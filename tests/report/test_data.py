"""Data of a report: its checks, and labels and confidence of every node."""

import numpy as np
import pytest

from ncgc.evaluation.metrics import expected_calibration_error
from ncgc.report import Abstain, Reliability, Suggestion


def test_labels_confidence_and_found(make_data):
    probabilities = np.array([[0.6, 0.4], [0.3, 0.7], [0.45, 0.55]])
    given = np.array([1, -1, -1])
    data = make_data(
        n=3, k=2, given=given, probabilities=probabilities, predicted=np.array([0, 1, -1]), classes=["a", "b"]
    )
    assert data.labels.tolist() == [1, 1, -1]  # the given label counts, not the predicted one
    assert data.confidence.tolist() == [0.4, 0.7, 0.55]  # of one left unlabelled: its largest
    assert data.found.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"given": np.zeros(59, dtype=int)}, r"'given' must have the shape \(60,\)"),
        ({"predicted": np.full(60, 3)}, "'predicted' must hold class numbers from -1 to 2"),
        ({"given": np.full(60, -2)}, "'given' must hold class numbers"),
        ({"embedding2d": np.full((60, 2), np.nan)}, "'embedding2d' has entries that are not finite"),
        ({"probabilities": np.ones((60, 4))}, "'probabilities' must have the shape"),
        ({"history": {"epoch": [1, 2], "total": [1.0]}}, "different lengths"),
        ({"suggestions": [Suggestion(60, 1.0)]}, "names node 60"),
        ({"classes": []}, "0 classes"),
        ({"abstain": Abstain(0.9, 0.5, 3)}, "3 nodes stay unlabelled, but 0 nodes"),
    ],
)
def test_what_does_not_fit_is_a_sentence(make_data, fields, words):
    with pytest.raises(ValueError, match=words):
        make_data(**fields)


def test_reliability_bins_add_up_to_the_calibration_error():
    generator = np.random.default_rng(1)
    probabilities = generator.dirichlet([0.4, 0.4, 0.4], size=500)
    truth = generator.integers(3, size=500)
    made = Reliability.of(probabilities, truth, "Measured here.")
    assert sum(count for *_, count in made.bins) == 500
    gaps = sum(count * abs(confidence - accuracy) for confidence, accuracy, count in made.bins) / 500
    assert made.error == pytest.approx(gaps)
    assert made.error == pytest.approx(expected_calibration_error(probabilities, truth))
