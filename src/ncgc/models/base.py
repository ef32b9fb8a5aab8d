"""NodeClassifier: the base of NCGC and of every other method that labels the rest of a graph from a few labels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ncgc.datasets import Split
from ncgc.errors import GraphError, ModelFileError, ParameterError
from ncgc.evaluation.calibration import FOLDS, Calibration, FoldWatcher, calibrate
from ncgc.evaluation.metrics import labelled_accuracy
from ncgc.graph import Graph
from ncgc.graph.validation import check_is_graph, check_same_features, labels_among
from ncgc.params.parameter import Declared, declared
from ncgc.params.presets import DEFAULT_PRESET, method_preset
from ncgc.training import Checkpointing, History, Watcher

if TYPE_CHECKING:
    from ncgc.training.engines.distributed.group import Group

_LEAST = 1e-12  # a probability whose logarithm can still be calibrated
FAMILIES = ("no learning", "classic", "deep", "augmentation", "pseudo-labels", "clustering")


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a classifier found out about all nodes of a graph, and how training went.

    Attributes:
        logits: (n, K) scores whose softmax is the probabilities.
        embeddings: (n, d), or None where the classifier has none.
        history: what happened in each epoch; empty where nothing is trained.
        best_epoch: the epoch whose weights were kept; 0 where nothing is trained.
        termination: why training ended; "solved" where nothing is trained.
        seconds: how long training took, where it knows better than the clock around it (a resumed training does).
        complete: False in all but the first of several processes, which know their own nodes only.
    """

    logits: np.ndarray
    embeddings: np.ndarray | None = None
    history: History = field(default_factory=History)
    best_epoch: int = 0
    termination: str = "solved"
    seconds: float | None = None
    complete: bool = True

    @classmethod
    def from_scores(cls, scores: np.ndarray, shares: np.ndarray, **rest: Any) -> Prediction:
        """From scores that are not negative; a row without any gets the class shares.

        Args:
            scores: (n, K) scores, not negative.
            shares: (K,) class shares, which sum to 1.
            rest: other attributes of the prediction.

        Returns:
            A prediction whose logits are the logarithms of the normalised scores.

        >>> Prediction.from_scores(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([0.5, 0.5])).logits.round(2)
        array([[-0.29, -1.39],
               [-0.69, -0.69]])
        """
        sums = scores.sum(axis=1, keepdims=True)
        probabilities = np.where(sums > 0, scores / np.where(sums > 0, sums, 1), shares)
        return cls(np.log(np.maximum(probabilities, _LEAST)), **rest)


@dataclass(frozen=True)
class FitOptions:
    """What :meth:`NodeClassifier.fit` was given beside the data; see there."""

    watch: Watcher | None = None
    checkpoint: Checkpointing | None = None
    group: Group | None = None


