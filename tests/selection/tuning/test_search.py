"""Tuning: by validation accuracy alone, the same for the same seed, and to be stopped and taken up at will."""

import numpy as np
import pytest

from ncgc import load_dataset
from ncgc.datasets import make_split
from ncgc.errors import OutputError, ParameterError, SplitError, TrainingError
from ncgc.models.ncgc import NCGC
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.selection.tuning import search as room
from ncgc.selection.tuning.scoring import Case, Scorer
from ncgc.selection.tuning.search import Tuning, TuningTask
from ncgc.selection.tuning.space import DEFAULT, FIRST_SEED, RANGES, Choice, Range, space_for

optuna = pytest.importorskip("optuna")
BASE = {"backbone": "gcn", "epochs": 3, "warmup": 1, "ramp": 1, "hidden": 8}


@pytest.fixture(scope="module")
def graph():
    return load_dataset("digits")


def task(names=("beta", "dropout", "learning_rate", "norm"), **changes):
    base = {**BASE, **changes.pop("base", {})}
    return TuningTask("digits", base, space_for("gcn", names), **{"splits": 2, "labels_per_class": 2, **changes})


def trials(tuning):
    return [(trial.params, trial.intermediate_values, trial.value) for trial in tuning.study.get_trials()]


def ended(tuning):
    return [(t.params, t.intermediate_values, t.value) for t in tuning.study.get_trials() if t.state.name != "FAIL"]


# ---------------------------------------------------------------- the study


def test_same_seed_same_study_and_another_seed_another(graph, tmp_path):
    made = []
    for number, seed in enumerate((0, 0, 1)):
        tuning = Tuning(task(seed=seed), graph, tmp_path / f"{number}.db")
        assert [one.number for one in tuning.run(3)] == [1, 2, 3]
        made.append(trials(tuning))
    assert made[0] == made[1]
    assert made[0] != made[2]
    assert len({str(params) for params, _, _ in made[0]}) == 3  # three places, not one three times


def test_a_study_taken_up_again_is_the_one_never_stopped(graph, tmp_path):
    whole = Tuning(task(), graph, tmp_path / "whole.db")
    list(whole.run(4))
    list(Tuning(task(), graph, tmp_path / "parts.db").run(2))
    parts = Tuning(task(), graph, tmp_path / "parts.db")
    assert parts.done == 2
    assert [one.number for one in parts.run(4)] == [3, 4]
    assert trials(parts) == trials(whole)
    assert list(parts.run(4)) == []
    assert parts.best() == whole.best()


