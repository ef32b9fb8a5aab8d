"""Models in folders: the same model comes back, and whatever is done to the files is a sentence."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
import torch_geometric.nn as pyg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from ncgc import NCGC, Graph, Split, __version__
from ncgc.errors import ModelFileError, NCGCError, OutputError
from ncgc.files import TEMPORARY, whole_folder
from ncgc.io.model_file.folder import FILES
from ncgc.io.model_file.sealed import digest, sealed, unsealed
from ncgc.models.stored import load_model, save_model
from ncgc.nn import BACKBONES
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.training.engines import placement

QUICK = {"hidden": 8, "epochs": 8, "warmup": 2, "ramp": 1}


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def same(first, second):
    arrays = ("predict", "predict_proba", "transform", "predict_clusters")
    return (
        first.get_params() == second.get_params()
        and first.network_.state_dict().keys() == second.network_.state_dict().keys()
        and all(np.array_equal(getattr(first, name)(), getattr(second, name)()) for name in arrays)
        and np.array_equal(first.transduction_, second.transduction_)
        and np.array_equal(first.prior_, second.prior_)
        and (first.best_epoch_, first.termination_, first.seeds_)
        == (second.best_epoch_, second.termination_, second.seeds_)
        and first.extra_ == second.extra_
    )


@pytest.fixture(scope="module")
def planted(make_planted):
    return make_planted()


@pytest.fixture(scope="module")
def fitted(planted):
    return NCGC(**QUICK).fit(*planted)


@pytest.fixture(scope="module")
def files(fitted, tmp_path_factory):
    """The bytes of a good model's files."""
    folder = tmp_path_factory.mktemp("good") / "model"
    save_model(fitted, folder, extra={"said": ["a", 1]})
    return contents(folder)


@pytest.fixture
def changed(files, tmp_path):
    """A model with some entries of model.json changed (None: removed), sealed again, or some files replaced."""

    def make(entries=None, weights=None, graph=None, nodes=None):
        made = dict(files)
        about = unsealed(made["model.json"])
        for name, arrays in (("weights.safetensors", weights), ("graph.safetensors", graph)):
            if arrays is not None:
                all_of_them = {**safetensors.numpy.load(made[name]), **arrays}
                made[name] = safetensors.numpy.save(
                    {key: value for key, value in all_of_them.items() if value is not None}
                )
        if nodes is not None:
            made["nodes.parquet"] = nodes
        about["files"] = {name: digest(made[name]) for name in about["files"]}
        for path, value in (entries or {}).items():
            *outer, last = path.split("/")
            place = about
            for key in outer:
                place = place[key]
            if value is None:
                del place[last]
            else:
                place[last] = value
        made["model.json"] = sealed(about).encode()
        return write(tmp_path / "changed", made)

    return make


# ---------------------------------------------------------------- there and back


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_every_backbone_comes_back_to_the_bit(make_planted, tmp_path, backbone, form):
    graph, split = make_planted(form)
    model = NCGC(backbone, **QUICK).fit(graph, split)
    model.save(tmp_path / "model")
    again = NCGC.load(tmp_path / "model")
    assert same(model, again)
    other = Graph.from_edges([[0, 1]], graph.features[:3])
    assert np.array_equal(model.predict_proba(other), again.predict_proba(other))
    assert np.array_equal(model.transform(other), again.transform(other))
    assert model.score() == again.score()
    assert model.score(graph) == again.score(graph)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_model_fitted_by_partitions_comes_back_to_the_bit(make_planted, tmp_path, monkeypatch, backbone, form):
    """Loading and predicting take the evaluation pass of the engine that trained it, whose sums are in another order."""
    graph, split = make_planted(form)
    other = graph.with_features(graph.features[::-1])
    model = NCGC(backbone, batch="partitions", parts=3, halo=1, **QUICK).fit(graph, split)
    model.save(tmp_path / "model")

    def full_batch(*_):
        raise AssertionError("the model was not trained in full batch")

    monkeypatch.setattr(placement, "evaluate_graph", full_batch)
    again = NCGC.load(tmp_path / "model")
    assert same(model, again)
    for name in ("decision_function", "predict_proba", "transform", "predict_clusters"):
        before, after = getattr(model, name), getattr(again, name)
        assert np.array_equal(before(), after())
        assert np.array_equal(before(), after(graph))  # of its own graph, evaluated anew
        assert np.array_equal(before(other), after(other))
    assert model.score() == again.score()
    assert model.score(graph) == again.score(graph)


