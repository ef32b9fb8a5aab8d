"""Class shares b that Sinkhorn balances toward. The true shares of a data set are never used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses._arguments import DEFAULTS, check_argument, check_count
from ncgc.losses.softmax import column_sums
from ncgc.ops import ALONE, Reduction

Prior: TypeAlias = str | Tensor | np.ndarray | Sequence[float] | None


def resolve_prior(prior: Prior, num_classes: int, owner: str = "resolve_prior") -> Tensor:
    """Class shares that sum to 1.

    Args:
        prior: ``"uniform"`` or ``None``, or K non-negative, finite numbers with a positive sum.
        num_classes: K.
        owner: function or class whose argument it is, for the message.

    Returns:
        (K,) float64 on the CPU.

    Raises:
        ParameterError: for anything else.

    Example:
        >>> from ncgc.losses import resolve_prior
        >>> resolve_prior([1, 3], 2)
        tensor([0.2500, 0.7500], dtype=torch.float64)
        >>> resolve_prior("uniform", 2)
        tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return torch.full((num_classes,), 1 / num_classes, dtype=torch.float64)

    def refuse(got: Any) -> ParameterError:
        return ParameterError(
            f"The 'prior' parameter of {owner} must be 'uniform' or {num_classes} non-negative shares, one a class, with a positive sum. "
            f"Got {got} instead."
        )

    if isinstance(prior, str):
        raise refuse(repr(prior))
    try:
        if isinstance(prior, Tensor):
            shares = prior.detach().to(dtype=torch.float64, device="cpu", copy=True)
        else:
            shares = torch.from_numpy(np.array(prior, dtype=np.float64))
    except (TypeError, ValueError):
        raise refuse(repr(prior)) from None
    if tuple(shares.shape) != (num_classes,):
        raise refuse(f"the shape {tuple(shares.shape)}")
    total = float(shares.sum())
    if not (np.isfinite(total) and float(shares.min()) >= 0 and total > 0):
        raise refuse(shares.tolist())
    return shares.div_(total)


class PriorEstimate:
    """Class shares estimated from the model's own predictions: a running mean, shrunk toward uniform.

        m ← μ·m + (1−μ)·mean_i p_i        b = (1−s)·m + s/K

    starting at m = 1/K. Momentum and shrinkage are needed: shares taken directly from the predictions reinforce
    themselves until one class takes all (37–60 % accuracy on Cora). No labels are used.

    Args:
        num_classes: K.
        momentum: μ, from 0 (the latest predictions) to below 1.
        shrinkage: s, from 0 (the running mean itself) to 1 (uniform).

    Example:
        >>> import torch
        >>> from ncgc.losses import PriorEstimate
        >>> estimate = PriorEstimate(2, momentum=0.5, shrinkage=0.5)
        >>> estimate.update(torch.tensor([[1.0, 0.0], [0.8, 0.2]]))
        tensor([0.6000, 0.4000], dtype=torch.float64)
    """

    def __init__(
        self,
        num_classes: int,
        momentum: float = DEFAULTS["prior_momentum"],
        shrinkage: float = DEFAULTS["prior_shrinkage"],
    ) -> None:
        check_count("PriorEstimate", "num_classes", num_classes)
        check_argument("PriorEstimate", "momentum", momentum, "prior_momentum")
        check_argument("PriorEstimate", "shrinkage", shrinkage, "prior_shrinkage")
        self.num_classes = num_classes
        self.momentum = momentum
        self.shrinkage = shrinkage
        self.mean = resolve_prior(None, num_classes)

    @property
    def value(self) -> Tensor:
        """(K,) float64 shares that sum to 1."""
        return (1 - self.shrinkage) * self.mean + self.shrinkage / self.num_classes

    def update(self, probabilities: Tensor, reduction: Reduction = ALONE) -> Tensor:
        """Add one set of predictions to the running mean.

        Args:
            probabilities: (n, K) predicted probabilities; without rows the estimate does not change.
            reduction: completes the column sums, where these are some of the rows.

        Returns:
            The new :attr:`value`, (K,).
        """
        if probabilities.dim() != 2 or probabilities.shape[1] != self.num_classes:
            raise ParameterError(
                f"The 'probabilities' of PriorEstimate must be an (n, {self.num_classes}) matrix. Got the shape {tuple(probabilities.shape)} instead."
            )
        if probabilities.shape[0] or not reduction.alone:
            sums = reduction.total(column_sums(probabilities.detach()))
            latest = resolve_prior(sums, self.num_classes, owner="PriorEstimate.update")
            self.mean = self.momentum * self.mean + (1 - self.momentum) * latest
        return self.value
