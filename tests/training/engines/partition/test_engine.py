"""Training by parts: the gradient of full batch, exact in the limit, global where it must be, and a fit like any other."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv

from ncgc import NCGC, load_dataset
from ncgc.datasets import few_split
from ncgc.errors import ParameterError
from ncgc.graph.features import FeatureNormalizer
from ncgc.models.ncgc_components import make_learner, make_network, make_objective
from ncgc.nn import GraphOperators
from ncgc.ops import RowGenerator
from ncgc.training import Checkpointing
from ncgc.training.engines.full_batch import ncgc_full_batch
from ncgc.training.engines.partition import engine, historical_embeddings, partition
from ncgc.training.engines.partition import label_blocks as labelled
from ncgc.training.engines.partition.engine import LocalLayout, Partition
from ncgc.training.engines.partition.part_operators import PartSource
from ncgc.training.engines.partition.running_totals import KnownSum

SHORT = {"epochs": 16, "warmup": 3, "ramp": 3, "hidden": 8, "random_state": 5}
BY_PARTS = SHORT | {"batch": "partitions", "parts": 3, "halo": 2}


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_with_a_whole_halo_and_no_global_term_it_is_full_batch(make_planted, backbone):
    """β = 0 and no KL: only edges and Sinkhorn tie the parts together, and both are exact."""
    planted = make_planted()
    plain = {"backbone": backbone, "dropout": 0.0, "beta": 0.0, "kl": False, "prior": "estimated"}
    model = NCGC(**(BY_PARTS | plain)).fit(*planted)
    reference = NCGC(**(SHORT | plain)).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], abs=1e-4)
    assert model.decision_function() == pytest.approx(reference.decision_function(), abs=1e-3)


def test_running_totals_stay_near_full_batch(make_planted):
    planted = make_planted()
    model = NCGC(**(BY_PARTS | {"dropout": 0.0, "learning_rate": 0.005})).fit(*planted)
    reference = NCGC(**(SHORT | {"dropout": 0.0, "learning_rate": 0.005})).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], rel=0.03)
    assert set(model.history_.columns) == set(reference.history_.columns)


def test_one_part_with_dropout_is_a_fit_like_any_other(make_planted):
    graph, split = make_planted()
    model = NCGC(**(BY_PARTS | {"steps_per_epoch": 2, "averaging": 0.5, "halo": 1})).fit(graph, split)
    again = NCGC(**(BY_PARTS | {"steps_per_epoch": 2, "averaging": 0.5, "halo": 1})).fit(graph, split)
    assert np.array_equal(model.predict_proba(), again.predict_proba())
    assert model.predict(graph).tolist() == model.predict().tolist()
    assert model.transform().shape == (45, 8)
    assert model.score() > 0.5


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gcnii", "appnp"])
def test_what_is_predicted_is_exact_without_a_halo_too(make_planted, backbone):
    graph, split = make_planted()
    model = NCGC(**(BY_PARTS | {"backbone": backbone, "halo": 0})).fit(graph, split)
    with torch.no_grad():
        expected = model.network_.eval()(GraphOperators(model.normalizer_.apply(graph)))
    assert model.decision_function() == pytest.approx(expected.logits.numpy(), abs=1e-4)
    assert model.decision_function().std(axis=0).max() > 1e-2  # nodes differ, by more than the comparison allows


@pytest.mark.parametrize("room", [0, 5_000])
def test_parts_that_find_no_room_are_cut_again_to_the_same_result(make_planted, room, monkeypatch):
    graph, split = make_planted()
    kept = NCGC(**BY_PARTS).fit(graph, split)
    monkeypatch.setattr(engine, "CACHED", room)
    again = NCGC(**BY_PARTS).fit(graph, split)
    assert np.array_equal(kept.decision_function(), again.decision_function())


def test_buffers_in_files_give_the_same(make_planted, monkeypatch):
    graph, split = make_planted()
    kept = NCGC(**BY_PARTS).fit(graph, split)
    monkeypatch.setattr(historical_embeddings, "IN_FILE", 1)
    assert isinstance(historical_embeddings.buffer(2, 3), np.memmap)
    again = NCGC(**BY_PARTS).fit(graph, split)
    assert np.array_equal(kept.decision_function(), again.decision_function())


def test_features_may_stay_on_disk(make_planted, tmp_path):
    graph, split = make_planted()
    np.save(tmp_path / "x.npy", graph.features)
    mapped = graph.with_features(np.load(tmp_path / "x.npy", mmap_mode="r"))
    found = mapped.features
    while not isinstance(found, np.memmap):
        assert found.base is not None  # a view of the file, not a copy
        found = found.base
    assert np.array_equal(
        NCGC(**BY_PARTS).fit(mapped, split).decision_function(), NCGC(**BY_PARTS).fit(graph, split).decision_function()
    )


def test_resumed_is_unbroken_to_the_bit(make_planted, tmp_path):
    graph, split = make_planted()
    unbroken = NCGC(**BY_PARTS).fit(graph, split)

    def fail(epoch, _):
        if epoch == 10:
            raise RuntimeError("the power failed")

    with pytest.raises(RuntimeError, match="the power"):
        NCGC(**BY_PARTS).fit(graph, split, watch=fail, checkpoint=Checkpointing(tmp_path, every=3))
    resumed = NCGC(**BY_PARTS).fit(graph, split, checkpoint=Checkpointing(tmp_path, every=3, resume=True))
    assert resumed.history_["total"].tolist() == unbroken.history_["total"].tolist()
    assert np.array_equal(resumed.decision_function(), unbroken.decision_function())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backbone": GCNConv}, "does not train by parts yet; take gcn, gat, sage, gcnii, appnp"),
        ({"norm": "batch"}, "norm='batch' does not train by parts"),
        ({"steps_per_epoch": 4}, "3 parts cannot be divided among 4 steps"),
        ({"pseudo_label_source": "training"}, "pseudo_label_source='training'"),
        ({"parts": 99}, "cannot be cut into 99 parts"),
        ({"batch": "some"}, "The 'batch' parameter of NCGC must be one of 'full', 'partitions'"),
    ],
)
def test_what_cannot_be_is_a_sentence(make_planted, options, words):
    with pytest.raises(ParameterError, match=words):
        NCGC(**(BY_PARTS | options)).fit(*make_planted())


# ---------------------------------------------------------------- gradients

WARM, FULL = 2, 30  # an epoch on labels alone, and one with all losses
BACKBONES = {
    "gcn": {},
    "gat": {"heads": 2},
    "sage": {},
    "gcnii": {"num_layers": 3},
    "appnp": {"num_layers": 1, "steps": 3},
}


def both(planted, backbone, hops=None, labels=None, **options):
    """Engines by three parts and in full batch of one network, before the first epoch; by default the halo is whole."""
    graph, split = planted
    model = NCGC(backbone, hidden=8, dropout=0.0, input_dropout=0.0, warmup=10, ramp=5, **BACKBONES[backbone])
    parameters = model.set_params(**options).get_params(deep=False)
    network = make_network(parameters, graph, torch.Generator().manual_seed(1))
    normalizer = FeatureNormalizer.fit(graph, "centred")
    objective = make_objective(parameters, graph, split)
    if labels is not None:
        objective.train_index, objective.train_labels = labels
    if hops is None:
        hops = parameters["steps"] if backbone == "appnp" else parameters["num_layers"]
    first, second = (make_learner(parameters, graph, network, objective, 0) for _ in range(2))
    by_parts = Partition(first, LocalLayout(PartSource(graph, normalizer), first, 3, hops), 1, 7)
    whole = ncgc_full_batch(second, GraphOperators(normalizer.apply(graph)), torch.Generator())
    for each in (by_parts, whole):
        each.learner.optimizer.step = lambda: None  # no step is taken: gradients are compared
    return by_parts, whole


def prepared(by_parts, whole, epoch):
    """The weights with names, both engines at this epoch with the same centroids and the same latest evaluation pass."""
    if epoch > 10:
        logits = whole.evaluate()
        by_parts.supervision.observe(logits)
        assert torch.equal(by_parts.supervision.clean, whole.learner.supervision.clean)
        if by_parts.objective.settings.kl_weight:
            by_parts._begin_clusters()
            whole.learner.supervision.centroids = by_parts.supervision.centroids
    named, centroids = dict(by_parts.network.named_parameters()), by_parts.supervision.centroids
    return named if centroids is None else named | {"centroids": centroids}


def visited(by_parts, named, epoch):
    """The gradients of an epoch over all parts in which no step is taken, by name."""
    assert by_parts.step(epoch) is not None
    return {name: weight.grad.clone() for name, weight in named.items()}


def full(whole, named, epoch):
    for weight in named.values():
        weight.grad = None
    assert whole.step(epoch) is not None
    return {name: weight.grad.clone() for name, weight in named.items()}


def error(found, expected):
    """The largest difference of a weight's gradient relative to its length."""
    return max(float((found[name] - expected[name]).norm() / expected[name].norm()) for name in expected)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("epoch", [WARM, FULL])
