"""Inference in blocks of rows against the whole graph at once."""

import pytest
import torch

from ncgc.graph.features import FeatureNormalizer
from ncgc.nn import SOGN, GraphOperators
from ncgc.training.engines.partition.inference import evaluate_by_rows
from ncgc.training.engines.partition.part_operators import PartSource


@pytest.mark.parametrize("backbone", ["gcn", "gat", "sage", "gcnii", "appnp"])
@pytest.mark.parametrize("beta", [0.0, 0.01])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_inference_in_blocks_is_exact(make_planted, backbone, beta, form):
    graph, _ = make_planted(form)
    network = SOGN(
        graph.num_features, 3, backbone, hidden=8, num_layers=3, beta=beta, norm="layer", residual=True,
        input_dropout=0.5, generator=torch.Generator().manual_seed(0),
    ).eval()  # fmt: skip
    normalizer = FeatureNormalizer.fit(graph, "centred")
    with torch.no_grad():
        expected = network(GraphOperators(normalizer.apply(graph)))
    found = evaluate_by_rows(network, PartSource(graph, normalizer), block=14)
    torch.testing.assert_close(found.logits, expected.logits, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.embeddings, expected.embeddings, atol=1e-5, rtol=1e-4)
    assert not network.training
