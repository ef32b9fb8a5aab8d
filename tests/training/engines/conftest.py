"""The trainer of an NCGC before its first epoch, so that tests reach its engine."""

import numpy as np
import pytest
import torch

from ncgc.models.ncgc_components import make_learner, make_network, make_objective, make_stopping
from ncgc.training import Trainer
from ncgc.training.engines.distributed.processes import SeveralProcesses
from ncgc.training.engines.placement import OneProcess


@pytest.fixture(scope="session")
def ncgc_trainer():
    """``ncgc_trainer(model, graph, split, group)``: the :class:`Trainer` that ``model.fit`` would run."""

    def make(model, graph, split, group=None):
        parameters = model.get_params(deep=False)
        place = OneProcess() if group is None else SeveralProcesses(group)
        weights, dropout, centroids = place.seeds(np.random.SeedSequence(model.random_state).generate_state(3))
        place.place(graph, parameters)
        network = make_network(parameters, graph, torch.Generator().manual_seed(weights))
        objective = make_objective(parameters, graph, split, place.ownership)
        stopping = make_stopping(parameters, graph, split, place.ownership)
        learner = make_learner(parameters, graph, network, objective, centroids)
        return Trainer(place.engine(learner, dropout), stopping, model.epochs)

    return make