def test_gradients_of_parts_add_up(make_planted, backbone, epoch):
    """Without Gram matrix and clusters nothing is estimated: at once, and exact."""
    by_parts, whole = both(make_planted(), backbone, beta=0.0, kl=False)
    named = prepared(by_parts, whole, epoch)
    assert error(visited(by_parts, named, epoch), full(whole, named, epoch)) < 1e-4


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("residual", [False, True])
def test_labels_have_their_whole_gradient_without_a_halo(make_planted, monkeypatch, backbone, steps, residual):
    monkeypatch.setattr(labelled, "WIDER", 0)  # a block a label
    monkeypatch.setattr(labelled, "MOST", 1e6)
    by_parts, whole = both(make_planted(), backbone, hops=0, beta=0.0, num_layers=3, residual=residual)
    by_parts.steps = steps
    assert len(by_parts.layout.label_blocks) == len(by_parts.objective.train_index)
    named = prepared(by_parts, whole, WARM)
    expected = full(whole, named, WARM)
    for weight in named.values():
        weight.grad = None
    assert error(visited(by_parts, named, WARM), expected) < 1e-4  # of the last step: each has all labels


def test_labels_stay_in_their_parts_where_they_see_too_much(make_planted, monkeypatch):
    monkeypatch.setattr(labelled, "MOST", 0.5)
    by_parts, whole = both(make_planted(), "gcn", beta=0.0)
    assert not by_parts.layout.label_blocks
    named = prepared(by_parts, whole, WARM)
    assert error(visited(by_parts, named, WARM), full(whole, named, WARM)) < 1e-4
    assert not both(make_planted(), "appnp")[0].layout.label_blocks  # its receptive field is too wide
    assert not both(make_planted(), "gat", label_loss_weight=0.0)[0].layout.label_blocks


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_dropout_in_a_block_of_labels_is_that_of_its_nodes(make_planted, backbone):
    """The same rows are dropped wherever a node is seen: here, and in a part with a whole halo."""
    by_parts, _ = both(make_planted(), backbone, dropout=0.5, input_dropout=0.5)
    network, epoch = by_parts.network.train(), 3
    block = by_parts.layout.operators(by_parts.layout.label_blocks[0])
    nodes = block.part.owned
    seen = {}
    for name, operators in {"block": block, "part": by_parts.layout.source.part(nodes, hops=2)}.items():
        operators.reduction = KnownSum(torch.eye(8))
        draws = RowGenerator(by_parts.seed, operators.rows)
        draws.begin(epoch)
        seen[name] = network(operators, draws, embeddings=False).logits[: len(nodes)]
    assert torch.allclose(seen["block"], seen["part"], atol=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("epoch", [WARM, FULL])
def test_running_totals_converge_to_the_gradient_of_full_batch(make_planted, backbone, epoch):
    """In the warm-up the third part has no label, and a gradient through the Gram matrix all the same."""
    graph, split = make_planted()
    labels = None
    if epoch == WARM:
        labels = torch.from_numpy(np.flatnonzero(partition(graph.adjacency, 3) != 2)[:3]), torch.tensor([0, 1, 2])
    by_parts, whole = both((graph, split), backbone, labels=labels, beta=0.3)
    named = prepared(by_parts, whole, epoch)
    expected = full(whole, named, epoch)
    errors = [error(visited(by_parts, named, epoch), expected) for _ in range(5)]
    assert errors[0] > 1e-4  # something is estimated at first
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
@pytest.mark.parametrize("epoch", [WARM, FULL])
@pytest.mark.parametrize("wider", [0, 100])  # a block a label, and one for all
def test_running_totals_know_the_blocks_of_labels(make_planted, monkeypatch, backbone, epoch, wider):
    monkeypatch.setattr(labelled, "WIDER", wider)
    monkeypatch.setattr(labelled, "MOST", 1e6)
    by_parts, whole = both(make_planted(), backbone, beta=0.3)
    assert len(by_parts.layout.label_blocks) == (1 if wider else len(by_parts.objective.train_index))
    named = prepared(by_parts, whole, epoch)
    expected = full(whole, named, epoch)
    errors = [error(visited(by_parts, named, epoch), expected) for _ in range(5)]
    assert errors[-1] < 1e-3


@pytest.mark.parametrize("steps", [1, 3])
def test_steps_of_an_epoch_are_gradients_of_the_whole_on_average(make_planted, steps):
    """Each of S steps has a S-th of the parts, S times: their mean is the gradient of all."""
    by_parts, whole = both(make_planted(), "gcn", beta=0.0, kl=False)
    by_parts.steps = steps
    named = prepared(by_parts, whole, FULL)
    taken = []
    by_parts.learner.optimizer.step = lambda: taken.append(
        {name: weight.grad.clone() for name, weight in named.items()}
    )
    by_parts.step(FULL)
    mean = {name: torch.stack([one[name] for one in taken]).mean(0) for name in named}
    assert len(taken) == steps
    assert error(mean, full(whole, named, FULL)) < 1e-4


@pytest.mark.parametrize("backbone", BACKBONES)
def test_every_backbone_trains_by_parts(make_planted, backbone):
    options = {"epochs": 80, "warmup": 40, "ramp": 5, "dropout": 0.2, "weight_decay": 5e-4, **BACKBONES[backbone]}
    model = NCGC(backbone, hidden=16, batch="partitions", parts=3, random_state=3, **options).fit(*make_planted())
    assert model.history_["class"][-1] < 0.7 * model.history_["class"][0]
    assert model.score() > 0.5  # of three classes; full batch has 0.5 to 0.7 with sage, by the seed


def test_digits_by_parts_are_as_good_as_at_once():
    graph = load_dataset("digits")
    split = few_split(graph, 10, seed=1000)
    options = {"epochs": 30, "warmup": 12, "ramp": 6, "hidden": 32, "random_state": 1000}
    whole = NCGC(**options).fit(graph, split)
    by_parts = NCGC(batch="partitions", parts=4, **options).fit(graph, split)
    assert whole.score() > 0.9
    assert by_parts.score() > whole.score() - 0.02  # the standard error of either is 0.006
