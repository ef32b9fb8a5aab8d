"""NCGC's hyper-parameters: declared once, with recipes by backbone, and a key that survives a rename."""

import inspect
import subprocess
import sys

import pytest

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.params.ncgc import BACKBONES, DEFAULTS, NCGC_PARAMETERS, NCGCParameters
from ncgc.params.presets import recipe


def test_the_constructor_has_every_parameter_with_its_default():
    signature = inspect.signature(NCGC)
    assert {name: row.default for name, row in signature.parameters.items()} == DEFAULTS
    assert next(iter(signature.parameters)) == "backbone"
    assert NCGC().get_params() == DEFAULTS  # the default backbone has no recipe


@pytest.mark.parametrize("backbone", BACKBONES)
def test_python_has_the_recipe_of_the_command_line(backbone):
    found = NCGC(backbone).get_params()
    assert found == DEFAULTS | {"backbone": backbone} | recipe({"backbone": backbone})
    assert NCGC(backbone, num_layers=3, heads=2, hidden=6).get_params()["num_layers"] == 3


def test_a_backbone_of_ones_own_has_no_recipe():
    assert NCGC(lambda i, o: None).num_layers == DEFAULTS["num_layers"]


def test_they_are_known_without_torch():
    code = "import sys, ncgc.params.ncgc; sys.exit(bool({'torch', 'sklearn'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_class_weight_is_label_loss_weight_now():
    assert NCGC_PARAMETERS["label_loss_weight"].former_name == "class_weight"
    assert NCGCParameters.renamed({"class_weight": 2.0}) == {"label_loss_weight": 2.0}
    with pytest.raises(ParameterError, match="'class_weight'; it is called 'label_loss_weight' now"):
        NCGC(class_weight=2.0)
    before = NCGC.past_parameters({"class_weight": 2.0, "backbone": "gcn"})
    assert before["label_loss_weight"] == 2.0
    assert before["schedule"] == "constant"  # what was done before there were schedules


def test_what_changes_nothing_is_left_out():
    effective = NCGCParameters.effective_parameters
    assert "heads" not in effective({"backbone": "gcn"})
    assert "heads" in effective({"backbone": "gat"})
    assert not {"epsilon", "teacher", "prior"} & set(effective({"pl": False}))
    assert not {"warmup", "ramp", "choose_from"} & set(effective({"pl": False, "kl": False}))
    assert effective({"beta": 0.0}) == effective({"soft_orthogonality": False})
    assert "batch" not in effective({})
    assert "parts" in effective({"batch": "partitions"})
