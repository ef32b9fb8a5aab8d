"""The experiments as lists of runs: a table, the ablation, sweeps, accuracy against labels, the leaderboard.

A plan assigns every run to a cell of a table. Nothing is stored about plans: a table is a plan whose runs are found in
the store, so it can only show runs made with exactly the settings it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.presets import PLAIN, method_preset, preset
from ncgc.runs.spec import RunSpec

DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics")
BACKBONES = NCGC_PARAMETERS["backbone"].choices
BACKBONE_NAMES = {"gcn": "GCN", "gat": "GAT", "sage": "GraphSAGE", "gcnii": "GCNII", "appnp": "APPNP"}
PAPER_BACKBONES = ("gcn", "gat", "sage", "gcnii")
LEADERBOARD_BACKBONES = ("appnp", "gcn")  # the first is compared with all other methods
LARGE = ("cs", "physics")  # fewer runs where the paper has fewer
# variant of a method with a backbone → what it changes in the settings; the one that changes nothing is the reference
VARIANTS: dict[str, dict[str, Any]] = {"ncgc": {}, "plain": PLAIN}
VARIANT_NAMES = {"ncgc": "NCGC"}  # the others go by their own name
ABLATION: dict[str, dict[str, Any]] = {
    "ncgc": {},
    "no soft orthogonality": {"soft_orthogonality": False},
    "no KL": {"kl": False},
    "no PL": {"pl": False},
    "no Sinkhorn": {"sinkhorn": False},
    "plain": PLAIN,
}
SWEEPS: dict[str, tuple[float, ...]] = {
    "beta": (0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.010),
    "epsilon": (0.01, 0.02, 0.03, 0.04, 0.05, 0.1, 0.2, 0.5, 1.0),
    "sinkhorn_iterations": (1, 2, 3, 5, 10, 20, 30),
}
LABELS = (1, 3, 5, 10, 20)
OTHERS = ("label_spreading",)  # methods without a backbone that tables show by default


@dataclass(frozen=True)
class Entry:
    """A run and its cell.

    Args:
        run: the run.
        dataset: name of the data set.
        split: kind of its split.
        variant: a name of :data:`VARIANTS` or :data:`ABLATION`, the swept parameter, or the method if it has no
            backbone.
        backbone: None for a method without one.
        settings: name of the settings, or of the study.
        value: of the swept parameter, or the number of labels per class.
        reference: whether other rows are compared with this one: the settings as they are, nothing taken out.
    """

    run: RunSpec
    dataset: str
    split: str
    variant: str
    backbone: str | None
    settings: str
    value: float | None = None
    reference: bool = False

    @property
    def row(self) -> tuple[str, str]:
        """Backbone and variant, with the value where a parameter is swept."""
        swept = self.value is not None and self.run.dataset.labels_per_class is None
        return self.backbone or "", f"{self.variant} {self.value:g}" if swept else self.variant

    @property
    def column(self) -> str:
        """The data set, with the labels per class where they are given."""
        labels = self.run.dataset.labels_per_class
        return self.dataset if labels is None else f"{self.dataset} {labels}"


def table_plan(
    datasets: Sequence[str] = DATASETS,
    backbones: Sequence[str] = PAPER_BACKBONES,
    split: str = "paper",
    runs: int | None = None,
    settings: str = "default",
    variants: Mapping[str, Mapping[str, Any]] = VARIANTS,
    others: Iterable[str] = (),
) -> list[Entry]:
    """The plan of a table: variants × backbones × data sets × seeds, and the methods without a backbone.

    Args:
        datasets: the columns.
        backbones: of NCGC.
        split: kind of split.
        runs: seeds of each cell; None for :func:`default_runs`.
        settings: name of the settings.
        variants: variant → what it changes in the settings.
        others: methods without a backbone.

    Returns:
        The entries, data set by data set.
    """
    entries = []
    for dataset in datasets:
        seeds = range(runs if runs is not None else default_runs(dataset, split))
        for backbone in backbones:
            base = preset(settings, backbone, dataset)
            for variant, changes in variants.items():
                parameters = {**base, **changes}
                for seed in seeds:
                    run = RunSpec.on_dataset(dataset, split, None, seed, parameters=parameters)
                    entries.append(Entry(run, dataset, split, variant, backbone, settings, reference=not changes))
        for other in others:
            own = method_preset(other, dataset)
            for seed in seeds:
                run = RunSpec.on_dataset(dataset, split, None, seed, method=other, parameters=own)
                entries.append(Entry(run, dataset, split, other, None, settings))
    return entries


def leaderboard_plan(
    datasets: Sequence[str] = DATASETS,
    backbones: Sequence[str] = LEADERBOARD_BACKBONES,
    split: str = "random",
    runs: int | None = None,
    settings: str = "default",
    others: Iterable[str] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Entry]:
    """The plan of the leaderboard: NCGC and every other method, five runs of each.

    Args:
        datasets: the columns.
        backbones: of NCGC; the first is compared with all other methods.
        split: kind of split.
        runs: seeds of each cell.
        settings: name of NCGC's settings.
        others: methods without a backbone; None for all.
        variants: None for the reference alone.

    Returns:
        The entries, data set by data set.
    """
    if variants is None:
        variants = {name: changes for name, changes in VARIANTS.items() if not changes}
    from ncgc.models.registry import BASELINES  # imports torch

    listed = BASELINES if others is None else others
    return table_plan(datasets, backbones, split, 5 if runs is None else runs, settings, variants, listed)


def default_runs(dataset: str, split: str) -> int:
    """The number of runs per cell: 10 on random splits, else 5, and 3 on the co-author graphs.

    Args:
        dataset: name of the data set.
        split: kind of split.

    Returns:
        The number of seeds.
    """
    if split in ("random", "few"):
        return 10
    return 3 if dataset in LARGE else 5


def ablation_plan(
    datasets: Sequence[str] = DATASETS,
    backbones: Sequence[str] = ("gcn",),
    split: str = "paper",
    runs: int | None = None,
    settings: str = "default",
) -> list[Entry]:
    """The plan of the ablation: :func:`table_plan` with each part of the method taken out in turn.

    Args:
        datasets, backbones, split, runs, settings: see :func:`table_plan`.

    Returns:
        The entries, data set by data set.
    """
    return table_plan(datasets, backbones, split, runs, settings, ABLATION)


def sweep_plan(
    datasets: Sequence[str] = ("cora", "citeseer", "photo"),
    backbones: Sequence[str] = ("gcn",),
    split: str = "paper",
    runs: int | None = None,
    settings: str = "default",
    sweeps: Mapping[str, Sequence[float]] = SWEEPS,
) -> list[Entry]:
    """The plan of the sweeps: one parameter at a time over a range, the others as in the settings.

    Args:
        datasets: the columns.
        backbones: of NCGC.
        split: kind of split.
        runs: seeds of each cell; None for :func:`default_runs`.
        settings: name of the settings.
        sweeps: parameter → its values.

    Returns:
        The entries, data set by data set; their variant is the parameter.
    """
    entries = []
    for dataset in datasets:
        for backbone in backbones:
            base = preset(settings, backbone, dataset)
            for name, values in sweeps.items():
                for value in values:
                    for seed in range(runs if runs is not None else default_runs(dataset, split)):
                        run = RunSpec.on_dataset(dataset, split, None, seed, parameters={**base, name: value})
                        entries.append(Entry(run, dataset, split, name, backbone, settings, value))
    return entries


def labels_plan(
    datasets: Sequence[str] = ("cora", "citeseer", "photo"),
    backbones: Sequence[str] = ("gcn", "appnp"),
    labels: Sequence[int] = LABELS,
    runs: int | None = None,
    settings: str = "default",
    variants: Mapping[str, Mapping[str, Any]] = VARIANTS,
    others: Iterable[str] = OTHERS,
) -> list[Entry]:
    """The plan of accuracy against labels per class, without any validation labels (split `few`).

    Args:
        datasets: the data sets.
        backbones: of NCGC.
        labels: numbers of labels per class.
        runs: seeds of each cell; None for :func:`default_runs`.
        settings: name of the settings.
        variants: variant → what it changes in the settings.
        others: methods without a backbone.

    Returns:
        The entries, data set by data set; their value is the number of labels per class.
    """
    entries = []
    for dataset in datasets:
        for count in labels:
            seeds = range(runs if runs is not None else default_runs(dataset, "few"))
            for backbone in backbones:
                base = preset(settings, backbone, dataset)
                for variant, changes in variants.items():
                    for seed in seeds:
                        run = RunSpec.on_dataset(dataset, "few", count, seed, parameters={**base, **changes})
                        entries.append(
                            Entry(run, dataset, "few", variant, backbone, settings, count, reference=not changes)
                        )
            for other in others:
                own = method_preset(other, dataset)
                for seed in seeds:
                    run = RunSpec.on_dataset(dataset, "few", count, seed, method=other, parameters=own)
                    entries.append(Entry(run, dataset, "few", other, None, settings, count))
    return entries
