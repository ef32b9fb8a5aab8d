"""The one table of hyper-parameters."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.params.ncgc import DEFAULTS, NCGC_PARAMETERS
from ncgc.params.parameter import Declared, check_parameters, declared, unknown_name


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
        check_parameters({"backbone": "gcni"}, "NCGC", NCGC_PARAMETERS)
    with pytest.raises(ParameterError, match=r"Got 'zzz' instead\.$"):
        check_parameters({"backbone": "zzz"}, "NCGC", NCGC_PARAMETERS)


def test_an_unknown_name_gets_the_nearest_or_all():
    with pytest.raises(ParameterError, match="did you mean 'hidden'"):
        check_parameters({"hiden": 3}, "NCGC", NCGC_PARAMETERS)
    assert unknown_name("zzz", ["a", "b"], "letter") == "Unknown letter 'zzz'; known are a, b."


# -------------------------------------------------------------------- declared in the body of a class


class Narrow(Declared, BaseEstimator):
    hidden: int = declared(16, "width", low=1)
    random_state: int | None = declared(0, "seed", low=0, optional=True)


class Wide(Narrow, hidden=64):
    rate: float = declared(0.5, "rate", low=0, high=1)


def test_defaults_are_inherited_and_replaced():
    assert Narrow().get_params() == {"hidden": 16, "random_state": 0}
    assert Wide().get_params() == {"hidden": 64, "rate": 0.5, "random_state": 0}
    assert Narrow.PARAMETERS["hidden"].default == 16
    assert list(inspect.signature(Wide).parameters) == ["hidden", "rate", "random_state"]


def test_clone_keeps_what_was_given():
    assert clone(Wide(hidden=3, random_state=None)).get_params() == {"hidden": 3, "rate": 0.5, "random_state": None}


def test_wrong_names_and_values_are_sentences():
    with pytest.raises(ParameterError, match="Unknown parameter of Wide 'hiden'; did you mean 'hidden'"):
        Wide(hiden=3)
    with pytest.raises(ParameterError, match="The 'rate' parameter of Wide must be a float in the range"):
        Wide(rate=2.0).check()
    with pytest.raises(TypeError, match="no parameter 'depth'"):

        class Deep(Narrow, depth=3): ...


def test_positional_parameters_and_what_is_given_twice():
    class Placed(Narrow):
        POSITIONAL = ("hidden",)

    assert Placed(3).hidden == 3
    with pytest.raises(TypeError, match="takes 1 positional arguments"):
        Placed(3, 4)
    with pytest.raises(TypeError, match="got 'hidden' twice"):
        Placed(3, hidden=4)


def test_a_renamed_parameter_is_found_under_its_former_name():
    class Renamed(Narrow):
        width: int = declared(8, "width", low=1, former_name="columns")

    assert Renamed.renamed({"columns": 4, "hidden": 2}) == {"width": 4, "hidden": 2}


def test_a_recipe_fills_what_was_not_given():
    class Deep(Wide):
        @classmethod
        def recipe(cls, given):
            return {"rate": 0.1} if given.get("hidden", 64) > 64 else {}

    assert (Deep().rate, Deep(hidden=128).rate, Deep(hidden=128, rate=0.7).rate) == (0.5, 0.1, 0.7)
    assert clone(Deep(hidden=128)).set_params(hidden=2).rate == 0.1  # set_params changes only what it names
