"""Figures over all nodes, counted by hand; which curves are drawn, and where the warm-up ends."""

import math

import numpy as np
import pytest

from ncgc.report import Abstain, Reliability
from ncgc.report.summary import (
    MOST_POINTS,
    class_shares,
    confidence_histogram,
    confusion,
    headline,
    label_counts,
    tiles,
    training_curves,
)


@pytest.fixture
def five(make_data):
    """Five nodes: one given, one right, two wrong, one left unlabelled."""
    probabilities = np.array([[0.9, 0.1, 0], [0.8, 0.2, 0], [0.3, 0.7, 0], [0.4, 0.6, 0], [0.5, 0.4, 0.1]])
    return make_data(
        n=5,
        k=3,
        given=np.array([0, -1, -1, -1, -1]),
        predicted=np.array([0, 0, 1, 1, -1]),
        probabilities=probabilities,
        truth=np.array([-1, 0, 2, 2, 0]),
        classes=["a", "b", "c"],
    )


def test_headline(five, make_data):
    assert headline(five) == "3 of 5 nodes labelled from 1 label; mean confidence 0.70"
    everything = make_data(n=3, k=3, given=np.arange(3))
    assert headline(everything) == "0 of 3 nodes labelled from 3 labels"


def test_tiles_say_what_is_known(five, full_data):
    made = {tile.name: (tile.value, tile.caption) for tile in tiles(five)}
    assert made["Nodes labelled"] == ("3", "of 5 nodes")
    assert made["Labels given"] == ("1", "in 1 of 3 classes")
    assert made["Accuracy"] == ("33.3 %", "on 3 held-out nodes")
    assert "Left unlabelled" not in made
    assert "Calibration error" not in made
    nothing = Reliability.of(np.zeros((0, 3)), np.zeros(0, dtype=int), "On no nodes.")
    assert "Calibration error" not in {tile.name for tile in tiles(full_data(reliability=nothing))}
    full = {tile.name: tile.caption for tile in tiles(full_data())}
    assert full["Left unlabelled"] == "confidence below 0.40"
    assert full["Training time"] == "4 epochs"


def test_labels_that_training_saw_do_not_count_as_held_out(five, make_data):
    fields = {name: getattr(five, name) for name in five.__dataclass_fields__}
    cheat = make_data(**{**fields, "n": 5, "k": 3, "truth": np.array([0, 0, 2, 2, 0])})
    assert confusion(cheat)["nodes"] == 3


def test_class_shares(five):
    shares = class_shares(five)
    assert shares["classes"] == [0, 1, 2]
    assert shares["given"] == [1, 0, 0]
    assert shares["found"] == [1, 2, 0]
    assert (shares["givenTotal"], shares["foundTotal"]) == (1, 3)
    assert label_counts(five) == [2, 2, 0]


def test_the_thirty_largest_of_many_classes(make_data):
    assert len(class_shares(make_data(n=400, k=120))["classes"]) == 30


def test_histogram_leaves_out_the_given(five):
    counts = confidence_histogram(five)["counts"]
    assert sum(counts) == 4
    assert [i for i, count in enumerate(counts) if count] == [10, 12, 14, 16]  # 0.5, 0.6, 0.7, 0.8
    assert confidence_histogram(five)["threshold"] is None


def test_histogram_knows_the_threshold_and_nothing_to_show(make_data):
    assert confidence_histogram(make_data(abstain=Abstain(0.9, 0.6, 0)))["threshold"] == 0.6
    assert confidence_histogram(make_data(n=3, k=3, given=np.arange(3))) is None


def test_confusion(five):
    made = confusion(five)
    assert made["rows"] == [[1, 0, 0], [0, 0, 0], [0, 2, 0]]
    assert made["recall"] == ["100.0 %", "–", "0.0 %"]
    assert made["mistakes"] == [(2, "c", "b")]
    assert (made["right"], made["nodes"], made["folded"]) == (1, 3, 0)


def test_confusion_folds_the_rarest_classes(make_data):
    n, k = 400, 20
    truth = np.minimum(np.arange(n) % 40, k - 1)  # the last class is the most frequent
    predicted = np.where(truth == 3, 4, truth)
    data = make_data(n=n, k=k, given=np.full(n, -1), truth=truth, predicted=predicted)
    made = confusion(data)
    assert len(made["rows"]) == 15
    assert made["names"][-1] == "6 others"
    assert np.sum(made["rows"]) == n
    assert made["right"] == n - (truth == 3).sum()
    rows = dict(zip(made["names"], made["recall"], strict=True))
    assert rows["class 19"] == "100.0 %"
    assert rows.get("class 3", rows["6 others"]) != "100.0 %"


def test_no_truth_no_confusion(make_data):
    assert confusion(make_data()) is None
    assert confusion(make_data(truth=np.full(60, -1))) is None


def test_curves_in_their_order_with_the_warmup(full_data):
    made = training_curves(full_data())
    titles = [curve["title"] for curve in made["curves"]]
    assert titles == ["Total loss", "Loss on the labels", "Pseudo-label loss", "Validation accuracy"]
    assert made["curves"][2]["values"] == [None, None, 0.9, 0.8]
    assert made["warmup"] == 3
    assert made["best"] == 4


def test_nan_is_a_gap_and_unknown_columns_keep_their_name(make_data):
    made = training_curves(make_data(history={"total": [math.nan, 1.0], "temper": [1.0, math.inf], "kl": [None, None]}))
    assert [curve["title"] for curve in made["curves"]] == ["Total loss", "temper"]
    assert made["curves"][0]["values"] == [None, 1.0]
    assert made["epochs"] == [1.0, 2.0]
    assert made["warmup"] is None


def test_no_warmup_where_everything_begins_at_once(make_data):
    assert training_curves(make_data(history={"kl": [0.1, 0.2], "total": [1.0, 1.0]}))["warmup"] is None


def test_long_training_is_thinned_and_keeps_its_ends(make_data):
    made = training_curves(make_data(history={"total": [float(i) for i in range(5003)]}))
    assert len(made["epochs"]) <= MOST_POINTS + 1
    assert (made["epochs"][0], made["epochs"][-1]) == (1.0, 5003.0)


def test_no_history_no_curves(make_data):
    assert training_curves(make_data()) is None
    assert training_curves(make_data(history={"epoch": [1, 2], "total": [None, None]})) is None


def test_what_is_measured_once_in_a_while_holds_until_it_is_measured_again(make_data):
    """Every hundredth of 1,500 epochs, of which every third is drawn."""
    moved = [0.01 * (epoch // 100) if epoch % 100 == 0 else None for epoch in range(1, 1501)]
    drawn = training_curves(make_data(history={"total": [1.0] * 1500, "moved": moved}))
    values = dict(zip(drawn["epochs"], drawn["curves"][1]["values"], strict=True))
    assert values[1] is None
    assert {values[epoch] for epoch in values if 200 <= epoch < 300} == {0.02}
    assert values[1500] == 0.15
