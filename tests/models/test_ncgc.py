"""NCGC: scikit-learn's manners, repeatability, no leakage, odd graphs, and every switch."""

import inspect
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
import torch_geometric.nn as pyg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ncgc import NCGC, Graph, Split, load_dataset, make_split
from ncgc.errors import GraphError, ParameterError, SplitError, TrainingError
from ncgc.nn import BACKBONES
from ncgc.nn.sogn import SOGN
from ncgc.params.ncgc import DEFAULTS, NCGC_PARAMETERS

# the paper's form of the pseudo-labels, so that nothing here depends on the defaults of the day
PAPER = {
    "relaxation": 1.0,
    "sinkhorn_iterations": 3,
    "pseudo_label_scores": "probabilities",
    "epsilon": 0.2,
    "beta": 0.003,
}
QUICK = {"dropout": 0.5, "hidden": 8, "epochs": 12, "warmup": 3, "ramp": 2} | PAPER
ALL = pytest.mark.parametrize("backbone", BACKBONES)


def dropping_gat(inputs, outputs):
    """A PyG layer with dropout of its own."""
    return pyg.GATConv(inputs, outputs, dropout=0.5)


def quick(backbone="gcn", **options):
    return NCGC(backbone, **(QUICK | options))


def bits(model):
    return model.network_.state_dict()


def same(first, second):
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def planted(make_planted):
    return make_planted()


@pytest.fixture(scope="module")
def fitted(planted):
    return quick(epochs=30).fit(*planted)


# ---------------------------------------------------------------- manners


def test_signature_is_the_table_of_parameters():
    signature = inspect.signature(NCGC).parameters
    assert list(signature) == list(NCGC_PARAMETERS)
    for name, parameter in signature.items():
        assert parameter.default == DEFAULTS[name] or parameter.default is DEFAULTS[name], name
    assert NCGC().get_params() == DEFAULTS


def test_every_default_is_allowed():
    for parameter in NCGC_PARAMETERS.values():
        parameter.check(parameter.default)


def test_get_and_set_params_and_clone():
    model = NCGC("gat", heads=2, prior=[0.2, 0.8])
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert copy.set_params(heads=4, beta=0.1).get_params() == model.get_params() | {"heads": 4, "beta": 0.1}
    assert not hasattr(clone(NCGC(backbone=dropping_gat)), "network_")


@pytest.mark.parametrize("options", [{}, {"prior": np.array([0.5, 0.3, 0.2])}, {"backbone": dropping_gat}])
def test_fit_changes_no_parameter_and_returns_itself(planted, options):
    model = quick(**options)
    before = dict(model.get_params())
    assert model.fit(*planted) is model
    after = model.get_params()
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
    assert clone(model).get_params().keys() == before.keys()


def test_fit_leaves_graph_and_split_alone(planted):
    graph, split = planted
    before = graph.adjacency.copy(), graph.features.copy(), graph.labels.copy(), split.train.copy()
    quick(features="row").fit(graph, split)
    after = graph.adjacency, graph.features, graph.labels, split.train
    np.testing.assert_array_equal(before[0].toarray(), after[0].toarray())
    for old, new in zip(before[1:], after[1:], strict=True):
        np.testing.assert_array_equal(old, new)


def test_fitted_attributes(planted, fitted):
    graph, split = planted
    assert fitted.n_features_in_ == 7
    assert 1 <= fitted.best_epoch_ <= 30
    assert len(fitted.history_) == 30
    assert fitted.termination_ == "all epochs done"
    assert fitted.predict().shape == fitted.transduction_.shape == fitted.clusters_.shape == (45,)
    np.testing.assert_array_equal(fitted.transduction_[split.train], graph.labels[split.train])
    others = np.setdiff1d(np.arange(45), split.train)
    np.testing.assert_array_equal(fitted.transduction_[others], fitted.predict()[others])
    np.testing.assert_allclose(fitted.prior_, 1 / 3)
    assert fitted.transform().shape == (45, 8)
    np.testing.assert_array_equal(fitted.predict(), fitted.predict_proba().argmax(axis=1))
    np.testing.assert_array_equal(quick(epochs=30).fit_predict(graph, split), fitted.transduction_)


