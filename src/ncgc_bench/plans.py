"""The experiments as lists of runs: a table, the ablation, sweeps, accuracy against labels.

A plan says which run belongs in which cell. Nothing is stored about plans: a table is a plan looked up in the store, so it
can only show what was run with the very settings it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ncgc.params.presets import PLAIN, method_preset, preset
from ncgc.runs.spec import RunSpec

DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics")
BACKBONES = ("gcn", "gat", "sage", "gcnii", "appnp")
PAPER_BACKBONES = ("gcn", "gat", "sage", "gcnii")
LARGE = ("cs", "physics")  # fewer runs where the paper has fewer
# variant → what differs from the settings
VARIANTS: dict[str, dict[str, Any]] = {"ncgc": {}, "plain": PLAIN}
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
OTHERS = ("label_spreading",)  # methods that have no backbone


@dataclass(frozen=True)
class Entry:
    """A run and its place: data set, split, variant, backbone (None for a method without), and the value swept."""

    run: RunSpec
    dataset: str
    split: str
    variant: str
    backbone: str | None
    settings: str
    value: float | None = None

    @property
    def row(self) -> tuple[str, str]:
        """Backbone and variant, with the value where a parameter is swept."""
        swept = self.value is not None and self.run.dataset.labels_per_class is None
        return self.backbone or "", f"{self.variant} {self.value:g}" if swept else self.variant

    @property
    def column(self) -> str:
        """The data set, with the labels of a class where they are given."""
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
    """Variants × backbones × data sets × seeds. ``runs``: 10 on `random` splits, else 5, and 3 on the co-author graphs."""
    entries = []
    for dataset in datasets:
        seeds = range(runs if runs is not None else default_runs(dataset, split))
        for backbone in backbones:
            base = preset(settings, backbone, dataset)
            for variant, changes in variants.items():
                parameters = {**base, **changes}
                for seed in seeds:
                    run = RunSpec.on_dataset(dataset, split, None, seed, parameters=parameters)
                    entries.append(Entry(run, dataset, split, variant, backbone, settings))
        for other in others:
            own = method_preset(other, dataset)
            for seed in seeds:
                run = RunSpec.on_dataset(dataset, split, None, seed, method=other, parameters=own)
                entries.append(Entry(run, dataset, split, other, None, settings))
    return entries


def leaderboard_plan(
    datasets: Sequence[str] = DATASETS,
    backbones: Sequence[str] = ("appnp", "gcn"),
    split: str = "random",
    runs: int | None = None,
    settings: str = "default",
    others: Iterable[str] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Entry]:
    """NCGC and every method, five runs of each; the first backbone's NCGC is what the others are compared with."""
    from ncgc.models.registry import BASELINES  # torch comes with it

    shown = {"ncgc": VARIANTS["ncgc"]} if variants is None else variants
    listed = BASELINES if others is None else others
    return table_plan(datasets, backbones, split, 5 if runs is None else runs, settings, shown, listed)


def default_runs(dataset: str, split: str) -> int:
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
    """Each part of the method taken out in turn."""
    return table_plan(datasets, backbones, split, runs, settings, ABLATION)


def sweep_plan(
    datasets: Sequence[str] = ("cora", "citeseer", "photo"),
    backbones: Sequence[str] = ("gcn",),
    split: str = "paper",
    runs: int | None = None,
    settings: str = "default",
    sweeps: Mapping[str, Sequence[float]] = SWEEPS,
) -> list[Entry]:
    """One parameter at a time over a range, the others as in the settings."""
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
    """Accuracy against labels per class, without any validation labels (split `few`)."""
    entries = []
    for dataset in datasets:
        for count in labels:
            seeds = range(runs if runs is not None else default_runs(dataset, "few"))
            for backbone in backbones:
                base = preset(settings, backbone, dataset)
                for variant, changes in variants.items():
                    for seed in seeds:
                        run = RunSpec.on_dataset(dataset, "few", count, seed, parameters={**base, **changes})
                        entries.append(Entry(run, dataset, "few", variant, backbone, settings, count))
            for other in others:
                own = method_preset(other, dataset)
                for seed in seeds:
                    run = RunSpec.on_dataset(dataset, "few", count, seed, method=other, parameters=own)
                    entries.append(Entry(run, dataset, "few", other, None, settings, count))
    return entries
