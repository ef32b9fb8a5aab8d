"""Tuning: search for the hyper-parameters with the best mean validation accuracy over a few splits, by Optuna's TPE.

    maximise over θ in the space   (1/S) Σ_s accuracy on val_s of NCGC(θ) trained on train_s,   s = 1000, …, 999 + S

Test nodes are not used: no published table uses the seeds of these splits, and before training every label but those of
training and validation nodes is taken out of the graph (`scoring.without_test`). After each split a trial whose mean so
far is below the median of the earlier ones is given up. A trial's draws depend on the seed and on earlier trials only,
so a study that was stopped and resumed, or made by several processes, equals one that was never stopped, made by one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncgc.datasets import make_split
from ncgc.errors import NCGCError, OutputError, ParameterError, TrainingError
from ncgc.graph import Graph
from ncgc.selection.tuning.scoring import Case, Scorer
from ncgc.selection.tuning.space import FIRST_SEED, Space, rounded, suggest

if TYPE_CHECKING:
    import optuna

NAME = "ncgc"  # of the one study in a file


@dataclass(frozen=True)
class TuningTask:
    """What is tuned, and on which splits.

    Attributes:
        dataset: the name of the data set.
        base: parameters that every trial has.
        space: parameters that are searched.
        splits: how many random splits a trial is scored on.
        labels_per_class: training labels of each class.
        blind: validation nodes score only; they do not choose the epoch.
        seed: of the search.
    """

    dataset: str
    base: Mapping[str, Any]
    space: Space
    splits: int = 3
    labels_per_class: int = 20
    blind: bool = False
    seed: int = 0

    def described(self) -> dict[str, Any]:
        """In JSON's types, to be stored with the study and compared when it is resumed."""
        space = {
            name: {key: _listed(value) for key, value in asdict(place).items()} for name, place in self.space.items()
        }
        base = {name: _listed(value) for name, value in self.base.items() if name not in space}
        return {"dataset": self.dataset, "labels_per_class": self.labels_per_class, "splits": self.splits,
                "blind": self.blind, "seed": self.seed, "base": base, "search": space}  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """One trial.

    Attributes:
        number: counted from 1.
        parameters: what it tried.
        scores: validation accuracy on each split that it got to.
        ended: "complete", "pruned" or "failed".
        seconds: its time.
    """

    number: int
    parameters: dict[str, Any]
    scores: list[float] = field(default_factory=list)
    ended: str = "complete"
    seconds: float = 0.0

    @property
    def mean(self) -> float | None:
        """Mean validation accuracy so far."""
        return float(np.mean(self.scores)) if self.scores else None


class Tuning:
    """A study in a file: a new one, or one that is resumed.

    Args:
        task: what to tune; a file with another task is refused.
        graph: the data set.
        storage: the SQLite file of the study.

    Attributes:
        study: Optuna's study, for its plots and analyses.
        cases: the splits that trials are scored on.
    """

    def __init__(self, task: TuningTask, graph: Graph, storage: Path):
        self.task = task
        self.cases = list(_cases(task, graph))  # before a file is made: they may be refused
        self.study = _open(task, storage)

    @property
    def done(self) -> int:
        """How many trials have ended so far."""
        return len(self._ended())

    def best(self) -> tuple[float, dict[str, Any]] | None:
        """The best mean validation accuracy of a whole trial and its parameters, the fixed ones among them."""
        whole = [trial for trial in self._ended() if trial.state.name == "COMPLETE"]
        if not whole:
            return None
        trial = max(whole, key=lambda trial: trial.value or 0.0)  # of equals the first
        return float(trial.value or 0.0), {**self.task.base, **rounded(trial.params)}

    def importance(self) -> dict[str, float]:
        """How much of the variation in validation accuracy each parameter explains; empty while trials are few."""
        from optuna.importance import FanovaImportanceEvaluator, get_param_importances

        if sum(trial.state.name == "COMPLETE" for trial in self._ended()) < 10:
            return {}
        try:
            return get_param_importances(self.study, evaluator=FanovaImportanceEvaluator(seed=self.task.seed))
        except (RuntimeError, ValueError):  # all trials equally good
            return {}

    def run(self, trials: int, jobs: int = 1) -> Iterator[Tried]:
        """Run trials until ``trials`` have ended in all. Ctrl-C ends the current one and keeps nothing of it.

        Args:
            trials: in all, those of earlier runs included.
            jobs: splits to score at a time, each in a process of its own.

        Yields:
            Each trial as it ends.
        """
        if self.done >= trials:
            return
        with Scorer(self.cases, jobs) as scorer:
            while self.done < trials:
                yield self._trial(scorer)

    def _trial(self, scorer: Scorer) -> Tried:
        import optuna

        number = self.done + 1
        # one sampler for each trial: a single one would repeat its draws when the study is resumed
        self.study.sampler = optuna.samplers.TPESampler(seed=_seed(self.task.seed, number))
        trial = self.study.ask()
        start = time.perf_counter()
        tried = Tried(number, suggest(trial, self.task.space))
        state = "FAIL"  # Optuna does not count an interrupted trial
        try:
            with closing(scorer.scores({**self.task.base, **tried.parameters})) as scores:
                for step, score in enumerate(scores):
                    tried.scores.append(score)
                    trial.report(float(np.mean(tried.scores)), step)
                    if step + 1 < self.task.splits and trial.should_prune():
                        tried, state = replace(tried, ended="pruned"), "PRUNED"
                        break
                else:
                    state = "COMPLETE"
        except TrainingError:
            tried, state = (
                replace(tried, ended="failed"),
                "PRUNED",
            )  # a bad place in the space, which the sampler should learn
        finally:
            value = tried.mean if state == "COMPLETE" else None
            self.study.tell(trial, value, state=optuna.trial.TrialState[state])
        return replace(tried, seconds=time.perf_counter() - start)

    def _ended(self) -> list[Any]:
        return [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]


