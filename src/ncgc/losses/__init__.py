"""The losses as free functions, and the objective that puts them together."""

from ncgc.losses.classification import hard_cross_entropy, soft_cross_entropy
from ncgc.losses.embedded_clustering import (
    embedded_clustering_loss,
    initial_centroids,
    student_t,
    target_distribution,
)
from ncgc.losses.objective import Objective, ObjectiveSettings
from ncgc.losses.prior import Prior, PriorEstimate, resolve_prior
from ncgc.losses.sinkhorn import marginal_error, sinkhorn
from ncgc.losses.softmax import row_softmax

__all__ = [
    "Objective",
    "ObjectiveSettings",
    "Prior",
    "PriorEstimate",
    "embedded_clustering_loss",
    "hard_cross_entropy",
    "initial_centroids",
    "marginal_error",
    "resolve_prior",
    "row_softmax",
    "sinkhorn",
    "soft_cross_entropy",
    "student_t",
    "target_distribution",
]
