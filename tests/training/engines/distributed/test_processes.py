"""The training of several processes is that of one, and that of one the full-batch Trainer's."""

import numpy as np
import pytest

from ncgc import NCGC, Split
from ncgc.datasets.synthetic import BlockModel, sample_graph
from ncgc.errors import ParameterError
from ncgc.training.engines.distributed.group import Group

LONG = 600.0  # seconds, for a machine that is busy
SHORT = {"epochs": 20, "warmup": 3, "ramp": 3, "hidden": 16, "sinkhorn_iterations": 3, "random_state": 5}


def fitted(planted, group, **parameters):
    graph, split = planted
    return NCGC(**(SHORT | parameters)).fit(graph, split, group=group)


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gcnii", "appnp"])
def test_one_process_is_the_trainer_when_nothing_is_dropped(make_planted, backbone):
    planted = make_planted("sparse" if backbone == "sage" else "dense", validation=backbone != "appnp")
    options = {"backbone": backbone, "dropout": 0.0, "input_dropout": 0.0, "prior": "estimated"}
    model = fitted(planted, Group(), **options)
    reference = NCGC(**(SHORT | options)).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], abs=1e-4)
    assert model.history_["kl"][-1] > 0
    assert model.history_["pl"][-1] > 0
    assert model.best_epoch_ == reference.best_epoch_
    assert model.decision_function() == pytest.approx(reference.decision_function(), abs=1e-3)
    assert (model.transduction_ == reference.transduction_).all()


DROPPED = {
    "gcn": {"input_dropout": 0.5, "node_dropout": 0.2},
    "sage": {"prior": "estimated", "sinkhorn_iterations": 1},
    "gcnii": {"num_layers": 3},
    "appnp": {"num_layers": 1, "steps": 3},
}


def all_backbones(planted, backbones=tuple(DROPPED)):
    """The losses, best epoch, predictions and account of every backbone, with dropout and all losses on, for 20 epochs."""

    def run(group):
        found = {}
        for backbone in backbones:
            model = NCGC(backbone, **(SHORT | DROPPED[backbone])).fit(*planted, group=group)
            scores = model.decision_function() if group.first else None
            found[backbone] = model.history_["total"], model.best_epoch_, scores, model.communication_.to_dict()
        return found

    return run


@pytest.fixture(scope="module")
def graphs():
    """The same block model with 240 and with 480 nodes."""
    options = {"mean_degree": 8, "num_features": 60, "features_per_node": 6, "labels_per_class": 10, "seed": 3}
    found = [sample_graph(BlockModel(nodes, 4, **options)) for nodes in (240, 480)]
    return [(graph, Split(*graph.public_split)) for graph in found]


@pytest.fixture(scope="module")
def one_process(graphs):
    return all_backbones(graphs[0])(Group())


@pytest.fixture(scope="module")
def two_processes(graphs, in_processes):
    return in_processes(all_backbones(graphs[0]), 2, LONG)


@pytest.mark.parametrize("size", [2, 4])
def test_many_processes_are_one(graphs, one_process, two_processes, in_processes, size):
    """Every backbone after 20 epochs: losses within 1e-4, the same epoch kept, the same predictions."""
    ranks = two_processes if size == 2 else in_processes(all_backbones(graphs[0]), size, LONG)
    for backbone, (expected, best, scores, _) in one_process.items():
        for rank, found in enumerate(ranks):
            losses, epoch, _, account = found[backbone]
            np.testing.assert_allclose(losses, expected, atol=1e-4, rtol=0, err_msg=f"{backbone} in process {rank}")
            assert epoch == best
            assert sum(account["nodes"]) == 240
        np.testing.assert_allclose(ranks[0][backbone][2], scores, atol=1e-3, err_msg=backbone)


def test_what_everybody_gets_does_not_grow_with_the_graph(graphs, two_processes, in_processes):
    """Twice the nodes: as many bytes and messages to everybody; more to the neighbours."""
    small, large = two_processes[0], in_processes(all_backbones(graphs[1], ("gcn", "sage")), 2, LONG)[0]
    for backbone in large:
        one, two = small[backbone][3], large[backbone][3]
        # an epoch of a new best accuracy asks for the shares of 4 classes, in doubles, and how many nodes there are
        assert (two["to_everybody"] - one["to_everybody"], two["messages"] - one["messages"]) in [
            (0, 0), (4 * 8 + 8, 2), (-4 * 8 - 8, -2)
        ]  # fmt: skip
        assert 0 < sum(one["to_neighbours"]) < sum(two["to_neighbours"])
        assert sum(one["halo"]) < sum(two["halo"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backbone": "gat"}, "'gat' does not train"),
        ({"norm": "batch"}, "norm='batch'"),
        ({"batch": "partitions", "parts": 2, "steps_per_epoch": 3}, "2 parts cannot be divided among 3 steps"),
        ({"batch": "partitions", "parts": 99}, "cannot be cut into 99 parts"),
        ({"batch": "partitions", "pseudo_label_source": "training"}, "pseudo_label_source='training'"),
    ],
)
def test_what_is_not_there_yet_is_a_sentence(make_planted, options, words):
    with pytest.raises(ParameterError, match=words):
        fitted(make_planted(), Group(), **options)
