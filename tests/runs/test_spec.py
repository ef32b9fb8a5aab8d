"""Keys: equal for runs that train the same thing to the bit, different for all others, and the same from a record."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.params.parameter import PARAMETERS, Parameter
from ncgc.runs import spec as module
from ncgc.runs.spec import PLAIN, Run, effective, key_of_record

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
OTHER = {name: another(parameter) for name, parameter in PARAMETERS.items() if name != "backbone"}


def possible(parameters):
    """Whether these train together: by parts not everything does."""
    refused = {"pseudo_label_source": "training", "norm": "batch"}.items()
    return parameters.get("batch") != "partitions" or not any(parameters.get(name) == value for name, value in refused)


def key(parameters):
    return Run("digits", "few", parameters=parameters).key


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
    assert set(OTHER) == set(PARAMETERS) - {"backbone"}
    for name, value in OTHER.items():
        PARAMETERS[name].check(value)
        assert value != PARAMETERS[name].default


def test_no_soft_orthogonality_is_beta_0(trained):
    off, zero = TINY | {"soft_orthogonality": False}, TINY | {"beta": 0.0}
    assert key(off) == key(zero)
    np.testing.assert_array_equal(trained(off), trained(zero))


@pytest.mark.parametrize(
    "other",
    [
        Run("cora", "few"),
        Run("digits", "random"),
        Run("digits", "few", 2),
        Run("digits", "few", seed=1),
        Run("digits", "few", method="label_spreading"),
        Run("digits", "few", blind=True),
        Run("digits", "few", parameters={"hidden": 65}),
        Run("digits", "few", parameters={"prior": (0.2, 0.8)}),
    ],
)
def test_every_part_of_a_run_is_in_its_key(other):
    assert other.key != Run("digits", "few").key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Run("cora", "random"), Run("cora", "random", 20)),
        (Run("cora", "few"), Run("cora", "few", 1)),
        (Run("cora", "few", parameters={"beta": 1}), Run("cora", "few", parameters={"beta": 1.0})),
        (
            Run("cora", "few", parameters={"prior": (1, 3)}),
            Run("cora", "few", parameters={"prior": np.array([1.0, 3.0])}),
        ),
        (
            Run("cora", "few", parameters={"hidden": 8, "beta": 0.1}),
            Run("cora", "few", parameters={"beta": 0.1, "hidden": 8}),
        ),
    ],
)
def test_two_ways_to_say_one_run(one, other):
    assert one.key == other.key


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_record_has_the_key_of_its_run(record, context):
    run = Run("cora", "random", 20, 3, parameters=CONTEXTS[context])
    assert key_of_record(json.loads(json.dumps(record(run)))) == run.key


def test_a_record_from_before_a_parameter_counts_as_what_was_done_then(record, monkeypatch):
    old = record(Run("cora", "random", 20, 3))
    young = Parameter("young", 5, int, "new", "Network", older=2)
    monkeypatch.setitem(PARAMETERS, "young", young)
    monkeypatch.setitem(module.DEFAULTS, "young", young.default)
    assert key_of_record(old) == Run("cora", "random", 20, 3, parameters={"young": 2}).key
    assert key_of_record(old) != Run("cora", "random", 20, 3).key


def test_effective_changes_nothing_it_is_given():
    given = {"pl": False, "epsilon": 0.1}
    assert "epsilon" not in effective(given)
    assert given == {"pl": False, "epsilon": 0.1}


def test_settings_of_other_methods_are_their_own():
    assert Run("cora", "few", method="label_spreading", parameters={"alpha": 0.5}).settings == {
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
    assert Run(dataset, "random").key == Run(dataset, "random", parameters=spelt_out).key
    for name, value in spelt_out.items():
        other = {"norm": "batch", "input_dropout": 0.3, "weight_decay": 0.1}[name]
        assert Run(dataset, "random", parameters={name: other}).key != Run(dataset, "random").key, value
