"""Tuning: the hyper-parameters with the best mean validation accuracy over a few splits, sought by Optuna's TPE.

    maximise over θ in the space   (1/S) Σ_s accuracy on val_s of NCGC(θ) trained on train_s,   s = 1000, …, 999 + S

No test node has a part in it: the splits are of seeds that no table uses, and before training every label but those of
training and validation nodes is taken out of the graph (`scoring.without_test`). After each split a trial whose mean so far
is below the median of the earlier ones is given up. A trial's draws depend on the seed and on the trials before it alone: a
study stopped and taken up again, or made by several processes, is the one that was never stopped and made by one.
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
from ncgc.selection.tuning.space import Space, rounded, suggest
from ncgc_bench.study import FIRST_SEED

if TYPE_CHECKING:
    import optuna

NAME = "ncgc"  # of the one study in a file


@dataclass(frozen=True)
class TrainingData:
    """What is tuned: a data set, the fixed parameters, where to look, and on which splits."""

    dataset: str
    base: Mapping[str, Any]
    space: Space
    splits: int = 3
    labels_per_class: int = 20
    blind: bool = False  # validation nodes only measure; they do not choose the epoch
    seed: int = 0

    def described(self) -> dict[str, Any]:
        """In JSON's types, to be kept with the study and compared when it is taken up again."""
        space = {
            name: {key: _listed(value) for key, value in asdict(place).items()} for name, place in self.space.items()
        }
        base = {name: _listed(value) for name, value in self.base.items() if name not in space}
        return {"dataset": self.dataset, "labels_per_class": self.labels_per_class, "splits": self.splits,
                "blind": self.blind, "seed": self.seed, "base": base, "search": space}  # fmt: skip


@dataclass(frozen=True)
class Tried:
    """One trial: what it tried, its validation accuracy on each split it got to, and why it ended."""

    number: int  # from 1
    parameters: dict[str, Any]
    scores: list[float] = field(default_factory=list)
    ended: str = "complete"  # or "pruned", or "failed"
    seconds: float = 0.0

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.scores)) if self.scores else None


class Tuning:
    """A study in a file: made, or taken up where it was left.

    Attributes:
        study: Optuna's own, for its plots and analyses.
        done: how many trials have ended so far.
    """

    def __init__(self, task: TrainingData, graph: Graph, storage: Path):
        self.task = task
        self.cases = list(_cases(task, graph))  # before a file is made: they may be refused
        self.study = _open(task, storage)

    @property
    def done(self) -> int:
        return len(self._ended())

    def best(self) -> tuple[float, dict[str, Any]] | None:
        """The best mean validation accuracy of a whole trial and its parameters, the fixed ones among them."""
        whole = [trial for trial in self._ended() if trial.state.name == "COMPLETE"]
        if not whole:
            return None
        trial = max(whole, key=lambda trial: trial.value or 0.0)  # of equals the first
        return float(trial.value or 0.0), {**self.task.base, **rounded(trial.params)}

    def importance(self) -> dict[str, float]:
        """Share of the variation in validation accuracy that each parameter explains; empty while trials are few."""
        from optuna.importance import FanovaImportanceEvaluator, get_param_importances

        if sum(trial.state.name == "COMPLETE" for trial in self._ended()) < 10:
            return {}
        try:
            return get_param_importances(self.study, evaluator=FanovaImportanceEvaluator(seed=self.task.seed))
        except (RuntimeError, ValueError):  # all trials equally good
            return {}

    def run(self, trials: int, jobs: int = 1) -> Iterator[Tried]:
        """Go on until ``trials`` have ended in all, yielding each. Ctrl-C ends the one at hand and keeps nothing of it."""
        if self.done >= trials:
            return
        with Scorer(self.cases, jobs) as scorer:
            while self.done < trials:
                yield self._trial(scorer)

    def _trial(self, scorer: Scorer) -> Tried:
        import optuna

        number = self.done + 1
        # one sampler a trial: one for all would begin anew, with the same draws, when the study is taken up again
        self.study.sampler = optuna.samplers.TPESampler(seed=_seed(self.task.seed, number))
        trial = self.study.ask()
        start = time.perf_counter()
        tried = Tried(number, suggest(trial, self.task.space))
        state = "FAIL"  # what an interrupted trial is to Optuna: none at all
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
            tried, state = replace(tried, ended="failed"), "PRUNED"  # a bad place, to be told from a good one
        finally:
            value = tried.mean if state == "COMPLETE" else None
            self.study.tell(trial, value, state=optuna.trial.TrialState[state])
        return replace(tried, seconds=time.perf_counter() - start)

    def _ended(self) -> list[Any]:
        return [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]


def _cases(task: TrainingData, graph: Graph) -> Iterator[Case]:
    for seed in range(FIRST_SEED, FIRST_SEED + task.splits):
        split = make_split(graph, "random", seed=seed, labels_per_class=task.labels_per_class)
        yield Case.of(graph, split, seed, task.blind)


def check_optuna() -> None:
    """A sentence unless Optuna is installed; call it before the work."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise NCGCError("Tuning needs Optuna; install it with: pip install 'ncgc[tune]'.") from None


def _open(task: TrainingData, storage: Path) -> optuna.Study:
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


def _difference(kept: Mapping[str, Any], asked: Mapping[str, Any], prefix: str = "") -> str:
    """Where two descriptions differ first.

    >>> _difference({"splits": 3, "base": {"beta": 0.1}}, {"splits": 3, "base": {"beta": 0.2}})
    'base beta: 0.1, not 0.2'
    """
    for name in dict.fromkeys([*kept, *asked]):
        one, other = kept.get(name), asked.get(name)
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
