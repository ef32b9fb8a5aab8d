"""The hyper-parameters of NCGC, declared once, without importing torch: the command line reads them for its help."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from ncgc.params.parameter import Declared, Parameter, declared

BACKBONES = ("gcn", "gat", "sage", "gcnii", "appnp")
# parameters that have an effect with some backbones only
BACKBONES_OF: dict[str, tuple[str, ...]] = {
    "heads": ("gat",),
    "attention_dropout": ("gat",),
    "alpha": ("gcnii", "appnp"),
    "theta": ("gcnii",),
    "steps": ("appnp",),
}
# parameters of a part that can be switched off
OF_PSEUDO_LABELS = ("pl_weight", "sinkhorn", "pseudo_label_source", "teacher")
OF_SINKHORN = ("epsilon", "sinkhorn_iterations", "relaxation", "prior", "pseudo_label_scores")
OF_ESTIMATED_PRIOR = ("prior_shrinkage", "prior_momentum")
OF_CLUSTERING = ("kl_weight", "centroids")
OF_PARTITIONS = ("batch", "parts", "halo", "steps_per_epoch")

_network = partial(declared, group="Network")
_objective = partial(declared, group="Objective")
_training = partial(declared, group="Training")


class NCGCParameters(Declared):
    """What :class:`ncgc.NCGC` takes. The four switches of the objective take parts out, for ablation.

    What is not given comes from the recipe of the backbone (``settings/default.toml``), then from the defaults here.
    """

    POSITIONAL: ClassVar[tuple[str, ...]] = ("backbone",)

    # ---------------------------------------------------------------- network

    backbone: Any = _network(
        "gcn",
        "whose propagation the layers use",
        choices=("gcn", "gat", "sage", "gcnii", "appnp"),
        also="a function (in, out) -> PyG layer",
    )
    hidden: int = _network(64, "width of the hidden layers", low=1)
    num_layers: int = _network(2, "number of layers", low=1)
    beta: float = _network(0.003, "strength of the soft orthogonal constraint", low=0)
    dropout: float = _network(0.7, "dropout on hidden states", low=0, high=1, open_high=True)
    input_dropout: float | str = _network(
        "auto",
        "dropout on the features; auto: 0.5 where they are sparse, none where dense",
        kind=float,
        low=0,
        high=1,
        open_high=True,
        words=("auto",),
    )
    node_dropout: float = _network(
        0.0, "dropout of all features of a node at once", low=0, high=1, open_high=True, past_default=0.0
    )
    norm: str | None = _network(
        "auto",
        "normalisation before the activation; auto: layer where features are dense, none where sparse",
        choices=("auto", "layer", "batch"),
        optional=True,
    )
    residual: bool = _network(False, "add a learnt map of each layer's input to its output")
    features: str = _network(
        "centred",
        "features as they are, each row divided by its sum (row) or its length (unit), or first centred where X is dense",
        choices=("raw", "row", "unit", "centred"),
    )
    heads: int = _network(1, "attention heads (gat); must divide hidden", low=1)
    attention_dropout: float = _network(0.0, "dropout on attention (gat)", low=0, high=1, open_high=True)
    alpha: float = _network(0.1, "share of the start kept at each step (gcnii, appnp)", low=0, high=1)
    theta: float = _network(0.5, "strength of the weights, decaying with depth (gcnii's λ)", low=0)
    steps: int = _network(10, "propagation steps of the logits (appnp)", low=0)

    # ---------------------------------------------------------------- objective

    soft_orthogonality: bool = _objective(True, "the soft orthogonal term in every layer")
    kl: bool = _objective(True, "the embedded-clustering loss")
    pl: bool = _objective(True, "the pseudo-label loss")
    sinkhorn: bool = _objective(True, "balance the pseudo-labels (off: the raw predictions)")
    label_loss_weight: float = _objective(1.0, "weight of the loss on labels", low=0, former_name="class_weight")
    kl_weight: float = _objective(1.0, "weight of the embedded-clustering loss", low=0)
    pl_weight: float = _objective(1.0, "weight of the pseudo-label loss", low=0)
    epsilon: float = _objective(0.5, "entropy of the pseudo-labels (Sinkhorn's ε)", low=0, open_low=True)
    sinkhorn_iterations: int = _objective(10, "rounds of Sinkhorn (T)", low=0)
    relaxation: float | str = _objective(
        "auto",
        "how exactly classes are balanced (κ): 1 exact, 0 not at all, auto by the number of labels",
        kind=float,
        low=0,
        high=1,
        words=("auto",),
    )
    prior: Any = _objective(
        "uniform",
        "class shares to balance toward",
        choices=("uniform", "estimated"),
        also="an array of shares",
        array=True,
    )
    prior_shrinkage: float = _objective(0.5, "how far the estimated shares are drawn to uniform", low=0, high=1)
    prior_momentum: float = _objective(0.9, "memory of the estimated shares", low=0, high=1, open_high=True)
    pseudo_label_source: str = _objective(
        "clean", "targets from a pass without dropout or from the training pass", choices=("clean", "training")
    )
    teacher: float = _objective(
        0.9,
        "memory of the averaged predictions that clean targets come from; 0: the latest predictions",
        low=0,
        high=1,
        open_high=True,
        past_default=0.0,
    )
    pseudo_label_scores: str = _objective(
        "log_probabilities", "what Sinkhorn balances", choices=("probabilities", "log_probabilities", "logits")
    )
    centroids: str = _objective("kmeans", "where cluster centroids begin", choices=("kmeans", "random"))
    warmup: int = _objective(50, "epochs on labels alone", low=0)
    ramp: int = _objective(25, "epochs over which the clustering losses then grow to full weight", low=0)

    # ---------------------------------------------------------------- training

    learning_rate: float = _training(0.02, "step size of Adam", low=0, open_low=True)
    schedule: str = _training(
        "late",
        "step size over the epochs: constant, or falling to 0 as a cosine, all along or in the last third",
        choices=("constant", "cosine", "late"),
        past_default="constant",
    )
    weight_decay: float | str = _training(
        "auto",
        "L2 penalty of Adam; auto: 0.005, or 0.0005 where features are sparse and neighbours many",
        kind=float,
        low=0,
        words=("auto",),
    )
    decay_on: str = _training("all", "which weights decay: all, or the first layer's only", choices=("all", "first"))
    averaging: float = _training(
        0.0,
        "memory of the averaged weights that predict and give pseudo-labels; 0: the latest weights",
        low=0,
        high=1,
        open_high=True,
        past_default=0.0,
    )
    epochs: int = _training(150, "most epochs to train", low=1)
    patience: int = _training(150, "epochs without gain, after warm-up and ramp, before stopping", low=1)
    weigh_validation: bool = _training(
        True, "weigh validation nodes drawn per class by the predicted class shares", past_default=False
    )
    choose_from: str = _training(
        "settled",
        "epochs that validation chooses from: all, or those with the clustering losses at full weight",
        choices=("all", "settled"),
        past_default="all",
    )
    batch: str = _training(
        "full",
        "the whole graph at once, or a part at a time in memory that depends on the part",
        choices=("full", "partitions"),
    )
    parts: int = _training(8, "parts to cut the graph into (partitions)", low=1)
    halo: int = _training(1, "hops around a part that are seen with it (partitions); as many as layers: exact", low=0)
    steps_per_epoch: int = _training(1, "steps an epoch that the parts are dealt to (partitions)", low=1)
    random_state: int | None = _training(0, "seed of weights, dropout and centroids", low=0, optional=True)

    @classmethod
    def recipe(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """What ``settings/default.toml`` has for the backbone in ``given``, such as eight layers for GCNII.

        Args:
            given: the parameters that were passed to the constructor.

        Returns:
            Values for parameters that were not given; none for a backbone that is a function.
        """
        from ncgc.params.presets import recipe  # which checks its files against this table

        return recipe(given)

    @classmethod
    def effective_parameters(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, given or default, without those that change nothing beside the others and without the seed.

        Args:
            parameters: those that were given, by name.

        Returns:
            What decides a result: two runs with the same are the same run.

        >>> "epsilon" in NCGCParameters.effective_parameters({"pl": False})
        False
        """
        values = {name: row.default for name, row in cls.PARAMETERS.items()} | dict(parameters)
        idle = {"random_state"}
        idle |= {name for name, backbones in BACKBONES_OF.items() if values["backbone"] not in backbones}
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
            idle.update(OF_PARTITIONS)  # "batch" too: runs that are older than it keep their key
        if values["pl"] and values["pseudo_label_source"] != "clean":
            idle.add("teacher")
        if not values["kl"] and not values["pl"]:
            idle.update(("warmup", "ramp", "choose_from"))
        return {name: value for name, value in values.items() if name not in idle}


NCGC_PARAMETERS: dict[str, Parameter] = NCGCParameters.PARAMETERS
DEFAULTS: dict[str, Any] = {name: row.default for name, row in NCGC_PARAMETERS.items()}
