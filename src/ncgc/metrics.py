"""How good a labelling is."""

from __future__ import annotations

import numpy as np


def accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Share of entries that agree; NaN when there are none.

    >>> accuracy(np.array([1, 0, 1]), np.array([1, 1, 1]))
    0.6666666666666666
    """
    return float(np.mean(predicted == truth)) if len(truth) else float("nan")
