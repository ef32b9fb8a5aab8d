"""What "auto" makes of dense and of sparse features, and that a value given by hand is kept."""

import pytest

from ncgc import NCGC
from ncgc.datasets import few_split, load_dataset
from ncgc.errors import ParameterError
from ncgc.params.heuristics import automatic_relaxation, automatic_weight_decay

SHORT = {"hidden": 8, "epochs": 2, "warmup": 0, "ramp": 1}


@pytest.mark.parametrize(("form", "normed", "dropped"), [("dense", True, 0.0), ("sparse", False, 0.5)])
def test_norm_and_input_dropout_follow_the_density(make_planted, form, normed, dropped):
    network = NCGC(**SHORT).fit(*make_planted(form)).network_
    assert (network.norms is not None) is normed
    assert network.input_dropout == dropped


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_what_is_given_is_kept(make_planted, form):
    network = NCGC(norm=None, input_dropout=0.25, **SHORT).fit(*make_planted(form)).network_
    assert network.norms is None
    assert network.input_dropout == 0.25
    assert NCGC(norm="layer", **SHORT).fit(*make_planted(form)).network_.norms is not None


@pytest.mark.parametrize(
    ("degree", "density", "decay"), [(3.9, 0.01, 5e-3), (8.9, 0.01, 5e-4), (31.0, 0.35, 5e-3), (2.0, 0.9, 5e-3)]
)
def test_weight_decay_follows_neighbours_and_density(degree, density, decay):
    assert automatic_weight_decay(degree, density) == decay


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_estimator_trains_with_the_decay_of_its_graph(make_planted, form):
    graph, split = make_planted(form)
    decay = automatic_weight_decay(float(graph.degrees.mean()), graph.feature_density)
    expected = NCGC(weight_decay=decay, **SHORT).fit(graph, split).predict_proba()
    assert (NCGC(**SHORT).fit(graph, split).predict_proba() == expected).all()
    assert (NCGC(weight_decay=decay * 20, **SHORT).fit(graph, split).predict_proba() != expected).any()


def test_more_labels_mean_looser_balance():
    values = [automatic_relaxation(5 * count, 5) for count in (1, 3, 5, 10, 20, 1000)]
    assert values == sorted(values, reverse=True)
    assert 0.5 < values[0] < 1
    assert values[-1] < 0.01
    assert automatic_relaxation(6, 2, half_way=3.0) == 0.5


def test_relaxation_needs_labels():
    with pytest.raises(ParameterError, match="needs labels"):
        automatic_relaxation(0, 3)


@pytest.mark.parametrize("count", [1, 4])
def test_automatic_relaxation_is_the_number_it_stands_for(count):
    graph = load_dataset("digits")
    split = few_split(graph, count, seed=0)
    number = automatic_relaxation(10 * count, 10)
    options = {"epochs": 6, "warmup": 2, "ramp": 1, "hidden": 16}
    auto = NCGC(relaxation="auto", **options).fit(graph, split)
    given = NCGC(relaxation=number, **options).fit(graph, split)
    other = NCGC(relaxation=number / 2, **options).fit(graph, split)
    assert (auto.predict_proba() == given.predict_proba()).all()
    assert (auto.predict_proba() != other.predict_proba()).any()
