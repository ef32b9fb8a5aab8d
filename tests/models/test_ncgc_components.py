"""The parts of a training get every parameter, and "auto" is a number by then."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncgc import Graph, Split
from ncgc.models.ncgc_components import (
    LOSS,
    SAME,
    TRAINING,
    make_network,
    make_objective,
    make_stopping,
    trainer_settings,
)
from ncgc.params.ncgc import DEFAULTS
from ncgc.training import BestValidation, StablePredictions

OWN_WAY = {
    "backbone", "beta", "soft_orthogonality", "input_dropout", "norm", "kl", "kl_weight", "pl", "pl_weight", "relaxation",
    "sinkhorn", "weight_decay", "patience", "weigh_validation", "choose_from",
}  # fmt: skip
ELSEWHERE = {
    "features",
    "random_state",
    "batch",
    "parts",
    "halo",
    "steps_per_epoch",
}  # the scaling, the seeds, how to train


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


def test_every_parameter_reaches_a_part(graph, split):
    parameters = Noted(DEFAULTS)
    make_network(parameters, graph, torch.Generator())
    make_objective(parameters, graph, split)
    make_stopping(parameters, graph, split)
    trainer_settings(parameters, graph)
    assert parameters.asked == set(DEFAULTS) - ELSEWHERE
    assert parameters.asked == OWN_WAY | set(SAME) | set(LOSS) | set(TRAINING)


def test_auto_is_a_number(graph, split):
    assert isinstance(trainer_settings(DEFAULTS, graph).weight_decay, float)
    assert isinstance(make_objective(DEFAULTS, graph, split).settings.relaxation, float)


def test_what_is_given_is_taken(graph, split):
    given = {**DEFAULTS, "weight_decay": 0.25, "relaxation": 0.5, "kl": False, "hidden": 5}
    assert trainer_settings(given, graph).weight_decay == 0.25
    settings = make_objective(given, graph, split).settings
    assert (settings.relaxation, settings.kl_weight, settings.pl_weight) == (0.5, 0.0, DEFAULTS["pl_weight"])
    assert {len(weight) for name, weight in make_network(given, graph, torch.Generator()).state_dict().items()} & {5}


def test_without_validation_labels_none_are_used(graph, split):
    assert isinstance(make_stopping(DEFAULTS, graph, split), BestValidation)
    blind = replace(split, val=split.val[:0])
    assert isinstance(make_stopping(DEFAULTS, graph, blind), StablePredictions)
