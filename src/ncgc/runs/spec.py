"""Run: one training on one split, fully described, so that it need never be made twice."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ncgc.datasets.catalogue import family_of, find_info
from ncgc.params.heuristics import automatic_input_dropout, automatic_norm, automatic_weight_decay
from ncgc.params.parameter import DEFAULTS, PARAMETERS

PLAIN = {"soft_orthogonality": False, "kl": False, "pl": False}  # the backbone alone
# parameters that mean something only to some backbones
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


@dataclass(frozen=True)
class Run:
    """One training: data set, split and its seed, method and every parameter.

    ``seed`` draws the split and the model; on the paper's split of a citation graph, which is one, the model alone.

    >>> run = Run("cora", "random", seed=3)
    >>> run.key == Run("cora", "random", seed=3, parameters={"epochs": 150}).key  # 150 is the default
    True
    """

    dataset: str
    split: str
    labels_per_class: int | None = None
    seed: int = 0
    method: str = "ncgc"
    blind: bool = False  # validation nodes are kept from training and only measured
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter that has an effect, given or default."""
        return effective(self.parameters) if self.method == "ncgc" else whole(self.method, self.parameters)

    @cached_property
    def key(self) -> str:
        """Sixteen hexadecimal digits that are equal for equal runs."""
        return key_of(
            self.dataset, self.split, self.labels_per_class, self.seed, self.method, self.settings, self.blind
        )


def key_of(
    dataset: str,
    split: str,
    labels_per_class: int | None,
    seed: int,
    method: str,
    settings: Mapping[str, Any],
    blind: bool = False,
) -> str:
    if split == "paper" and family_of(dataset) != "citation":
        split = "random"  # the paper draws these anew for every seed, just as we do
    if labels_per_class is None:
        labels_per_class = {"random": 20, "few": 1}.get(split)  # what such a split takes when nothing is said
    parts = [dataset, split, labels_per_class, seed, method, blind, _plain(resolved(dataset, settings))]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def resolved(dataset: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with what "auto" comes to on this data set: what is done counts, not what it is called.

    >>> resolved("photo", {"norm": "auto"}), resolved("cs", {"weight_decay": "auto"})
    ({'norm': 'layer'}, {'weight_decay': 0.0005})
    """
    about = find_info(dataset)
    values = {
        "norm": automatic_norm(about.density),
        "input_dropout": automatic_input_dropout(about.density),
        "weight_decay": automatic_weight_decay(about.mean_degree, about.density),
    }
    auto = {name for name in values if isinstance(settings.get(name), str) and settings[name] == "auto"}
    return {name: values[name] if name in auto else value for name, value in settings.items()}


def key_of_record(record: Mapping[str, Any]) -> str:
    """The key of a stored run. A parameter that is younger than the record is taken as what was done before it."""
    settings = record["settings"]
    if record["method"] == "ncgc":
        settings = effective({name: p.before for name, p in PARAMETERS.items()} | settings)
    else:
        settings = whole(record["method"], settings)
    dataset, split, labels = (record[name] for name in ("dataset", "split", "labels_per_class"))
    return key_of(dataset, split, labels, record["seed"], record["method"], settings, record.get("blind", False))


def effective(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All of NCGC's parameters, without those that change nothing given the others, and without the seed.

    >>> "epsilon" in effective({"pl": False}), "heads" in effective({"backbone": "gcn"})
    (False, False)
    """
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
        idle.update(OF_PARTITIONS)  # "batch" too, so that what was run before it existed keeps its key
    if values["pl"] and values["pseudo_label_source"] != "clean":
        idle.add("teacher")
    if not values["kl"] and not values["pl"]:
        idle.update(("warmup", "ramp", "choose_from"))
    return {name: value for name, value in values.items() if name not in idle}


def whole(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of another method, given or default, without the seed.

    >>> whole("label_spreading", {"alpha": 0.5})
    {'alpha': 0.5, 'iterations': 1000, 'tolerance': 1e-06}
    """
    from ncgc.models.registry import METHODS  # torch comes with it

    rows = METHODS[method].PARAMETERS if method in METHODS else {}
    values = {name: row.before for name, row in rows.items()} | dict(parameters)
    return {name: value for name, value in values.items() if name != "random_state"}


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as floats, so that 1 and 1.0 are one setting."""

    def number(value: Any) -> Any:
        if isinstance(value, tuple | list | np.ndarray):
            return [number(part) for part in value]
        if isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        return value

    return {name: number(value) for name, value in settings.items()}
