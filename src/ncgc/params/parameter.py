"""Every hyper-parameter of NCGC, declared once: default, range and one line of help.

The estimator checks against this table, the command line makes its options from it, and TOML configurations are read by it.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ncgc.errors import ParameterError

_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Parameter:
    """One hyper-parameter: its type, the range it may take, and what it does."""

    name: str
    default: Any
    kind: type  # float, int, bool or str
    help: str
    group: str
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False  # None (in TOML and on the command line: "none") is allowed
    also: str = ""  # what else Python takes, in words: an array, a function
    array: bool = False  # numbers, one a class, are allowed (on the command line: with commas)
    words: tuple[str, ...] = ()  # what a number may be instead: "auto"
    older: Any = ...  # what was done before this parameter existed, where that is not its default

    @property
    def before(self) -> Any:
        """What a result made before this parameter existed was made with."""
        return self.default if self.older is ... else self.older

    @property
    def expected(self) -> str:
        """The range in words, for messages and help."""
        if self.kind is bool:
            text = "true or false"
        elif self.choices:
            text = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            low, high = "[("[self.open_low], ")]"[not self.open_high and math.isfinite(self.high)]
            span = f"{low}{_number(self.low, self.kind)}, {_number(self.high, self.kind)}{high}"
            text = f"{'an int' if self.kind is int else 'a float'} in the range {span}"
        for word in self.words:
            text += f" or {word!r}"
        if self.also:
            text += f" or {self.also}"
        return text + (" or none" if self.optional else "")

    def check(self, value: Any, owner: str = "NCGC") -> None:
        """Raise a ParameterError in the one form of message unless the value is allowed."""
        if not self.allows(value):
            near = difflib.get_close_matches(value, self.choices, n=1) if isinstance(value, str) else []
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise ParameterError(
                f"The '{self.name}' parameter of {owner} must be {self.expected}. Got {value!r} instead{hint}"
            )

    def allows(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if self.kind is bool:
            return isinstance(value, bool | np.bool_)
        if self.choices:
            if isinstance(value, str):
                return value in self.choices
            return _are_shares(value) if self.array else bool(self.also) and callable(value)
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, Integral if self.kind is int else Real):
            return False
        # as Python's own float, or comparing a float32 with the largest float64 overflows
        number: Any = value if isinstance(value, Integral) else float(value)
        if not -_LARGEST <= number <= _LARGEST:  # NaN neither
            return False
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        return bool(above and below)


def _are_shares(value: Any) -> bool:
    """Whether these are finite numbers, none below 0, that do not sum to 0; how many, the classes decide."""
    try:
        shares = np.asarray(value, dtype=np.float64) if isinstance(value, Sequence | np.ndarray) else np.zeros(0)
    except (TypeError, ValueError):
        return False
    return shares.ndim == 1 and bool(np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0)


def _number(value: float, kind: type) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return str(int(value)) if kind is int else str(float(value))


def _table() -> dict[str, Parameter]:
    p, rows = Parameter, []
    network = "Network"
    rows += [
        p("backbone", "gcn", str, "whose propagation the layers use", network,
          choices=("gcn", "gat", "sage", "gcnii", "appnp"), also="a function (in, out) -> PyG layer"),
        p("hidden", 64, int, "width of the hidden layers", network, low=1),
        p("num_layers", 2, int, "number of layers", network, low=1),
        p("beta", 0.003, float, "strength of the soft orthogonal constraint", network, low=0),
        p("dropout", 0.7, float, "dropout on hidden states", network, low=0, high=1, open_high=True),
        p("input_dropout", "auto", float, "dropout on the features; auto: 0.5 where they are sparse, none where dense", network,
          low=0, high=1, open_high=True, words=("auto",)),
        p("node_dropout", 0.0, float, "dropout of all features of a node at once", network, low=0, high=1, open_high=True,
          older=0.0),
        p("norm", "auto", str, "normalisation before the activation; auto: layer where features are dense, none where sparse", network,
          choices=("auto", "layer", "batch"), optional=True),
        p("residual", False, bool, "add a learnt map of each layer's input to its output", network),
        p("features", "centred", str, "features as they are, each row divided by its sum (row) or its length (unit), or first centred where X is dense",
          network, choices=("raw", "row", "unit", "centred")),
        p("heads", 1, int, "attention heads (gat); must divide hidden", network, low=1),
        p("attention_dropout", 0.0, float, "dropout on attention (gat)", network, low=0, high=1, open_high=True),
        p("alpha", 0.1, float, "share of the start kept at each step (gcnii, appnp)", network, low=0, high=1),
        p("theta", 0.5, float, "strength of the weights, decaying with depth (gcnii's λ)", network, low=0),
        p("steps", 10, int, "propagation steps of the logits (appnp)", network, low=0),
    ]  # fmt: skip
    objective = "Objective"
    rows += [
        p("soft_orthogonality", True, bool, "the soft orthogonal term in every layer", objective),
        p("kl", True, bool, "the embedded-clustering loss", objective),
        p("pl", True, bool, "the pseudo-label loss", objective),
        p("sinkhorn", True, bool, "balance the pseudo-labels (off: the raw predictions)", objective),
        p("class_weight", 1.0, float, "weight of the loss on labels", objective, low=0),
        p("kl_weight", 1.0, float, "weight of the embedded-clustering loss", objective, low=0),
        p("pl_weight", 1.0, float, "weight of the pseudo-label loss", objective, low=0),
        p("epsilon", 0.5, float, "entropy of the pseudo-labels (Sinkhorn's ε)", objective, low=0, open_low=True),
        p("sinkhorn_iterations", 10, int, "rounds of Sinkhorn (T)", objective, low=0),
        p("relaxation", "auto", float, "how exactly classes are balanced (κ): 1 exact, 0 not at all, auto by the number of labels",
          objective, low=0, high=1, words=("auto",)),
        p("prior", "uniform", str, "class shares to balance toward", objective,
          choices=("uniform", "estimated"), also="an array of shares", array=True),
        p("prior_shrinkage", 0.5, float, "how far the estimated shares are drawn to uniform", objective, low=0, high=1),
        p("prior_momentum", 0.9, float, "memory of the estimated shares", objective, low=0, high=1, open_high=True),
        p("pseudo_label_source", "clean", str, "targets from a pass without dropout or from the training pass", objective,
          choices=("clean", "training")),
        p("teacher", 0.9, float, "memory of the averaged predictions that clean targets come from; 0: the latest predictions", objective,
          low=0, high=1, open_high=True, older=0.0),
        p("pseudo_label_scores", "log_probabilities", str, "what Sinkhorn balances", objective,
          choices=("probabilities", "log_probabilities", "logits")),
        p("centroids", "kmeans", str, "where cluster centroids begin", objective, choices=("kmeans", "random")),
        p("warmup", 50, int, "epochs on labels alone", objective, low=0),
        p("ramp", 25, int, "epochs over which the clustering losses then grow to full weight", objective, low=0),
    ]  # fmt: skip
    training = "Training"
    rows += [
        p("learning_rate", 0.02, float, "step size of Adam", training, low=0, open_low=True),
        p("schedule", "late", str, "step size over the epochs: constant, or falling to 0 as a cosine, all along or in the last third", training,
          choices=("constant", "cosine", "late"), older="constant"),
        p("weight_decay", "auto", float, "L2 penalty of Adam; auto: 0.005, or 0.0005 where features are sparse and neighbours many", training,
          low=0, words=("auto",)),
        p("decay_on", "all", str, "which weights decay: all, or the first layer's only", training, choices=("all", "first")),
        p("averaging", 0.0, float, "memory of the averaged weights that predict and give pseudo-labels; 0: the latest weights",
          training, low=0, high=1, open_high=True, older=0.0),
        p("epochs", 150, int, "most epochs to train", training, low=1),
        p("patience", 150, int, "epochs without gain, after warm-up and ramp, before stopping", training, low=1),
        p("weigh_validation", True, bool, "weigh validation nodes drawn per class by the predicted class shares", training,
          older=False),
        p("choose_from", "settled", str, "epochs that validation chooses from: all, or those with the clustering losses at full weight", training,
          choices=("all", "settled"), older="all"),
        p("batch", "full", str, "the whole graph at once, or a part at a time in memory that depends on the part", training,
          choices=("full", "partitions")),
        p("parts", 8, int, "parts to cut the graph into (partitions)", training, low=1),
        p("halo", 1, int, "hops around a part that are seen with it (partitions); as many as layers: exact", training, low=0),
        p("steps_per_epoch", 1, int, "steps an epoch that the parts are dealt to (partitions)", training, low=1),
        p("random_state", 0, int, "seed of weights, dropout and centroids", training, low=0, optional=True),
    ]  # fmt: skip
    return {row.name: row for row in rows}


PARAMETERS = _table()
DEFAULTS = {name: parameter.default for name, parameter in PARAMETERS.items()}


def check_parameters(
    values: Mapping[str, Any], owner: str = "NCGC", known: Mapping[str, Parameter] | None = None
) -> None:
    """Check every value against its declaration among ``known`` or NCGC's own, unknown names with a suggestion.

    >>> check_parameters({"beta": -1})
    Traceback (most recent call last):
    ...
    ncgc.errors.ParameterError: The 'beta' parameter of NCGC must be a float in the range [0.0, inf). Got -1 instead.
    """
    declared = PARAMETERS if known is None else known
    for name, value in values.items():
        if name not in declared:
            raise ParameterError(unknown_name(name, declared, f"parameter of {owner}"))
        declared[name].check(value, owner)


def unknown_name(name: str, known: Mapping[str, Any] | Sequence[str], what: str) -> str:
    """One sentence on an unknown name, with the nearest known one.

    >>> unknown_name("droput", ["dropout", "hidden"], "parameter")
    "Unknown parameter 'droput'; did you mean 'dropout'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(known) + "."
    return f"Unknown {what} {name!r}; {hint}"
