"""One contract for every backbone of NCGC and every method: fit, predict, predict_proba, score, save, and one result a seed."""

import contextlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import ncgc
from ncgc import NCGC, Graph, Split, load_dataset
from ncgc.datasets import few_split
from ncgc.errors import GraphError, ModelFileError, ParameterError
from ncgc.models.base import FAMILIES
from ncgc.models.registry import BASELINES, CLASSIFIERS, find_classifier, settings_for
from ncgc.nn import BACKBONES
from ncgc.training import Checkpointing

SETTINGS = {"hidden": 8, "epochs": 15, "warmup": 4, "ramp": 3}
ESTIMATORS = {f"NCGC {name}": NCGC(name, **SETTINGS) for name in BACKBONES}
SMALL = {"hidden": 8, "epochs": 8, "num_layers": 2, "final_epochs": 8, "stage_epochs": 8, "stages": 2, "clusters": 6}
ESTIMATORS |= {
    name: method(**{word: value for word, value in SMALL.items() if word in method.PARAMETERS})
    for name, method in BASELINES.items()
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=["sparse", "dense"])
def form(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["validation", "no validation"])
def data(request, make_planted, form):
    return make_planted(form, validation=request.param)


def test_fit_then_use(estimator, data):
    graph, split = data
    assert estimator.fit(graph, split) is estimator
    probabilities = estimator.predict_proba()
    assert probabilities.shape == (45, 3)
    assert np.isfinite(probabilities).all()
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert estimator.classes_.tolist() == graph.classes.tolist()
    np.testing.assert_array_equal(estimator.predict(), graph.classes[probabilities.argmax(axis=1)])
    assert 0 <= estimator.score() <= 1
    assert estimator.score() == np.mean(estimator.predict()[split.test] == graph.labels[split.test])
    assert estimator.score(nodes=split.train) == np.mean(estimator.predict()[split.train] == graph.labels[split.train])


def test_given_labels_stay(estimator, data):
    graph, split = data
    labels = estimator.fit_predict(graph, split)
    np.testing.assert_array_equal(labels, estimator.transduction_)
    np.testing.assert_array_equal(labels[split.train], graph.labels[split.train])
    others = np.setdiff1d(np.arange(45), split.train)
    np.testing.assert_array_equal(labels[others], estimator.predict()[others])


def test_one_seed_one_result_and_refitting_begins_anew(estimator, data):
    first = estimator.fit(*data).predict_proba().copy()
    np.testing.assert_array_equal(clone(estimator).fit(*data).predict_proba(), first)
    np.testing.assert_array_equal(estimator.fit(*data).predict_proba(), first)
    other = clone(estimator).set_params(random_state=99).fit(*data).predict_proba()
    assert np.array_equal(other, first) == estimator.deterministic


def test_parameters_are_stored_and_kept(estimator, data):
    before = estimator.get_params()
    estimator.fit(*data)
    assert estimator.get_params() == before
    assert clone(estimator).get_params() == before


def test_labels_outside_the_training_nodes_do_not_matter(estimator, make_planted, form):
    graph, split = make_planted(form, validation=False)
    expected = estimator.fit(graph, split).predict_proba()
    changed = graph.labels.copy()
    changed[9:] = (changed[9:] + 1) % 3
    other, _ = make_planted(form, validation=False, labels=changed)
    np.testing.assert_array_equal(clone(estimator).fit(other, split).predict_proba(), expected)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_better_than_guessing(backbone, make_planted):
    # seven features and eight hidden columns bear no heavy dropout
    settings = SETTINGS | {"epochs": 60, "learning_rate": 0.05, "dropout": 0.3, "input_dropout": 0.0}
    assert NCGC(backbone, **settings).fit(*make_planted("dense")).score() > 0.5


SHORT = {
    "hidden": 16, "epochs": 40, "learning_rate": 0.05, "dropout": 0.2, "input_dropout": 0.0, "num_layers": 2, "features": "unit",
    "weight_decay": 1e-4, "stages": 2, "clusters": 30,
}  # fmt: skip


@pytest.mark.parametrize("validation", [0, 5])
@pytest.mark.parametrize("name", BASELINES)
def test_every_method_reads_digits(name, form, validation):
    graph = load_dataset("digits")
    if form == "sparse":
        graph = Graph(graph.adjacency, sparse.csr_array(graph.features), graph.labels, graph.classes)
    method = BASELINES[name]
    model = method(**{word: value for word, value in SHORT.items() if word in method.PARAMETERS})
    model.fit(graph, few_split(graph, 5, seed=0, val_per_class=validation))
    assert model.score() > 0.75  # of ten classes
    assert isinstance(model.calibrate(2).calibration_.temperature, float)
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1)


