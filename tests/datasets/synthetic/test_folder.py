"""The folder: the same graph as in memory, the same bytes every time, whole or not at all."""

from __future__ import annotations

import errno
import tomllib
from collections import namedtuple

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from ncgc.datasets.synthetic import BlockModel, sample_graph, true_labels, write_graph
from ncgc.datasets.synthetic.folder import expected_bytes, features_name, num_steps
from ncgc.errors import OutputError
from ncgc.runs.load import load_tables
from ncgc.runs.source import TableSource

FILES = ["edges.parquet", "features.npy", "generate.toml", "nodes.parquet", "truth.parquet"]


def names(folder):
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"num_features": 128, "features_per_node": 3},  # written dense, read sparse
        {"num_features": 500},
        {"num_features": 500, "features_per_node": 60},  # written sparse, read dense
        {"class_skew": 0.7, "degree_exponent": None, "num_classes": 12, "seed": 5, "validation": 0},
    ],
)
@pytest.mark.usefixtures("small_blocks")
def test_read_again_it_is_the_graph_in_memory(make_model, tmp_path, settings):
    model = make_model(**settings)
    write_graph(tmp_path / "g", model)
    files = {"nodes": "nodes.parquet", "edges": "edges.parquet", "features": features_name(model)}
    source = TableSource(**{name: str(tmp_path / "g" / file) for name, file in files.items()}, split="split")
    data = load_tables(source)
    tables, split = data.tables, data.split
    read, made = tables.graph, sample_graph(model)
    assert sparse.issparse(read.features) == sparse.issparse(made.features)
    pairs = [(read.adjacency, made.adjacency)]
    if sparse.issparse(made.features):
        pairs.append((read.features, made.features))
    else:
        np.testing.assert_array_equal(read.features, made.features, strict=True)
    for one, other in pairs:
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part), strict=True)
    for part in ("labels", "classes", "node_ids"):
        np.testing.assert_array_equal(getattr(read, part), getattr(made, part), strict=True)
    for part, nodes in zip(("train", "val", "test"), made.public_split, strict=True):
        np.testing.assert_array_equal(getattr(split, part), nodes)


def test_the_truth_and_the_settings_are_beside_it(make_model, tmp_path):
    model = make_model(degree_exponent=None)
    write_graph(tmp_path / "g", model)
    truth = pq.read_table(tmp_path / "g" / "truth.parquet")
    assert truth["id"].to_pylist() == list(range(3000))
    assert truth["label"].to_pylist() == [model.class_names[number] for number in true_labels(model)]
    values = tomllib.loads((tmp_path / "g" / "generate.toml").read_text())
    assert values.pop("degree_exponent") == "none"
    assert BlockModel(**values, degree_exponent=None) == model
    mapped = np.load(tmp_path / "g" / "features.npy", mmap_mode="r")
    assert (mapped.dtype, mapped.shape) == (np.float32, (3000, 100))


@pytest.mark.parametrize("features", [100, 200])
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(make_model, tmp_path, features):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        write_graph(tmp_path / name, make_model(num_features=features, seed=seed))
    assert len(names(tmp_path / "one")) == 5
    for name in names(tmp_path / "one"):
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes()
        assert content != (tmp_path / "three" / name).read_bytes()


@pytest.mark.parametrize("features", [100, 1000])
def test_the_expected_size_is_about_right(tmp_path, features):
    model = BlockModel(num_nodes=20_000, num_features=features)
    write_graph(tmp_path / "g", model)
    size = sum(file.stat().st_size for file in (tmp_path / "g").iterdir())
    assert expected_bytes(model) == pytest.approx(size, rel=0.1)


@pytest.mark.usefixtures("small_blocks")
def test_steps_are_counted(make_model, tmp_path):
    done = []
    write_graph(tmp_path / "g", make_model(), step=lambda: done.append(1))
    assert len(done) == num_steps(make_model()) > 20


# ---------------------------------------------------------------- what is there already


def test_a_graph_is_replaced_only_when_told(make_model, tmp_path):
    write_graph(tmp_path / "g", make_model(num_features=200))
    assert "features.npz" in names(tmp_path / "g")
    with pytest.raises(OutputError, match="is not empty; give another one, or --overwrite"):
        write_graph(tmp_path / "g", make_model())
    write_graph(tmp_path / "g", make_model(), overwrite=True)
    assert names(tmp_path / "g") == FILES
    assert names(tmp_path) == ["g"]


def test_anything_else_in_the_folder_is_safe(make_model, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match=r"holds 'thesis\.tex', which is no part of a generated graph"):
        write_graph(tmp_path, make_model(), overwrite=True)
    assert names(tmp_path) == ["thesis.tex"]


def test_too_small_a_disk_is_said_before_the_work(make_model, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda place: usage(10, 10, 1000))
    monkeypatch.setattr("ncgc.datasets.synthetic.folder.draw_nodes", lambda model: pytest.fail("work was done"))
    with pytest.raises(OutputError, match=r"takes about 0.0 GB and .* has 0.0 GB left; give another disk"):
        write_graph(tmp_path / "g", make_model())
    assert names(tmp_path) == []


# ---------------------------------------------------------------- when it does not end well


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "No space left on device"), MemoryError])
@pytest.mark.parametrize("features", [100, 200])
@pytest.mark.parametrize("when", [1, 2, 3, 23])
@pytest.mark.usefixtures("small_blocks")
def test_an_interruption_leaves_nothing(make_model, tmp_path, error, features, when):
    left = when

    def step() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise error

    expected = OutputError if isinstance(error, OSError) else error
    with pytest.raises(expected):
        write_graph(tmp_path / "deep" / "g", make_model(num_nodes=1500, num_features=features), step=step)
    assert names(tmp_path) == []


def test_an_interruption_leaves_the_old_graph(make_model, tmp_path):
    write_graph(tmp_path / "g", make_model())
    before = {file.name: file.read_bytes() for file in (tmp_path / "g").iterdir()}

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_graph(tmp_path / "g", make_model(seed=1), overwrite=True, step=stop)
    assert {file.name: file.read_bytes() for file in (tmp_path / "g").iterdir()} == before
    assert names(tmp_path) == ["g"]


@pytest.fixture
def limited():
    """From now on no file may grow beyond so many bytes: the system's own refusal to write on."""
    resource = pytest.importorskip("resource", reason="needs a limit on the size of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("settings", "size"), [({}, 300_000), ({"num_features": 200}, 90_000), ({"mean_degree": 40}, 200_000)]
)
def test_a_disk_that_fills_up_leaves_nothing(make_model, tmp_path, limited, settings, size):
    limited(size)
    with pytest.raises(OutputError, match=r"cannot be written to .*/g \(File too large\); give another place"):
        write_graph(tmp_path / "g", make_model(**settings))
    assert names(tmp_path) == []
