"""Which method is taken, with methods whose accuracy is known beforehand."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from ncgc import Graph, Split
from ncgc.selection import auto
from ncgc.selection.auto import choose_method


class Fixed:
    """Right on a share of all nodes, whatever it is fitted on; remembers the splits it saw."""

    max_epochs = 1
    termination_ = "all epochs done"

    def __init__(self, share=1.0, seen=None, spend=lambda: None):
        self.share, self.seen, self.spend = share, seen, spend

    def fit(self, graph, split, *, watch=None):
        self.graph = graph
        self.spend()
        if watch is not None:
            watch(1, {})
        if self.seen is not None:
            self.seen.append(split)
        return self

    def decision_function(self):
        right = np.arange(self.graph.num_nodes) % 10 < 10 * self.share
        return np.eye(2)[np.where(right, self.graph.labels, 1 - self.graph.labels)]

    def __sklearn_clone__(self):
        return Fixed(self.share, self.seen, self.spend)


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1]], np.eye(200), np.arange(200) // 100, classes=["a", "b"])


@pytest.fixture
def split():
    return Split(np.arange(0, 200, 2), np.arange(1, 200, 4), np.arange(3, 200, 4))


def choose(graph, split, shares, budget=1e6, seen=None):
    return choose_method(graph, split, lambda name: Fixed(shares[name], seen), budget, candidates=tuple(shares))


def test_the_best_is_taken(graph, split):
    choice = choose(graph, split, {"a": 0.2, "b": 1.0, "c": 0.6})
    assert choice.method == "b"
    assert [trial.labels for trial in choice.trials] == [100, 100, 100]
    assert "100.0 % of 100 held-out labels right" in choice.reason


def test_of_those_that_cannot_be_told_apart_the_last_is_taken(graph, split):
    choice = choose(graph, split, {"a": 0.8, "b": 0.8, "c": 0.2})
    assert choice.method == "b"


def test_every_training_label_is_held_out_once_and_no_other_is_seen(graph, split):
    seen = []
    choose(graph, split, {"a": 1.0}, seen=seen)
    np.testing.assert_array_equal(np.sort(np.concatenate([one.test for one in seen])), split.train)
    for one in seen:
        assert len(one.val) == 0
        assert not np.intersect1d(one.train, one.test).size
        assert np.isin(one.train, split.train).all()


def test_a_spent_budget_leaves_out_what_comes_later(graph, split):
    choice = choose(graph, split, {"a": 0.2, "b": 1.0}, budget=1e-12)
    assert (choice.method, choice.left_out) == ("a", ("b",))
    assert "no time in 1e-12 s for b" in choice.reason


def test_a_candidate_whose_first_fold_shows_that_it_overruns_is_given_up(graph, split, monkeypatch):
    now, seen = [0.0], []
    monkeypatch.setattr(auto, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def spend():
        now[0] += 0.4

    models = {"quick": Fixed(0.5), "slow": Fixed(1.0, seen, spend), "last": Fixed(0.9)}
    choice = choose_method(graph, split, models.get, 1.0, candidates=tuple(models))
    assert (choice.method, choice.left_out) == ("last", ("slow",))
    assert len(seen) == 1


def test_ctrl_c_in_a_training_ends_the_choice(graph, split):
    class Interrupted(Fixed):
        termination_ = "interrupted"

        def __sklearn_clone__(self):
            return self

    seen = []
    models = {"a": Interrupted(), "b": Fixed(1.0, seen)}
    with pytest.raises(KeyboardInterrupt):
        choose_method(graph, split, models.get, 1e6, candidates=tuple(models))
    assert seen == []


def test_a_watcher_hears_the_epochs_of_all_folds(graph, split):
    heard = []

    @contextmanager
    def progress(name, epochs):
        yield lambda epoch, quantities: heard.append((name, epoch, epochs))

    choose_method(graph, split, lambda name: Fixed(), 1e6, progress=progress, candidates=("a", "b"))
    assert heard == [(name, epoch, 3) for name in "ab" for epoch in (1, 2, 3)]


def test_one_label_a_class_leaves_nothing_to_hold_out(graph):
    choice = choose(graph, Split([0, 150], [], []), {"a": 0.2, "b": 1.0})
    assert choice.method == "b"
    assert "every class has one label" in choice.reason
    assert choice.to_dict()["tried"] == []
