"""From a network and a loss to trained weights: one loop, and engines that run its epochs."""

from ncgc.training.checkpoint import Checkpointing
from ncgc.training.history import History, TrainingResult, Watcher
from ncgc.training.optimizer import Adam
from ncgc.training.stopping import BestValidation, KeepEpoch, LastEpoch, StablePredictions, Stationary, StoppingRule
from ncgc.training.trainer import Engine, Trainer

__all__ = [
    "Adam",
    "BestValidation",
    "Checkpointing",
    "Engine",
    "History",
    "KeepEpoch",
    "LastEpoch",
    "StablePredictions",
    "Stationary",
    "StoppingRule",
    "Trainer",
    "TrainingResult",
    "Watcher",
]
