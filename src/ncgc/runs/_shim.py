"""Temporary: the registry as it will be."""

from __future__ import annotations

from typing import Any

from ncgc.errors import ParameterError
from ncgc.models.base import Method
from ncgc.models.ncgc import NCGC
from ncgc.models.registry import METHODS
from ncgc.params.parameter import DEFAULTS, PARAMETERS, unknown_name
from ncgc.params.presets import DEFAULT_PRESET, method_preset, recipe

OF_BACKBONE = {
    "heads": ("gat",),
    "attention_dropout": ("gat",),
    "alpha": ("gcnii", "appnp"),
    "theta": ("gcnii",),
    "steps": ("appnp",),
}
OF_PSEUDO_LABELS = ("pl_weight", "sinkhorn", "pseudo_label_source", "teacher")
OF_SINKHORN = ("epsilon", "sinkhorn_iterations", "relaxation", "prior", "pseudo_label_scores")
OF_ESTIMATED_PRIOR = ("prior_shrinkage", "prior_momentum")
OF_CLUSTERING = ("kl_weight", "centroids")
OF_PARTITIONS = ("batch", "parts", "halo", "steps_per_epoch")


def effective(parameters):
    values = DEFAULTS | dict(parameters)
    idle = {"random_state"} | {name for name, backbones in OF_BACKBONE.items() if values["backbone"] not in backbones}
    if not values["soft_orthogonality"] or not values["beta"]:
        values["soft_orthogonality"] = False
        idle.add("beta")
    if not values["kl"]:
        idle.update(OF_CLUSTERING)
    if not values["pl"]:
        idle.update(OF_PSEUDO_LABELS + OF_SINKHORN + OF_ESTIMATED_PRIOR)
    elif not values["sinkhorn"]:
        idle.update(OF_SINKHORN + OF_ESTIMATED_PRIOR)
    elif not isinstance(values["prior"], str) or values["prior"] != "estimated":
        idle.update(OF_ESTIMATED_PRIOR)
    if values["batch"] == "full":
        idle.update(OF_PARTITIONS)
    if values["pl"] and values["pseudo_label_source"] != "clean":
        idle.add("teacher")
    if not values["kl"] and not values["pl"]:
        idle.update(("warmup", "ramp", "choose_from"))
    return {name: value for name, value in values.items() if name not in idle}


def _whole(cls, parameters):
    values = {name: row.before for name, row in cls.PARAMETERS.items()} | dict(parameters)
    return {name: value for name, value in values.items() if name != "random_state"}


NCGC.PARAMETERS = PARAMETERS
NCGC.effective_parameters = staticmethod(effective)
NCGC.past_parameters = staticmethod(
    lambda stored: effective({n: p.before for n, p in PARAMETERS.items()} | dict(stored))
)
NCGC.title, NCGC.paper, NCGC.family, NCGC.cost = (
    "NCGC",
    "this package",
    "ours",
    "a backbone's, and K² to d² numbers more",
)
NCGC.inductive = NCGC.trains_in_processes = NCGC.resumable = True
Method.trains_in_processes = Method.resumable = False
Method.effective_parameters = classmethod(_whole)
Method.past_parameters = classmethod(_whole)


def _description(self):
    values = self.get_params()
    parts = [f"β {values['beta']:g}"] if values["soft_orthogonality"] and values["beta"] else []
    parts += [name.upper() for name in ("kl", "pl") if values[name]]
    size = f"{values['num_layers']} × {values['hidden']}"
    return f"{values['backbone']} {size}, " + (", ".join(parts) if parts else "plain")


NCGC.description = property(_description)
Method.description = property(
    lambda self: f"{self.title}, " + ", ".join(f"{n} {v}" for n, v in self.get_params().items() if n != "random_state")
)
NCGC.display_name = property(lambda self: f"NCGC ({self.backbone})")
Method.display_name = property(lambda self: self.title)
NCGC.max_epochs = property(lambda self: self.epochs)
Method.max_epochs = property(lambda self: getattr(self, "epochs", 1))
CLASSIFIERS = {"ncgc": NCGC, **METHODS}


def find_classifier(name: str) -> Any:
    if name not in CLASSIFIERS:
        raise ParameterError(unknown_name(name, CLASSIFIERS, "method"))
    return CLASSIFIERS[name]


def settings_for(name, dataset=None, given=None, preset=DEFAULT_PRESET):
    given = given or {}
    if name == "ncgc":
        return recipe(given, dataset or "", preset)
    if preset != "default":
        raise ParameterError(f"The settings {preset!r} are NCGC's; {name} has its own, which --set changes.")
    return {k: v for k, v in method_preset(name, dataset, find_classifier(name).PARAMETERS).items() if k not in given}
