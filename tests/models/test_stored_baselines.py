"""Fitted methods in folders: what does not fit is a sentence."""

import numpy as np
import pytest
import safetensors.numpy

from ncgc import NCGC, load_model
from ncgc.errors import ModelFileError
from ncgc.io.model_file.folder import FILES
from ncgc.io.model_file.sealed import digest, sealed, unsealed
from ncgc.models.baselines.gcn import GCN
from ncgc.models.registry import find_classifier


@pytest.fixture
def saved(make_planted, tmp_path):
    model = find_classifier("gcn")(hidden=8, epochs=5).fit(*make_planted())
    model.save(tmp_path / "m")
    return tmp_path / "m"


def change(folder, entries=None, weights=None):
    """Change entries of model.json and tensors (None: removed), and seal it again."""
    about = unsealed((folder / "model.json").read_bytes())
    path = folder / "weights.safetensors"
    tensors = {**safetensors.numpy.load(path.read_bytes()), **(weights or {})}
    path.write_bytes(safetensors.numpy.save({name: array for name, array in tensors.items() if array is not None}))
    about["files"] = {name: digest((folder / name).read_bytes()) for name in FILES[1:]}
    about["parameters"].update((entries or {}).pop("parameters", {}))
    about.update(entries or {})
    (folder / "model.json").write_text(sealed(about))
    return folder


def test_the_class_comes_with_the_file(saved):
    model = load_model(saved)
    assert type(model) is GCN
    assert isinstance(GCN.load(saved), GCN)
    with pytest.raises(ModelFileError, match=r"is of GCN, not of NCGC; read it with ncgc\.load_model"):
        NCGC.load(saved)
    with pytest.raises(ModelFileError, match="is of GCN, not of GAT"):
        find_classifier("gat").load(saved)


@pytest.mark.parametrize(
    ("entries", "weights", "words"),
    [
        ({"method": "gnc"}, None, "it is of the method 'gnc', which this version of ncgc does not have"),
        ({"method": "label_spreading", "parameters": {}}, None, "Unknown parameter of LabelSpreading"),
        ({"parameters": {"hiden": 3}}, None, "did you mean 'hidden'"),
        ({"parameters": {"hidden": 10**12}}, None, "does not fit a network with hidden 1000000000000"),
        ({"parameters": {"hidden": 3}}, None, "the tensor 'first' has the type float32"),
        ({"normalizer": "odd"}, None, "unknown normalizer 'odd'"),
        ({}, {"model.first": None}, "no tensor 'first'"),
        ({}, {"model.third": np.ones(2)}, "a strange tensor 'third'"),
        ({}, {"model.second": np.ones((8, 3))}, "the tensor 'second' has the type float64"),
    ],
)
def test_what_does_not_fit_is_a_sentence(saved, entries, weights, words):
    with pytest.raises(ModelFileError, match=words):
        load_model(change(saved, entries, weights))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("grand", {"batch_norm": True, "hidden": 8}),
        ("sage_star", {"norm": "batch", "residual": True, "hidden": 8, "num_layers": 2}),
        ("gcn_star", {"norm": "layer", "hidden": 8, "num_layers": 3}),
        ("gat", {"output_heads": 4, "hidden": 3}),
        ("mlp_ppr", {"features": "centred", "hidden": 8}),
    ],
)
def test_norms_and_means_come_back(make_planted, tmp_path, name, settings):
    graph, split = make_planted("dense")
    model = find_classifier(name)(**settings, epochs=4).fit(graph, split)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict_proba(graph), model.predict_proba(graph))


def test_a_class_of_the_users_own_is_not_kept(make_planted, tmp_path):
    class Own(GCN):
        title = "own"

    with pytest.raises(ModelFileError, match="Own is a class of yours"):
        Own(hidden=8, epochs=2).fit(*make_planted()).save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_linear_weights_that_do_not_fit(make_planted, tmp_path):
    find_classifier("logistic_regression")().fit(*make_planted()).save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="tensors of the shapes"):
        load_model(change(tmp_path / "m", weights={"model.bias": np.zeros(7)}))
