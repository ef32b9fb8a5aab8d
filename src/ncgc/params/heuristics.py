"""The rules behind "auto": values of parameters from the features, the edges and the number of labels, never from label values."""

from __future__ import annotations

from ncgc.errors import ParameterError
from ncgc.graph.features import DENSE

MANY_EDGES = 6.0  # mean degree from which weight decay is weak (PubMed: 4.5; CS: 8.9)
STRONG_DECAY, WEAK_DECAY = 5e-3, 5e-4
HALF_WAY = 3.0  # k₀; chosen on validation accuracy, benchmarks/studies/relaxation.toml


def automatic_norm(density: float) -> str | None:
    """The norm of the hidden layers: LayerNorm where features are dense, none where they are sparse.

    Dense rows (pixels, measurements, bags of 250 words in 750) reach the hidden layer with very different lengths, and
    training is slow and unstable without a norm. Of sparse bags of words the length is a signal, which a norm removes.

    Args:
        density: share of the feature entries that are not zero.

    Returns:
        "layer" or None.

    >>> automatic_norm(0.35), automatic_norm(0.01)
    ('layer', None)
    """
    return "layer" if density >= DENSE else None


def automatic_input_dropout(density: float) -> float:
    """Dropout on the features: half the entries where features are sparse, none where they are dense.

    A document without half its words is still about its subject; a measurement without half its columns is noise.

    Args:
        density: share of the feature entries that are not zero.

    Returns:
        The dropout rate.

    >>> automatic_input_dropout(0.35), automatic_input_dropout(0.01)
    (0.0, 0.5)
    """
    return 0.0 if density >= DENSE else 0.5


def automatic_weight_decay(mean_degree: float, density: float) -> float:
    """Weight decay: 0.0005 where features are sparse and neighbours many, else 0.005.

    The mean of d sparse rows with little in common is 1/√d as long as each of them, so weights must be larger for the
    same logits, and a decay that suits 4 neighbours is too strong for 9. With dense features there is a norm
    (:func:`automatic_norm`), after which the size of the weights does not matter.

    Args:
        mean_degree: neighbours of a node, on average.
        density: share of the feature entries that are not zero.

    Returns:
        The weight decay.

    >>> automatic_weight_decay(3.9, 0.01), automatic_weight_decay(8.9, 0.01), automatic_weight_decay(31.1, 0.35)
    (0.005, 0.0005, 0.005)
    """
    return WEAK_DECAY if mean_degree >= MANY_EDGES and density < DENSE else STRONG_DECAY


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
