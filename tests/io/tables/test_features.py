"""Which features are taken: columns, a file, or the structure."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ncgc.errors import InputError, ParameterError
from ncgc.io import FeatureEncoder
from ncgc.io.tables.features import choose_features
from ncgc.io.tables.table import as_table

FRAME = pd.DataFrame(
    {"id": list("ABCD"), "label": ["x", "y", "x", "y"], "age": [1.0, 5.0, 7.0, 2.0], "class": ["u", "v", "u", "v"]}
)
LINE = sparse.csr_array(np.eye(4, k=1) + np.eye(4, k=-1))


def choose(features=None, kinds=None, encoder=None, frame=FRAME):
    return choose_features(as_table(frame, "nodes"), ["id", "label"], features, kinds, encoder, LINE)


def test_every_other_column():
    chosen = choose()
    assert chosen.origin == "columns"
    assert chosen.encoder.used_columns == ["age", "class"]
    assert chosen.notes == [
        "Features: 3, from the columns 'age' (number, 1), 'class' (category, 2).",
        "The column 'class' is used as a feature; give it the kind 'drop' if it tells the labels.",
    ]


def test_named_columns():
    chosen = choose(["Age"])
    assert chosen.encoder.used_columns == ["age"]
    assert chosen.notes == ["Features: 1, from the column 'age' (number, 1)."]
    with pytest.raises(ParameterError, match="features must be names of columns"):
        choose(np.ones((4, 2)))
    for taken in ("label", "ID"):
        with pytest.raises(InputError, match="holds the ids or the labels and cannot be a feature"):
            choose(["age", taken])


@pytest.mark.parametrize("how", ["asked", "nothing left"])
def test_structure(how):
    chosen = choose("none") if how == "asked" else choose(kinds={"age": "drop", "class": "drop"})
    assert chosen.origin == "structure"
    assert chosen.encoder is None
    assert chosen.matrix.shape[0] == 4
    assert "good for this graph only" in chosen.notes[-1]


def test_a_file(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((4, 3)))
    chosen = choose(str(tmp_path / "x.npy"))
    assert (chosen.origin, chosen.encoder, chosen.matrix.shape) == ("file", None, (4, 3))
    with pytest.raises(
        InputError, match=r"features 'age' are neither a .npz or .npy file nor 'none'; name columns in a list"
    ):
        choose("age")


def test_a_fitted_encoder():
    encoder = FeatureEncoder(["age"]).fit(FRAME)
    chosen = choose(encoder=encoder)
    assert chosen.encoder is encoder
    assert chosen.matrix.shape == (4, 1)
    for options in ({"features": "none"}, {"kinds": {"age": "number"}}):
        with pytest.raises(ParameterError, match="features of a fitted encoder are fixed"):
            choose(encoder=encoder, **options)