def test_the_score_is_that_of_the_best_epoch(planted, fitted):
    graph, split = planted
    assert fitted.score(nodes=split.val) == fitted.history_.at(fitted.best_epoch_)["val_accuracy"]
    assert fitted.score(nodes=split.val) == fitted.history_["val_accuracy"].max()
    expected = np.mean(fitted.predict()[split.test] == graph.labels[split.test])
    assert fitted.score() == expected


def test_class_names_come_back(planted):
    graph, split = planted
    named = Graph.from_scipy(graph.adjacency, graph.features, graph.labels, classes=["ham", "spam", "eggs"])
    model = quick().fit(named, split)
    assert model.classes_.tolist() == ["ham", "spam", "eggs"]
    assert set(model.predict()) <= {"ham", "spam", "eggs"}
    assert (model.transduction_[split.train] == named.classes[graph.labels[split.train]]).all()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "score"])
def test_not_fitted(method):
    with pytest.raises(NotFittedError, match="This NCGC is not fitted yet; call fit"):
        getattr(NCGC(), method)()


def test_watch_is_called_every_epoch(planted):
    seen = []
    quick().fit(*planted, watch=lambda epoch, quantities: seen.append((epoch, quantities["total"])))
    assert [epoch for epoch, _ in seen] == list(range(1, 13))


def test_ctrl_c_gives_a_fitted_model(planted):
    def watch(epoch, _):
        if epoch == 5:
            raise KeyboardInterrupt

    model = quick().fit(*planted, watch=watch)
    assert model.termination_ == "interrupted"
    assert len(model.history_) == 5
    assert model.best_epoch_ <= 5
    assert np.isfinite(model.predict_proba()).all()


# ---------------------------------------------------------------- another graph


def test_predict_on_another_graph(planted, fitted):
    graph, _ = planted
    same_graph = Graph.from_scipy(graph.adjacency, graph.features)
    np.testing.assert_array_equal(fitted.predict_proba(same_graph), fitted.predict_proba())
    part = np.arange(0, 45, 2)
    other = Graph.from_scipy(graph.adjacency[part][:, part], graph.features[part], graph.labels[part])
    assert fitted.predict(other).shape == (23,)
    assert fitted.transform(other).shape == (23, 8)
    assert fitted.score(other) == np.mean(fitted.predict(other) == graph.labels[part])
    assert fitted.predict(Graph.from_edges([], np.ones((1, 7)))).shape == (1,)  # a single node


def test_row_features_are_scaled_on_another_graph_too(planted):
    graph, split = planted
    model = quick(features="row").fit(graph, split)
    larger = graph.with_features(graph.features * 64)  # a power of two: the rows divide to the same bits
    np.testing.assert_array_equal(model.predict_proba(larger), model.predict_proba())


def test_another_graph_may_list_the_classes_in_another_order(planted, fitted):
    graph, _ = planted
    turned = Graph.from_scipy(graph.adjacency, graph.features, 2 - graph.labels, classes=[2, 1, 0])
    assert fitted.score(turned) == fitted.score(graph)
    by_number = np.mean(fitted.predict_proba().argmax(axis=1) == turned.labels)
    assert by_number != fitted.score(graph)  # or comparing numbers would pass too


def test_a_class_the_model_does_not_know_is_named(planted, fitted):
    graph, _ = planted
    other = Graph.from_scipy(graph.adjacency, graph.features, graph.labels, classes=[0, 1, 7])
    with pytest.raises(GraphError, match="nodes of the class 7, which the model was not fitted with"):
        fitted.score(other)


def test_wrong_number_of_features(fitted):
    with pytest.raises(
        GraphError, match="The graph has 3 features but the model was fitted on 7; give the same columns"
    ):
        fitted.predict(Graph.from_edges([], np.ones((2, 3))))


