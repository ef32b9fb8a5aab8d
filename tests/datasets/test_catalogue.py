"""The catalogue: names, families, files."""

import pytest

from ncgc.datasets.catalogue import CATALOGUE, family_of, find_info
from ncgc.errors import DatasetError


def test_names_in_order():
    assert list(CATALOGUE) == ["digits", "cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics"]


@pytest.mark.parametrize("name", ["CITESEER", "CiteSeer", " citeseer "])
def test_any_case(name):
    assert find_info(name).title == "CiteSeer"


def test_files_are_those_of_pyg():
    from torch_geometric.datasets import Amazon, Coauthor, Planetoid

    makers = {"citation": Planetoid, "amazon": Amazon, "coauthor": Coauthor}
    for info in CATALOGUE.values():
        if info.family == "embedded":
            assert info.files == ()
            continue
        dataset = makers[info.family].__new__(makers[info.family])  # not initialised: that would download
        dataset.name = info.name if info.family == "amazon" else info.title
        names = dataset.raw_file_names
        assert info.files == ((names,) if isinstance(names, str) else tuple(names))


def test_unknown_name_suggests():
    with pytest.raises(
        DatasetError, match=r"^Unknown data set 'pumbed' \(did you mean 'pubmed'\?\); the known ones are digits, "
    ):
        find_info("pumbed")
    with pytest.raises(DatasetError, match=r"^Unknown data set 'zzz'; the known ones are "):
        find_info("zzz")
    with pytest.raises(DatasetError, match="Unknown data set 7;"):
        find_info(7)


def test_family_of_a_stranger_is_custom():
    assert family_of("graph") == "custom"
    assert {family_of(name) for name in CATALOGUE} == {"embedded", "citation", "amazon", "coauthor"}
