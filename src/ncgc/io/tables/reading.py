"""How the tables of a model were read, kept with it, so that new tables are read the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ncgc.errors import ModelFileError
from ncgc.io.tables.feature_encoder import FeatureEncoder
from ncgc.io.tables.read_graph import GraphTables

ROLES = ("id", "label", "source", "target", "weight")
ORIGINS = ("columns", "file", "array", "structure")


@dataclass(frozen=True)
class Reading:
    """Which column was what, and where the features came from.

    Attributes:
        columns: by role (id, label, source, target, weight) the column's name, None where there was none.
        features: "columns", "file", "array" or "structure"; see :class:`GraphTables`.
        encoder: what made the features out of columns, if they came from there.

    >>> Reading.from_dict(Reading({"id": "doc"}).to_dict()).columns["id"]
    'doc'
    >>> Reading.from_dict({})  # a model that was fitted in Python on arrays
    Reading(columns={}, features='array', encoder=None)
    """

    columns: dict[str, str | None] = field(default_factory=dict)
    features: str = "array"
    encoder: FeatureEncoder | None = None

    @classmethod
    def of(cls, tables: GraphTables) -> Reading:
        return cls(dict(tables.columns), tables.features, tables.encoder)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it: what `save_model` is given as ``extra``."""
        encoder = None if self.encoder is None else self.encoder.to_json()
        return {"columns": self.columns, "features": self.features, "encoder": encoder}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Reading:
        """What :meth:`to_dict` gave; other entries are left alone, and without any the features are an array."""
        columns, origin, text = (
            values.get(key, default) for key, default in (("columns", {}), ("features", "array"), ("encoder", None))
        )
        sound = isinstance(columns, dict) and all(name is None or isinstance(name, str) for name in columns.values())
        if not sound or origin not in ORIGINS or not isinstance(text, str | None):
            raise ModelFileError("What the model says of its tables does not hold together; fit and save it anew.")
        if (origin == "columns") != (text is not None):
            raise ModelFileError("The model lacks what its features were made with; fit and save it anew.")
        return cls(columns, origin, None if text is None else FeatureEncoder.from_json(text))
