"""NCGC: from a graph with a few labels to labels for the rest, in scikit-learn's manners."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ncgc.datasets import Split
from ncgc.evaluation.calibration import FOLDS, Calibration, FoldWatcher, calibrate
from ncgc.evaluation.metrics import labelled_accuracy
from ncgc.graph import Graph
from ncgc.graph.features import FeatureNormalizer
from ncgc.graph.validation import check_is_graph, check_same_features, labels_among
from ncgc.losses import Objective, initial_centroids, student_t
from ncgc.models.ncgc_parts import make_network, make_objective, make_selection, trainer_settings, weight_decay
from ncgc.nn import SOGN, GraphOperators, Output
from ncgc.params.parameter import PARAMETERS, check_parameters
from ncgc.training import Trainer, TrainingResult, Watcher
from ncgc.training.checkpoint import Checkpoints, about_training
from ncgc.training.engines.partition.inference import exact_output
from ncgc.training.engines.partition.part_operators import Source
from ncgc.training.engines.partition.trainer import PartitionTrainer, check_by_parts


class NCGC(BaseEstimator):
    """Semi-supervised node classification with self-supervised graph clustering.

    A GNN with soft orthogonal layers, trained on L = L_class + L_KL + L_PL: cross-entropy on the labelled nodes, deep
    embedded clustering over all, and Sinkhorn-balanced pseudo-labels on the unlabelled. Every parameter is described in
    ``ncgc.params.parameter`` and by ``ncgc train --help``; the four switches ``soft_orthogonality``, ``kl``, ``pl`` and
    ``sinkhorn`` take parts out for ablation, and all off but ``sinkhorn`` is the plain backbone.

    Fitted attributes:
        classes_: (K,) class names. network_: the trained :class:`SOGN`. history_: what happened each epoch.
        best_epoch_: the epoch whose weights were kept. termination_: why training ended.
        prior_: (K,) class shares that the last pseudo-labels were balanced toward.
        transduction_: (n,) a label for every node, the given ones where given.
        clusters_: (n,) the cluster of every node: k-means on the trained embeddings, or the prototypes without the KL part.
        scaling_: the :class:`FeatureNormalizer` learnt from the fitted graph, which every other graph gets too.
        calibration_: None, or what :meth:`calibrate` learnt.
        seeds_: the seeds drawn from ``random_state``. extra_: what a file this model was loaded from says besides.

    >>> from ncgc import load_dataset
    >>> from ncgc.datasets import few_split
    >>> graph = load_dataset("digits")
    >>> model = NCGC(epochs=20, warmup=5, ramp=5).fit(graph, few_split(graph, 3, seed=0))
    >>> model.predict().shape, model.predict_proba().shape
    ((1797,), (1797, 10))
    """

    def __init__(
        self,
        backbone: Any = PARAMETERS["backbone"].default,
        *,
        hidden: int = PARAMETERS["hidden"].default,
        num_layers: int = PARAMETERS["num_layers"].default,
        beta: float = PARAMETERS["beta"].default,
        dropout: float = PARAMETERS["dropout"].default,
        input_dropout: float | str = PARAMETERS["input_dropout"].default,
        node_dropout: float = PARAMETERS["node_dropout"].default,
        norm: str | None = PARAMETERS["norm"].default,
        residual: bool = PARAMETERS["residual"].default,
        features: str = PARAMETERS["features"].default,
        heads: int = PARAMETERS["heads"].default,
        attention_dropout: float = PARAMETERS["attention_dropout"].default,
        alpha: float = PARAMETERS["alpha"].default,
        theta: float = PARAMETERS["theta"].default,
        steps: int = PARAMETERS["steps"].default,
        soft_orthogonality: bool = PARAMETERS["soft_orthogonality"].default,
        kl: bool = PARAMETERS["kl"].default,
        pl: bool = PARAMETERS["pl"].default,
        sinkhorn: bool = PARAMETERS["sinkhorn"].default,
        class_weight: float = PARAMETERS["class_weight"].default,
        kl_weight: float = PARAMETERS["kl_weight"].default,
        pl_weight: float = PARAMETERS["pl_weight"].default,
        epsilon: float = PARAMETERS["epsilon"].default,
        sinkhorn_iterations: int = PARAMETERS["sinkhorn_iterations"].default,
        relaxation: float | str = PARAMETERS["relaxation"].default,
        prior: Any = PARAMETERS["prior"].default,
        prior_shrinkage: float = PARAMETERS["prior_shrinkage"].default,
        prior_momentum: float = PARAMETERS["prior_momentum"].default,
        pseudo_label_source: str = PARAMETERS["pseudo_label_source"].default,
        teacher: float = PARAMETERS["teacher"].default,
        pseudo_label_scores: str = PARAMETERS["pseudo_label_scores"].default,
        centroids: str = PARAMETERS["centroids"].default,
        warmup: int = PARAMETERS["warmup"].default,
        ramp: int = PARAMETERS["ramp"].default,
        learning_rate: float = PARAMETERS["learning_rate"].default,
        schedule: str = PARAMETERS["schedule"].default,
        weight_decay: float | str = PARAMETERS["weight_decay"].default,
        decay_on: str = PARAMETERS["decay_on"].default,
        averaging: float = PARAMETERS["averaging"].default,
        epochs: int = PARAMETERS["epochs"].default,
        patience: int = PARAMETERS["patience"].default,
        weigh_validation: bool = PARAMETERS["weigh_validation"].default,
        choose_from: str = PARAMETERS["choose_from"].default,
        batch: str = PARAMETERS["batch"].default,
        parts: int = PARAMETERS["parts"].default,
        halo: int = PARAMETERS["halo"].default,
        steps_per_epoch: int = PARAMETERS["steps_per_epoch"].default,
        random_state: int | None = PARAMETERS["random_state"].default,
    ):
        self.backbone = backbone
        self.hidden = hidden
        self.num_layers = num_layers
        self.beta = beta
        self.dropout = dropout
        self.input_dropout = input_dropout
        self.node_dropout = node_dropout
        self.norm = norm
        self.residual = residual
        self.features = features
        self.heads = heads
        self.attention_dropout = attention_dropout
        self.alpha = alpha
        self.theta = theta
        self.steps = steps
        self.soft_orthogonality = soft_orthogonality
        self.kl = kl
        self.pl = pl
        self.sinkhorn = sinkhorn
        self.class_weight = class_weight
        self.kl_weight = kl_weight
        self.pl_weight = pl_weight
        self.epsilon = epsilon
        self.sinkhorn_iterations = sinkhorn_iterations
        self.relaxation = relaxation
        self.prior = prior
        self.prior_shrinkage = prior_shrinkage
        self.prior_momentum = prior_momentum
        self.pseudo_label_source = pseudo_label_source
        self.teacher = teacher
        self.pseudo_label_scores = pseudo_label_scores
        self.centroids = centroids
        self.warmup = warmup
        self.ramp = ramp
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.decay_on = decay_on
        self.averaging = averaging
        self.epochs = epochs
        self.patience = patience
        self.weigh_validation = weigh_validation
        self.choose_from = choose_from
        self.batch = batch
        self.parts = parts
        self.halo = halo
        self.steps_per_epoch = steps_per_epoch
        self.random_state = random_state

    # ---------------------------------------------------------------- fitting

    def fit(
        self,
        graph: Graph,
        split: Split | None = None,
        *,
        watch: Watcher | None = None,
        checkpoint: str | Path | None = None,
        every: int = 10,
        resume: bool = False,
    ) -> NCGC:
        """Train on ``split.train``; choose the epoch on ``split.val``, or by a rule without labels when it is empty.

        Args:
            graph: the graph; of its labels, training sees those of ``split.train`` alone.
            split: default: every labelled node trains, none validates.
            watch: called after each epoch with its number and quantities, for a progress bar.
            checkpoint: a folder to write the state of the training to, every ``every`` epochs.
            resume: go on from the latest whole checkpoint in that folder, to the result of an unbroken training; from the
                start where there is none yet.
        """
        parameters = self.get_params(deep=False)
        check_parameters(parameters, type(self).__name__)
        check_is_graph(graph)
        graph.validate()
        split = (Split.from_labels(graph) if split is None else split).validate(graph)
        seeds = np.random.SeedSequence(self.random_state).generate_state(3).tolist()
        scaling = FeatureNormalizer.fit(graph, self.features)
        network = self._network(graph, torch.Generator().manual_seed(seeds[0]))
        objective = self._objective(graph, split)
        rules = (objective, make_selection(parameters, graph, split), trainer_settings(parameters, graph))
        trainer: Trainer
        if self.batch == "full":
            operators = GraphOperators(scaling.apply(graph))
            trainer = Trainer(network, operators, *rules, torch.Generator().manual_seed(seeds[1]), int(seeds[2]), watch)
        else:
            check_by_parts(parameters)
            source = Source(graph, scaling)
            sizes = (self.parts, self.halo, self.steps_per_epoch, int(seeds[1]))
            trainer = PartitionTrainer(network, source, *sizes, *rules, int(seeds[2]), watch)
        if checkpoint is not None:
            ids = torch.arange(graph.num_nodes)
            kept = Checkpoints(checkpoint, about_training(self, graph, split), ids, every, warn=_say_warning)
            trainer.keep = kept.keep
            kept.begin(trainer, resume)
        result = trainer.run()
        self._remember(graph, split, scaling, network, objective, result)
        if isinstance(trainer, PartitionTrainer):
            self._look_at(exact_output(network, trainer.source))
        else:
            self._look(operators)
        self._gather_clusters(int(seeds[2]))
        self.seeds_ = {"weights": seeds[0], "dropout": seeds[1], "centroids": seeds[2]}
        return self

    def _network(self, graph: Graph, generator: torch.Generator) -> SOGN:
        return make_network(self.get_params(deep=False), graph, generator)

    def _decay(self, graph: Graph) -> float:
        return weight_decay(self.get_params(deep=False), graph)

    def _objective(self, graph: Graph, split: Split) -> Objective:
        return make_objective(self.get_params(deep=False), graph, split)

    def _remember(
        self,
        graph: Graph,
        split: Split,
        scaling: FeatureNormalizer,
        network: SOGN,
        objective: Objective,
        result: TrainingResult,
    ) -> None:
        if result.termination.startswith("the loss was not finite"):
            warnings.warn(
                f"{result.termination[0].upper()}{result.termination[1:]}; the weights of epoch {result.best_epoch} are kept. "
                f"Lower the learning rate ({self.learning_rate}) or scale the features (features='row').",
                RuntimeWarning,
                stacklevel=3,
            )
        self.calibration_: Calibration | None = None
        self.classes_ = graph.classes
        self.n_features_in_ = graph.num_features
        self.network_ = network
        self.centroids_ = result.centroids
        self.history_ = result.history
        self.best_epoch_ = result.best_epoch
        self.termination_ = result.termination
        self.seconds_ = result.seconds
        self.prior_ = objective.prior.numpy()
        self.graph_, self.split_, self.scaling_ = graph, split, scaling
        self.extra_: dict[str, Any] = {}

    def _look(self, operators: GraphOperators) -> None:
        """What the network says of the fitted graph: after training, and after loading."""
        self._look_at(self._walk(operators))

    def _look_at(self, output: Output) -> None:
        self._output = output
        labels = output.logits.argmax(dim=1).numpy()
        given = self.split_.training_labels(self.graph_)
        self.transduction_ = self.classes_[np.where(given >= 0, given, labels)]
        self.clusters_ = self._clusters(output)

    def _gather_clusters(self, seed: int) -> None:
        """Centroids of the clusters that the trained embeddings form.

        The centroids of the last epoch need not lie among them: weight decay draws the embeddings together, and the
        centroids stay where they were, until one of them is nearest to all.
        """
        if self.centroids_ is not None:
            embeddings = self.network_.clustered(self._output)
            self.centroids_ = initial_centroids(embeddings, len(self.classes_), "kmeans", seed)
            self.clusters_ = self._clusters(self._output)

    def _clusters(self, output: Output) -> np.ndarray:
        """(n,) cluster numbers: the nearest centroid, or the prototype of most weight without the KL part."""
        centroids = self.centroids_
        scores = output.logits if centroids is None else student_t(self.network_.clustered(output), centroids)
        numbers: np.ndarray = scores.argmax(dim=1).numpy()
        return numbers

    # ---------------------------------------------------------------- keeping

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the fitted model, and the graph it was fitted on, to a folder that :meth:`load` reads; nothing is pickled."""
        from ncgc.io.model_file.model_file import save_model

        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> NCGC:
        """The model in a folder that :meth:`save` wrote; it predicts what the saved one did, to the bit."""
        from ncgc.io.model_file.model_file import load_model_of

        return load_model_of(cls, path)

    # ---------------------------------------------------------------- using

    def predict(self, graph: Graph | None = None) -> np.ndarray:
        """(n,) the most probable class of every node of the fitted graph, or of another graph with the same features."""
        logits = self._outputs(graph).logits
        predicted: np.ndarray = self.classes_[logits.argmax(dim=1).numpy()]
        return predicted

    def predict_proba(self, graph: Graph | None = None) -> np.ndarray:
        """(n, K) probabilities softmax(H·W_proto), columns in the order of ``classes_``; calibrated after :meth:`calibrate`."""
        logits = self._outputs(graph).logits.double()
        if self.calibration_ is not None:
            return self.calibration_.probabilities(logits.numpy())
        probabilities: np.ndarray = logits.softmax(dim=1).numpy()
        return probabilities

    def decision_function(self, graph: Graph | None = None) -> np.ndarray:
        """(n, K) logits H·W_proto, columns in the order of ``classes_``."""
        logits: np.ndarray = self._outputs(graph).logits.double().numpy()
        return logits

    def calibrate(self, folds: int = FOLDS, watch: FoldWatcher | None = None) -> NCGC:
        """Make :meth:`predict_proba` mean what it says, by the validation labels or by cross-fitting the training labels.

        Cross-fitting trains ``folds`` more models, each without its share of the labels. Sets ``calibration_``.
        """
        self._outputs(None)  # fitted?
        self.calibration_ = calibrate(self, folds, watch)
        return self

    def transform(self, graph: Graph | None = None) -> np.ndarray:
        """(n, d) embeddings H."""
        embeddings: np.ndarray = self._outputs(graph).embeddings.numpy().copy()
        return embeddings

    def predict_clusters(self, graph: Graph | None = None) -> np.ndarray:
        """(n,) the cluster of every node: ``clusters_``, or of another graph by the same centroids."""
        return self._clusters(self._outputs(graph))

    def fit_predict(self, graph: Graph, split: Split | None = None) -> np.ndarray:
        """:meth:`fit`, then a label for every node, the given ones where given."""
        return self.fit(graph, split).transduction_

    def score(self, graph: Graph | None = None, nodes: np.ndarray | None = None) -> float:
        """Accuracy on ``nodes`` (default: the test nodes of the split; of another graph, all labelled nodes)."""
        predicted = self._outputs(graph).logits.argmax(dim=1).numpy()
        truth = self.graph_.labels if graph is None else labels_among(graph, self.classes_)
        if nodes is None:
            nodes = self.split_.test if graph is None else np.flatnonzero(truth >= 0)
        return labelled_accuracy(predicted, truth, nodes)

    def _outputs(self, graph: Graph | None) -> Output:
        if not hasattr(self, "network_"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(graph, split) first.")
        if graph is None:
            return self._output
        check_is_graph(graph)
        check_same_features(graph, self.n_features_in_)
        if self.batch == "partitions":
            return exact_output(self.network_, Source(graph, self.scaling_))
        return self._walk(GraphOperators(self.scaling_.apply(graph)))

    def _walk(self, operators: GraphOperators) -> Output:
        with torch.no_grad():
            output: Output = self.network_.eval()(operators)
        return output


def _say_warning(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=4)