@pytest.mark.parametrize(
    "options",
    [
        {"norm": "batch", "residual": True},
        {"kl": False, "pl": False, "random_state": None},
        {"features": "row", "prior": np.array([1.0, 2.0, 3.0]), "input_dropout": 0.25, "num_layers": 3},
        {"backbone": "gat", "heads": 2, "features": "unit", "hidden": np.int64(8)},
    ],
)
def test_options_come_back(planted, tmp_path, options):
    model = NCGC(**(QUICK | options)).fit(*planted)
    model.save(tmp_path / "model")
    again = NCGC.load(tmp_path / "model")
    assert np.array_equal(model.predict_proba(), again.predict_proba())
    for name, value in model.get_params().items():
        assert np.array_equal(value, again.get_params()[name]), name


def test_all_that_was_fitted_comes_back(fitted, files, tmp_path):
    again = load_model(write(tmp_path / "m", files))
    np.testing.assert_equal(list(again.history_), list(fitted.history_))
    assert again.extra_ == {"said": ["a", 1]}
    assert again.seconds_ == fitted.seconds_
    assert torch.equal(again.centroids_, fitted.centroids_)
    assert np.array_equal(again.clusters_, fitted.clusters_)
    assert np.array_equal(again.normalizer_.mean, fitted.normalizer_.mean)
    for part in ("train", "val", "test"):
        assert np.array_equal(getattr(again.split_, part), getattr(fitted.split_, part))
    assert (again.graph_.adjacency != fitted.graph_.adjacency).nnz == 0
    assert np.array_equal(again.graph_.labels, fitted.graph_.labels)


def test_a_loaded_model_fits_again_as_the_first_did(fitted, planted, files, tmp_path):
    again = load_model(write(tmp_path / "m", files)).fit(*planted)
    assert np.array_equal(again.predict_proba(), fitted.predict_proba())
    assert again.extra_ == {}  # which was about the model in the file


def test_parameters_set_after_the_fit_do_not_break_the_file(planted, tmp_path):
    model = NCGC(**QUICK).fit(*planted)
    model.set_params(hidden=32, num_layers=3, norm="batch", features="raw").save(tmp_path / "m")
    again = NCGC.load(tmp_path / "m")
    assert np.array_equal(model.predict_proba(planted[0]), again.predict_proba(planted[0]))
    assert again.hidden == 32


def test_a_calibrated_model_stays_calibrated(planted, tmp_path):
    model = NCGC(**QUICK).fit(*planted).calibrate()
    raw = model.decision_function()
    model.save(tmp_path / "m")
    again = NCGC.load(tmp_path / "m")
    assert np.array_equal(model.predict_proba(), again.predict_proba())
    assert again.calibration_.temperature == model.calibration_.temperature != 1
    assert np.array_equal(again.decision_function(), raw)


@pytest.mark.parametrize(
    ("ids", "classes"),
    [
        (None, np.array(["ham", "spam", "größe"])),
        (np.arange(45) * 3 - 2**40, np.array([7, 8, -9])),
        (np.array([f"n{i}" for i in range(45)]), np.array(["a", "b", "c"], dtype=object)),
        (np.array([f"{i}\n,é" for i in range(45)], dtype=object), np.arange(3, dtype=np.int32)),
    ],
)
def test_names_come_back_with_their_types(planted, tmp_path, ids, classes):
    graph, split = planted
    graph = replace(graph, node_ids=ids, classes=classes)
    NCGC(**QUICK).fit(graph, split).save(tmp_path / "m")
    again = NCGC.load(tmp_path / "m")
    assert again.classes_.tolist() == classes.tolist()
    assert again.classes_.dtype.kind == classes.dtype.kind
    if ids is None:
        assert again.graph_.node_ids is None
    else:
        assert again.graph_.node_ids.tolist() == ids.tolist()
        assert again.graph_.node_ids.dtype.kind == ids.dtype.kind


