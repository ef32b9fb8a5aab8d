"""From a network and an objective to trained weights."""

from ncgc.training.history import History
from ncgc.training.selection import BestValidation, Selection, StablePredictions
from ncgc.training.trainer import Trainer, TrainerSettings, TrainingResult, Watcher

__all__ = [
    "BestValidation",
    "History",
    "Selection",
    "StablePredictions",
    "Trainer",
    "TrainerSettings",
    "TrainingResult",
    "Watcher",
]
