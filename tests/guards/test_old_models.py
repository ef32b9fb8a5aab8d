"""Model folders that the old code wrote are read, and predict what they did; format 1 is NCGC's, format 2 the methods'."""

import json
import shutil

import numpy as np
import pytest
from cases import CALIBRATED, MODELS, REFERENCE, load_model, tiny

FOLDER = REFERENCE / "models"
LABELS = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=list(MODELS))
def loaded(request, tmp_path_factory):
    copy = tmp_path_factory.mktemp("models") / request.param
    shutil.copytree(FOLDER / request.param, copy)
    return request.param, load_model(copy)


def test_format(loaded):
    name, _ = loaded
    about = json.loads((FOLDER / name / "model.json").read_text(encoding="utf-8"))
    assert about["format"] == (1 if name.startswith("ncgc") else 2)


def test_predictions_are_those_of_the_saved_one(loaded):
    name, model = loaded
    np.testing.assert_allclose(model.predict_proba(), np.load(FOLDER / f"{name}.npy"), rtol=0, atol=1e-6)
    assert model.predict().tolist() == LABELS[name]
    assert (model.calibration_ is not None) == (name in CALIBRATED)


def test_nodes_of_another_graph(loaded):
    name, model = loaded
    other, _ = tiny(1, 25)
    np.testing.assert_allclose(model.predict_proba(other), np.load(FOLDER / f"{name}-other.npy"), rtol=0, atol=1e-6)


def test_graph_and_parameters_are_there(loaded):
    _, model = loaded
    graph, _ = tiny()
    assert model.graph_.node_ids.tolist() == graph.node_ids.tolist()
    assert model.classes_.tolist() == ["eggs", "ham", "spam"]
    assert (model.graph_.adjacency != graph.adjacency).nnz == 0


def test_saved_again_it_predicts_the_same(loaded, tmp_path):
    name, model = loaded
    model.save(tmp_path / "again")
    found = load_model(tmp_path / "again").predict_proba()
    np.testing.assert_allclose(found, np.load(FOLDER / f"{name}.npy"), rtol=0, atol=1e-6)
