"""Named settings: every cell of the paper's appendix is there and allowed, and what is not there gets a sentence."""

import pytest

from ncgc import NCGC
from ncgc.bench import preset
from ncgc.errors import ParameterError

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