@pytest.mark.parametrize("method", ["fit", "predict", "score"])
def test_something_that_is_no_graph(fitted, method):
    with pytest.raises(
        GraphError, match=r"must be an ncgc\.Graph\. Got ndarray instead; build one with Graph\.from_edges"
    ):
        getattr(fitted, method)(np.eye(7))


def test_score_needs_labelled_nodes(planted, fitted):
    graph, split = planted
    with pytest.raises(GraphError, match="score needs labelled nodes to compare with but got no node"):
        fitted.score(nodes=[])
    hidden = graph.with_labels(np.where(np.arange(45) == 44, -1, graph.labels))
    model = quick().fit(hidden, Split(split.train, split.val, []))
    with pytest.raises(GraphError, match="got no node; pass nodes=, or a split with test nodes"):
        model.score()
    with pytest.raises(GraphError, match="got node 44 without a label"):
        model.score(nodes=[30, 44])
    with pytest.raises(GraphError, match="got no node"):
        model.score(Graph.from_scipy(graph.adjacency, graph.features))


# ---------------------------------------------------------------- one seed, one result

SCRIPT = """
import sys, numpy as np
from ncgc import NCGC, Graph, Split
given = np.load(sys.argv[1])
graph = Graph.from_edges(given["pairs"], given["x"], given["y"])
model = NCGC(sys.argv[2], hidden=8, epochs=12, warmup=3, ramp=2)
model.fit(graph, Split(given["train"], given["val"], []))
np.save(sys.argv[3], model.predict_proba())
"""


@pytest.mark.parametrize("backbone", [*BACKBONES, dropping_gat])
def test_same_seed_same_bits_other_seed_other_bits(planted, backbone):
    options = {"input_dropout": 0.2, "attention_dropout": 0.2}
    first, second, other = (quick(backbone, random_state=seed, **options).fit(*planted) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.predict_proba(), second.predict_proba())
    assert same(bits(first), bits(second))
    assert not np.array_equal(first.predict_proba(), other.predict_proba())


def test_same_bits_in_another_process(planted, tmp_path):
    graph, split = planted
    pairs = np.argwhere(graph.adjacency.toarray())
    np.savez(tmp_path / "in.npz", pairs=pairs, x=graph.features, y=graph.labels, train=split.train, val=split.val)
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "in.npz"), "gat", str(tmp_path / "out.npy")]
    subprocess.run(command, check=True, env=environment, timeout=600)
    here = NCGC("gat", hidden=8, epochs=12, warmup=3, ramp=2).fit(graph, split)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), here.predict_proba())


def test_no_seed_means_a_new_one_each_time(planted):
    first, second = (quick(random_state=None).fit(*planted) for _ in range(2))
    assert first.seeds_ != second.seeds_
    assert not np.array_equal(first.predict_proba(), second.predict_proba())


@pytest.mark.parametrize("backbone", [*BACKBONES, dropping_gat])
def test_global_generators_are_untouched(planted, backbone):
    before, numbers = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002 - the global one is the point
    model = quick(backbone, input_dropout=0.2, attention_dropout=0.2).fit(*planted)
    model.predict(planted[0])
    assert torch.equal(torch.get_rng_state(), before)
    after = np.random.get_state()  # noqa: NPY002
    assert after[0] == numbers[0]
    assert after[2:] == numbers[2:]
    np.testing.assert_array_equal(after[1], numbers[1])


# ---------------------------------------------------------------- no leakage


@pytest.fixture
def last_weights(monkeypatch):
    """Fit and give the history of losses and the weights after the last epoch, before the best ones are put back."""
    networks = []

    def recording(*arguments, **options):
        networks.append(SOGN(*arguments, **options))
        return networks[-1]

    monkeypatch.setattr("ncgc.models.ncgc_components.SOGN", recording)

    def run(model, graph, split):
        last = {}

        def watch(epoch, _):
            if epoch == model.epochs:
                last.update({name: value.clone() for name, value in networks[-1].state_dict().items()})

        model.fit(graph, split, watch=watch)
        assert len(model.history_) == model.epochs
        assert last
        return last, {part: model.history_[part] for part in ("class", "kl", "pl", "total", "marginal_error")}, model

    return run


