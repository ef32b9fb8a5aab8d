"""From a network and an objective to trained weights."""

from ncgc.training.adam import Adam
from ncgc.training.checkpoint import Checkpointing
from ncgc.training.descent import descend
from ncgc.training.history import History, TrainingResult, Watcher
from ncgc.training.keep import KeepEpoch, LastEpoch, Stationary
from ncgc.training.stopping import BestValidation, StablePredictions, StoppingRule
from ncgc.training.trainer import Trainer, TrainerSettings

__all__ = [
    "Adam",
    "BestValidation",
    "Checkpointing",
    "History",
    "KeepEpoch",
    "LastEpoch",
    "StablePredictions",
    "Stationary",
    "StoppingRule",
    "Trainer",
    "TrainerSettings",
    "TrainingResult",
    "Watcher",
    "descend",
]
