"""Figures of a cell, and the bootstrap on values whose answer is known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from ncgc.errors import ParameterError
from ncgc_bench.plans import labels_plan, sweep_plan, table_plan
from ncgc_bench.summary import (
    Cell,
    Difference,
    Grid,
    bootstrap_interval,
    contrasts,
    difference,
    grid,
    student_interval,
)


def test_mean_and_sample_deviation():
    cell = Cell({0: 1.0, 1: 2.0, 2: 6.0}, planned=3, done=3)
    assert (cell.mean, cell.deviation) == (3.0, np.sqrt(7.0))
    assert cell.complete
    assert math.isnan(Cell({0: 1.0}, 3, 1).deviation)
    assert math.isnan(Cell().mean)


def test_the_interval_is_that_of_all_resamples():
    """Five values have 5⁵ equally likely resamples: their exact quantiles are the oracle."""
    values = np.array([0.3, -1.2, 2.0, 0.9, 1.4])
    means = np.array([np.mean(drawn) for drawn in product(values, repeat=5)])
    exact = np.quantile(means, [0.025, 0.975])
    np.testing.assert_allclose(bootstrap_interval(values), exact, atol=0.05)
    wide = bootstrap_interval(values, level=0.99)
    assert wide[0] < exact[0]
    assert wide[1] > exact[1]


def test_the_interval_of_many_normal_values_is_the_normal_one():
    values = np.random.default_rng(1).normal(3.0, 2.0, size=400)
    error = 1.96 * values.std() / 20
    np.testing.assert_allclose(bootstrap_interval(values), [values.mean() - error, values.mean() + error], atol=0.03)


@pytest.mark.parametrize(("number", "share"), [(3, 0.75), (5, 0.84), (10, 0.89)])
def test_how_often_the_interval_holds_the_mean_is_as_the_docstring_says(number, share):
    draws = np.random.default_rng(2).normal(size=(600, number))
    held = [low <= 0 <= high for low, high in (bootstrap_interval(row, resamples=1000) for row in draws)]
    assert abs(np.mean(held) - share) < 0.05


@pytest.mark.parametrize("number", [2, 3, 5, 10])
def test_students_interval_holds_the_mean_as_often_as_it_says(number):
    draws = np.random.default_rng(3).normal(size=(2000, number))
    held = [low <= 0 <= high for low, high in map(student_interval, draws)]
    assert abs(np.mean(held) - 0.95) < 0.015


def test_students_interval_is_scipys():
    values = np.array([0.3, -1.2, 2.0, 0.9, 1.4])
    found = stats.ttest_1samp(values, 0.0).confidence_interval(0.99)
    np.testing.assert_allclose(student_interval(values, level=0.99), (found.low, found.high))
    assert all(map(math.isnan, student_interval([1.0])))
    assert student_interval([2.0, 2.0]) == (2.0, 2.0)


def test_the_interval_is_the_same_each_time_and_moves_with_the_values():
    values = [0.3, -1.2, 2.0, 0.95, 1.37, 0.11]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values) != bootstrap_interval(values, seed=1)
    shifted = bootstrap_interval([value + 5 for value in values])
    np.testing.assert_allclose(shifted, np.add(bootstrap_interval(values), 5))


def test_differences_are_of_the_same_seeds():
    """Between splits the values scatter by tens, the difference is 1 on each: only pairing shows that."""
    theirs = Cell({seed: 10.0 * seed for seed in range(5)}, 5, 5)
    ours = Cell({seed: 10.0 * seed + 1 for seed in (4, 2, 1, 9)}, 5, 4)
    assert difference(ours, theirs) == Difference(1.0, 1.0, 1.0, pairs=3, planned=5)
    assert difference(Cell({1: 1.0}), Cell({2: 1.0})) is None


def test_a_grid_finds_what_the_plan_asks_for(store, fill):
    entries = table_plan(("cora", "photo"), ("gcn",), runs=3)
    fill(entries, lambda e: None if e.dataset == "photo" and e.run.seed == 2 else 0.8 + 0.01 * e.run.seed)
    fill(table_plan(("cora",), ("gcn",), runs=9), lambda e: 0.1)  # seeds that the plan does not ask for
    found = grid(entries, store)
    assert found.rows == (("gcn", "ncgc"), ("gcn", "plain"))
    assert found.columns == ("cora", "photo")
    assert found.at(("gcn", "ncgc"), "cora").mean == pytest.approx(81.0)
    cell = found.at(("gcn", "plain"), "photo")
    assert (cell.done, cell.planned, cell.complete) == (2, 3, False)
    assert found.at(("gat", "ncgc"), "cora") == Cell()


def test_quantities_have_their_units_and_may_be_absent(store, fill):
    entries = labels_plan(("cora",), ("gcn",), (1,), runs=2, others=())
    fill(entries, lambda e: 0.8, val_accuracy=None)
    place = ("gcn", "ncgc"), "cora 1"
    assert grid(entries, store, "seconds").at(*place).mean == 2.0
    assert grid(entries, store, "test_calibration_error").at(*place).mean == pytest.approx(10.0)
    cell = grid(entries, store, "val_accuracy").at(*place)
    assert (cell.values, cell.done, cell.complete) == ({}, 2, True)
    with pytest.raises(ParameterError, match="did you mean 'test_accuracy'"):
        grid(entries, store, "test_acuracy")


def test_only_rows_of_one_backbone_are_compared():
    rows = (("gcn", "ncgc"), ("gcn", "plain"), ("gat", "ncgc"), ("gat", "plain"))
    assert contrasts(Grid("seconds", rows, (), {}, references=rows[::2])) == [(rows[0], rows[1]), (rows[2], rows[3])]
    assert contrasts(Grid("seconds", rows[1::2], (), {})) == []


def test_the_references_of_a_plan_are_the_rows_that_change_nothing(store):
    entries = table_plan(("cora",), ("gcn", "gat"), runs=1, others=("label_spreading",))
    assert grid(entries, store).references == (("gcn", "ncgc"), ("gat", "ncgc"))
    assert grid(sweep_plan(("cora",), runs=1), store).references == ()