def relabelled(graph, nodes):
    """The same graph with every label of these nodes replaced by another."""
    labels = graph.labels.copy()
    labels[nodes] = (labels[nodes] + 1) % graph.num_classes
    return graph.with_labels(labels)


@ALL
@pytest.mark.parametrize("prior", ["uniform", "estimated"])
def test_validation_and_test_labels_never_reach_training(planted, last_weights, backbone, prior):
    graph, split = planted
    model = quick(backbone, prior=prior, patience=10_000, norm="batch")
    weights, losses, fit = last_weights(model, graph, split)
    for nodes in (split.val, split.test, np.r_[split.val, split.test]):
        other_weights, other_losses, other = last_weights(clone(model), relabelled(graph, nodes), split)
        assert same(weights, other_weights)
        np.testing.assert_equal(losses, other_losses)
        np.testing.assert_array_equal(fit.prior_, other.prior_)


def test_without_validation_nodes_no_other_label_matters_at_all(make_planted):
    graph, split = make_planted(validation=False)
    rest = np.setdiff1d(np.arange(45), split.train)
    model, other = (
        quick(prior="estimated").fit(graph, split),
        quick(prior="estimated").fit(relabelled(graph, rest), split),
    )
    np.testing.assert_array_equal(model.predict_proba(), other.predict_proba())
    assert model.best_epoch_ == other.best_epoch_
    unknown = np.where(np.isin(np.arange(45), split.train), graph.labels, -1)
    alone = quick(prior="estimated").fit(Graph.from_scipy(graph.adjacency, graph.features, unknown))
    np.testing.assert_array_equal(model.predict_proba(), alone.predict_proba())


def test_the_leakage_test_can_fail(planted, last_weights):
    """One training label is enough to be seen."""
    graph, split = planted
    model = quick(patience=10_000)
    weights, losses, _ = last_weights(model, graph, split)
    other_weights, other_losses, _ = last_weights(clone(model), relabelled(graph, split.train[:1]), split)
    assert not same(weights, other_weights)
    assert not np.array_equal(losses["class"], other_losses["class"])


def test_validation_labels_do_choose_the_epoch(planted):
    graph, split = planted
    model, other = quick(epochs=30).fit(graph, split), quick(epochs=30).fit(relabelled(graph, split.val), split)
    assert model.best_epoch_ != other.best_epoch_


# ---------------------------------------------------------------- splits and odd graphs


def test_no_split_trains_on_every_label(planted):
    graph, split = planted
    labels = np.where(np.isin(np.arange(45), split.train), graph.labels, -1)
    given = graph.with_labels(labels)
    model = quick().fit(given)
    np.testing.assert_array_equal(model.split_.train, split.train)
    np.testing.assert_array_equal(model.predict_proba(), quick().fit(graph, Split(split.train, [], [])).predict_proba())


def test_without_validation_nodes_it_stops_by_itself_and_keeps_the_last(make_planted):
    graph, split = make_planted(validation=False)
    calm = {"dropout": 0.5, "input_dropout": 0.0, "learning_rate": 0.01}
    model = quick(epochs=400, patience=20, **calm).fit(graph, split)
    assert model.termination_ == "predictions are stable"
    assert model.best_epoch_ == len(model.history_) < 400
    assert "val_accuracy" not in model.history_.columns
    assert model.score() > 0.6


def test_validation_patience_stops(planted):
    model = quick(epochs=400, patience=5).fit(*planted)
    assert model.termination_ == "no gain in validation accuracy"
    assert len(model.history_) == max(model.best_epoch_, 5) + 5


@pytest.mark.parametrize("validation", [True, False])
def test_patience_waits_for_the_clustering_losses(make_planted, validation):
    data = make_planted(validation=validation)
    options = {"epochs": 200, "patience": 1, "warmup": 50, "ramp": 7}
    assert len(quick(**options).fit(*data).history_) >= 58
    assert len(quick(kl=False, pl=False, **options).fit(*data).history_) < 57  # nothing to wait for


