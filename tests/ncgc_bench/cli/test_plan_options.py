"""Options of `ncgc bench` into experiments: the right runs, and a sentence for every wrong word."""

from __future__ import annotations

import pytest

from ncgc.errors import NCGCError, ParameterError
from ncgc_bench.cli.plan_options import OPTIONS, experiment, sweeps
from ncgc_bench.plans import DATASETS, table_plan


def chosen(kind, said=None, **given):
    defaults = {parameter.name: parameter.default for parameter in OPTIONS[kind]}
    return experiment(kind, defaults | given, (said if said is not None else []).append)


def keys(entries):
    return [entry.run.key for entry in entries]


def test_the_table_by_default_is_the_plan_by_default():
    assert keys(chosen("table").entries) == keys(table_plan())


def test_every_option_of_the_table_counts():
    found = chosen(
        "table", datasets="Digits, photo", backbones="appnp", methods="plain,label_spreading", split="random", runs=2
    )
    assert {(entry.dataset, *entry.row) for entry in found.entries} == {
        (dataset, *row) for dataset in ("digits", "photo") for row in (("appnp", "plain"), ("", "label_spreading"))
    }
    assert {entry.run.seed for entry in found.entries} == {0, 1}
    assert {entry.run.dataset.split for entry in found.entries} == {"random"}
    paper = chosen("table", datasets="cora", settings="paper").entries
    assert paper[0].run.settings["hidden"] == 512
    assert found.file == "table"


def test_only_citation_graphs_have_a_public_split():
    said: list[str] = []
    found = chosen("table", said, split="public")
    assert {entry.dataset for entry in found.entries} == {"cora", "citeseer", "pubmed"}
    assert said == ["computers, photo, cs, physics have no public split and are left out."]
    said.clear()
    chosen("ablation", said, split="public", datasets="cora,photo")
    assert said == ["photo has no public split and is left out."]
    with pytest.raises(ParameterError, match="None of digits, photo has a public split"):
        chosen("table", split="public", datasets="digits,photo")


def test_labels_and_sweeps():
    found = chosen("labels", labels="2,4", datasets="digits", backbones="gcn", runs=1)
    assert {entry.run.dataset.labels_per_class for entry in found.entries} == {2, 4}
    found = chosen("sweep", parameter="sinkhorn_iterations", values="1,7", datasets="digits", runs=1)
    assert [entry.run.settings["sinkhorn_iterations"] for entry in found.entries] == [1, 7]
    assert all(isinstance(entry.run.settings["sinkhorn_iterations"], int) for entry in found.entries)
    assert {entry.variant for entry in chosen("sweep").entries} == {"beta", "epsilon", "sinkhorn_iterations"}


def test_a_study_has_a_file_of_its_own(tmp_path):
    path = tmp_path / "norms.toml"
    path.write_text('[study]\ndatasets = ["digits"]\n[variants.a]\n')
    assert chosen("study", file=path).file == "study-norms"
    path.write_text('[study]\ndatasets = ["digts"]\n[variants.a]\n')
    with pytest.raises(NCGCError, match="did you mean 'digits'"):
        chosen("study", file=path)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("table", {"datasets": "coraa"}, "did you mean 'cora'"),
        ("table", {"datasets": " , "}, "--datasets is empty"),
        ("table", {"backbones": "gcm"}, "did you mean 'gcn'"),
        ("table", {"backbones": ""}, "--backbones is empty"),
        ("table", {"methods": "plane"}, "did you mean 'plain'"),
        ("table", {"methods": ","}, "--methods is empty"),
        ("table", {"split": "papr"}, "did you mean 'paper'"),
        ("table", {"settings": "defalt"}, "did you mean 'default'"),
        ("table", {"settings": "paper", "datasets": "digits"}, "nothing for the data set 'digits'"),
        ("table", {"settings": "paper", "backbones": "appnp"}, "nothing for the backbone 'appnp'"),
        ("table", {"runs": 0}, "--runs must be a whole number from 1"),
        ("labels", {"labels": "0"}, "--labels must be whole numbers from 1"),
        ("labels", {"labels": "1,two"}, "Got 'two'"),
        ("labels", {"labels": ","}, "--labels is empty"),
        ("sweep", {"parameter": "betta"}, "did you mean 'beta'"),
        ("sweep", {"parameter": "backbone"}, "Unknown parameter to vary"),
        ("sweep", {"parameter": "hidden"}, "no values for 'hidden'"),
        ("sweep", {"values": "1"}, "--values needs one --parameter"),
        ("sweep", {"parameter": "beta", "values": "-1"}, "'beta' parameter of NCGC must be"),
        ("sweep", {"parameter": "beta", "values": "much"}, "Got 'much' instead"),
    ],
)
def test_a_wrong_word_is_a_sentence(kind, given, words):
    with pytest.raises(NCGCError, match=words):
        chosen(kind, **given)


def test_sweeps_of_any_number():
    assert sweeps("hidden", "16, 32") == {"hidden": [16, 32]}
    assert set(DATASETS).isdisjoint({"digits"})  # too easy for a table; it must be asked for
