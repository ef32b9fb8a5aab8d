"""Settings in TOML: read, refused, and those of earlier versions."""

import pytest

from ncgc.errors import ParameterError
from ncgc.runs.settings_file import read_settings
from ncgc.runs.source import DatasetSource, TableSource
from ncgc.runs.spec import RunSpec


@pytest.fixture
def save(tmp_path):
    def write(text):
        path = tmp_path / "my.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_reads_what_is_there_and_no_more(save):
    path = save(
        'dataset = "digits"\nruns = 3\n[parameters]\nbackbone = "gat"\nbeta = 1\nnorm = "none"\nprior = [1, 3]\n'
    )
    parameters = {"backbone": "gat", "beta": 1, "norm": None, "prior": (1, 3)}
    assert read_settings(path, DatasetSource) == {"dataset": "digits", "runs": 3, "parameters": parameters}


def test_a_file_of_an_earlier_ncgc_train_is_read(save):
    """The backbone at the top, none for what was not given, the loss weight by its former name, and the record of seeds."""
    path = save(
        'version = "0.1.0"\ndataset = "digits"\nbackbone = "gcnii"\nsplit = "random"\nlabels_per_class = "none"\n'
        'val_per_class = "none"\nseed = 7\nruns = 2\n[parameters]\nhidden = 8\nclass_weight = 2.0\nnorm = "none"\n'
        "[[drawn]]\nseed = 7\nweights = 1\n"
    )
    spec = RunSpec.from_settings(read_settings(path, DatasetSource))
    assert (spec.seed, spec.runs, spec.dataset) == (7, 2, DatasetSource("digits"))
    assert spec.parameters == {"backbone": "gcnii", "hidden": 8, "label_loss_weight": 2.0, "norm": None}


def test_a_file_of_an_earlier_ncgc_fit_is_read(save):
    path = save(
        '# Made by ncgc 0.1.0. Repeat this run with: ncgc fit --config <this file> --out <folder>\nnodes = "/n.csv"\n'
        'edges = "/e.csv"\nfolds = 2\nformat = "csv"\nseed = 0\nmethod = "ncgc"\nbudget = 300.0\n'
        '[parameters]\nepochs = 12\nclass_weight = 0.5\nbackbone = "appnp"\n'
    )
    spec = RunSpec.from_settings(read_settings(path, TableSource))
    assert (spec.tables, spec.folds) == (TableSource("/n.csv", "/e.csv"), 2)
    assert spec.parameters == {"epochs": 12, "label_loss_weight": 0.5, "backbone": "appnp"}


@pytest.mark.parametrize(
    ("kind", "text", "part"),
    [
        (DatasetSource, "betta = 1", "Unknown key 'betta'; did you mean 'beta'?"),
        (DatasetSource, "datset = 'digits'", "did you mean 'dataset'?"),
        (DatasetSource, "[parameters]\ndroput = 0.1", "Unknown key 'droput'; did you mean 'dropout'?"),
        (DatasetSource, "[paramters]\nbeta = 1", "did you mean 'parameters'?"),
        (DatasetSource, "beta = 1", "the key 'beta' belongs in the table [parameters]"),
        (DatasetSource, "[parameters]\nseed = 1", "the key 'seed' belongs at the top"),
        (DatasetSource, "[parameters]\nrandom_state = 1", "is called 'seed'"),
        (DatasetSource, "[parameters]\nbeta = -1", "The 'beta' parameter of NCGC must be a float in the range [0.0, inf). Got -1 instead."),
        (DatasetSource, "[parameters]\nbeta = true", "Got True instead."),
        (DatasetSource, "[parameters]\nbeta = 1979-05-27", "'beta'"),
        (DatasetSource, "[parameters]\nkl = 1", "true or false"),
        (DatasetSource, "[parameters]\nhidden = 1" + 400 * "0", "'hidden'"),
        (DatasetSource, "backbone = ['gcn']", "'backbone'"),
        (DatasetSource, "dataset = 'coraa'", "did you mean 'cora'?"),
        (DatasetSource, "dataset = 3", "Unknown data set 3"),
        (DatasetSource, "split = 'fwe'", "did you mean 'few'?"),
        (DatasetSource, "method = 3", "must be a name"),
        (DatasetSource, "method = 'gnc'", "Unknown method 'gnc'"),
        (DatasetSource, "parameters = 3", "must be a table"),
        (DatasetSource, "nodes = 'n.csv'", "Unknown key 'nodes'"),
        (DatasetSource, "seed = 1\nsplit = \n", "line 2"),
        (TableSource, "node = 'n.csv'", "Unknown key 'node'; did you mean 'nodes'?"),
        (TableSource, "zzz = 1", "Unknown key 'zzz'; known are nodes, edges"),
        (TableSource, "[parameters]\nbetta = 1", "Unknown key 'betta'; did you mean 'beta'?"),
        (TableSource, "hidden = 8", "the key 'hidden' belongs in the table [parameters]."),
        (TableSource, "nodes = 3", "The 'nodes' parameter of ncgc fit must be text. Got 3 instead."),
        (TableSource, "folds = '3'", "The 'folds' parameter of ncgc fit must be an int"),
        (TableSource, "abstain = 'much'", "'abstain'"),
        (TableSource, "label = ['a']", "'label'"),
        (TableSource, "parameters = 3", "'parameters' must be a table"),
        (TableSource, "[parameters]\nhidden = 'wide'", "The 'hidden' parameter of NCGC must be an int"),
        (TableSource, "[parameters]\nrandom_state = 3", "is called 'seed'"),
        (TableSource, "method = 'auto'\n[parameters]\nhidden = 3", "takes no parameters"),
        (TableSource, "nodes = ", "is not valid TOML"),
    ],
)  # fmt: skip
def test_a_bad_file_is_a_sentence_that_names_it(save, kind, text, part):
    path = save(text)
    with pytest.raises(ParameterError) as raised:
        read_settings(path, kind)
    message = str(raised.value)
    assert message.startswith(str(path))
    assert part in message
    assert "\n" not in message


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b"label = '\xff'")
    for name in ("missing.toml", ".", "latin.toml"):
        with pytest.raises(ParameterError, match="cannot be read"):
            read_settings(tmp_path / name, TableSource)