@ALL
def test_a_class_without_a_training_label(planted, backbone):
    graph, split = planted
    train = split.train[graph.labels[split.train] != 2]
    model = quick(backbone).fit(graph, Split(train, split.val, split.test))
    probabilities = model.predict_proba()
    assert probabilities.shape == (45, 3)
    assert np.isfinite(probabilities).all()


@ALL
def test_one_label_a_class(planted, backbone):
    graph, _ = planted
    model = quick(backbone).fit(graph, Split([0, 1, 2], [], np.arange(3, 45)))
    assert np.isfinite(model.predict_proba()).all()
    assert model.transduction_[:3].tolist() == [0, 1, 2]


def test_every_node_labelled_leaves_no_pseudo_labels(planted):
    graph, _ = planted
    model = quick().fit(graph)
    assert "pl" not in model.history_.columns
    assert "kl" in model.history_.columns


def test_one_node_or_one_class_is_refused_in_a_sentence():
    with pytest.raises(SplitError, match="All 1 training nodes are of the class 0; label a node of another class too"):
        quick().fit(Graph.from_edges([], np.eye(1), [0]))
    with pytest.raises(SplitError, match="no training node"):
        quick().fit(Graph.from_edges([], np.eye(2), classes=["a", "b"]))


@ALL
@pytest.mark.parametrize("norm", [None, "layer", "batch"])
@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([], np.eye(2), [0, 1]),
        Graph.from_edges([[0, 1], [1, 2]], np.zeros((5, 3)), [0, 1, -1, -1, -1]),
        Graph.from_edges([[0, 1]], np.zeros((3, 0)), [0, 1, -1]),
        Graph.from_edges([[0, 1], [2, 3]], np.ones((4, 2)), [0, 1, -1, -1], weights=[1e-6, 1e6]),
    ],
    ids=["two isolated nodes", "zero features", "no features", "extreme weights"],
)
def test_odd_graphs(backbone, norm, graph):
    model = quick(backbone, epochs=6, norm=norm, residual=True, input_dropout=0.3).fit(graph)
    assert np.isfinite(model.predict_proba()).all()
    assert np.isfinite(model.history_["total"]).all()


@ALL
def test_self_loops_and_repeated_edges_do_not_matter(planted, backbone):
    graph, split = planted
    pairs = np.argwhere(np.triu(graph.adjacency.toarray()))
    noisy = np.concatenate([pairs[::-1], pairs[:, ::-1], pairs[:7], np.stack([np.arange(45)] * 2, axis=1)])
    given = Graph.from_edges(noisy, graph.features, graph.labels)
    np.testing.assert_array_equal(
        quick(backbone).fit(given, split).predict_proba(), quick(backbone).fit(graph, split).predict_proba()
    )


@st.composite
def small_graphs(draw):
    """2 to 10 nodes; self-loops, repeated edges, isolated nodes, zero rows; two nodes of different classes first."""
    nodes = draw(st.integers(2, 10))
    pairs = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)), max_size=25))
    width = draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 0.0, 1.0, -2.5, 1e-3, 30.0])
    features = draw(st.lists(st.lists(value, min_size=width, max_size=width), min_size=nodes, max_size=nodes))
    labels = [0, 1, *draw(st.lists(st.integers(-1, 2), min_size=nodes - 2, max_size=nodes - 2))]
    weights = draw(st.none() | st.just(np.linspace(0.1, 4.0, len(pairs))))
    return Graph.from_edges(pairs, features, labels, weights=weights)


def test_clusters_are_those_of_the_embeddings(planted):
    graph, split = planted
    model = NCGC(hidden=8, epochs=60, warmup=5, ramp=5).fit(graph, split)
    assert model.centroids_ is not None
    sizes = np.bincount(model.clusters_, minlength=graph.num_classes)
    assert sizes.min() > 0
    assert sizes.max() < 0.6 * graph.num_nodes  # three planted groups of equal size
    embeddings = model.transform()
    distances = np.linalg.norm(embeddings[:, None] - model.centroids_.numpy(), axis=2)
    np.testing.assert_array_equal(model.clusters_, distances.argmin(axis=1))
    np.testing.assert_array_equal(model.predict_clusters(graph), model.clusters_)