def test_a_saved_model_predicts_the_same_and_so_it_does_of_its_own_graph(estimator, data, tmp_path):
    graph, split = data
    estimator.fit(graph, split).calibrate(2)
    if not estimator.inductive:
        with pytest.raises(GraphError, match="of the graph that it is fitted on and no others"):
            estimator.predict(graph)
        with pytest.raises(ModelFileError, match="there is no model to keep"):
            estimator.save(tmp_path / "m")
        assert not (tmp_path / "m").exists()
        return
    estimator.save(tmp_path / "m")
    loaded = type(estimator).load(tmp_path / "m")
    assert loaded.get_params() == estimator.get_params()
    for other in (None, graph):
        np.testing.assert_array_equal(loaded.predict_proba(other), estimator.predict_proba(other))
        np.testing.assert_array_equal(loaded.predict(other), estimator.predict(other))
        assert loaded.score(other, split.test) == estimator.score(other, split.test)
    np.testing.assert_array_equal(estimator.decision_function(graph), estimator.decision_function())
    np.testing.assert_array_equal(loaded.transduction_, estimator.transduction_)
    assert (loaded.best_epoch_, loaded.termination_) == (estimator.best_epoch_, estimator.termination_)
    assert len(loaded.history_) == len(estimator.history_)
    assert loaded.calibration_.temperature == estimator.calibration_.temperature


def test_another_graph_is_labelled_by_its_own_edges_and_features(estimator, make_planted):
    graph, split = make_planted("dense")
    estimator.fit(graph, split)
    if not estimator.inductive:
        return
    part = np.arange(45)[::-1][:30]
    other = Graph.from_scipy(graph.adjacency[part][:, part], graph.features[part], graph.labels[part])
    found = estimator.predict_proba(other)
    assert found.shape == (30, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    assert estimator.score(other) == np.mean(estimator.predict(other) == graph.labels[part])
    wider = Graph.from_scipy(other.adjacency, np.hstack([other.features, other.features]))
    with pytest.raises(GraphError, match="features but the model was fitted on"):
        estimator.predict(wider)
    with pytest.raises(GraphError, match=r"must be an ncgc\.Graph"):
        estimator.predict("graph")


def test_no_split_and_no_fit(estimator, make_planted):
    graph, _ = make_planted()
    with pytest.raises(NotFittedError, match="is not fitted yet; call fit"):
        estimator.predict_proba()
    labels = np.full(45, -1)
    labels[:6] = graph.labels[:6]
    given = graph.with_labels(labels)
    explicit = clone(estimator).fit(given, Split(np.arange(6), [], []))
    np.testing.assert_array_equal(estimator.fit(given).predict_proba(), explicit.predict_proba())


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_it_describes_itself_and_is_found_by_its_name(name):
    kind = find_classifier(name)
    assert kind.family in FAMILIES
    assert all(getattr(kind, word) for word in ("title", "paper", "cost"))
    assert list(kind.PARAMETERS)[-1] == "random_state"
    assert getattr(ncgc, kind.__name__) is kind
    model = kind()
    assert model.max_epochs >= 1
    assert model.title in model.display_name
    assert "random_state" not in kind.effective_parameters({})
    assert kind(**settings_for(name)).check() is None


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_what_it_cannot_do_is_a_sentence(name, make_planted, tmp_path):
    model = find_classifier(name)()
    if not model.resumable:
        with pytest.raises(ParameterError, match="trains in one process, without checkpoints"):
            model.fit(*make_planted(), checkpoint=Checkpointing(tmp_path))


def test_a_fit_that_fails_leaves_the_earlier_one_as_it_was(estimator, make_planted):
    graph, split = make_planted()
    before = estimator.fit(graph, split).predict_proba()
    other = estimator.predict_proba(graph) if estimator.inductive else None

    def fail(epoch, quantities):
        raise ZeroDivisionError

    with contextlib.suppress(ZeroDivisionError):
        estimator.set_params(random_state=7).fit(graph, split, watch=fail)
        return  # nothing is trained, or nobody watches
    np.testing.assert_array_equal(estimator.predict_proba(), before)
    if other is not None:
        np.testing.assert_array_equal(estimator.predict_proba(graph), other)


def test_what_is_handed_out_may_be_written_to(estimator, make_planted):
    estimator.fit(*make_planted())
    expected = estimator.predict_proba()
    for handed in (estimator.decision_function(), estimator.predict_proba(), estimator.predict()):
        handed[:] = handed[0]
    np.testing.assert_array_equal(estimator.predict_proba(), expected)


def test_a_subclass_may_have_its_own_constructor(make_planted):
    class Mine(NCGC):
        def __init__(self, note="mine"):
            super().__init__(hidden=8, epochs=4, warmup=1, ramp=1)
            self.note = note

    assert (Mine().epochs, Mine("yours").note) == (4, "yours")
    assert Mine().fit(*make_planted()).predict().shape == (45,)


def test_a_folder_is_no_checkpointing(make_planted, tmp_path):
    with pytest.raises(ParameterError, match=r"must be a Checkpointing\(folder, every, resume\)"):
        NCGC().fit(*make_planted(), checkpoint=str(tmp_path))


def test_deep_gcnii_comes_back_from_its_file(make_planted, tmp_path):
    model = ncgc.GCNII(epochs=2).fit(*make_planted())
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(ncgc.load_model(tmp_path / "m").predict_proba(), model.predict_proba())
