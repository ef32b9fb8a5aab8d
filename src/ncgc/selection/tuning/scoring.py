"""Validation accuracy of hyper-parameters on a few splits, without any test label in reach."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ncgc.datasets import Split
from ncgc.errors import NCGCError
from ncgc.evaluation.metrics import accuracy
from ncgc.graph import Graph
from ncgc.params.ncgc import DEFAULTS

INTERRUPTED = "interrupted"  # termination_ of a training that Ctrl-C ended


@dataclass(frozen=True)
class Case:
    """One split to score on.

    Attributes:
        graph: without any test label.
        split: without test nodes; without validation nodes too where training must not see them.
        val: (m,) nodes to score on.
        truth: (m,) their classes.
        seed: of the split and the model.
    """

    graph: Graph
    split: Split
    val: np.ndarray
    truth: np.ndarray
    seed: int

    @classmethod
    def of(cls, graph: Graph, split: Split, seed: int, blind: bool = False) -> Case:
        """A case without test labels.

        Args:
            graph: with all labels.
            split: whose validation nodes score.
            seed: of the model.
            blind: keep validation labels from training too, so that they choose no epoch.

        Returns:
            The case.
        """
        val, truth = split.val, graph.labels[split.val]
        seen = replace(split, val=val[:0] if blind else val, test=split.test[:0])
        return cls(without_test(graph, seen), seen, val, truth, seed)

    def score(self, parameters: Mapping[str, Any]) -> float:
        """Fit NCGC and measure its accuracy on the validation nodes.

        Args:
            parameters: hyper-parameters by name; the others are at their defaults.

        Returns:
            Validation accuracy, from 0 to 1.

        Raises:
            KeyboardInterrupt: if Ctrl-C ended the training.
        """
        from ncgc.models.ncgc import NCGC

        model = NCGC(**{**DEFAULTS, **parameters, "random_state": self.seed})
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # a learning rate that is too high is expected in a search
            model.fit(self.graph, self.split)
        if model.termination_ == INTERRUPTED:
            raise KeyboardInterrupt
        return accuracy(model.predict_proba().argmax(axis=1)[self.val], self.truth)


def without_test(graph: Graph, split: Split) -> Graph:
    """A graph with the labels of the split's training and validation nodes, and no others.

    Args:
        graph: the graph with all labels.
        split: its training and validation nodes keep their labels.

    Returns:
        The same graph with fewer labels.

    >>> graph = Graph.from_edges([[0, 1]], np.eye(4), labels=[0, 1, 1, 0])
    >>> without_test(graph, Split([0, 1], [2], [3])).labels
    array([ 0,  1,  1, -1])
    """
    labels = np.full(graph.num_nodes, -1, dtype=np.int64)
    for nodes in (split.train, split.val):
        labels[nodes] = graph.labels[nodes]
    return graph.with_labels(labels)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread inside: a result must not depend on the machine's number of cores.

    Yields:
        Nothing; the previous number of threads is restored at the end.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Scorer:
    """Scores parameters on all cases, in this process or ``jobs`` at a time in others; the scores are the same.

    Args:
        cases: the splits to score on.
        jobs: processes; one scores in this process.
    """

    def __init__(self, cases: Sequence[Case], jobs: int = 1):
        self.cases, self.jobs = cases, min(jobs, len(cases))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Scorer:
        if self.jobs > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.jobs, context, initializer=_begin, initargs=(list(self.cases),))
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            processes = list((self._pool._processes or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # or Ctrl-C would wait for a training that nobody wants any more
                process.terminate()
            self._pool = None

    def scores(self, parameters: Mapping[str, Any]) -> Generator[float]:
        """Score parameters on one case after the other; close the generator to give up the rest.

        Args:
            parameters: hyper-parameters by name.

        Yields:
            Validation accuracy on each case, in order.

        Raises:
            NCGCError: if a process died.
        """
        if self._pool is None:
            yield from (case.score(parameters) for case in self.cases)
            return
        waiting: list[Future[float]] = []
        try:
            waiting = [self._pool.submit(_score, number, dict(parameters)) for number in range(len(self.cases))]
            for future in waiting:
                yield future.result()
        except BrokenProcessPool:
            raise NCGCError("A process that ran a training died, perhaps for lack of memory; try --jobs 1.") from None
        finally:
            for future in waiting:
                future.cancel()


_CASES: list[Case] = []  # of a process of Scorer's


def _begin(cases: list[Case]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    _CASES[:] = cases


def _score(number: int, parameters: dict[str, Any]) -> float:
    return _CASES[number].score(parameters)