def _cases(task: TuningTask, graph: Graph) -> Iterator[Case]:
    for seed in range(FIRST_SEED, FIRST_SEED + task.splits):
        split = make_split(graph, "random", seed=seed, labels_per_class=task.labels_per_class)
        yield Case.of(graph, split, seed, task.blind)


def check_optuna() -> None:
    """Raise an NCGCError with the command that installs Optuna, unless it is installed. Call it before the work."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise NCGCError("Tuning needs Optuna; install it with: pip install 'ncgc[tune]'.") from None


def _open(task: TuningTask, storage: Path) -> optuna.Study:
    check_optuna()
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    _check_file(storage)
    described = task.described()
    pruner = optuna.pruners.MedianPruner(n_startup_trials=5)
    url = f"sqlite:///{storage.resolve()}"
    try:
        study = optuna.create_study(
            storage=url, study_name=NAME, direction="maximize", pruner=pruner, load_if_exists=True
        )
        kept = study.user_attrs.get("task")
        if kept is None or not study.get_trials(deepcopy=False):
            study.set_user_attr("task", described)
            kept = described
        for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)  # left by a process that was killed
    except Exception as error:  # Optuna's, SQLAlchemy's or sqlite's own, as the damage is
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OutputError(
            f"The study {storage} cannot be opened ({first}); give another --storage or delete it."
        ) from None
    if kept != described:
        raise ParameterError(f"{storage} holds another study ({_difference(kept, described)}); give another --storage.")
    return study


def _check_file(storage: Path) -> None:
    try:
        storage.parent.mkdir(parents=True, exist_ok=True)
        with storage.open("ab"):  # as Optuna will need it
            pass
        start = storage.open("rb").read(15)
    except OSError as error:
        raise OutputError(
            f"The study cannot be kept in {storage} ({error.strerror}); give another --storage."
        ) from None
    if start and start != b"SQLite format 3":
        raise OutputError(f"{storage} is not a study but another kind of file; give another --storage.")


def _difference(kept: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> str:
    """Where two descriptions differ first.

    >>> _difference({"splits": 3, "base": {"beta": 0.1}}, {"splits": 3, "base": {"beta": 0.2}})
    'base beta: 0.1, not 0.2'
    """
    for name in dict.fromkeys([*kept, *wanted]):
        one, other = kept.get(name), wanted.get(name)
        if one != other:
            if isinstance(one, Mapping) and isinstance(other, Mapping):
                return _difference(one, other, f"{prefix}{name} ")
            return f"{prefix}{name}: {_word(one)}, not {_word(other)}"
    return "other numbers"


def _word(value: Any) -> str:
    return "not there" if value is None else str(value)


def _listed(value: Any) -> Any:
    return [_listed(part) for part in value] if isinstance(value, tuple | list) else value


def _seed(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
