"""The search space of tuning: a range or choices for each hyper-parameter, and which are searched by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ncgc.errors import ParameterError
from ncgc.params.ncgc import BACKBONES_OF, NCGC_PARAMETERS
from ncgc.params.parameter import unknown_name

if TYPE_CHECKING:
    from optuna.trial import Trial

DIGITS = 3  # significant digits of a number that is tried: a few splits cannot tell more apart
FIRST_SEED = 1000  # of the splits that settings are chosen on; published tables use seeds from 0


@dataclass(frozen=True)
class Range:
    """Numbers from low to high; on a logarithmic scale each factor of ten is equally likely."""

    low: float
    high: float
    log: bool = False

    def suggest(self, trial: Trial, name: str) -> Any:
        """Draw a value of a parameter.

        Args:
            trial: Optuna's trial, which draws.
            name: the parameter.

        Returns:
            The value; a whole number for a parameter of whole numbers.
        """
        if NCGC_PARAMETERS[name].kind is int:
            return trial.suggest_int(name, int(self.low), int(self.high), log=self.log)
        return trial.suggest_float(name, self.low, self.high, log=self.log)


@dataclass(frozen=True)
class Choice:
    """One of these values."""

    values: tuple[Any, ...]

    def suggest(self, trial: Trial, name: str) -> Any:
        """Draw a value of a parameter.

        Args:
            trial: Optuna's trial, which draws.
            name: the parameter.

        Returns:
            One of the values.
        """
        return trial.suggest_categorical(name, self.values)


Space = dict[str, Range | Choice]

RANGES: Space = {
    "hidden": Choice((32, 64, 128, 256)),  # each divisible by every number of heads
    "num_layers": Range(1, 4),
    "beta": Range(1e-4, 3e-2, log=True),
    "dropout": Range(0.0, 0.9),
    "input_dropout": Range(0.0, 0.9),
    "node_dropout": Range(0.0, 0.8),
    "heads": Choice((1, 2, 4, 8)),
    "attention_dropout": Range(0.0, 0.8),
    "alpha": Range(0.02, 0.5, log=True),
    "theta": Range(0.1, 1.5, log=True),
    "steps": Range(2, 20),
    "kl_weight": Range(1e-2, 10.0, log=True),
    "pl_weight": Range(1e-1, 10.0, log=True),
    "epsilon": Range(2e-2, 2.0, log=True),
    "sinkhorn_iterations": Range(1, 30, log=True),
    "relaxation": Range(0.0, 1.0),
    "prior_shrinkage": Range(0.0, 1.0),
    "prior_momentum": Range(0.5, 0.99),
    "warmup": Range(0, 200),
    "ramp": Range(0, 100),
    "averaging": Range(0.0, 0.99),
    "learning_rate": Range(1e-3, 3e-2, log=True),
    "weight_decay": Range(1e-5, 5e-2, log=True),
}
DEEP = {"gcnii": Choice((4, 8, 16, 32))}  # numbers of layers of a deep backbone
DEFAULT = ("hidden", "num_layers", "beta", "dropout", "input_dropout", "pl_weight", "epsilon", "relaxation", "learning_rate",
           "weight_decay")  # fmt: skip
DEFAULT_OF = {"gat": ("heads", "attention_dropout"), "gcnii": ("alpha", "theta"), "appnp": ("alpha", "steps")}
NEVER = ("backbone", "random_state")


def space_for(backbone: str, names: Iterable[str] | None = None) -> Space:
    """The search space of some parameters of NCGC.

    Args:
        backbone: decides which parameters have an effect.
        names: the parameters; default: those that matter most to the backbone. Switches and words are searched over all
            their values.

    Returns:
        The range or the choices of each parameter.

    Raises:
        ParameterError: for a name that is unknown, has no effect or no range.

    >>> space_for("gcn", ["beta", "pl"])
    {'beta': Range(low=0.0001, high=0.03, log=True), 'pl': Choice(values=(False, True))}
    """
    searched = list(dict.fromkeys(names if names is not None else (*DEFAULT, *DEFAULT_OF.get(backbone, ()))))
    if not searched:
        raise ParameterError(f"There is nothing to search; name at least one of {', '.join(RANGES)}.")
    return {name: _one(name, backbone) for name in searched}


def _one(name: str, backbone: str) -> Range | Choice:
    if name not in NCGC_PARAMETERS:
        raise ParameterError(unknown_name(name, NCGC_PARAMETERS, "parameter to search"))
    if name in BACKBONES_OF and backbone not in BACKBONES_OF[name]:
        raise ParameterError(
            f"The parameter '{name}' has no effect with the backbone '{backbone}'; leave it out of the search."
        )
    if name == "num_layers" and backbone in DEEP:
        return DEEP[backbone]
    if name in RANGES:
        return RANGES[name]
    parameter = NCGC_PARAMETERS[name]
    if name in NEVER or not (parameter.kind is bool or parameter.choices):
        raise ParameterError(f"The parameter '{name}' has no range to search; fix it with --set {name}=VALUE instead.")
    values = (False, True) if parameter.kind is bool else parameter.choices
    return Choice((*values, None) if parameter.optional else values)


def suggest(trial: Trial, space: Space) -> dict[str, Any]:
    """Draw a value of every parameter in the space.

    Args:
        trial: Optuna's trial, which draws.
        space: the search space.

    Returns:
        Values by name, numbers rounded by :func:`rounded`.
    """
    return rounded({name: place.suggest(trial, name) for name, place in space.items()})


def rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values, numbers with three significant digits.

    Args:
        values: values by name.

    Returns:
        A new mapping.

    >>> rounded({"beta": 0.00345678, "hidden": 64, "norm": None})
    {'beta': 0.00346, 'hidden': 64, 'norm': None}
    """
    return {name: float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value for name, value in values.items()}
