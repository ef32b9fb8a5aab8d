"""RunSpec: its key, its settings checked, and TOML read and written."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.params.ncgc import NCGC_PARAMETERS
from ncgc.params.parameter import Parameter
from ncgc.params.presets import PLAIN
from ncgc.runs.settings_file import read_settings
from ncgc.runs.source import DatasetSource, TableSource
from ncgc.runs.spec import RunSpec, key_of_record

TINY = {"hidden": 8, "epochs": 5, "warmup": 1, "ramp": 1}
CONTEXTS = {
    "all parts": {},
    "plain": PLAIN,
    "no soft orthogonality": {"soft_orthogonality": False},
    "beta 0": {"beta": 0.0},
    "no kl": {"kl": False},
    "no pl": {"pl": False},
    "no sinkhorn": {"sinkhorn": False},
    "estimated prior": {"prior": "estimated"},
    **{backbone: {"backbone": backbone} for backbone in ("gat", "sage", "gcnii", "appnp")},
    "by parts": {"batch": "partitions"},
}
BY_HAND = {
    "heads": 2,
    "relaxation": 0.9,
    "prior": (0.2, 0.3, 0.5),
    "hidden": 12,
    "epochs": 4,
    "patience": 1,
    "warmup": 3,
    "ramp": 4,
    "norm": None,  # the rule says layer there
    "weight_decay": 0.02,
    "teacher": 0.05,  # in five epochs longer memories are all the same
}


def another(parameter: Parameter) -> Any:
    """A value that is allowed and not the default."""
    if parameter.name in BY_HAND:
        return BY_HAND[parameter.name]
    if parameter.kind is bool:
        return not parameter.default
    if parameter.choices:
        return next(choice for choice in parameter.choices if choice != parameter.default)
    if parameter.kind is int:
        return parameter.default + 1
    # a good way off, toward the middle of the range where it has an end
    middle = (parameter.low + parameter.high) / 2 if math.isfinite(parameter.high) else 3 * parameter.default
    return middle if middle != parameter.default else middle / 3


OF_SELECTION = (
    "patience",
    "weigh_validation",
    "choose_from",
)  # five epochs are too few for these to choose another one
# every parameter but the backbone, which is a context
OTHER = {name: another(parameter) for name, parameter in NCGC_PARAMETERS.items() if name != "backbone"}


def possible(parameters):
    """Whether these train together: by parts not everything does."""
    refused = {"pseudo_label_source": "training", "norm": "batch"}.items()
    return parameters.get("batch") != "partitions" or not any(parameters.get(name) == value for name, value in refused)


def key(parameters):
    return RunSpec.on_dataset("digits", "few", parameters=parameters).key


@pytest.fixture(scope="module")
def trained(make_planted):
    """Probabilities of a tiny training, each made once."""
    graph, split = make_planted()
    known: dict[str, np.ndarray] = {}

    def train(parameters) -> np.ndarray:
        name = json.dumps(parameters, sort_keys=True)
        if name not in known:
            known[name] = NCGC(**{**parameters, "random_state": 0}).fit(graph, split).predict_proba()
        return known[name]

    return train


@pytest.mark.parametrize("context", CONTEXTS)
def test_what_shares_a_key_trains_the_same_to_the_bit(trained, context):
    base = TINY | CONTEXTS[context]
    shared = [
        name
        for name, value in OTHER.items()
        if name not in CONTEXTS[context] and key(base | {name: value}) == key(base)
    ]
    assert "random_state" in shared  # the seed is the run's own
    for name in shared:
        np.testing.assert_array_equal(trained(base | {name: OTHER[name]}), trained(base), err_msg=name)


@pytest.mark.parametrize("name", [name for name in OTHER if name != "random_state"])
def test_where_a_parameter_matters_it_is_in_the_key(trained, name):
    """In some context both key and training change; an idle one would be a parameter that no table can tell apart."""
    bases = [TINY | context for context in CONTEXTS.values() if name not in context]
    bases = [base for base in bases if possible(base | {name: OTHER[name]})]
    matters = [base for base in bases if not np.array_equal(trained(base | {name: OTHER[name]}), trained(base))]
    assert matters or name in OF_SELECTION
    if name == "choose_from":  # a plain backbone has no other epochs
        bases = [base for base in bases if not PLAIN.items() <= base.items()]
    for base in matters or bases:
        assert key(base | {name: OTHER[name]}) != key(base)


def test_every_parameter_is_tried_with_a_value_it_allows():
    assert set(OTHER) == set(NCGC_PARAMETERS) - {"backbone"}
    for name, value in OTHER.items():
        NCGC_PARAMETERS[name].check(value)
        assert value != NCGC_PARAMETERS[name].default


def test_no_soft_orthogonality_is_beta_0(trained):
    off, zero = TINY | {"soft_orthogonality": False}, TINY | {"beta": 0.0}
    assert key(off) == key(zero)
    np.testing.assert_array_equal(trained(off), trained(zero))


@pytest.mark.parametrize(
    "other",
    [
        RunSpec.on_dataset("cora", "few"),
        RunSpec.on_dataset("digits", "random"),
        RunSpec.on_dataset("digits", "few", 2),
        RunSpec.on_dataset("digits", "few", seed=1),
        RunSpec.on_dataset("digits", "few", method="label_spreading"),
        RunSpec.on_dataset("digits", "few", blind=True),
        RunSpec.on_dataset("digits", "few", parameters={"hidden": 65}),
        RunSpec.on_dataset("digits", "few", parameters={"prior": (0.2, 0.8)}),
    ],
)
def test_every_part_of_a_run_is_in_its_key(other):
    assert other.key != RunSpec.on_dataset("digits", "few").key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RunSpec.on_dataset("cora", "random"), RunSpec.on_dataset("cora", "random", 20)),
        (RunSpec.on_dataset("cora", "few"), RunSpec.on_dataset("cora", "few", 1)),
        (
            RunSpec.on_dataset("cora", "few", parameters={"beta": 1}),
            RunSpec.on_dataset("cora", "few", parameters={"beta": 1.0}),
        ),
        (
            RunSpec.on_dataset("cora", "few", parameters={"prior": (1, 3)}),
            RunSpec.on_dataset("cora", "few", parameters={"prior": np.array([1.0, 3.0])}),
        ),
        (
            RunSpec.on_dataset("cora", "few", parameters={"hidden": 8, "beta": 0.1}),
            RunSpec.on_dataset("cora", "few", parameters={"beta": 0.1, "hidden": 8}),
        ),
    ],
)
def test_two_ways_to_say_one_run(one, other):
    assert one.key == other.key


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_record_has_the_key_of_its_run(record, context):
    run = RunSpec.on_dataset("cora", "random", 20, 3, parameters=CONTEXTS[context])
    assert key_of_record(json.loads(json.dumps(record(run)))) == run.key


def test_a_record_from_before_a_parameter_counts_as_what_was_done_then(record, monkeypatch):
    old = record(RunSpec.on_dataset("cora", "random", 20, 3))
    young = Parameter("young", 5, int, "new", "Network", past_default=2)
    monkeypatch.setitem(NCGC.PARAMETERS, "young", young)
    assert key_of_record(old) == RunSpec.on_dataset("cora", "random", 20, 3, parameters={"young": 2}).key
    assert key_of_record(old) != RunSpec.on_dataset("cora", "random", 20, 3).key


def test_settings_of_other_methods_are_their_own():
    assert RunSpec.on_dataset("cora", "few", method="label_spreading", parameters={"alpha": 0.5}).settings == {
        "alpha": 0.5,
        "iterations": 1000,
        "tolerance": 1e-6,
    }


@pytest.mark.parametrize(
    ("dataset", "spelt_out"),
    [
        ("cora", {"norm": None, "input_dropout": 0.5, "weight_decay": 5e-3}),
        ("cs", {"norm": None, "input_dropout": 0.5, "weight_decay": 5e-4}),
        ("photo", {"norm": "layer", "input_dropout": 0.0, "weight_decay": 5e-3}),
    ],
)
def test_auto_is_what_it_comes_to(dataset, spelt_out):
    assert RunSpec.on_dataset(dataset, "random").key == RunSpec.on_dataset(dataset, "random", parameters=spelt_out).key
    for name, value in spelt_out.items():
        other = {"norm": "batch", "input_dropout": 0.3, "weight_decay": 0.1}[name]
        assert (
            RunSpec.on_dataset(dataset, "random", parameters={name: other}).key
            != RunSpec.on_dataset(dataset, "random").key
        ), value


# ---------------------------------------------------------------- checks


def on_tables(nodes="n.csv", edges="e.csv", **settings):
    """A run on tables from settings by their names in TOML."""
    return RunSpec.from_settings({"nodes": nodes, "edges": edges, **settings})


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"folds": 1}, "'folds'"),
        ({"folds": -1}, "'folds'"),
        ({"folds": True}, "'folds'"),
        ({"folds": 2.0}, "'folds'"),
        ({"abstain": 2.0}, "'abstain'"),
        ({"abstain": 0.0}, "'abstain'"),
        ({"abstain": float("nan")}, "'abstain'"),
        ({"abstain": 0.9, "folds": 0}, "needs a calibrated confidence"),
        ({"format": "xlsx"}, "'format'"),
        ({"seed": -1}, "'seed'"),
        ({"seed": 2**32}, "'seed'"),
        ({"seed": False}, "'seed'"),
        ({"budget": 0}, "'budget'"),
        ({"delimiter": 3}, "The 'delimiter' parameter of ncgc fit must be text"),
        ({"method": "grnad"}, "did you mean 'grand'"),
        ({"method": "auto", "parameters": {"hidden": 8}}, "takes no parameters"),
        ({"parameters": {"dropout": 1.0}}, "The 'dropout' parameter of NCGC"),
        ({"parameters": {"droput": 0.5}}, "Unknown parameter of NCGC 'droput'; did you mean 'dropout'"),
        ({"parameters": {"random_state": 1}}, "'seed'"),
    ],
)
def test_values_out_of_range(wrong, part):
    with pytest.raises(ParameterError, match=part):
        on_tables(**wrong)


def test_a_data_set_by_another_spelling_is_the_same():
    assert RunSpec.from_settings({"dataset": "Digits"}).dataset == DatasetSource("digits")


def test_seeds_follow_each_other():
    spec = RunSpec.from_settings({"dataset": "digits", "seed": 3, "runs": 3})
    assert spec.seeds == [3, 4, 5]
    assert (spec.with_seed(4).seed, spec.with_seed(4).runs) == (4, 1)


def test_a_run_has_a_data_set_or_tables():
    with pytest.raises(TypeError, match="no data set"):
        _ = on_tables().dataset
    with pytest.raises(TypeError, match="no tables"):
        _ = RunSpec.on_dataset("cora").tables


# ---------------------------------------------------------------- TOML


@pytest.fixture
def save(tmp_path):
    def write(text):
        path = tmp_path / "my.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "settings",
    [
        {"dataset": "digits"},
        {"dataset": "digits", "parameters": {"prior": (0.1, 0.9), "norm": None, "backbone": "appnp"}},
        {"dataset": "digits", "parameters": {"beta": 1 / 3, "kl": False}, "blind": True},
        {"dataset": "digits", "labels_per_class": 3, "val_per_class": 0, "split": "few", "seed": 5, "runs": 4},
        {"dataset": "digits", "method": "gcn", "parameters": {"patience": None}},
        {"nodes": "/n.csv", "edges": "/e.csv"},
        {"nodes": "/n.graphml"},
        {
            "nodes": "/n.csv", "edges": "/e.csv", "id": "the id", "label": '"quoted"', "source": "von", "target": "nach",
            "weight": "größe", "split": "part", "features": "age,bio:text", "delimiter": "\t", "folds": 3, "abstain": 0.9,
            "format": "parquet", "seed": 2**32 - 1,
            "parameters": {"backbone": "gat", "heads": 2, "norm": None, "beta": 1e-7, "kl": False, "features": "unit",
                           "relaxation": "auto", "prior": (1.0, 3.0)},
        },
        {"nodes": "/n.csv", "edges": "/e.csv", "features": "none", "folds": 0},
        {"nodes": "/n.csv", "edges": "/e.csv", "features": "/x.npz"},
    ],
)  # fmt: skip
def test_toml_and_back(settings, save):
    spec = RunSpec.from_settings(settings)
    text = spec.to_toml(drawn=[{"seed": 0, "weights": 1}])
    assert "weights = 1" in text
    assert RunSpec.from_settings(read_settings(save(text), type(spec.data))) == spec


def test_an_array_of_shares_is_written(save):
    spec = RunSpec.on_dataset("digits", parameters={"prior": np.array([0.25, 0.75])})
    assert read_settings(save(spec.to_toml()), DatasetSource)["parameters"] == {"prior": (0.25, 0.75)}


def test_paths_are_kept_whole(save, tmp_path, monkeypatch):
    """A run can be repeated from another folder; columns are no paths."""
    monkeypatch.chdir(tmp_path)
    read = read_settings(save(on_tables("n.csv", "sub/../e.csv", features="x.npy").to_toml()), TableSource)
    assert [Path(read[name]) for name in ("nodes", "edges", "features")] == [
        tmp_path / "n.csv",
        tmp_path / "e.csv",
        tmp_path / "x.npy",
    ]
    assert read_settings(save(on_tables(features="age").to_toml()), TableSource)["features"] == "age"