def test_an_interrupted_trial_is_made_anew(graph, tmp_path, monkeypatch):
    whole = Tuning(task(), graph, tmp_path / "whole.db")
    list(whole.run(2))
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    runs = tuning.run(2)
    next(runs)
    with monkeypatch.context() as patch:
        patch.setattr(Case, "score", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(runs)
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    assert tuning.done == 1
    list(tuning.run(2))
    assert ended(tuning) == trials(whole)


def _interrupt(*_):
    raise KeyboardInterrupt


def test_a_trial_that_a_killed_process_left_is_no_trial(graph, tmp_path):
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    list(tuning.run(1))
    tuning.study.ask()  # and never told
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    assert tuning.done == 1
    assert {trial.state.name for trial in tuning.study.get_trials()} == {"COMPLETE", "FAIL"}


def test_the_best_is_the_mean_validation_accuracy_of_its_parameters(graph, tmp_path):
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    tried = list(tuning.run(3))
    value, parameters = tuning.best()
    assert value == max(one.mean for one in tried if one.ended == "complete")
    scores = []
    for seed in (FIRST_SEED, FIRST_SEED + 1):
        split = make_split(graph, "random", seed=seed, labels_per_class=2)
        model = NCGC(**parameters, random_state=seed).fit(graph, split)
        scores.append(model.score(nodes=split.val))
    assert value == pytest.approx(np.mean(scores), abs=1e-12)


def test_two_processes_make_the_study_of_one(graph, tmp_path):
    one, two = (Tuning(task(), graph, tmp_path / f"{jobs}.db") for jobs in (1, 2))
    list(one.run(2, jobs=1))
    list(two.run(2, jobs=2))
    assert trials(one) == trials(two)


def test_a_trial_below_the_median_is_given_up(graph, tmp_path, monkeypatch):
    # six trials of one score, then a worse one
    scores = iter([0.8] * 12 + [0.1, 0.1])
    monkeypatch.setattr(Case, "score", lambda *_: next(scores))
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    tried = list(tuning.run(7))
    assert [one.ended for one in tried] == ["complete"] * 6 + ["pruned"]
    assert tried[-1].scores == [0.1]
    assert tuning.best()[0] == 0.8


def test_what_cannot_be_trained_counts_but_is_never_best(graph, tmp_path, monkeypatch):
    def fail(*_):
        raise TrainingError("The loss was not finite.")

    monkeypatch.setattr(Case, "score", fail)
    tuning = Tuning(task(), graph, tmp_path / "a.db")
    assert [one.ended for one in tuning.run(2)] == ["failed", "failed"]
    assert tuning.done == 2
    assert tuning.best() is None


def test_importance_waits_for_ten_trials(graph, tmp_path, monkeypatch):
    scores = iter(np.linspace(0.5, 0.9, 40).tolist())
    monkeypatch.setattr(Case, "score", lambda *_: next(scores))
    tuning = Tuning(task(("beta", "dropout"), splits=1), graph, tmp_path / "a.db")
    list(tuning.run(9))
    assert tuning.importance() == {}
    list(tuning.run(12))
    assert sum(tuning.importance().values()) == pytest.approx(1)


# ---------------------------------------------------------------- no test label


@pytest.mark.parametrize("blind", [False, True])
def test_garbage_for_test_labels_gives_the_identical_study(graph, tmp_path, monkeypatch, blind):
    real = {seed: make_split(graph, "random", seed=seed, labels_per_class=2) for seed in (FIRST_SEED, FIRST_SEED + 1)}
    # splits are drawn by class, so they are kept while the labels of nodes that both test on are replaced
    monkeypatch.setattr(room, "make_split", lambda graph, kind, seed, labels_per_class: real[seed])
    shared = np.intersect1d(real[FIRST_SEED].test, real[FIRST_SEED + 1].test)
    assert len(shared) > 1000
    labels = graph.labels.copy()
    labels[shared] = (labels[shared] + 1 + np.arange(len(shared)) % 9) % 10
    studies = []
    for number, given in enumerate((graph, graph.with_labels(labels))):
        tuning = Tuning(task(blind=blind), given, tmp_path / f"{number}.db")
        list(tuning.run(3))
        studies.append(trials(tuning))
    assert studies[0] == studies[1]


@pytest.mark.parametrize("blind", [False, True])
def test_training_gets_no_test_node_and_no_test_label(graph, tmp_path, monkeypatch, blind):
    seen = []
    fit = NCGC.fit

    def spy(self, graph, split, **rest):
        seen.append((graph, split))
        return fit(self, graph, split, **rest)

    monkeypatch.setattr(NCGC, "fit", spy)
    list(Tuning(task(blind=blind), graph, tmp_path / "a.db").run(1))
    assert len(seen) == 2
    for number, (given, split) in enumerate(seen):
        real = make_split(graph, "random", seed=FIRST_SEED + number, labels_per_class=2)
        known = np.flatnonzero(given.labels >= 0)
        visible = real.train if blind else np.union1d(real.train, real.val)
        assert known.tolist() == visible.tolist()
        assert len(split.test) == 0
        assert len(split.val) == (0 if blind else len(real.val))


def test_no_table_uses_the_splits(graph, tmp_path):
    tuning = Tuning(task(splits=3), graph, tmp_path / "a.db")
    assert [case.seed for case in tuning.cases] == [1000, 1001, 1002]


def test_more_jobs_than_splits_are_as_many_as_splits(graph):
    split = make_split(graph, "random", seed=FIRST_SEED, labels_per_class=2)
    assert Scorer([Case.of(graph, split, FIRST_SEED)], 8).jobs == 1


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"splits": 3}, r"another study \(splits: 2, not 3\)"),
        ({"seed": 5}, r"seed: 0, not 5"),
        ({"blind": True}, r"blind: False, not True"),
        ({"base": {"epochs": 4}}, r"base epochs: 3, not 4"),
        ({"names": ("beta",)}, r"dropout"),
    ],
)
def test_another_study_in_the_file_is_refused(graph, tmp_path, change, words):
    list(Tuning(task(), graph, tmp_path / "a.db").run(1))
    with pytest.raises(ParameterError, match=words):
        Tuning(task(**change), graph, tmp_path / "a.db")


def test_a_study_without_a_trial_gives_way(graph, tmp_path):
    Tuning(task(), graph, tmp_path / "a.db")
    tuning = Tuning(task(splits=1), graph, tmp_path / "a.db")
    list(tuning.run(1))
    assert Tuning(task(splits=1), graph, tmp_path / "a.db").done == 1


def test_a_split_that_cannot_be_drawn_leaves_no_file(graph, tmp_path):
    with pytest.raises(SplitError, match="has 178 labelled nodes"):
        Tuning(task(labels_per_class=500), graph, tmp_path / "a.db")
    assert not (tmp_path / "a.db").exists()


def test_a_file_that_is_no_study_is_refused_and_kept(graph, tmp_path):
    (tmp_path / "a.db").write_text("my thesis")
    with pytest.raises(OutputError, match="another kind of file"):
        Tuning(task(), graph, tmp_path / "a.db")
    assert (tmp_path / "a.db").read_text() == "my thesis"
    (tmp_path / "b.db").write_bytes(b"SQLite format 3\0" + b"damage" * 1000)
    with pytest.raises(OutputError, match="cannot be opened"):
        Tuning(task(), graph, tmp_path / "b.db")


# ---------------------------------------------------------------- the space


@pytest.mark.parametrize("backbone", NCGC_PARAMETERS["backbone"].choices)
def test_every_default_place_is_allowed(backbone):
    space = space_for(backbone)
    assert set(DEFAULT) <= set(space)
    for name, place in space.items():
        ends = place.values if isinstance(place, Choice) else (place.low, place.high)
        for value in ends:
            NCGC_PARAMETERS[name].check(value)


def test_every_declared_range_is_of_a_parameter_and_allowed():
    for name, place in RANGES.items():
        for value in place.values if isinstance(place, Choice) else (place.low, place.high):
            NCGC_PARAMETERS[name].check(value)
        if isinstance(place, Range):
            assert place.low < place.high


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["bta"], "did you mean 'beta'"),
        (["heads"], "has no effect with the backbone 'gcn'"),
        (["epochs"], "no range to search"),
        (["random_state"], "no range to search"),
        (["backbone"], "no range to search"),
        ([], "nothing to search"),
    ],
)
def test_what_cannot_be_searched_gets_a_sentence(names, words):
    with pytest.raises(ParameterError, match=words):
        space_for("gcn", names)