class NodeClassifier(Declared, BaseEstimator):
    """A classifier of the nodes of a graph, in scikit-learn's manners, with one hook: :meth:`_solve`.

    A subclass declares its hyper-parameters in its body (:func:`ncgc.params.parameter.declared`) and describes itself:

    Class attributes:
        title: its name in the field. paper: where it was published. family: one of :data:`FAMILIES`.
        cost: what an epoch, or all of it, takes, in words.
        inductive: whether it can label the nodes of a graph that it was not fitted on.
        deterministic: whether nothing is drawn, so that ``random_state`` has no effect.
        trains_in_processes: whether ``fit`` takes a ``group``. resumable: whether it takes a ``checkpoint``.

    Fitted attributes:
        classes_: (K,) class names. transduction_: (n,) a label for every node, the given ones where given.
        graph_, split_: what it was fitted on. n_features_in_: D.
        history_, best_epoch_, termination_, seconds_: how training went.
        clusters_: (n,) the cluster of every node, or None for a method without clusters.
        seeds_: the seeds that were drawn from ``random_state``, by purpose.
        calibration_: None, or what :meth:`calibrate` learnt. extra_: what a model file carries along.
    """

    title: ClassVar[str]
    paper: ClassVar[str]
    family: ClassVar[str]
    cost: ClassVar[str]
    inductive: ClassVar[bool] = False
    deterministic: ClassVar[bool] = False
    trains_in_processes: ClassVar[bool] = False
    resumable: ClassVar[bool] = False

    random_state: int | None = declared(0, "random seed", low=0, optional=True)
    seeds_: dict[str, int]

    # ---------------------------------------------------------------- what a subclass defines

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        """Label all nodes. Training may use the labels of ``split.train``, the choice of an epoch ``split.val``."""
        raise TypeError(f"{type(self).__name__} must define _solve(graph, split, options).")

    def _predict_other(self, graph: Graph) -> Prediction:
        """Label the nodes of another graph with the same features; of a classifier that is :attr:`inductive`."""
        raise TypeError(f"{type(self).__name__} must define _predict_other(graph).")

    def _arrays(self) -> dict[str, np.ndarray]:
        """Arrays by name that a model file keeps of a fit; of a classifier that is :attr:`inductive`."""
        raise TypeError(f"{type(self).__name__} must define _arrays().")

    def _details(self) -> dict[str, Any]:
        """What a model file keeps as JSON beside parameters and history."""
        return {}

    def _restore(self, graph: Graph, split: Split, arrays: dict[str, np.ndarray], details: Mapping[str, Any]) -> None:
        """Become what :meth:`_arrays` and :meth:`_details` described; a ValueError names what does not fit."""
        raise TypeError(f"{type(self).__name__} must define _restore(graph, split, arrays, details).")

    # ---------------------------------------------------------------- describing

    @classmethod
    def effective_parameters(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, given or default, without those that change nothing beside the others and without the seed.

        Args:
            parameters: those that were given, by name.

        Returns:
            What decides a result: two runs with the same are the same run.
        """
        values = {name: row.default for name, row in cls.PARAMETERS.items()} | dict(parameters)
        return {name: value for name, value in values.items() if name != "random_state"}

    @classmethod
    def past_parameters(cls, stored: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that a stored result was made with, under their present names.

        Args:
            stored: parameters by name; those that did not exist yet are missing.

        Returns:
            :meth:`effective_parameters`, with every missing one at what was done before it existed.
        """
        return cls.effective_parameters(
            {name: row.before for name, row in cls.PARAMETERS.items()} | cls.renamed(stored)
        )

    @classmethod
    def recommended(cls, name: str, dataset: str | None, given: Mapping[str, Any], preset: str) -> dict[str, Any]:
        """Recommended hyper-parameters that the user did not give; see :func:`ncgc.models.registry.settings_for`.

        Args:
            name: of the method, and of its file ``settings/methods/<name>.toml``.
            dataset: the data set, or None for any graph.
            given: the parameters that the user gave.
            preset: name of the settings, "default" for all methods but NCGC.

        Returns:
            Values of parameters that ``given`` does not name.

        Raises:
            ParameterError: for settings that this method does not have.
        """
        if preset != DEFAULT_PRESET:
            raise ParameterError(f"The settings {preset!r} are NCGC's; {name} has its own, which --set changes.")
        values = method_preset(name, dataset, cls.PARAMETERS)
        return {word: value for word, value in values.items() if word not in given}

    @property
    def display_name(self) -> str:
        """What to call it in tables and reports."""
        return self.title

    @property
    def description(self) -> str:
        """Its name and hyper-parameters in one line."""
        names = [name for name in self.PARAMETERS if name != "random_state"]
        return ", ".join([self.title, *(f"{name} {getattr(self, name)}" for name in names)])

    @property
    def max_epochs(self) -> int:
        """The most epochs that training takes; 1 where nothing is trained."""
        return int(getattr(self, "epochs", 1))

    # ---------------------------------------------------------------- fitting

    def fit(
        self,
        graph: Graph,
        split: Split | None = None,
        *,
        watch: Watcher | None = None,
        checkpoint: Checkpointing | None = None,
        group: Group | None = None,
    ) -> Self:
        """Label every node from those of ``split.train``.

        Args:
            graph: the graph; of its labels, training sees those of ``split.train`` alone.
            split: which nodes train, validate and test; default: every labelled node trains, none validates.
            watch: called after each epoch with its number and quantities, for a progress bar.
            checkpoint: where to keep the state of the training, and whether to resume it; of a :attr:`resumable`
                classifier.
            group: the processes that train together; of one that :attr:`trains_in_processes`.

        Returns:
            The fitted classifier itself.
        """
        self.check()
        check_is_graph(graph)
        if checkpoint is not None and not isinstance(checkpoint, Checkpointing):
            raise ParameterError(
                f"The 'checkpoint' of fit must be a Checkpointing(folder, every, resume). Got {checkpoint!r} instead."
            )
        if (checkpoint is not None and not self.resumable) or (group is not None and not self.trains_in_processes):
            raise ParameterError(f"{type(self).__name__} trains in one process, without checkpoints.")
        graph.validate()
        split = (Split.from_labels(graph) if split is None else split).validate(graph)
        start = time.perf_counter()
        prediction = self._solve(graph, split, FitOptions(watch, checkpoint, group))
        self.seconds_ = time.perf_counter() - start if prediction.seconds is None else prediction.seconds
        self.seeds_ = getattr(self, "seeds_", {})
        self.calibration_: Calibration | None = None
        self.extra_: dict[str, Any] = {}
        self._remember(graph, split, prediction)
        if prediction.termination.startswith("the loss was not finite"):
            warnings.warn(
                f"{prediction.termination[0].upper()}{prediction.termination[1:]}; the weights of epoch "
                f"{prediction.best_epoch} are kept. Lower the learning rate ({getattr(self, 'learning_rate', '')}) or "
                "normalise the features (features='row').",
                RuntimeWarning,
                stacklevel=2,
            )
        return self

    def _remember(self, graph: Graph, split: Split, prediction: Prediction) -> None:
        """Set what is known of the fitted graph: after fitting, and after loading."""
        self.classes_, self.graph_, self.split_ = graph.classes, graph, split
        self.n_features_in_ = graph.num_features
        self.history_, self.best_epoch_ = prediction.history, prediction.best_epoch
        self.termination_ = prediction.termination
        self._prediction = prediction
        for name in ("transduction_", "clusters_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if prediction.complete:
            labels = split.training_labels(graph)
            self.transduction_ = self.classes_[np.where(labels >= 0, labels, prediction.logits.argmax(axis=1))]
            self.clusters_: np.ndarray | None = self._clusters(prediction)

    def _clusters(self, prediction: Prediction) -> np.ndarray | None:
        """(n,) the cluster of every node, or None for a method without clusters."""
        return None

    def fit_predict(self, graph: Graph, split: Split | None = None) -> np.ndarray:
        """:meth:`fit`, then a label for every node.

        Args:
            graph, split: as in :meth:`fit`.

        Returns:
            (n,) class names, the given ones where given.
        """
        return self.fit(graph, split).transduction_

    def calibrate(self, folds: int = FOLDS, watch: FoldWatcher | None = None) -> Self:
        """Calibrate :meth:`predict_proba` on the validation labels, or by cross-fitting on the training labels.

        Args:
            folds: how many more classifiers cross-fitting trains, each without one fold of the labels.
            watch: called with the fold, the number of folds, the epoch and its quantities.

        Returns:
            The classifier itself, with ``calibration_``.
        """
        self._predicted(None)  # raises unless it is fitted
        self.calibration_ = calibrate(self, folds, watch)
        return self

    # ---------------------------------------------------------------- using

    def decision_function(self, graph: Graph | None = None) -> np.ndarray:
        """Scores whose softmax is the uncalibrated probabilities.

        Args:
            graph: another graph with the same features; default: the fitted graph.

        Returns:
            (n, K) logits, columns in the order of ``classes_``.
        """
        return self._predicted(graph).logits.copy()  # whoever writes into it must not change later predictions

    def predict_proba(self, graph: Graph | None = None) -> np.ndarray:
        """Class probabilities, calibrated after :meth:`calibrate`.

        Args:
            graph: another graph with the same features; default: the fitted graph.

        Returns:
            (n, K) probabilities, columns in the order of ``classes_``.
        """
        logits = self.decision_function(graph)
        if self.calibration_ is not None:
            return self.calibration_.probabilities(logits)
        probabilities: np.ndarray = softmax(logits, axis=1)
        return probabilities

    def predict(self, graph: Graph | None = None) -> np.ndarray:
        """The most probable class of every node.

        Args:
            graph: another graph with the same features; default: the fitted graph.

        Returns:
            (n,) class names.
        """
        best = self.decision_function(graph).argmax(axis=1)
        predicted: np.ndarray = self.classes_[best]
        return predicted

    def transform(self, graph: Graph | None = None) -> np.ndarray:
        """The embeddings of every node.

        Args:
            graph: another graph with the same features; default: the fitted graph.

        Returns:
            (n, d) embeddings.

        Raises:
            GraphError: if the method has none.
        """
        embeddings = self._predicted(graph).embeddings
        if embeddings is None:
            raise GraphError(f"{type(self).__name__} gives labels and no embeddings; take predict_proba() instead.")
        return embeddings.copy()

    def score(self, graph: Graph | None = None, nodes: np.ndarray | None = None) -> float:
        """Accuracy.

        Args:
            graph: another graph with the same features; default: the fitted graph.
            nodes: nodes with a label, as numbers or a mask; default: the test nodes of the split, or all labelled nodes
                of another graph.

        Returns:
            The share of these nodes that is predicted right.
        """
        predicted = self.decision_function(graph).argmax(axis=1)
        truth = self.graph_.labels if graph is None else labels_among(graph, self.classes_)
        if nodes is None:
            nodes = self.split_.test if graph is None else np.flatnonzero(truth >= 0)
        return labelled_accuracy(predicted, truth, nodes)

    def _predicted(self, graph: Graph | None) -> Prediction:
        if not hasattr(self, "_prediction"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet; call fit(graph, split) first.")
        if graph is None and not self._prediction.complete:
            raise NotFittedError(
                "The predictions of all nodes are in the first of the processes that trained together."
            )
        if graph is None:
            return self._prediction
        check_is_graph(graph)
        if not self.inductive:
            raise GraphError(
                f"{type(self).__name__} labels the nodes of the graph that it is fitted on and no others; fit it on a graph "
                "with the new nodes in it."
            )
        check_same_features(graph, self.n_features_in_)
        return self._predict_other(graph)

    # ---------------------------------------------------------------- keeping

    def save(self, path: str | Path, *, overwrite: bool = False, extra: Mapping[str, Any] | None = None) -> None:
        """Write the fitted classifier, and the graph it was fitted on, to a folder that :meth:`load` reads.

        Args:
            path: a folder, new or empty.
            overwrite: whether a model that is there already makes way.
            extra: anything JSON takes, found again as ``extra_``; default: that of the file the model came from.
        """
        from ncgc.models.stored import save_model

        save_model(self, path, overwrite=overwrite, extra=extra)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Args:
            path: the folder of a model, or of a run that has one.

        Returns:
            A classifier that predicts what the saved one did, to the bit.

        Raises:
            ModelFileError: if the folder has no such model.
        """
        from ncgc.models.stored import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ModelFileError(
                f"The model in {path} is of {type(model).__name__}, not of {cls.__name__}; read it with ncgc.load_model."
            )
        return model


class TransductiveClassifier(NodeClassifier):
    """A method that spreads the given labels over one graph and learns nothing, with one hook: :meth:`_spread`.

    A node that no label reaches gets the shares of the training classes.
    """

    family = "no learning"
    deterministic = True

    def _spread(self, graph: Graph, labels: np.ndarray) -> np.ndarray:
        """(n, K) scores, not negative, from (n,) class indices that are -1 but on the training nodes."""
        raise TypeError(f"{type(self).__name__} must define _spread(graph, labels).")

    def _solve(self, graph: Graph, split: Split, options: FitOptions) -> Prediction:
        labels = split.training_labels(graph)
        shares = np.bincount(labels[split.train], minlength=graph.num_classes) / len(split.train)
        return Prediction.from_scores(self._spread(graph, labels), shares)