def test_weighted_edges_and_a_public_split_come_back(planted, tmp_path):
    graph, split = planted
    weighted = replace(
        graph, adjacency=graph.adjacency * np.float32(0.3), public_split=(split.train, split.val, split.test)
    )
    model = NCGC(**QUICK).fit(weighted, split)
    model.save(tmp_path / "m")
    again = NCGC.load(tmp_path / "m")
    assert same(model, again)
    assert np.array_equal(again.graph_.adjacency.data, weighted.adjacency.data)
    assert [part.tolist() for part in again.graph_.public_split] == [part.tolist() for part in weighted.public_split]


def test_losses_that_were_not_finite_come_back(fitted, planted, tmp_path):
    model = NCGC(**QUICK).fit(*planted)
    model.history_.append(epoch=99, total=float("nan"), kl=float("inf"))
    model.save(tmp_path / "m")
    last = NCGC.load(tmp_path / "m").history_.last()
    assert np.isnan(last["total"])
    assert last["kl"] == float("inf")


def test_a_parameter_that_is_younger_than_the_file_is_what_was_done_before(changed):
    assert load_model(changed({"parameters/schedule": None})).schedule == NCGC_PARAMETERS["schedule"].before


def test_the_random_numbers_of_others_are_left_alone(files, tmp_path):
    folder = write(tmp_path / "m", files)
    torch.manual_seed(3)
    first = torch.rand(2)
    torch.manual_seed(3)
    load_model(folder)
    assert torch.equal(torch.rand(2), first)


# ---------------------------------------------------------------- writing


