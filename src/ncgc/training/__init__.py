"""From a network and an objective to trained weights."""

from ncgc.training.adam import Adam
from ncgc.training.descent import Descended, descend
from ncgc.training.history import History
from ncgc.training.keep import KeepEpoch, LastEpoch, Stationary
from ncgc.training.stopping import BestValidation, Selection, StablePredictions
from ncgc.training.trainer import Trainer, TrainerSettings, TrainingResult, Watcher

__all__ = [
    "Adam",
    "BestValidation",
    "Descended",
    "History",
    "KeepEpoch",
    "LastEpoch",
    "Selection",
    "StablePredictions",
    "Stationary",
    "Trainer",
    "TrainerSettings",
    "TrainingResult",
    "Watcher",
    "descend",
]
