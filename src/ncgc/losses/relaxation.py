"""How exactly to balance the classes of the pseudo-labels: a rule that follows the number of labels."""

from __future__ import annotations

from ncgc.errors import ParameterError

HALF_WAY = 3.0  # k₀; chosen on validation accuracy, benchmarks/studies/relaxation.toml


def automatic_relaxation(labels: int, num_classes: int, half_way: float = HALF_WAY) -> float:
    """κ = k₀ / (k₀ + k) with k = labels / classes, the mean number of labels a class.

    Two guesses at the logarithm of a class's share are at hand: uniform, wrong by how uneven classes are in the world
    (variance σ²), and the model's own, wrong by what it has not yet learnt (variance s²/k with k labels a class). The
    best mixture weighs each by the other's variance: κ = (s²/k) / (s²/k + σ²) = k₀/(k₀+k), k₀ = s²/σ². In Sinkhorn with
    relaxed marginals κ is this very weight, on the logarithms of the shares.

    >>> [round(automatic_relaxation(7 * k, 7), 2) for k in (1, 3, 20)]
    [0.75, 0.5, 0.13]
    """
    if labels < 1 or num_classes < 1:
        raise ParameterError(
            f"A rule by labels a class needs labels and classes. Got {labels} and {num_classes} instead."
        )
    return half_way / (half_way + labels / num_classes)