def test_a_folder_with_a_model_is_replaced_only_when_asked(fitted, planted, tmp_path):
    fitted.save(tmp_path / "m")
    other = NCGC(**QUICK, random_state=5).fit(*planted)
    with pytest.raises(OutputError, match="is not empty"):
        other.save(tmp_path / "m")
    other.save(tmp_path / "m", overwrite=True)
    assert same(NCGC.load(tmp_path / "m"), other)
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_a_folder_with_other_things_is_never_replaced(fitted, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match=r"holds 'letter.txt', which is no part of a model"):
        fitted.save(tmp_path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_a_model_inside_a_run_that_is_written_whole(fitted, planted, tmp_path):
    run = tmp_path / "run"
    for seed, overwrite in ((0, False), (1, True)):
        model = NCGC(**QUICK, random_state=seed).fit(*planted)
        with whole_folder(run, overwrite) as place:
            (place / "metrics.json").write_text("{}")
            save_model(model, place / "model")
        assert sorted(file.name for file in run.iterdir()) == ["metrics.json", "model"]
        assert same(NCGC.load(run), model)  # a run's folder will do
        assert same(NCGC.load(run / "model"), model)


def test_extra_survives_a_second_save(files, tmp_path):
    load_model(write(tmp_path / "m", files)).save(tmp_path / "n")
    assert NCGC.load(tmp_path / "n").extra_ == {"said": ["a", 1]}


@pytest.mark.parametrize("extra", [{"a": {1, 2}}, {"a": float("nan")}, {(1, 2): 3}])
def test_extra_that_is_no_json_is_a_sentence(fitted, tmp_path, extra):
    with pytest.raises(ModelFileError, match="must be plain JSON"):
        save_model(fitted, tmp_path / "m", extra=extra)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_saved_is_a_sentence(planted, tmp_path):
    with pytest.raises(NotFittedError, match="before save"):
        NCGC().save(tmp_path / "m")
    own = NCGC(pyg.GCNConv, **QUICK).fit(*planted)
    with pytest.raises(ModelFileError, match="is a function of yours, which cannot be kept in a file"):
        own.save(tmp_path / "m")
    tuples = np.empty(45, dtype=object)
    tuples[:] = [(i, i) for i in range(45)]
    odd = NCGC(**QUICK).fit(replace(planted[0], node_ids=tuples), planted[1])
    with pytest.raises(ModelFileError, match="node ids of this graph hold a tuple"):
        odd.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("exists", [False, True])
def test_killed_while_saving_nothing_is_half(files, tmp_path, exists):
    good = write(tmp_path / "good", files)
    place = tmp_path / "m"
    if exists:
        write(place, files)
    script = (
        "import os, signal, sys; from pathlib import Path; from ncgc import NCGC; import ncgc.files as files\n"
        "model = NCGC.load(sys.argv[1]); model.set_params(hidden=99)\n"
        "files._sync = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
        "model.save(sys.argv[2], overwrite=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(good), str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    left = {file.name for file in tmp_path.iterdir() if not file.name.startswith(TEMPORARY)}
    assert left == ({"good", "m"} if exists else {"good"})
    if exists:
        assert contents(place) == files


# ---------------------------------------------------------------- reading what is not a good model


def test_there_is_no_model(tmp_path):
    with pytest.raises(ModelFileError, match=r"nowhere is not there; give the folder of a saved model"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match=r"is a folder without model.json"):
        load_model(tmp_path)
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(ModelFileError, match=r"a.txt is a file"):
        load_model(tmp_path / "a.txt")
    with pytest.raises(ModelFileError):
        load_model("a\0b")


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_file_is_named(files, tmp_path, name):
    folder = write(tmp_path / "m", files)
    (folder / name).unlink()
    with pytest.raises(ModelFileError, match=rf"{name} is missing; copy it again"):
        load_model(folder)
    (folder / name).mkdir()
    with pytest.raises(ModelFileError, match=rf"{name} cannot be opened"):
        load_model(folder)


def test_another_format_says_who_made_it(changed):
    with pytest.raises(ModelFileError) as caught:
        load_model(changed({"format": 7, "ncgc": "9.9"}))
    assert str(caught.value).endswith(
        f"was made by ncgc 9.9, format 7; this one, {__version__}, reads the formats 1, 2 and 3; install a newer ncgc."
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "of model.json, it is not JSON"),
        (b"\xff\xfe", "of model.json, it is not JSON"),
        (b"[1]", "of model.json, it is a list, not an object"),
        (b"{}", "model.json has no 'format'"),
        (b'{"format": "1", "ncgc": ""}', "has text under 'format', not a whole number"),
        (b'{"format": true, "ncgc": ""}', "has true or false under 'format', not a whole number"),
        (b'{"format": 1, "ncgc": "0.1"}', "its checksum does not fit"),
        (b'{"format": 1, "ncgc": "0.1", "a": NaN, "checksum": ""}', "its checksum does not fit"),
        (b"[" * 100_000, "not JSON"),
        (b'{"format": ' + b"1" * 5000 + b"}", "not JSON"),
    ],
)
def test_model_json_that_is_no_model(files, tmp_path, text, said):
    with pytest.raises(ModelFileError, match=said):
        load_model(write(tmp_path / "m", {**files, "model.json": text}))


def test_an_edit_by_hand_is_noticed(files, tmp_path):
    about = json.loads(files["model.json"])
    about["parameters"]["dropout"] = 0.1
    with pytest.raises(ModelFileError, match="it was changed after it was written"):
        load_model(write(tmp_path / "m", {**files, "model.json": json.dumps(about).encode()}))


def test_files_of_two_models_are_told_apart(files, planted, tmp_path):
    NCGC(**QUICK, random_state=9).fit(*planted).save(tmp_path / "other")
    mixed = {**files, "weights.safetensors": (tmp_path / "other" / "weights.safetensors").read_bytes()}
    with pytest.raises(ModelFileError, match=r"weights.safetensors is not the one that belongs to model.json"):
        load_model(write(tmp_path / "m", mixed))