def check_small(graph, **options):
    model = NCGC(hidden=4, epochs=4, warmup=1, ramp=1, **options).fit(graph)
    probabilities = model.predict_proba()
    assert probabilities.shape == (graph.num_nodes, graph.num_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    known = graph.labels >= 0
    np.testing.assert_array_equal(model.transduction_[known], graph.labels[known])
    np.testing.assert_array_equal(model.predict_proba(graph), probabilities)
    assert all(torch.isfinite(value).all() for value in bits(model).values())
    assert (model.clusters_ < graph.num_classes).all()


SMALL = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@SMALL
@given(
    graph=small_graphs(), prior=st.sampled_from(["uniform", "estimated"]), relaxation=st.sampled_from([0.0, 0.3, 1.0])
)
def test_any_small_graph(graph, prior, relaxation):
    check_small(graph, prior=prior, relaxation=relaxation)


@SMALL
@given(graph=small_graphs(), backbone=st.sampled_from(BACKBONES), norm=st.sampled_from([None, "layer", "batch"]))
def test_any_small_graph_with_any_backbone(graph, backbone, norm):
    check_small(graph, backbone=backbone, norm=norm, heads=2, attention_dropout=0.5)


# ---------------------------------------------------------------- switches and choices


def columns(model):
    return set(model.history_.columns) & {"class", "kl", "pl", "marginal_error"}


@pytest.fixture(scope="module")
def full(planted):
    return quick().fit(*planted)


def test_all_parts_are_on_by_default(full):
    assert columns(full) == {"class", "kl", "pl", "marginal_error"}
    assert full.centroids_ is not None or full.best_epoch_ <= 3


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ("soft_orthogonality", {"class", "kl", "pl", "marginal_error"}),
        ("kl", {"class", "pl", "marginal_error"}),
        ("pl", {"class", "kl"}),
        ("sinkhorn", {"class", "kl", "pl", "marginal_error"}),
    ],
)
def test_each_switch_takes_out_its_part(planted, full, switch, expected):
    model = quick(**{switch: False}).fit(*planted)
    assert columns(model) == expected
    assert not np.array_equal(model.history_["total"], full.history_["total"])


def test_soft_orthogonality_off_is_beta_zero(planted):
    off, zero = quick(soft_orthogonality=False, beta=0.5).fit(*planted), quick(beta=0.0).fit(*planted)
    assert same(bits(off), bits(zero))
    assert not same(bits(zero), bits(quick(beta=0.5).fit(*planted)))


@pytest.mark.parametrize(("switch", "weight"), [("kl", "kl_weight"), ("pl", "pl_weight")])
def test_a_switch_off_is_a_weight_of_zero(planted, switch, weight):
    assert same(bits(quick(**{switch: False}).fit(*planted)), bits(quick(**{weight: 0.0}).fit(*planted)))


def test_without_both_clustering_losses_the_schedule_does_not_matter(planted):
    plain = {"kl": False, "pl": False}
    first, second = quick(**plain).fit(*planted), quick(**plain, warmup=0, ramp=0, epsilon=9.0).fit(*planted)
    assert columns(first) == {"class"}
    assert same(bits(first), bits(second))


