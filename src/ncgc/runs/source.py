"""What a run labels: a data set by name or a graph in tables; and every setting of a run, declared once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from ncgc.datasets.catalogue import find_info
from ncgc.datasets.splits import KINDS
from ncgc.errors import ParameterError
from ncgc.params.parameter import Parameter

COLUMN_KINDS = ("number", "category", "text", "drop")


@dataclass(frozen=True)
class Text(Parameter):
    """A setting that may be any text: a path or the name of a column."""

    @property
    def expected(self) -> str:
        """The allowed values in words."""
        return "text"

    def allows(self, value: Any) -> bool:
        """Whether a value is text, or None where that is allowed."""
        return isinstance(value, str) or (value is None and self.optional)


def _table(*rows: Parameter) -> dict[str, Parameter]:
    return {row.name: row for row in rows}


_RUN, _TABLES, _RESULT = "Run", "Tables", "Result"
DATASET_SETTINGS: dict[str, Parameter] = _table(
    Parameter("split", "random", str, "which nodes train, validate and test", _RUN, choices=KINDS),
    Parameter("labels_per_class", None, int, "training nodes of each class (random: 20, few: 1)", _RUN, low=1, optional=True),
    Parameter("val_per_class", None, int, "validation nodes of each class (random: 30, few: 0)", _RUN, low=0, optional=True),
    Parameter("blind", False, bool, "keep validation nodes from training and only measure on them", _RUN),
)  # fmt: skip
TABLE_SETTINGS: dict[str, Parameter] = _table(
    Text("nodes", None, str, "file of the nodes", _TABLES),
    *(
        Text(name, None, str, help, _TABLES, optional=True)
        for name, help in {
            "edges": "file of the edges",
            "id": "column of the nodes' ids",
            "label": "column of the labels",
            "source": "column of the edges: from",
            "target": "column of the edges: to",
            "weight": "column of the edges' weights",
            "split": "column that marks each label as train, val or test",
            "features": "columns with commas, a .npz or .npy file, or none",
            "delimiter": "character between the cells of text tables",
        }.items()
    ),
)
RUN_SETTINGS: dict[str, Parameter] = _table(
    Parameter("seed", 0, int, "random seed of the split and the model; several runs count up from it", _RUN,
              low=0, high=2**32 - 1),
    Parameter("runs", 1, int, "how many runs, each with the next seed", _RUN, low=1),
    Parameter("folds", 0, int, "trainings to calibrate with, each without a part of the labels; 0 turns it off", _RESULT, low=0),
    Parameter("abstain", None, float, "accuracy that predicted labels should have; less certain ones are withheld", _RESULT,
              low=0, high=1, open_low=True, open_high=True, optional=True),
    Parameter("format", "csv", str, "file format of the predictions", _RESULT, choices=("csv", "parquet")),
    Parameter("budget", 300.0, float, "seconds that the method auto may take to choose", "Method", low=0, high=1e9, open_low=True),
)  # fmt: skip


@dataclass(frozen=True)
class DatasetSource:
    """A data set by name, and how its nodes are split.

    Attributes:
        name: a name of the catalogue, such as "cora".
        split: "public", "paper", "random" or "few".
        labels_per_class: training nodes of each class; None: what the split takes by itself.
        val_per_class: validation nodes of each class; None: what the split takes by itself.
        blind: keep validation nodes from training; the result is measured on them all the same.
    """

    command: ClassVar[str] = "ncgc train"
    settings: ClassVar[dict[str, Parameter]] = DATASET_SETTINGS
    run_settings: ClassVar[tuple[str, ...]] = ("seed", "runs")

    name: str
    split: str = "random"
    labels_per_class: int | None = None
    val_per_class: int | None = None
    blind: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The settings of this source under their names in TOML."""
        values = asdict(self)
        return {"dataset": values.pop("name"), **{name: value for name, value in values.items() if value is not False}}

    def check(self) -> None:
        """Raise an NCGCError for an unknown data set or a setting out of range."""
        find_info(self.name)
        for name, row in self.settings.items():
            row.check(getattr(self, name), self.command)


@dataclass(frozen=True)
class TableSource:
    """A graph in files, and what their columns mean.

    Attributes:
        nodes: path of the node table, or of a GraphML file with the edges in it.
        edges: path of the edge table.
        id, label, source, target, weight: names of columns; None: found by their usual names.
        split: column that marks labels as train, val or test; None: every label trains.
        features: columns with commas, each perhaps with its kind ("age,bio:text"), a .npz or .npy file, or "none" for
            the graph's structure; None: every column that is nothing else.
        delimiter: of text tables; None: the usual one of the file's ending.

    >>> TableSource("n.csv", "e.csv", features="age,bio:text").columns
    (['age', 'bio'], {'bio': 'text'})
    """

    command: ClassVar[str] = "ncgc fit"
    settings: ClassVar[dict[str, Parameter]] = TABLE_SETTINGS
    run_settings: ClassVar[tuple[str, ...]] = ("seed", "folds", "abstain", "format", "budget")

    nodes: str
    edges: str | None = None
    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    split: str | None = None
    features: str | None = None
    delimiter: str | None = None

    @property
    def name(self) -> str:
        """The name of the node file without its endings."""
        return Path(self.nodes).name.split(".")[0]

    @property
    def features_from_file(self) -> bool:
        """Whether the features are an array in a file of its own."""
        return self.features is not None and Path(self.features).suffix.lower() in (".npz", ".npy")

    @property
    def columns(self) -> tuple[list[str] | None, dict[str, str]]:
        """The feature columns, or None where they are not named, and the kinds given to some of them."""
        if self.features is None or self.features_from_file or self.features == "none":
            return None, {}
        names, kinds = [], {}
        for part in self.features.split(","):
            name, colon, kind = part.strip().rpartition(":")
            if not colon or kind not in COLUMN_KINDS:
                name = part.strip()
            else:
                kinds[name] = kind
            if not name:
                raise ParameterError(f"There is an empty name among the features {self.features!r}; remove a comma.")
            names.append(name)
        return names, kinds

    def to_dict(self) -> dict[str, Any]:
        """The settings of this source under their names in TOML; paths are absolute, to repeat the run anywhere."""
        values = asdict(self)
        for name in ("nodes", "edges", *(("features",) if self.features_from_file else ())):
            values[name] = None if values[name] is None else str(Path(values[name]).resolve())
        return values

    def check(self) -> None:
        """Raise a ParameterError for a setting that is not text."""
        for name, row in self.settings.items():
            row.check(getattr(self, name), self.command)