TOP = ("method", "details", "normalizer", "graph", "parameters", "seeds", "best_epoch", "termination", "seconds", "history",
       "calibration", "extra", "files")  # fmt: skip
GRAPH = ("name", "nodes", "features", "ids", "classes", "split", "classes/names", "classes/type", "split/name",
         "split/seed")  # fmt: skip
NETWORK = ("hidden", "norm", "num_layers", "backbone")
ABOUT = (
    *TOP,
    *(f"graph/{name}" for name in GRAPH),
    *(f"details/network/{name}" for name in NETWORK),
    "files/nodes.parquet",
)
HARMLESS = {"seeds", "best_epoch", "termination", "seconds", "history", "extra", "parameters", "graph/name",
            "graph/split/name", "graph/split/seed"}  # fmt: skip


def outcome(folder):
    """The model in a folder, or what was said instead."""
    try:
        return load_model(folder), None
    except NCGCError as error:
        return None, str(error)


@pytest.mark.parametrize("entry", ABOUT)
def test_a_missing_entry_is_named(changed, entry):
    with pytest.raises(ModelFileError, match=rf"has no '{entry.split('/')[-1]}'"):
        load_model(changed({entry: None}))


@pytest.mark.parametrize("entry", ABOUT)
def test_a_wrong_entry_is_a_sentence_or_harmless(changed, entry):
    for value in ([], {}, "x", -5, 1.5, True, 10**30, [{}], [[]]):
        _, said = outcome(changed({entry: value}))
        # what says nothing about predictions may be anything of its type
        assert entry in HARMLESS if said is None else "cannot be read: " in said, (entry, value, said)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"parameters/dropout": 7}, "'dropout' parameter of NCGC must be"),
        ({"parameters/droput": 0.5}, "Unknown parameter"),
        ({"details/network/hidden": 9}, "does not fit a network of 2 × 9"),
        ({"details/network/hidden": 10**9}, "does not fit a network"),
        ({"details/network/num_layers": 10**9}, "does not fit a network"),
        ({"details/network/norm": "auto"}, "cannot be built"),
        ({"details/network/norm": "batch"}, "norms.0"),
        ({"details/network/backbone": "sage"}, "tensor"),
        ({"details/network/residual": True}, "no tensor 'residuals.0'"),
        ({"normalizer": "upside down"}, "unknown normalizer"),
        ({"graph/classes/names": ["a", "a", "b"], "graph/classes/type": "str"}, "repeat themselves"),
        ({"graph/classes/names": ["a", 1, "b"], "graph/classes/type": "str"}, "is not of the type"),
        ({"graph/classes/names": [1, 2, 10**30]}, "too large"),
        ({"graph/nodes": 46}, "its graph"),
        ({"calibration": {"temperature": 1}}, "its calibration does not hold together"),
        ({"calibration": {"temperature": "hot", "confidence": [], "right": [], "measured": ""}}, "its calibration"),
        ({"history": [{"epoch": 1, "total": "many"}]}, "a number of its history is 'many'"),
        ({"history": [{"total": 1}]}, "a row of its history"),
        ({"seeds": {"weights": "x"}}, "has text under 'weights'"),
    ],
)
def test_what_does_not_hold_together_is_said(changed, entries, said):
    with pytest.raises(ModelFileError, match=said):
        load_model(changed(entries))


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"model.prior": None}, "no tensor 'prior'"),
        ({"model.prior": np.ones(4)}, "the tensor 'prior' has the type float64 and the shape"),
        ({"model.centroids": np.ones((3, 7), dtype=np.float32)}, "the tensor 'centroids'"),
        ({"normalizer.mean": np.ones(6, dtype=np.float32)}, "the mean of the features has"),
        ({"model.network.prototypes": np.ones((8, 3))}, "the network needs torch.float32"),
        ({"model.network.prototypes": None}, "does not fit a network"),
        ({"model.network.strange": np.ones(3)}, "has a strange tensor 'strange'"),
        ({"model.network.convs.0.weight": None}, "does not fit a network|no tensor"),
    ],
)
def test_weights_that_do_not_fit(changed, weights, said):
    with pytest.raises(ModelFileError, match=said):
        load_model(changed(weights=weights))


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ({"labels": None}, "its graph has no 'labels'"),
        ({"labels": np.full(45, 9)}, "only 3 classes"),
        ({"labels": np.zeros(44, dtype=np.int64)}, "'labels' of the type int64 and the shape"),
        ({"train": np.array([0, 45])}, "training nodes contain 45"),
        ({"train": np.ones(3)}, "'train' of the type float64"),
        ({"features": np.full((45, 7), np.nan, dtype=np.float32)}, "not a finite number"),
        ({"features": np.ones((45, 8), dtype=np.float32)}, "'features' of the type"),
        ({"adjacency.indptr": np.zeros(3, dtype=np.int64)}, "does not hold together"),
        ({"adjacency.indices": None}, "no 'adjacency.indices'"),
    ],
)
def test_graphs_that_do_not_fit(changed, graph, said):
    with pytest.raises(ModelFileError, match=said):
        load_model(changed(graph=graph))