def test_sinkhorn_balances(planted):
    """The marginal error of exact Sinkhorn is far below that of the raw predictions."""
    options = {"sinkhorn_iterations": 50, "epochs": 8}
    on, off = quick(**options).fit(*planted), quick(sinkhorn=False, **options).fit(*planted)
    assert np.nanmax(on.history_["marginal_error"]) < 0.01 * np.nanmin(off.history_["marginal_error"])


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("relaxation", [0.0, 0.5, 1.0]),
        ("pseudo_label_source", ["clean", "training"]),
        ("pseudo_label_scores", ["probabilities", "log_probabilities", "logits"]),
        ("prior", ["uniform", "estimated", [0.6, 0.3, 0.1]]),
        ("centroids", ["kmeans", "random"]),
        ("decay_on", ["all", "first"]),
        ("features", ["raw", "row"]),
        ("norm", [None, "layer", "batch"]),
        ("residual", [False, True]),
        ("input_dropout", [0.0, 0.4]),
        ("label_loss_weight", [1.0, 0.5]),
        ("weight_decay", [0.0, 0.1]),
        ("epsilon", [0.001, 0.2]),
        ("sinkhorn_iterations", [0, 5]),
    ],
)
def test_every_choice_works_and_makes_a_difference(planted, name, values):
    seen = []
    for value in values:
        model = quick(**{name: value}).fit(*planted)
        assert np.isfinite(model.history_["total"]).all()
        assert np.isfinite(model.predict_proba()).all()
        seen.append(model.history_["total"])
    for i, first in enumerate(seen):
        assert not any(np.array_equal(first, second) for second in seen[i + 1 :])


@pytest.mark.parametrize(("name", "values"), [("prior_shrinkage", [0.0, 1.0]), ("prior_momentum", [0.0, 0.9])])
def test_the_estimated_prior_has_two_settings(planted, name, values):
    first, second = (quick(prior="estimated", **{name: value}).fit(*planted).prior_ for value in values)
    assert not np.allclose(first, second)
    np.testing.assert_allclose([first.sum(), second.sum()], 1, rtol=1e-6)
    if name == "prior_shrinkage":
        np.testing.assert_allclose(second, 1 / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("backbone", "name", "values"),
    [
        ("gat", "heads", [1, 4]),
        ("gat", "attention_dropout", [0.0, 0.5]),
        ("gcnii", "alpha", [0.1, 0.7]),
        ("gcnii", "theta", [0.5, 1.5]),
        ("appnp", "alpha", [0.1, 0.7]),
        ("appnp", "steps", [0, 3]),
    ],
)
def test_settings_of_one_backbone(planted, backbone, name, values):
    first, second = (quick(backbone, **{name: value}).fit(*planted).history_["total"] for value in values)
    assert not np.array_equal(first, second)


def test_prior_shares_are_scaled_to_one(planted):
    np.testing.assert_allclose(quick(prior=np.array([2, 1, 1])).fit(*planted).prior_, [0.5, 0.25, 0.25])


# ---------------------------------------------------------------- bad values

BAD = {
    float: ["0.5", None, float("nan"), float("inf"), True, [0.1]],
    int: [1.5, "2", float("nan"), True, [1]],
    bool: [0, 1, "yes", None],
    str: ["nonsense", 3, 2.5, ["gcn"]],
}


def bad_values():
    for parameter in NCGC_PARAMETERS.values():
        values = list(BAD[parameter.kind])
        if parameter.kind in (int, float) and np.isfinite(parameter.low):
            values.append(parameter.low if parameter.open_low else parameter.low - 1)
        if parameter.kind in (int, float) and np.isfinite(parameter.high):
            values.append(parameter.high if parameter.open_high else parameter.high + 1)
        if not parameter.optional and parameter.kind is not float and parameter.kind is not bool:
            values.append(None)
        for value in values:
            yield parameter.name, value
    for value in ([], ["a", "b", "c"], [[0.5, 0.5]], [0.5, -0.1, 0.6], [0.0, 0.0, 0.0], [0.5, np.nan, 0.5], len):
        yield "prior", value


@pytest.mark.parametrize(("name", "value"), bad_values())
def test_bad_values_give_the_one_message(planted, name, value):
    with pytest.raises(ParameterError) as caught:
        NCGC(**{name: value}).fit(*planted)
    text = str(caught.value)
    assert text.startswith(
        f"The '{name}' parameter of NCGC must be {NCGC_PARAMETERS[name].expected}. Got {value!r} instead"
    )


