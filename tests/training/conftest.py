"""A trainer on the planted graph."""

import numpy as np
import pytest
import torch

from ncgc import SOGN
from ncgc.losses import Objective, ObjectiveSettings
from ncgc.models.ncgc_components import make_learner
from ncgc.nn import GraphOperators
from ncgc.params.ncgc import DEFAULTS
from ncgc.training import BestValidation, StablePredictions, Trainer
from ncgc.training.engines.full_batch import ncgc_full_batch

PLAIN = {"learning_rate": 0.01, "weight_decay": 5e-4, "schedule": "constant", "teacher": 0.0, "epochs": 30}


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
        chosen = {
            "warmup": 3,
            "ramp": 4,
            "epsilon": 0.2,
            "sinkhorn_iterations": 3,
            "pseudo_label_scores": "probabilities",
        }
        losses = Objective(ObjectiveSettings(**(chosen | (objective or {}))), 3, train, labels[train], rest)
        settled = losses.settings.warmup + losses.settings.ramp
        options = {"hidden": 8, "norm": "batch", "beta": 0.005, "dropout": 0.5} | (network or {})
        made = SOGN(7, 3, generator=torch.Generator().manual_seed(seed), **options)
        parameters = DEFAULTS | PLAIN | settings
        learner = make_learner(parameters, graph, made, losses, seed + 2)
        operators = GraphOperators(graph)
        trainer = Trainer(
            ncgc_full_batch(learner, operators, torch.Generator().manual_seed(seed + 1)),
            BestValidation(val, labels[val], patience, settled) if validation else StablePredictions(patience, settled),
            parameters["epochs"],
            watch,
        )
        # for the tests
        trainer.network, trainer.operators, trainer.objective = made, operators, losses
        trainer.optimizer, trainer.supervision = learner.optimizer, learner.supervision
        return trainer

    return make
