"""With the embeddings of the last evaluation pass a part computes what the whole graph does, without a halo."""

import numpy as np
import pytest
import torch

from ncgc import NCGC
from ncgc.graph.features import FeatureNormalizer
from ncgc.models.ncgc_components import make_network
from ncgc.nn import GraphOperators
from ncgc.ops import RowGenerator
from ncgc.training.engines.partition.historical_embeddings import HistoricalEmbeddings
from ncgc.training.engines.partition.inference import evaluate_by_rows
from ncgc.training.engines.partition.part_operators import PartSource

OPTIONS = {"gcn": {}, "sage": {}, "gcnii": {"num_layers": 3}, "appnp": {"num_layers": 1, "steps": 3}}


def network_of(graph, backbone):
    parameters = NCGC(backbone, hidden=8, dropout=0.0, input_dropout=0.0, beta=0.0, **OPTIONS[backbone]).get_params()
    return make_network(parameters, graph, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("backbone", OPTIONS)
def test_a_part_without_a_halo_is_exact(make_planted, backbone):
    graph, _ = make_planted()
    normalizer = FeatureNormalizer.fit(graph, "centred")
    network, source, history = network_of(graph, backbone), PartSource(graph, normalizer), HistoricalEmbeddings()
    whole = network.eval()(GraphOperators(normalizer.apply(graph)), embeddings=False).logits
    evaluate_by_rows(network, source, embeddings=False, block=7, history=history)
    owned = np.arange(5, 20)
    found = []
    for given in (history, None):
        operators = source.part(owned, 0, given)
        history.begin()
        network.train()
        found.append(network(operators, RowGenerator(0, operators.rows), embeddings=False).logits.detach())
    torch.testing.assert_close(found[0], whole[owned].detach(), atol=1e-5, rtol=0)
    assert (found[1] - whole[owned]).abs().max() > 1e-2  # the neighbours that are left out matter


def test_no_gradient_flows_outside(make_planted):
    """Pᵀ of a part is that of its own nodes: what is outside gets nothing."""
    graph, _ = make_planted()
    source, history = PartSource(graph, FeatureNormalizer("raw")), HistoricalEmbeddings()
    history.keep(0, torch.ones(graph.num_nodes, 2))
    matrix = source.part(np.arange(10), 0, history).gcn
    dense = torch.eye(10)
    inner = source.gcn[:10][:, :10].toarray()
    np.testing.assert_allclose(matrix.transposed_product(dense).numpy(), inner.T, atol=1e-6)
    history.begin()
    np.testing.assert_allclose(matrix.product(torch.ones(10, 2))[:, 0].numpy(), source.gcn[:10].sum(axis=1), atol=1e-5)


def test_an_evaluation_pass_writes_where_the_last_one_wrote():
    history = HistoricalEmbeddings()
    first = history.place(0, 3, 2)
    assert history.place(0, 3, 2).data_ptr() == first.data_ptr()
    assert bool(history)
    assert not HistoricalEmbeddings()
