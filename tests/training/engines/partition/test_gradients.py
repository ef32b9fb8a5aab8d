"""What the parts descend along: with dropout 0 and a whole halo, the gradient of full batch."""

import numpy as np
import pytest
import torch
from ncgc.training.engines.partition.trainer import PartitionTrainer

from ncgc import NCGC, load_dataset
from ncgc.datasets import few_split
from ncgc.graph.features import FeatureNormalizer
from ncgc.models.ncgc_components import make_network, make_objective, make_stopping, trainer_settings
from ncgc.nn import GraphOperators
from ncgc.ops import RowGenerator
from ncgc.training import Trainer
from ncgc.training.engines.partition import label_blocks as labelled
from ncgc.training.engines.partition.part_operators import Source
from ncgc.training.engines.partition.running_totals import Known

WARM, FULL = 2, 30  # an epoch on labels alone, and one with all losses
BACKBONES = {
    "gcn": {},
    "gat": {"heads": 2},
    "sage": {},
    "gcnii": {"num_layers": 3},
    "appnp": {"num_layers": 1, "steps": 3},
}


def both(planted, backbone, hops=None, **options):
    """Trainers by three parts and in full batch of one network, before the first epoch; the halo is whole unless told."""
    graph, split = planted
    model = NCGC(backbone, hidden=8, dropout=0.0, input_dropout=0.0, warmup=10, ramp=5, **BACKBONES[backbone])
    parameters = model.set_params(**options).get_params(deep=False)
    network = make_network(parameters, graph, torch.Generator().manual_seed(1))
    scaling = FeatureNormalizer.fit(graph, "centred")
    rules = (make_objective(parameters, graph, split), make_stopping(parameters, graph, split))
    settings = trainer_settings(parameters, graph)
    if hops is None:
        hops = parameters["steps"] if backbone == "appnp" else parameters["num_layers"]
    by_parts = PartitionTrainer(network, Source(graph, scaling), 3, hops, 1, 7, *rules, settings)
    whole = Trainer(network, GraphOperators(scaling.apply(graph)), *rules, settings, torch.Generator())
    return by_parts, whole


def prepared(by_parts, whole, epoch):
    """The weights with names, both trainers at this epoch with the same centroids and the same latest look."""
    if epoch > 10:
        by_parts.clean = whole.clean = whole._output().logits.detach()
        if by_parts.objective.settings.kl_weight:
            by_parts._begin_clusters()
            whole.centroids = by_parts.centroids
    by_parts.network.train()
    named = dict(by_parts.network.named_parameters())
    return named if by_parts.centroids is None else named | {"centroids": by_parts.centroids}


def visited(by_parts, named, epoch):
    """The gradients of an epoch over all parts in which no step is taken, by name."""
    by_parts.optimizer.step = lambda: None
    assert by_parts._descend(epoch) is not None
    return {name: weight.grad.clone() for name, weight in named.items()}


def full(whole, named, epoch):
    for weight in named.values():
        weight.grad = None
    assert whole._gradients(epoch) is not None
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
    assert len(by_parts.label_blocks) == len(by_parts.objective.train_index)
    named = prepared(by_parts, whole, WARM)
    expected = full(whole, named, WARM)
    for weight in named.values():
        weight.grad = None
    assert error(visited(by_parts, named, WARM), expected) < 1e-4  # of the last step: each has all labels


def test_labels_stay_in_their_parts_where_they_see_too_much(make_planted, monkeypatch):
    monkeypatch.setattr(labelled, "MOST", 0.5)
    by_parts, whole = both(make_planted(), "gcn", beta=0.0)
    assert not by_parts.label_blocks
    named = prepared(by_parts, whole, WARM)
    assert error(visited(by_parts, named, WARM), full(whole, named, WARM)) < 1e-4
    assert not both(make_planted(), "appnp")[0].label_blocks  # it looks too far
    assert not both(make_planted(), "gat", label_loss_weight=0.0)[0].label_blocks


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_dropout_in_a_block_of_labels_is_that_of_its_nodes(make_planted, backbone):
    """The same rows are dropped wherever a node is seen: here, and in a part with a whole halo."""
    by_parts, _ = both(make_planted(), backbone, dropout=0.5, input_dropout=0.5)
    network, epoch = by_parts.network.train(), 3
    nodes = by_parts.label_blocks[0]
    seen = {}
    for name, operators in {
        "block": by_parts.blocks[by_parts.parts](),
        "part": by_parts.source.part(nodes, hops=2),
    }.items():
        operators.reduction = Known(torch.eye(8))
        draws = RowGenerator(by_parts.seed, operators.rows)
        draws.begin(epoch)
        seen[name] = network(operators, draws, embeddings=False).logits[: len(nodes)]
    assert torch.allclose(seen["block"], seen["part"], atol=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("epoch", [WARM, FULL])
def test_running_totals_converge_to_the_gradient_of_full_batch(make_planted, backbone, epoch):
    """In the warm-up the third part has no label, and a gradient through the Gram matrix all the same."""
    graph, split = make_planted()
    by_parts, whole = both((graph, split), backbone, beta=0.3)
    if epoch == WARM:
        for rules in (by_parts, whole):
            rules.objective.train_index = torch.from_numpy(np.flatnonzero(by_parts.owner.numpy() != 2)[:3])
            rules.objective.train_labels = torch.tensor([0, 1, 2])
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
    assert len(by_parts.label_blocks) == (1 if wider else len(by_parts.objective.train_index))
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
    by_parts.optimizer.step = lambda: taken.append({name: weight.grad.clone() for name, weight in named.items()})
    by_parts._descend(FULL)
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
