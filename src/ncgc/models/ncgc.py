"""NCGC: node classification with self-supervised graph clustering."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ncgc.datasets import Split
from ncgc.graph import Graph
from ncgc.losses import initial_centroids, student_t
from ncgc.models.base import FitOptions, NodeClassifier, Prediction
from ncgc.models.ncgc_components import (
    make_learner,
    make_network,
    make_objective,
    make_stopping,
    network_description,
    restored_network,
)
from ncgc.nn import SOGN, Output
from ncgc.nn.weights import state_arrays
from ncgc.params.ncgc import NCGCParameters
from ncgc.params.presets import recipe
from ncgc.training import Trainer
from ncgc.training.checkpoint import Checkpoints, about_training
from ncgc.training.engines.distributed.processes import SeveralProcesses
from ncgc.training.engines.placement import OneProcess, Placement, evaluate
from ncgc.training.learner import Learner

NETWORK = "network."  # what the names of the network's arrays begin with in a model file


class NCGC(NCGCParameters, NodeClassifier):
    """Semi-supervised node classification with self-supervised graph clustering.

    A GNN with soft orthogonal layers, trained on L = L_class + L_KL + L_PL: cross-entropy on the labelled nodes, deep
    embedded clustering over all, and Sinkhorn-balanced pseudo-labels on the unlabelled. The parameters are declared in
    :class:`ncgc.params.ncgc.NCGCParameters` and described by ``ncgc train --help``; the four switches
    ``soft_orthogonality``, ``kl``, ``pl`` and ``sinkhorn`` take parts out for ablation, and all off but ``sinkhorn`` is
    the plain backbone. What is not given comes from the recipe of the backbone, such as eight layers for GCNII.

    Fitted attributes, beside those of :class:`NodeClassifier`:
        network_: the trained :class:`SOGN`. normalizer_: how features were normalised; every other graph's are too.
        prior_: (K,) class shares that the last pseudo-labels were balanced toward.
        centroids_: (K, d) cluster centroids, or None without the KL part.
        clusters_: (n,) the cluster of every node: k-means on the trained embeddings, or the prototypes without the KL
            part.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> model = NCGC(epochs=20, warmup=5, ramp=5).fit(graph, few_split(graph, 3, seed=0))
    >>> model.predict().shape, model.predict_proba().shape
    ((1797,), (1797, 10))
    """

    title = "NCGC"
    paper = "the method of this package"
    family = "clustering"
    cost = "two passes of the backbone, Sinkhorn and k-means' distances an epoch"
    inductive = True
    trains_in_processes = True
    resumable = True

    # ---------------------------------------------------------------- describing

    @classmethod
    def recommended(cls, name: str, dataset: str | None, given: Mapping[str, Any], preset: str) -> dict[str, Any]:
        return recipe(given, dataset or "", preset)

    @property
    def display_name(self) -> str:
        return f"{self.title} ({self.backbone})"

    @property
    def description(self) -> str:
        parts = [f"β {self.beta:g}"] if self.soft_orthogonality and self.beta else []
        parts += [name.upper() for name in ("kl", "pl") if getattr(self, name)]
        return f"{self.backbone} {self.num_layers} × {self.hidden}, " + (", ".join(parts) if parts else "plain")

    # ---------------------------------------------------------------- fitting

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        parameters = {name: getattr(self, name) for name in self.PARAMETERS}
        place: Placement = OneProcess() if options.group is None else SeveralProcesses(options.group)
        seeds = place.seeds(np.random.SeedSequence(self.random_state).generate_state(3))
        normalizer = place.place(graph, parameters)
        network = make_network(parameters, graph, torch.Generator().manual_seed(seeds[0]))
        objective = make_objective(parameters, graph, split, place.ownership)
        stopping = make_stopping(parameters, graph, split, place.ownership)
        learner = make_learner(parameters, graph, network, objective, seeds[2])
        trainer = Trainer(place.engine(learner, seeds[1]), stopping, self.epochs, place.watching(options.watch))
        if options.checkpoint is not None:
            about = about_training(self, graph, split)
            Checkpoints.of(options.checkpoint, about, place.ids, place.peers, _warn).attach(trainer)
        result = trainer.run()
        communication = place.finish()
        output = place.output(network)
        # only now, so that a training that fails leaves an earlier fit as it was
        self.centroids_ = _final_centroids(learner, network, output, seeds[2]) if place.complete else None
        self.network_, self.normalizer_, self.prior_ = network, normalizer, objective.prior.numpy()
        self.seeds_ = {"weights": seeds[0], "dropout": seeds[1], "centroids": seeds[2]}
        self.communication_ = communication
        return _prediction(
            output,
            history=result.history,
            best_epoch=result.best_epoch,
            termination=result.termination,
            seconds=result.seconds,
            complete=place.complete,
        )

    # ---------------------------------------------------------------- using

    def predict_clusters(self, graph: Graph | None = None) -> np.ndarray:
        """The cluster of every node, by the centroids of the fitted graph.

        Args:
            graph: another graph with the same features; default: the fitted graph.

        Returns:
            (n,) cluster numbers.
        """
        return self._clusters(self._predicted(graph))

    def _clusters(self, prediction: Prediction) -> np.ndarray:
        """(n,) the nearest centroid, or the prototype of most weight without the KL part."""
        logits = torch.from_numpy(prediction.logits).float()
        if self.centroids_ is None:
            scores = logits
        else:
            output = Output(torch.from_numpy(prediction.embeddings), logits)
            scores = student_t(self.network_.clustered(output), self.centroids_)
        numbers: np.ndarray = scores.argmax(dim=1).numpy()
        return numbers

    def _predict_other(self, graph: Graph) -> Prediction:
        return _prediction(evaluate(self.network_, graph, self.normalizer_, self.batch))

    # ---------------------------------------------------------------- keeping

    def _arrays(self) -> dict[str, np.ndarray]:
        if not (isinstance(self.backbone, str) and isinstance(self.network_.backbone, str)):
            raise ValueError(
                "The backbone of this model is a function of yours, which cannot be kept in a file; use the model in the "
                "program that made it, or fit one with a backbone by name."
            )
        arrays = {NETWORK + name: array for name, array in state_arrays(self.network_).items()}
        arrays["prior"] = np.asarray(self.prior_)
        if self.centroids_ is not None:
            arrays["centroids"] = self.centroids_.detach().contiguous().numpy()
        return arrays

    def _details(self) -> dict[str, Any]:
        return {"network": network_description(self.network_)}

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray], details: Mapping[str, Any]) -> None:
        if not isinstance(details.get("network"), Mapping):
            raise ValueError("model.json has no 'network'")
        own = {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
        self.network_ = restored_network(details["network"], own, graph.num_features, graph.num_classes)
        width = graph.num_classes if self.network_.decoupled else self.network_.hidden
        centroids = _stored(arrays, "centroids", np.float32, (graph.num_classes, width))
        self.centroids_ = None if centroids is None else torch.from_numpy(centroids)
        prior = _stored(arrays, "prior", np.float64, (graph.num_classes,))
        if prior is None:
            raise ValueError("weights.safetensors has no tensor 'prior'")
        self.prior_ = prior


def _final_centroids(learner: Learner, network: SOGN, output: Output, seed: int) -> torch.Tensor | None:
    """(K, d) the centroids of the clusters that the trained embeddings form; None without the KL part.

    The centroids of the last epoch need not lie among the embeddings: weight decay draws these together, and the
    centroids stay where they were, until one of them is nearest to all.
    """
    assert learner.supervision is not None
    if learner.supervision.centroids is None:
        return None
    return initial_centroids(network.clustered(output), output.logits.shape[1], "kmeans", seed)


def _prediction(output: Output, **rest: Any) -> Prediction:
    return Prediction(output.logits.double().numpy(), output.embeddings.numpy(), **rest)


def _stored(
    arrays: dict[str, np.ndarray], name: str, kind: type[np.generic], shape: tuple[int, ...]
) -> np.ndarray | None:
    array = arrays.get(name)
    if array is not None and (array.dtype != kind or array.shape != shape):
        raise ValueError(f"the tensor {name!r} has the type {array.dtype} and the shape {array.shape}, not {shape}")
    return None if array is None else array.copy()


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=6)
