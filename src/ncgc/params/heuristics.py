"""The rules behind "auto": values of parameters from the density of features and edges, without labels."""

from __future__ import annotations

from ncgc.graph.features import DENSE

MANY_NEIGHBOURS = 6.0  # mean degree from which weight decay is weak (PubMed: 4.5; CS: 8.9)
STRONG_DECAY, WEAK_DECAY = 5e-3, 5e-4


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

    >>> automatic_weight_decay(3.9, 0.01), automatic_weight_decay(8.9, 0.01), automatic_weight_decay(31.1, 0.35)
    (0.005, 0.0005, 0.005)
    """
    return WEAK_DECAY if mean_degree >= MANY_NEIGHBOURS and density < DENSE else STRONG_DECAY
