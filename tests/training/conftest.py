"""A planted graph and a trainer on it."""

import numpy as np
import pytest
import torch

from ncgc import SOGN, Graph, Split
from ncgc.losses import Objective, ObjectiveSettings
from ncgc.nn import GraphOperators
from ncgc.training import BestValidation, StablePredictions, Trainer, TrainerSettings


@pytest.fixture(scope="session")
def planted():
    """45 nodes in three blocks, features and edges that say which; 3 training and 5 validation nodes a class."""
    generator = np.random.default_rng(0)
    labels = np.arange(45) % 3
    chance = np.where(labels[:, None] == labels, 0.3, 0.04)
    pairs = np.argwhere(np.triu(generator.random((45, 45)) < chance, 1))
    x = np.eye(3)[labels] + generator.normal(scale=0.8, size=(45, 3))
    graph = Graph.from_edges(pairs, np.hstack([x, generator.normal(size=(45, 4))]), labels)
    return graph, Split(np.arange(9), np.arange(9, 24), np.arange(24, 45))


@pytest.fixture
def make_trainer(planted):
    """Options of any of the parts → a Trainer; ``validation=False`` gives StablePredictions."""

    def make(validation=True, patience=10_000, watch=None, network=None, objective=None, seed=0, **settings):
        graph, split = planted
        labels = torch.from_numpy(graph.labels)
        train, val = torch.from_numpy(split.train), torch.from_numpy(split.val)
        rest = torch.from_numpy(np.setdiff1d(np.arange(45), split.train))
        objective_settings = ObjectiveSettings(**({"warmup": 3, "ramp": 4, "epsilon": 0.2} | (objective or {})))
        settled = objective_settings.warmup + objective_settings.ramp
        options = {"hidden": 8, "norm": "batch"} | (network or {})
        return Trainer(
            SOGN(7, 3, generator=torch.Generator().manual_seed(seed), **options),
            GraphOperators(graph),
            Objective(objective_settings, 3, train, labels[train], rest),
            BestValidation(val, labels[val], patience, settled) if validation else StablePredictions(patience, settled),
            TrainerSettings(**({"epochs": 30} | settings)),
            torch.Generator().manual_seed(seed + 1),
            seed + 2,
            watch,
        )

    return make
