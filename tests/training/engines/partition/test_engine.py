"""Training by parts: exact in the limit, global where it must be, and a fit like any other."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv

from ncgc import NCGC
from ncgc.errors import ParameterError
from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import SOGN, GraphOperators
from ncgc.training.engines.partition import buffers, trainer
from ncgc.training.engines.partition.inference import evaluate_by_rows
from ncgc.training.engines.partition.part_operators import Source

SHORT = {"epochs": 16, "warmup": 3, "ramp": 3, "hidden": 8, "random_state": 5}
BY_PARTS = SHORT | {"batch": "partitions", "parts": 3, "halo": 2}


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gcnii", "appnp"])
@pytest.mark.parametrize("beta", [0.0, 0.01])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_inference_in_blocks_is_exact(make_planted, backbone, beta, form):
    graph, _ = make_planted(form)
    network = SOGN(
        graph.num_features, 3, backbone, hidden=8, num_layers=3, beta=beta, norm="layer", residual=True,
        input_dropout=0.5, generator=torch.Generator().manual_seed(0),
    ).eval()  # fmt: skip
    scaling = FeatureNormalizer.fit(graph, "centred")
    with torch.no_grad():
        expected = network(GraphOperators(scaling.apply(graph)))
    found = evaluate_by_rows(network, Source(graph, scaling), block=14)
    torch.testing.assert_close(found.logits, expected.logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.embeddings, expected.embeddings, atol=1e-5, rtol=1e-4)
    assert not network.training


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
def test_with_a_whole_halo_and_no_global_term_it_is_full_batch(make_planted, backbone):
    """β = 0 and no KL: only edges and Sinkhorn tie the parts together, and both are exact."""
    planted = make_planted()
    plain = {"backbone": backbone, "dropout": 0.0, "beta": 0.0, "kl": False, "prior": "estimated"}
    model = NCGC(**(BY_PARTS | plain)).fit(*planted)
    reference = NCGC(**(SHORT | plain)).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], abs=1e-4)
    assert model.decision_function() == pytest.approx(reference.decision_function(), abs=1e-3)


def test_running_totals_stay_near_full_batch(make_planted):
    planted = make_planted()
    model = NCGC(**(BY_PARTS | {"dropout": 0.0, "learning_rate": 0.005})).fit(*planted)
    reference = NCGC(**(SHORT | {"dropout": 0.0, "learning_rate": 0.005})).fit(*planted)
    assert model.history_["total"] == pytest.approx(reference.history_["total"], rel=0.03)
    assert set(model.history_.columns) == set(reference.history_.columns)


def test_one_part_with_dropout_is_a_fit_like_any_other(make_planted):
    graph, split = make_planted()
    model = NCGC(**(BY_PARTS | {"steps_per_epoch": 2, "averaging": 0.5, "halo": 1})).fit(graph, split)
    again = NCGC(**(BY_PARTS | {"steps_per_epoch": 2, "averaging": 0.5, "halo": 1})).fit(graph, split)
    assert np.array_equal(model.predict_proba(), again.predict_proba())
    assert model.predict(graph).tolist() == model.predict().tolist()
    assert model.transform().shape == (45, 8)
    assert model.score() > 0.5


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gcnii", "appnp"])
def test_what_is_predicted_is_exact_without_a_halo_too(make_planted, backbone):
    graph, split = make_planted()
    model = NCGC(**(BY_PARTS | {"backbone": backbone, "halo": 0})).fit(graph, split)
    with torch.no_grad():
        expected = model.network_.eval()(GraphOperators(model.normalizer_.apply(graph)))
    assert model.decision_function() == pytest.approx(expected.logits.numpy(), abs=1e-4)
    assert model.decision_function().std(axis=0).max() > 1e-2  # nodes differ, by more than the comparison allows


@pytest.mark.parametrize("room", [0, 5_000])
def test_parts_that_find_no_room_are_cut_again_to_the_same_result(make_planted, room, monkeypatch):
    graph, split = make_planted()
    kept = NCGC(**BY_PARTS).fit(graph, split)
    monkeypatch.setattr(trainer, "KEPT", room)
    again = NCGC(**BY_PARTS).fit(graph, split)
    assert np.array_equal(kept.decision_function(), again.decision_function())


def test_buffers_in_files_give_the_same(make_planted, monkeypatch):
    graph, split = make_planted()
    kept = NCGC(**BY_PARTS).fit(graph, split)
    monkeypatch.setattr(buffers, "IN_FILE", 1)
    assert isinstance(buffers.buffer(2, 3), np.memmap)
    again = NCGC(**BY_PARTS).fit(graph, split)
    assert np.array_equal(kept.decision_function(), again.decision_function())


def test_features_may_stay_on_disk(make_planted, tmp_path):
    graph, split = make_planted()
    np.save(tmp_path / "x.npy", graph.features)
    mapped = graph.with_features(np.load(tmp_path / "x.npy", mmap_mode="r"))
    found = mapped.features
    while not isinstance(found, np.memmap):
        assert found.base is not None  # a view of the file, not a copy
        found = found.base
    assert np.array_equal(
        NCGC(**BY_PARTS).fit(mapped, split).decision_function(), NCGC(**BY_PARTS).fit(graph, split).decision_function()
    )


def test_resumed_is_unbroken_to_the_bit(make_planted, tmp_path):
    graph, split = make_planted()
    unbroken = NCGC(**BY_PARTS).fit(graph, split)

    def fail(epoch, _):
        if epoch == 10:
            raise RuntimeError("the power failed")

    with pytest.raises(RuntimeError, match="the power"):
        NCGC(**BY_PARTS).fit(graph, split, watch=fail, checkpoint=tmp_path, every=3)
    resumed = NCGC(**BY_PARTS).fit(graph, split, checkpoint=tmp_path, every=3, resume=True)
    assert resumed.history_["total"].tolist() == unbroken.history_["total"].tolist()
    assert np.array_equal(resumed.decision_function(), unbroken.decision_function())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backbone": GCNConv}, "does not train by parts yet; take gcn, gat, sage, gcnii, appnp"),
        ({"norm": "batch"}, "norm='batch' does not train by parts"),
        ({"steps_per_epoch": 4}, "3 parts cannot be dealt to 4 steps"),
        ({"pseudo_label_source": "training"}, "pseudo_label_source='training'"),
        ({"parts": 99}, "cannot be cut into 99 parts"),
        ({"batch": "some"}, "The 'batch' parameter of NCGC must be one of 'full', 'partitions'"),
    ],
)
def test_what_cannot_be_is_a_sentence(make_planted, options, words):
    with pytest.raises(ParameterError, match=words):
        NCGC(**(BY_PARTS | options)).fit(*make_planted())
