"""The components of NCGC get every parameter, and "auto" is a number by then."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncgc import Graph, Split
from ncgc.models.ncgc_components import (
    LOSS,
    SAME,
    make_learner,
    make_network,
    make_objective,
    make_stopping,
    weight_decay,
)
from ncgc.params.ncgc import DEFAULTS
from ncgc.training import BestValidation, StablePredictions

OWN_WAY = {
    "backbone", "beta", "soft_orthogonality", "input_dropout", "norm", "kl", "kl_weight", "pl", "pl_weight", "relaxation",
    "sinkhorn", "weight_decay", "patience", "weigh_validation", "choose_from",
}  # fmt: skip
LEARNER = {
    "learning_rate", "decay_on", "averaging", "schedule", "epochs", "pseudo_label_source", "teacher", "centroids",
}  # fmt: skip
ELSEWHERE = {
    "features",
    "random_state",
    "batch",
    "parts",
    "halo",
    "steps_per_epoch",
}  # the normalizer, the seeds, the engine


@pytest.fixture
def graph():
    return Graph.from_edges([[0, 1], [1, 2], [2, 3]], np.eye(4) + 0.5, labels=[0, 0, 1, 1])


@pytest.fixture
def split():
    return Split(np.array([0, 3]), np.array([1]), np.array([2]))


class Noted(dict):
    """Parameters that know which were asked for."""

    def __init__(self, values):
        super().__init__(values)
        self.asked = set()

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)


def test_every_parameter_reaches_a_component(graph, split):
    parameters = Noted(DEFAULTS)
    network = make_network(parameters, graph, torch.Generator())
    objective = make_objective(parameters, graph, split)
    make_stopping(parameters, graph, split)
    make_learner(parameters, graph, network, objective, 0)
    assert parameters.asked == set(DEFAULTS) - ELSEWHERE
    assert parameters.asked == OWN_WAY | set(SAME) | set(LOSS) | LEARNER


def test_auto_is_a_number(graph, split):
    assert isinstance(weight_decay(DEFAULTS, graph), float)
    assert isinstance(make_objective(DEFAULTS, graph, split).settings.relaxation, float)


def test_what_is_given_is_taken(graph, split):
    given = {**DEFAULTS, "weight_decay": 0.25, "relaxation": 0.5, "kl": False, "hidden": 5}
    assert weight_decay(given, graph) == 0.25
    settings = make_objective(given, graph, split).settings
    assert (settings.relaxation, settings.kl_weight, settings.pl_weight) == (0.5, 0.0, DEFAULTS["pl_weight"])
    assert {len(weight) for name, weight in make_network(given, graph, torch.Generator()).state_dict().items()} & {5}


def test_without_validation_labels_none_are_used(graph, split):
    assert isinstance(make_stopping(DEFAULTS, graph, split), BestValidation)
    blind = replace(split, val=split.val[:0])
    assert isinstance(make_stopping(DEFAULTS, graph, blind), StablePredictions)


@pytest.mark.parametrize("decay_on", ["all", "first"])
def test_what_decays(graph, split, decay_on):
    given = {**DEFAULTS, "weight_decay": 0.25, "decay_on": decay_on}
    network = make_network(given, graph, torch.Generator())
    learner = make_learner(given, graph, network, make_objective(given, graph, split), 0)
    decays = {
        id(weight): group["weight_decay"] for group in learner.optimizer.param_groups for weight in group["params"]
    }
    found = {name: decays[id(weight)] for name, weight in network.named_parameters()}
    assert found["convs.0.weight"] == 0.25
    assert found["prototypes"] == (0.25 if decay_on == "all" else 0.0)
