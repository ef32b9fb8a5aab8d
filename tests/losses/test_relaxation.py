"""The rule for how exactly to balance."""

import pytest

from ncgc import NCGC
from ncgc.datasets import few_split, load_dataset
from ncgc.errors import ParameterError
from ncgc.losses import automatic_relaxation


def test_more_labels_mean_looser_balance():
    values = [automatic_relaxation(5 * count, 5) for count in (1, 3, 5, 10, 20, 1000)]
    assert values == sorted(values, reverse=True)
    assert 0.5 < values[0] < 1
    assert values[-1] < 0.01
    assert automatic_relaxation(6, 2, half_way=3.0) == 0.5


def test_it_needs_labels():
    with pytest.raises(ParameterError, match="needs labels"):
        automatic_relaxation(0, 3)


@pytest.mark.parametrize("count", [1, 4])
def test_auto_is_the_number_it_stands_for(count):
    graph = load_dataset("digits")
    split = few_split(graph, count, seed=0)
    number = automatic_relaxation(10 * count, 10)
    options = {"epochs": 6, "warmup": 2, "ramp": 1, "hidden": 16}
    auto = NCGC(relaxation="auto", **options).fit(graph, split)
    given = NCGC(relaxation=number, **options).fit(graph, split)
    other = NCGC(relaxation=number / 2, **options).fit(graph, split)
    assert (auto.predict_proba() == given.predict_proba()).all()
    assert (auto.predict_proba() != other.predict_proba()).any()
