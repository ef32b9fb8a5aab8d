"""The one table of hyper-parameters."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.params.ncgc import DEFAULTS, NCGC_PARAMETERS
from ncgc.params.parameter import check_parameters, unknown_name


def test_the_estimator_takes_exactly_the_table():
    signature = inspect.signature(NCGC.__init__).parameters
    assert {name: value.default for name, value in signature.items() if name != "self"} == DEFAULTS


@pytest.mark.parametrize("parameter", NCGC_PARAMETERS.values(), ids=list(NCGC_PARAMETERS))
def test_every_default_is_allowed_and_described(parameter):
    parameter.check(parameter.default)
    assert parameter.help
    assert not parameter.help.endswith(".")
    assert parameter.expected


@pytest.mark.parametrize("parameter", NCGC_PARAMETERS.values(), ids=list(NCGC_PARAMETERS))
def test_nonsense_is_refused_in_one_form(parameter):
    with pytest.raises(ParameterError) as caught:
        parameter.check(object())
    assert str(caught.value).startswith(f"The '{parameter.name}' parameter of NCGC must be {parameter.expected}. Got <")
    assert str(caught.value).endswith("> instead.")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("beta", 0, True),
        ("beta", np.float32(0.5), True),
        ("beta", float("nan"), False),
        ("beta", float("inf"), False),
        ("beta", 10**400, False),
        ("beta", True, False),
        ("beta", "0.1", False),
        ("dropout", 1.0, False),
        ("dropout", 0.999, True),
        ("learning_rate", 0.0, False),
        ("hidden", np.int64(3), True),
        ("hidden", 3.0, False),
        ("hidden", None, False),
        ("norm", None, True),
        ("norm", "none", False),
        ("kl", 1, False),
        ("kl", np.True_, True),
        ("prior", [0.5, 0.5], True),
        ("prior", np.ones(3), True),
        ("prior", len, False),
        ("backbone", len, True),
        ("backbone", ["gcn"], False),
        ("random_state", None, True),
        ("random_state", -1, False),
    ],
)
def test_what_is_allowed(name, value, allowed):
    assert NCGC_PARAMETERS[name].allows(value) is allowed


def test_a_mistyped_choice_gets_the_nearest():
    with pytest.raises(ParameterError, match=r"Got 'gcni' instead; did you mean 'gcnii'\?$"):
        check_parameters({"backbone": "gcni"})
    with pytest.raises(ParameterError, match=r"Got 'zzz' instead\.$"):
        check_parameters({"backbone": "zzz"})


def test_an_unknown_name_gets_the_nearest_or_all():
    with pytest.raises(ParameterError, match="did you mean 'hidden'"):
        check_parameters({"hiden": 3})
    assert unknown_name("zzz", ["a", "b"], "letter") == "Unknown letter 'zzz'; known are a, b."
