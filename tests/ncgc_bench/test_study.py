"""Studies: from TOML to runs, and sentences for what cannot be one."""

from __future__ import annotations

import pytest

from ncgc.errors import ParameterError
from ncgc_bench.study import FIRST_SEED, read_study, study_plan

STUDY = """
[study]
datasets = ["digits", "cora"]
labels_per_class = [1, 20]
seeds = [1000, 1003]
blind = true

[base]
backbone = "appnp"
num_layers = 1

[variants."exact balance"]
relaxation = 1.0

[variants.loose]
relaxation = 0.2
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "study.toml"
        path.write_text(text)
        return path

    return write


def test_every_variant_on_every_split(write):
    entries = study_plan(write(STUDY))
    assert len({entry.run.key for entry in entries}) == len(entries) == 2 * 2 * 2 * 2
    assert {entry.row for entry in entries} == {("", "exact balance"), ("", "loose")}
    assert {entry.column for entry in entries} == {"digits 1", "digits 20", "cora 1", "cora 20"}
    assert {entry.run.seed for entry in entries} == {1000, 1003}
    assert all(entry.run.dataset.blind and entry.run.dataset.split == "random" for entry in entries)
    one = next(entry.run for entry in entries if entry.variant == "loose")
    assert (one.settings["backbone"], one.settings["relaxation"]) == ("appnp", 0.2)


def test_a_variant_of_another_method_has_its_settings_and_the_changes(write):
    text = (
        '[study]\ndatasets = ["citeseer"]\n[base]\nbackbone = "gcn"\n[variants.a]\nmethod = "sgc"\nfeatures = "raw"\n'
    )
    (cell,) = read_study(write(text))
    run = cell.runs[0]
    assert (run.method, run.settings["features"], run.settings["epochs"]) == ("sgc", "raw", 150)
    assert "backbone" not in run.settings


def test_seeds_begin_where_no_table_is(write):
    cells = read_study(write('[study]\ndatasets = ["digits"]\n[variants.a]\n'))
    assert [run.seed for run in cells[0].runs] == list(range(FIRST_SEED, FIRST_SEED + 4))
    assert cells[0].labels_per_class == 20


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets = [", "cannot be read"),
        ("[study]\n", "needs datasets"),
        ('[study]\ndatasets = ["cora"]\n', "at least one"),
        (STUDY.replace("1000, 1003", "3"), "the seed 3"),
        (STUDY.replace("1000, 1003", ""), "no seeds"),
        (STUDY.replace("1000, 1003", "'a'"), "whole numbers"),
        (STUDY.replace("[1, 20]", "[0]"), "whole numbers"),
        (STUDY.replace("[1, 20]", "[]"), "no labels_per_class"),
        (STUDY.replace('["digits", "cora"]', '"cora"'), "list"),
        (STUDY.replace("relaxation = 0.2", "relaxation = 2.0"), "'relaxation' parameter of .*loose"),
        (STUDY.replace("relaxation = 0.2", "relaxtion = 0.2"), "did you mean 'relaxation'"),
        (STUDY.replace("[variants.loose]\nrelaxation = 0.2", "[variants]\nloose = 3"), "is no table"),
        (STUDY.replace("blind", "blnd"), "'blnd'"),
        (STUDY.replace("relaxation = 0.2", 'method = "sgd"'), "did you mean 'sgc'"),
        (STUDY.replace("relaxation = 0.2", 'method = "sgc"\nfeature = "raw"'), "loose.*did you mean 'features'"),
    ],
)
def test_what_is_no_study_is_a_sentence(write, text, words):
    with pytest.raises(ParameterError, match=words):
        study_plan(write(text))


def test_a_study_that_is_nowhere(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        study_plan(tmp_path / "none.toml")