def test_values_that_only_the_data_can_refuse(planted):
    with pytest.raises(
        ParameterError, match=r"The 'heads' parameter .* must divide the hidden width 8\. Got 3 instead"
    ):
        quick("gat", heads=3).fit(*planted)
    with pytest.raises(ParameterError, match=r"The 'prior' parameter .* 3 non-negative shares.* Got the shape \(2,\)"):
        quick(prior=[0.5, 0.5]).fit(*planted)
    with pytest.raises(TrainingError, match="nothing to train on"):
        quick(label_loss_weight=0.0).fit(*planted)


def test_a_failed_fit_leaves_the_parameters(planted):
    model = NCGC(beta=-1)
    with pytest.raises(ParameterError):
        model.fit(*planted)
    assert model.beta == -1
    assert not hasattr(model, "network_")


@pytest.mark.parametrize("value", [np.float32(0.25), np.float64(0.25), np.int64(0), 0])
def test_numpy_numbers_and_whole_floats_are_numbers(planted, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = quick(dropout=value, random_state=np.int64(3), epochs=np.int32(2)).fit(*planted)
    assert len(model.history_) == 2


# ---------------------------------------------------------------- divergence


@pytest.mark.parametrize("training", [True, False], ids=["in the step", "in the look after it"])
def test_divergence_warns_and_keeps_finite_weights(planted, monkeypatch, training):
    forward, calls = SOGN.forward, []

    def overflows(self, *args, **kwargs):
        output = forward(self, *args, **kwargs)
        calls.append(self.training)
        overflown = self.training == training and calls.count(training) == 5  # in epoch 5
        return output._replace(logits=output.logits * float("inf")) if overflown else output

    monkeypatch.setattr(SOGN, "forward", overflows)
    with pytest.warns(
        RuntimeWarning, match=r"The loss was not finite in epoch 5; the weights of epoch [1-4] are kept\. Lower the"
    ):
        model = NCGC(hidden=8, kl=False, pl=False, epochs=60).fit(*planted)
    assert model.termination_.startswith("the loss was not finite in epoch")
    assert 1 <= model.best_epoch_ <= len(model.history_) == 4
    assert np.isfinite(model.predict_proba()).all()
    assert all(torch.isfinite(value).all() for value in bits(model).values())


@pytest.mark.parametrize("warmup", [0, 3])
@pytest.mark.parametrize("cause", ["rate", "features"])
def test_divergence_at_once_is_an_error(planted, warmup, cause):
    graph, split = planted
    if cause == "features":
        graph = graph.with_features(graph.features * np.float32(1e37))
    model = quick(warmup=warmup, features="raw", learning_rate=1e30 if cause == "rate" else 0.01)
    with pytest.raises(TrainingError, match="not finite in the very first epoch"):
        model.fit(graph, split)


@pytest.mark.parametrize("factor", [1e37, 1e-30])
def test_rows_of_unit_length_do_not_see_the_scale(planted, factor):
    graph, split = planted
    plain = quick().fit(graph, split).predict_proba()
    scaled = quick().fit(graph.with_features(graph.features * np.float32(factor)), split).predict_proba()
    np.testing.assert_allclose(scaled, plain, atol=1e-3)


def test_no_warning_in_a_normal_fit(planted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick().fit(*planted)


# ---------------------------------------------------------------- it learns


def test_it_learns_the_planted_blocks(make_planted):
    """Well above the third that guessing gives, from three labels a class."""
    for form in ("dense", "sparse"):
        graph, split = make_planted(form)
        model = NCGC(hidden=16, epochs=80, warmup=20, ramp=10).fit(graph, split)
        assert model.score() > 0.6, form


def test_it_learns_cora(benchmark_data):
    graph = load_dataset("cora", root=benchmark_data)
    split = make_split(graph, "random", seed=0)
    assert np.bincount(graph.labels[split.train]).tolist() == [20] * 7
    model = NCGC(soft_orthogonality=False, kl=False, pl=False, epochs=60).fit(graph, split)
    assert model.score() > 0.75
