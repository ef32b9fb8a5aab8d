"""Named settings: every cell of the paper's appendix is there and allowed, and what is not there gets a sentence."""

import pytest

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.params.ncgc import NCGCParameters
from ncgc.params.presets import BACKBONES, method_preset, other_defaults, preset, recipe

DATASETS = ("cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics")


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gcnii"])
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_cell_of_the_paper_makes_an_estimator(backbone, dataset):
    values = preset("paper", backbone, dataset)
    model = NCGC(**values)
    assert model.backbone == backbone
    assert 0.001 <= model.beta <= 0.010
    assert 0.03 <= model.epsilon <= 0.04
    assert model.relaxation == 1.0


def test_a_few_cells_by_hand():
    assert preset("paper", "gcn", "citeseer")["weight_decay"] == 1e-2
    assert preset("paper", "gat", "computers")["sinkhorn_iterations"] == 1
    assert preset("paper", "sage", "photo")["num_layers"] == 6
    assert preset("paper", "gcnii", "physics")["dropout"] == 0.5


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("papr", "gcn", "cora"), "did you mean 'paper'"),
        (("paper", "appnp", "cora"), "nothing for the backbone 'appnp'"),
        (("paper", "gcn", "digits"), "nothing for the data set 'digits'"),
    ],
)
def test_what_is_not_there_gets_a_sentence(asked, words):
    with pytest.raises(ParameterError, match=words):
        preset(*asked)


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gcnii", "appnp"])
@pytest.mark.parametrize("name", ["default", "tuned"])
def test_our_settings_hold_for_every_data_set_and_backbone(name, backbone):
    found = [preset(name, backbone, dataset) for dataset in DATASETS]
    assert all(settings["backbone"] == backbone for settings in found)
    if name == "default":  # one setting for all graphs
        assert all(settings == found[0] for settings in found)


def test_the_default_is_what_the_estimator_does_by_itself():
    assert NCGCParameters.effective_parameters(preset("default", "gcn", "cora")) == NCGCParameters.effective_parameters(
        {}
    )


def test_the_papers_settings_take_nothing_from_our_recipe():
    """What the recipe changed must be named in paper.toml, or the paper's rows would move with our defaults."""
    ours = {"features", "input_dropout", "schedule", "decay_on", "weigh_validation", "relaxation", "warmup", "ramp", "epochs",
            "patience", "dropout", "learning_rate", "weight_decay"}  # fmt: skip
    for dataset in DATASETS:
        assert ours <= preset("paper", "gcn", dataset).keys()


def test_large_graphs_have_a_table_of_their_own_between_common_and_the_data_set() -> None:
    photo, cora, computers = (method_preset("dagnn", name) for name in ("photo", "cora", "computers"))
    assert (cora["epochs"], photo["epochs"], computers["epochs"]) == (1000, 500, 500)
    assert photo["dropout"] == 0.5
    assert cora["dropout"] == 0.8
    assert method_preset("dagnn")["epochs"] == 1000


def test_narrower_tables_of_a_method_win():
    assert method_preset("appnp", "cora").get("features", "row") == "row"
    assert method_preset("appnp", "cs").get("features", "row") == "row"
    photo = method_preset("appnp", "photo")
    assert (photo["features"], photo["weight_decay"], photo["epochs"]) == ("centred", 5e-4, 500)


def test_some_backbones_have_settings_of_their_own_and_gcn_has_none():
    assert {"gat", "gcnii", "appnp"} <= {name for name in BACKBONES if recipe({"backbone": name})}
    assert recipe({}) == recipe({"backbone": "gcn"}) == {}
    for backbone in BACKBONES:
        values = preset("default", backbone, "cora")
        assert recipe({"backbone": backbone}) == {name: value for name, value in values.items() if name != "backbone"}


def test_what_is_given_is_left_alone():
    assert "num_layers" not in recipe({"backbone": "gcnii", "num_layers": 2})
    assert recipe({"backbone": "gat", "heads": 1}) == {}


@pytest.mark.parametrize(("hidden", "heads"), [(64, 8), (12, 4), (7, 1)])
def test_heads_divide_the_width_given(hidden, heads):
    assert recipe({"backbone": "gat", "hidden": hidden}) == {"heads": heads}


def test_other_settings_by_name():
    assert recipe({"backbone": "gcnii"}, "cora", "paper")["num_layers"] == 32
    with pytest.raises(ParameterError, match="did you mean 'paper'"):
        recipe({}, "cora", "papers")


def test_other_defaults():
    assert other_defaults("heads") == {"gat": 8}
    assert other_defaults("beta") == {}


def test_a_backbone_without_settings_has_no_recipe():
    assert recipe({"backbone": lambda inside, out: None}) == recipe({"backbone": "gnc"}) == {}
    assert recipe({"backbone": "gat", "hidden": "wide"}) == {"heads": 8}  # refused when the width is checked
