"""What "auto" means for a parameter: a rule by the features, the edges and the number of labels, never by their values."""

from __future__ import annotations

from ncgc.errors import ParameterError
from ncgc.graph.features import DENSE


def automatic_norm(density: float) -> str | None:
    """LayerNorm where features are dense, none where they are sparse.

    Dense rows (bags of 250 words in 750, pixels, measurements) reach the hidden layer with very different lengths, and
    learning is slow and jumpy without a norm; on sparse words a norm takes away what the length says.

    >>> automatic_norm(0.35), automatic_norm(0.01)
    ('layer', None)
    """
    return "layer" if density >= DENSE else None


def automatic_input_dropout(density: float) -> float:
    """Half the entries where features are sparse, none where they are dense.

    A document without half its words is still a document on its subject; a measurement without half its columns is noise.

    >>> automatic_input_dropout(0.35), automatic_input_dropout(0.01)
    (0.0, 0.5)
    """
    return 0.0 if density >= DENSE else 0.5


MANY = 6.0  # mean neighbours from which a graph is dense (PubMed: 4.5; CS: 8.9)
STRONG, WEAK = 5e-3, 5e-4


def automatic_weight_decay(mean_degree: float, density: float) -> float:
    """Strong where a node has few neighbours, weak where it has many; with dense features, and so a norm, strong.

    The mean of d rows of words that have little in common is 1/√d as long as each, so weights must be larger to say the
    same, and a decay that is right for 4 neighbours holds them down with 9. After a norm their scale does not matter.

    >>> automatic_weight_decay(3.9, 0.01), automatic_weight_decay(8.9, 0.01), automatic_weight_decay(31.1, 0.35)
    (0.005, 0.0005, 0.005)
    """
    return WEAK if mean_degree >= MANY and density < DENSE else STRONG


HALF_WAY = 3.0  # k₀; chosen on validation accuracy, benchmarks/studies/relaxation.toml


def automatic_relaxation(labels: int, num_classes: int, half_way: float = HALF_WAY) -> float:
    """How exactly Sinkhorn balances the pseudo-labels: κ = k₀ / (k₀ + k), with k = labels / classes.

    There are two estimates of the logarithm of a class's share: uniform, with the variance σ² of how uneven classes are
    in the world, and the model's own, with the variance s²/k after k labels per class. The best mixture weighs each by the
    other's variance: κ = (s²/k) / (s²/k + σ²) = k₀/(k₀+k), k₀ = s²/σ². In Sinkhorn with relaxed marginals κ is exactly
    this weight, on the logarithms of the shares.

    Args:
        labels: number of training labels.
        num_classes: K.
        half_way: k₀, the labels per class at which κ is one half.

    Returns:
        κ, between 0 and 1.

    Raises:
        ParameterError: if there is no label or no class.

    >>> [round(automatic_relaxation(7 * k, 7), 2) for k in (1, 3, 20)]
    [0.75, 0.5, 0.13]
    """
    if labels < 1 or num_classes < 1:
        raise ParameterError(
            f"Relaxation 'auto' needs labels and classes. Got {labels} labels and {num_classes} classes instead."
        )
    return half_way / (half_way + labels / num_classes)
