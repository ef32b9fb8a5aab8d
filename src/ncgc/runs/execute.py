"""The executor of runs: load, split, choose a method, fit, measure, calibrate; folder.py writes the results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc.datasets import Split
from ncgc.evaluation.calibration import LEAST
from ncgc.graph import Graph
from ncgc.graph.features import DENSE
from ncgc.runs.environment import environment, peak_memory, reset_peak_memory
from ncgc.runs.load import LabelledGraph, load
from ncgc.runs.result import RunResult
from ncgc.runs.source import TableSource
from ncgc.runs.spec import AUTO, DEFAULT_METHOD, RunSpec, defaults_of, find_classifier, recommended
from ncgc.selection.active import suggest_labels
from ncgc.selection.auto import CANDIDATES, Choice, choose_method

if TYPE_CHECKING:
    from ncgc.training import Watcher

SUGGESTED = 50  # nodes worth labelling next


class Observer:
    """Is notified of what a run is doing. This one ignores it; the command line shows it on the screen.

    Attributes:
        interrupted: whether Ctrl-C was pressed; the run then ends after the current stage.
    """

    interrupted = False

    def loaded(self, data: LabelledGraph) -> None:
        """Called when the graph is read and split.

        Args:
            data: the graph and its split.
        """

    def tried(self, sentence: str) -> None:
        """Called when a candidate was cross-validated to choose a method.

        Args:
            sentence: its accuracy and time, in words.
        """

    def chosen(self, choice: Choice) -> None:
        """Called when the method is chosen.

        Args:
            choice: the method, and why.
        """

    def begins(self, model: Any, data: LabelledGraph) -> None:
        """Called when the model is made and not fitted yet.

        Args:
            model: the model.
            data: what it will be fitted on.
        """

    def warned(self, stage: str, sentence: str) -> None:
        """Called when something went wrong in a stage without ending it.

        Args:
            stage: "training" or "calibrating".
            sentence: what went wrong.
        """

    def trying(self, method: str, epochs: int) -> AbstractContextManager[Watcher | None]:
        """Make a watcher of the epochs of a candidate, for a progress bar.

        Args:
            method: name of the candidate.
            epochs: of all its folds together, at most.

        Returns:
            A context with the watcher, or with None.
        """
        return nullcontext()

    def working(self, stage: str, epochs: int) -> AbstractContextManager[Watcher | None]:
        """Make a watcher of the epochs of a stage, which may raise KeyboardInterrupt to end the stage.

        Args:
            stage: "training" or "calibrating".
            epochs: at most.

        Returns:
            A context with the watcher, or with None.
        """
        return nullcontext()


def execute(
    spec: RunSpec,
    root: str | Path | None = None,
    *,
    observer: Observer | None = None,
    graph: Graph | None = None,
    checkpoint: Any = None,
    group: Any = None,
    fresh_peak: bool = False,
) -> RunResult:
    """Do one run.

    Args:
        spec: what to do.
        root: a folder to search for data sets first.
        observer: is notified of each stage.
        graph: the data set, where it has been read already.
        checkpoint: where and how often to write checkpoints, see ``NodeClassifier.fit``.
        group: the processes that train together, see ``NodeClassifier.fit``.
        fresh_peak: measure peak memory from the start of fitting, not of the process.

    Returns:
        The fitted model with everything measured of it. After Ctrl-C the model is that of the best epoch so far, and
        nothing is calibrated.

    Raises:
        NCGCError: if the input is wrong.
    """
    observer = Observer() if observer is None else observer
    data = load(spec.data, spec.seed, root, graph)
    observer.loaded(data)
    spec, choice = _choose(spec, data, observer)
    model = make_model(spec, data)
    observer.begins(model, data)
    if fresh_peak:
        reset_peak_memory()
    more = {name: value for name, value in (("checkpoint", checkpoint), ("group", group)) if value is not None}
    start = time.perf_counter()
    with observer.working("training", model.max_epochs) as watch, _caught() as sentences:
        model.fit(data.graph, data.split, watch=watch, **more)
    # a resumed training counts the seconds before it was stopped too
    seconds = max(time.perf_counter() - start, model.seconds_)
    for sentence in sentences:
        observer.warned("training", sentence)
    result = RunResult(spec, data, model, seconds, peak_memory(), tuple(sentences), choice=choice)
    return result if observer.interrupted or result.interrupted else _finish(result, observer)


def make_model(spec: RunSpec, data: LabelledGraph) -> Any:
    """The model of a run, not fitted. Parameters that the run does not name are at their defaults.

    Args:
        spec: the run, with a method by name.
        data: what it will be fitted on; decides how the features of tables are normalised unless the run does.

    Returns:
        A ``NodeClassifier``.
    """
    parameters = {**defaults_of(spec.method), **_normalisation(spec.method, data), **spec.parameters}
    return find_classifier(spec.method)(**parameters, random_state=spec.seed)


def _normalisation(method: str, data: LabelledGraph) -> dict[str, str]:
    """A better normalisation of the features of tables than the method's default.

    Standardised columns stay as they are: dividing a row of a few measurements by its length would leave only their
    ratios. Other dense rows are centred: divided by their sum, as most papers do with words, they are nearly equal
    (``benchmarks/studies/amazon-features.toml``: ten points of accuracy).
    """
    default = defaults_of(method).get("features")
    if default is None or data.tables is None:
        return {}
    if data.tables.encoder is not None and data.tables.encoder.standardised:
        return {"features": "raw"}
    return {"features": "centred"} if default == "row" and data.graph.feature_density >= DENSE else {}


def _choose(spec: RunSpec, data: LabelledGraph, observer: Observer) -> tuple[RunSpec, Choice | None]:
    """The run with a method in place of "auto", and how that was chosen."""
    if spec.method != AUTO:
        return spec, None

    def named(method: str) -> RunSpec:
        return replace(spec, method=method, parameters=recommended(method, CANDIDATES[method]))

    choice = choose_method(
        data.graph,
        data.split,
        lambda method: make_model(named(method), data),
        spec.budget,
        spec.seed,
        observer.tried,
        observer.trying,
    )
    observer.chosen(choice)
    return named(choice.method), choice


def _finish(result: RunResult, observer: Observer) -> RunResult:
    """Calibrate, find the threshold to abstain by, and suggest what to label next."""
    spec, data, model = result.spec, result.data, result.model
    if spec.folds:
        cross = spec.folds if len(data.split.val) < LEAST else 0  # enough validation labels need no cross-fitting
        with observer.working("calibrating", max(cross * model.max_epochs, 1)) as watch, _caught() as sentences:
            model.calibrate(spec.folds, None if watch is None else _by_fold(watch, model.max_epochs))
        for sentence in sentences:
            observer.warned("calibrating", sentence)
    if not isinstance(spec.data, TableSource):
        return result
    calibration = model.calibration_
    threshold = 0.0 if spec.abstain is None or calibration is None else calibration.threshold(spec.abstain)
    suggestions = suggest_labels(data.graph, model.predict_proba(), data.graph.labels, SUGGESTED)
    return replace(result, threshold=threshold, suggestions=suggestions)


def _by_fold(watch: Watcher, epochs: int) -> Any:
    """A watcher of the epochs of all folds in a row."""
    return lambda fold, folds, epoch, quantities: watch((fold - 1) * epochs + epoch, quantities)


@contextmanager
def _caught() -> Iterator[list[str]]:
    """Collects our own warnings, each once; those of the libraries are not a person's concern."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield sentences
    ours = (str(one.message) for one in caught if issubclass(one.category, RuntimeWarning))
    sentences.extend(dict.fromkeys(ours))


def prepare() -> None:
    """Load everything that a training uses, so that the first run of a process is timed like any other."""
    environment()
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], np.eye(4), labels=[0, 0, 1, 1])
    model = find_classifier(DEFAULT_METHOD)(hidden=2, epochs=2, warmup=0, ramp=0)
    model.fit(graph, Split(np.array([0, 3]), np.array([1, 2]), np.array([])))
