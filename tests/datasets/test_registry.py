"""Where data sets are searched, in which order, and the error when they are in none of the folders."""

import stat

import numpy as np
import pytest

from ncgc.datasets import available, load_dataset
from ncgc.datasets import registry as module
from ncgc.datasets.catalogue import CATALOGUE
from ncgc.datasets.download import DownloadError
from ncgc.errors import DatasetError

# The table that comes with the data; CiteSeer by PyG's count.
TABLE = {
    "cora": (2708, 5278, 1433, 49216, 7),
    "citeseer": (3327, 4552, 3703, 105165, 6),
    "pubmed": (19717, 44324, 500, 988031, 3),
    "computers": (13752, 245861, 767, 3675081, 10),
    "photo": (7650, 119081, 745, 1979909, 8),
    "cs": (18333, 81894, 6805, 1092079, 15),
    "physics": (34493, 247962, 8415, 1137311, 5),
}


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No NCGC_DATA, an empty cache folder, no network."""
    monkeypatch.delenv("NCGC_DATA", raising=False)
    monkeypatch.setattr(module, "cache_root", lambda: tmp_path / "cache")

    def unreachable(info, root, check):
        raise DownloadError("github.com cannot be reached: no network")

    monkeypatch.setattr(module, "_fetch", unreachable)


@pytest.mark.parametrize("name", TABLE)
def test_statistics(benchmark_data, name):
    graph = load_dataset(name, root=benchmark_data, download=False)
    found = (graph.num_nodes, graph.num_edges, graph.num_features, graph.features.nnz, graph.num_classes)
    assert found == TABLE[name]
    info = CATALOGUE[name]
    assert (info.nodes, info.edges, info.features, info.classes) == (*found[:3], found[4])
    assert abs(info.density - graph.feature_density) < 1e-4
    assert abs(info.mean_degree - graph.degrees.mean()) < 1e-9
    assert graph.name == name
    assert (graph.public_split is not None) == (info.family == "citation")
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert len(np.unique(graph.labels)) == graph.num_classes


def test_available_finds_all(benchmark_data):
    infos = available(benchmark_data)
    assert [info.name for info in infos] == list(CATALOGUE)
    assert all(info.here for info in infos)
    assert infos[1].path == benchmark_data / "Cora" / "raw"
    assert infos[0].path is None


def test_available_without_any():
    assert [info.name for info in available() if info.here] == ["digits"]


def test_digits_need_nothing():
    assert load_dataset("Digits").num_nodes == 1797


def test_order_root_environment_cache(tmp_path, planetoid_raw, monkeypatch):
    data = planetoid_raw.parents[1]
    places = {}
    for place in ("given", "environment", "cache"):
        places[place] = tmp_path / place / "Cora" / "raw"
        places[place].mkdir(parents=True)
        for file in planetoid_raw.iterdir():
            (places[place] / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("NCGC_DATA", str(tmp_path / "environment"))
    assert {info.name: info.path for info in available(tmp_path / "given")}["cora"] == places["given"]
    assert {info.name: info.path for info in available()}["cora"] == places["environment"]
    monkeypatch.delenv("NCGC_DATA")
    assert {info.name: info.path for info in available()}["cora"] == places["cache"]
    assert load_dataset("CORA", root=data).num_nodes == 9


def test_root_falls_through_to_the_cache(tmp_path, planetoid_raw):
    planetoid_raw.parents[1].rename(tmp_path / "cache")
    (tmp_path / "empty").mkdir()
    assert load_dataset("cora", root=tmp_path / "empty").num_nodes == 9


def test_reading_leaves_a_read_only_root_alone(planetoid_raw):
    root = planetoid_raw.parents[1]
    before = sorted(root.rglob("*"))
    for folder in (planetoid_raw, planetoid_raw.parent, root):
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        load_dataset("cora", root=root)
        assert sorted(root.rglob("*")) == before
    finally:
        for folder in (root, planetoid_raw.parent, planetoid_raw):
            folder.chmod(stat.S_IRWXU)


@pytest.mark.parametrize("name", ["cora", "digits"])
def test_given_root_must_exist(tmp_path, name):
    with pytest.raises(DatasetError, match="nowhere does not exist or is not a folder; give an existing one"):
        load_dataset(name, root=tmp_path / "nowhere")


def test_nowhere_lists_places_and_files(tmp_path, planetoid_raw, monkeypatch):
    (planetoid_raw / "ind.cora.tx").unlink()
    monkeypatch.setenv("NCGC_DATA", str(tmp_path / "unmounted"))
    with pytest.raises(DatasetError) as caught:
        load_dataset("cora", root=planetoid_raw.parents[1])
    cache = tmp_path / "cache" / "Cora" / "raw"
    assert str(caught.value) == (
        f"The data set 'cora' is not in {planetoid_raw} (which lacks ind.cora.tx) or {tmp_path / 'unmounted' / 'Cora' / 'raw'} "
        f"or {cache}, and the download failed (github.com cannot be reached: no network); put ind.cora.x, ind.cora.tx, "
        "ind.cora.allx, ind.cora.y, ind.cora.ty, ind.cora.ally, ind.cora.graph, ind.cora.test.index "
        f"into {cache}, or set NCGC_DATA to a folder that has them in Cora/raw."
    )


def test_nowhere_and_no_download():
    with pytest.raises(DatasetError, match=r"downloading is switched off; put ms_academic_cs\.npz into"):
        load_dataset("cs", download=False)


def test_download_goes_to_the_cache(monkeypatch, planetoid_raw, tmp_path):
    fetched = []

    def fetch(info, root, check):
        fetched.append((info.name, root))
        check(planetoid_raw)
        return planetoid_raw

    monkeypatch.setattr(module, "_fetch", fetch)
    assert load_dataset("cora").num_nodes == 9
    assert fetched == [("cora", tmp_path / "cache")]


def test_damaged_file_is_named(planetoid_raw):
    (planetoid_raw / "ind.cora.ally").write_bytes(b"\x80\x02broken")
    with pytest.raises(DatasetError, match=r"Cora.raw.ind\.cora\.ally is damaged"):
        load_dataset("cora", root=planetoid_raw.parents[1])


def test_unknown_name():
    with pytest.raises(DatasetError, match="did you mean 'cora'"):
        load_dataset("korra")
