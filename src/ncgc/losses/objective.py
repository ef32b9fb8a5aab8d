"""The objective L = w·L_class + r·(w_KL·L_KL + w_PL·L_PL), as named parts; the network is not computed here.

w are the weights, and the ramp r grows from 0 to 1 after the warm-up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from ncgc.errors import ParameterError, TrainingError
from ncgc.losses._arguments import DEFAULTS, check_argument, check_count
from ncgc.losses.classification import hard_cross_entropy, soft_cross_entropy
from ncgc.losses.embedded_clustering import embedded_clustering_loss
from ncgc.losses.prior import Prior, PriorEstimate, resolve_prior
from ncgc.losses.sinkhorn import marginal_error, sinkhorn
from ncgc.losses.softmax import row_softmax
from ncgc.ops import ALONE, Reduction

_CHECKED = (
    "label_loss_weight", "kl_weight", "pl_weight", "epsilon", "sinkhorn_iterations", "relaxation", "prior_momentum",
    "prior_shrinkage", "pseudo_label_scores", "warmup", "ramp",
)  # fmt: skip


@dataclass(frozen=True)
class ObjectiveSettings:
    """Weights and schedule of the losses; ranges and defaults are those of NCGC's hyper-parameters.

    Args:
        label_loss_weight: weight of the cross-entropy on the labelled nodes.
        kl_weight: weight of deep embedded clustering over all nodes; 0 switches it off.
        pl_weight: weight of the pseudo-label loss on the unlabelled nodes; 0 switches it off.
        epsilon: ε of Sinkhorn.
        sinkhorn_iterations: T of Sinkhorn.
        relaxation: κ of Sinkhorn: 1 balances the classes exactly (the paper), 0 not at all.
        prior: class shares of the pseudo-labels: ``"uniform"`` (the paper), ``"estimated"`` (from the model's own
            predictions), or K shares known from elsewhere, never from the labels to be predicted.
        prior_momentum: momentum of :class:`ncgc.losses.PriorEstimate`.
        prior_shrinkage: shrinkage of :class:`ncgc.losses.PriorEstimate`.
        use_sinkhorn: ``False`` takes the predicted probabilities as pseudo-labels (the paper's ablation).
        pseudo_label_scores: input of Sinkhorn: ``"probabilities"`` (the paper), ``"log_probabilities"`` or ``"logits"``.
        warmup: epochs on the labels alone. With all losses from the first epoch, accuracy on Cora falls by 2 points.
        ramp: epochs after the warm-up in which the weights of KL and pseudo-labels grow to their full size.

    Raises:
        ParameterError: for a value out of range.

    Example:
        >>> from ncgc.losses import ObjectiveSettings
        >>> ObjectiveSettings(epsilon=0.5, pseudo_label_scores="log_probabilities", relaxation=0.3, prior="estimated").epsilon
        0.5
    """

    label_loss_weight: float = DEFAULTS["label_loss_weight"]
    kl_weight: float = DEFAULTS["kl_weight"]
    pl_weight: float = DEFAULTS["pl_weight"]
    epsilon: float = DEFAULTS["epsilon"]
    sinkhorn_iterations: int = DEFAULTS["sinkhorn_iterations"]
    relaxation: float = 1.0  # NCGC's "auto" needs the number of labels, so the caller resolves it; 1 is the paper's
    prior: Prior = DEFAULTS["prior"]
    prior_momentum: float = DEFAULTS["prior_momentum"]
    prior_shrinkage: float = DEFAULTS["prior_shrinkage"]
    use_sinkhorn: bool = DEFAULTS["sinkhorn"]
    pseudo_label_scores: str = DEFAULTS["pseudo_label_scores"]
    warmup: int = DEFAULTS["warmup"]
    ramp: int = DEFAULTS["ramp"]

    def __post_init__(self) -> None:
        owner = "ObjectiveSettings"
        for name in _CHECKED:
            check_argument(owner, name, getattr(self, name))
        if isinstance(self.prior, str):
            check_argument(owner, "prior", self.prior)
        elif self.prior is not None:  # as a tuple, so that settings compare and hash
            shares = torch.as_tensor(self.prior).detach().flatten().tolist()
            resolve_prior(shares, len(shares), owner)
            object.__setattr__(self, "prior", tuple(shares))


class Objective:
    """The three losses of one training run, over nodes fixed at the start.

    Args:
        settings: weights and schedule.
        num_classes: K.
        train_index: (l,) labelled nodes.
        train_labels: (l,) their classes, 0 to K−1: the only labels that are used.
        unlabelled_index: (u,) distinct nodes that get pseudo-labels; none of them labelled.
        reduction: completes sums over nodes, where these are some nodes of the graph. Each part is then the sum over the
            local nodes divided by the count in the whole graph, so that the parts of all processes add up to the loss.

    Attributes:
        prior: (K,) class shares that the next pseudo-labels are balanced toward.
        marginal_error: total variation between them and the shares of the latest pseudo-labels; ``None`` before the first.

    Raises:
        ParameterError: if nodes and labels do not fit together.

    Example:
        >>> import torch
        >>> from ncgc.losses import Objective, ObjectiveSettings
        >>> nodes = torch.arange(4)
        >>> objective = Objective(ObjectiveSettings(warmup=1, ramp=2), 2, nodes[:2], torch.tensor([0, 1]), nodes[2:])
        >>> embeddings, centroids = torch.eye(4), torch.eye(4)[:2]
        >>> logits = torch.zeros(4, 2, requires_grad=True)
        >>> sorted(objective(embeddings, logits, centroids, epoch=0)), objective.ramp(0)
        (['class'], 0.0)
        >>> parts = objective(embeddings, logits, centroids, epoch=1)
        >>> sorted(parts), objective.ramp(1)
        (['class', 'kl', 'pl'], 0.5)
        >>> objective.total(parts, epoch=1).backward()
    """

    def __init__(
        self,
        settings: ObjectiveSettings,
        num_classes: int,
        train_index: Tensor,
        train_labels: Tensor,
        unlabelled_index: Tensor,
        reduction: Reduction = ALONE,
    ) -> None:
        check_count("Objective", "num_classes", num_classes)
        train_index, train_labels = _as_index("train_index", train_index), _as_index("train_labels", train_labels)
        unlabelled_index = _as_index("unlabelled_index", unlabelled_index)
        if len(train_index) != len(train_labels):
            raise ParameterError(
                f"Objective got {len(train_labels)} labels for {len(train_index)} labelled nodes; give one a node."
            )
        if len(train_labels) and not 0 <= int(train_labels.min()) <= int(train_labels.max()) < num_classes:
            raise ParameterError(
                f"The 'train_labels' of Objective must be classes from 0 to {num_classes - 1}. "
                f"Got values from {int(train_labels.min())} to {int(train_labels.max())} instead."
            )
        if len(unlabelled_index.unique()) != len(unlabelled_index):
            raise ParameterError("The 'unlabelled_index' of Objective names a node twice; give every node once.")
        both = int(torch.isin(unlabelled_index, train_index).sum())
        if both:
            raise ParameterError(
                f"{both} nodes are both in 'train_index' and in 'unlabelled_index' of Objective; a labelled node gets no pseudo-label."
            )
        self.settings = settings
        self.num_classes = num_classes
        self.train_index = train_index
        self.train_labels = train_labels
        self.unlabelled_index = unlabelled_index
        self.reduction = reduction
        # counts of the whole graph; None where these are all nodes, so that torch computes the means
        self._labelled, self._unlabelled = (
            None if reduction.alone else reduction.count(len(index)) for index in (train_index, unlabelled_index)
        )
        self._nodes: int | None = None
        self.marginal_error: float | None = None
        self.estimate: PriorEstimate | None = None
        if isinstance(settings.prior, str) and settings.prior == "estimated":
            self.estimate = PriorEstimate(num_classes, settings.prior_momentum, settings.prior_shrinkage)
            self._fixed_prior = resolve_prior(None, num_classes)
        else:
            self._fixed_prior = resolve_prior(settings.prior, num_classes, "Objective")

    @property
    def prior(self) -> Tensor:
        """(K,) class shares that the next pseudo-labels are balanced toward."""
        return self._fixed_prior if self.estimate is None else self.estimate.value

    def ramp(self, epoch: int) -> float:
        """Factor of the weights of KL and pseudo-labels in an epoch.

        Args:
            epoch: counted from 0.

        Returns:
            0 in the warm-up, then rising linearly to 1.
        """
        past = epoch - self.settings.warmup + 1  # 1 in the first epoch after the warm-up
        return min(max(past, 0) / max(self.settings.ramp, 1), 1.0)

    def targets(self, source_logits: Tensor) -> Tensor:
        """Pseudo-labels Ψ of the unlabelled nodes; an estimated prior is updated with these predictions first.

        Args:
            source_logits: (n, K) logits of all nodes.

        Returns:
            Ψ, (u, K), detached.
        """
        settings = self.settings
        with torch.no_grad():
            logits = source_logits.detach().index_select(0, self.unlabelled_index)
            probabilities = None
            plain = not settings.use_sinkhorn or settings.pseudo_label_scores == "probabilities"
            if plain or self.estimate is not None:
                probabilities = row_softmax(logits)
            if self.estimate is not None and probabilities is not None:
                self.estimate.update(probabilities, self.reduction)
            prior = self.prior
            if plain and probabilities is not None:
                scores = probabilities
            elif settings.pseudo_label_scores == "log_probabilities":
                scores = logits.log_softmax(1)
            else:
                scores = logits
            if settings.use_sinkhorn:
                rounds, relaxation = settings.sinkhorn_iterations, settings.relaxation
                scores = sinkhorn(scores, settings.epsilon, rounds, prior, relaxation, self.reduction)
            self.marginal_error = marginal_error(scores, prior, self.reduction)
        return scores

    def __call__(
        self,
        embeddings: Tensor,
        logits: Tensor,
        centroids: Tensor | None,
        epoch: int,
        source_logits: Tensor | None = None,
        targets: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """The parts of the loss in this epoch, unweighted; what is switched off or still warming up is not computed.

        Args:
            embeddings: H, (n, d).
            logits: (n, K).
            centroids: C, (K, d); ``None`` leaves out the KL part.
            epoch: counted from 0.
            source_logits: (n, K) logits for the pseudo-labels, such as those of an evaluation pass; ``logits`` if ``None``.
            targets: (u, K) pseudo-labels, where they are known already.

        Returns:
            ``{"class": …, "kl": …, "pl": …}``, scalars, or fewer.
        """
        settings = self.settings
        parts: dict[str, Tensor] = {}
        if settings.label_loss_weight > 0 and (len(self.train_index) if self._labelled is None else self._labelled):
            rows = logits.index_select(0, self.train_index)
            parts["class"] = hard_cross_entropy(rows, self.train_labels, self._labelled)
        if self.ramp(epoch) == 0:
            return parts
        if settings.kl_weight > 0 and centroids is not None:
            if self._nodes is None and not self.reduction.alone:
                self._nodes = self.reduction.count(len(embeddings))
            parts["kl"] = embedded_clustering_loss(
                embeddings, centroids, reduction=self.reduction.of("frequencies"), count=self._nodes
            )
        if settings.pl_weight > 0 and (len(self.unlabelled_index) if self._unlabelled is None else self._unlabelled):
            if targets is None:
                targets = self.targets(logits if source_logits is None else source_logits)
            parts["pl"] = soft_cross_entropy(logits, targets, self.unlabelled_index, self._unlabelled)
        return parts

    def total(self, parts: Mapping[str, Tensor], epoch: int) -> Tensor:
        """label_loss_weight·class + ramp·(kl_weight·kl + pl_weight·pl), over the parts that are present.

        Args:
            parts: result of calling the objective.
            epoch: counted from 0.

        Returns:
            The loss, a scalar.

        Raises:
            TrainingError: if there are no parts.
        """
        ramp = self.ramp(epoch)
        weights = {
            "class": self.settings.label_loss_weight,
            "kl": ramp * self.settings.kl_weight,
            "pl": ramp * self.settings.pl_weight,
        }
        weighted = [weights[name] * part for name, part in parts.items()]
        if not weighted:
            raise TrainingError(
                f"Epoch {epoch} has nothing to train on: the loss on labels is off or has no node, and clustering and pseudo-labels are off or "
                "still warming up; add labels, raise a weight or set warmup=0."
            )
        return torch.stack(weighted).sum() if len(weighted) > 1 else weighted[0]

    def state_dict(self) -> dict[str, Tensor]:
        """State for checkpoints: the running mean behind an estimated prior, or nothing."""
        return {} if self.estimate is None else {"prior_mean": self.estimate.mean.clone()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Restore what :meth:`state_dict` returned.

        Args:
            state: tensors by name.
        """
        if self.estimate is not None:
            self.estimate.mean = resolve_prior(state["prior_mean"], self.num_classes, "Objective")


def _as_index(name: str, values: Tensor) -> Tensor:
    if values.dim() != 1 or values.is_floating_point() or values.dtype == torch.bool:
        raise ParameterError(
            f"The '{name}' of Objective must be a vector of whole numbers. Got the type {values.dtype} and the shape {tuple(values.shape)} instead."
        )
    return values.long()