@pytest.mark.parametrize("change", ["far", "negative", "loop", "one way", "twice", "zero", "nan"])
def test_an_adjacency_that_is_none(changed, fitted, change):
    a = fitted.graph_.adjacency
    indices, values = a.indices.copy(), a.data.copy()
    row = slice(a.indptr[0], a.indptr[1])
    if change == "far":
        indices[0] = 10**6
    elif change == "negative":
        indices[0] = -1
    elif change == "loop":
        indices[row.start] = 0
    elif change == "one way":
        values[0] = 5
    elif change == "twice":
        indices[row.start + 1] = indices[row.start]
    else:
        values[:] = 0 if change == "zero" else np.nan
    with pytest.raises(ModelFileError, match="of its graph"):
        load_model(changed(graph={"adjacency.indices": indices, "adjacency.data": values}))


def test_nodes_that_do_not_fit(changed, files, planted, tmp_path):
    with pytest.raises(ModelFileError, match=r"nodes.parquet has no ids"):
        load_model(changed(nodes=b"PAR1 not quite"))
    small = Graph.from_edges([[0, 1]], np.eye(2), [0, 1])
    NCGC(**QUICK).fit(small, Split([0, 1], [], [])).save(tmp_path / "small")
    with pytest.raises(ModelFileError, match=r"nodes.parquet has 2 ids for 45 nodes"):
        load_model(changed(nodes=(tmp_path / "small" / "nodes.parquet").read_bytes()))


def test_nothing_is_unpickled(files, tmp_path):
    """A pickle under every name: none runs."""

    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "boom",))

    for name in FILES:
        made = {**files, name: pickle.dumps(Bomb())}
        if name != "model.json":
            about = unsealed(made["model.json"])
            about["files"][name] = digest(made[name])
            made["model.json"] = sealed(about).encode()
        with pytest.raises(ModelFileError):
            load_model(write(tmp_path / "m", made))
    assert not (tmp_path / "boom").exists()


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damaged_bytes_are_a_sentence_or_the_same_model(fitted, files, data):
    name = data.draw(st.sampled_from(FILES))
    content = bytearray(files[name])
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    sealed_again = name != "model.json" and data.draw(
        st.booleans()
    )  # so that the readers behind the checksum are met too
    made = {**files, name: bytes(content)}
    if sealed_again:
        about = unsealed(made["model.json"])
        about["files"][name] = digest(made[name])
        made["model.json"] = sealed(about).encode()
    with tempfile.TemporaryDirectory() as root:
        folder = write(Path(root) / "m", made)
        model, said = outcome(folder)
    if said is not None:
        assert "\n" not in said
    else:
        assert model.extra_ == {"said": ["a", 1]} or sealed_again
        model.extra_ = fitted.extra_
        assert sealed_again or same(model, fitted)
