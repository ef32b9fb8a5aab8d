"""A trainer on the planted graph."""

import numpy as np
import pytest
import torch

from ncgc import SOGN
from ncgc.losses import Objective, ObjectiveSettings
from ncgc.nn import GraphOperators
from ncgc.training import BestValidation, StablePredictions, Trainer, TrainerSettings


@pytest.fixture
def planted(make_planted):
    return make_planted()


@pytest.fixture
def make_trainer(planted):
    """Options of any of the parts → a Trainer; ``validation=False`` gives StablePredictions."""

    def make(validation=True, patience=10_000, watch=None, network=None, objective=None, seed=0, **settings):
        graph, split = planted
        labels = torch.from_numpy(graph.labels)
        train, val = torch.from_numpy(split.train), torch.from_numpy(split.val)
        rest = torch.from_numpy(np.setdiff1d(np.arange(45), split.train))
        losses = {
            "warmup": 3,
            "ramp": 4,
            "epsilon": 0.2,
            "sinkhorn_iterations": 3,
            "pseudo_label_scores": "probabilities",
        }
        objective_settings = ObjectiveSettings(**(losses | (objective or {})))
        settled = objective_settings.warmup + objective_settings.ramp
        options = {"hidden": 8, "norm": "batch", "beta": 0.005, "dropout": 0.5} | (network or {})
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
