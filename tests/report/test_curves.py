"""Which curves are drawn, and where the warm-up ends."""

import math

from ncgc.report.curves import MOST_POINTS, training_curves


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
