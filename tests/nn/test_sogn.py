"""The skeleton: every backbone, every option, one network built from PyG's parts as oracle."""

import pytest
import torch
import torch_geometric.nn as pyg

from ncgc import SOGN
from ncgc.errors import ParameterError
from ncgc.nn import BACKBONES, GraphOperators

ALL = pytest.mark.parametrize("backbone", BACKBONES)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def build(backbone, features=6, seed=0, **options):
    settings = {"hidden": 8, "heads": 2, "attention_dropout": 0.3, "input_dropout": 0.2, "beta": 0.05} | options
    return SOGN(features, 3, backbone, generator=seeded(seed), **settings)


@ALL
@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("norm", [None, "layer", "batch"])
@pytest.mark.parametrize("residual", [False, True])
def test_shapes_and_gradients(make_graph, backbone, form, norm, residual):
    operators = GraphOperators(make_graph(nodes=30, features=40, form=form))
    assert operators.features.is_sparse == (form == "sparse")
    network = build(backbone, features=40, norm=norm, residual=residual)
    output = network(operators, seeded(1))
    assert output.embeddings.shape == (30, 8)
    assert output.logits.shape == (30, 3)
    torch.testing.assert_close(output.logits, output.embeddings @ network.prototypes)
    (output.logits * torch.randn(30, 3, generator=seeded(2))).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        # batch norm takes the mean out, and a bias before it with it
        if not (norm == "batch" and name.startswith("convs") and name.endswith("bias")):
            assert parameter.grad.abs().sum() > 0, name


@ALL
def test_eval_is_deterministic_and_draws_nothing(make_graph, backbone):
    operators = GraphOperators(make_graph())
    network = build(backbone, norm="batch").eval()
    generator = seeded(3)
    before, own = torch.get_rng_state(), generator.get_state()
    first, second = network(operators, generator), network(operators)
    assert torch.equal(first.logits, second.logits)
    assert torch.equal(first.embeddings, second.embeddings)
    assert torch.equal(generator.get_state(), own)
    assert torch.equal(torch.get_rng_state(), before)


@ALL
def test_training_draws_from_the_generator_alone(make_graph, backbone):
    operators, network = GraphOperators(make_graph()), build(backbone)
    before = torch.get_rng_state()
    first, same, other = (network(operators, seeded(seed)).logits for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


@ALL
def test_first_weights_come_from_the_generator_alone(backbone):
    before = torch.get_rng_state()
    first, same, other = (build(backbone, seed=seed, norm="layer", residual=True).state_dict() for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["prototypes"], other["prototypes"])
    assert not torch.equal(first["convs.0.weight"], other["convs.0.weight"])


@ALL
def test_relabelling_the_nodes_relabels_the_output(backbone, make_graph):
    graph = make_graph(nodes=20, weighted=True)
    order = torch.randperm(20, generator=seeded(4))
    permutation = order.numpy()
    from ncgc import Graph

    moved = Graph.from_scipy(graph.adjacency[permutation][:, permutation], graph.features[permutation])
    network = build(backbone).double().eval()
    here = network(GraphOperators(graph, dtype=torch.float64)).logits
    there = network(GraphOperators(moved, dtype=torch.float64)).logits
    torch.testing.assert_close(there, here[order])


@pytest.mark.parametrize("beta", [0.0, 0.05])
@pytest.mark.parametrize("norm", [None, "layer", "batch"])
@pytest.mark.parametrize("residual", [False, True])
def test_gcn_is_a_stack_of_pygs_parts(operators, naive_term, beta, norm, residual):
    network = build("gcn", beta=beta, norm=norm, residual=residual, num_layers=3).double().eval()
    h = operators.features.to_dense()
    for i in range(3):
        conv = pyg.GCNConv(h.shape[1], 8).double()
        with torch.no_grad():
            conv.lin.weight.copy_(network.convs[i].weight.t())
            conv.bias.copy_(network.convs[i].bias)
        out = conv(h, operators.edge_index) + naive_term(conv.lin(h), beta)
        if residual:
            out = out + h @ network.residuals[i]
        if norm:
            kind = torch.nn.LayerNorm if norm == "layer" else torch.nn.BatchNorm1d
            out = kind(8).double().eval()(out)
        h = torch.relu(out)
    output = network(operators)
    torch.testing.assert_close(output.embeddings, h)
    torch.testing.assert_close(output.logits, h @ network.prototypes)


def test_appnp_is_an_mlp_whose_logits_pyg_propagates(operators):
    network = build("appnp", beta=0.0, alpha=0.2, steps=4).double().eval()
    h = operators.features.to_dense()
    for conv in network.convs:
        h = torch.relu(h @ conv.weight + conv.bias)
    expected = pyg.APPNP(4, 0.2)(h @ network.prototypes, operators.edge_index)
    torch.testing.assert_close(network(operators).logits, expected)


def test_gcnii_is_a_stack_of_pygs_parts(operators):
    network = build("gcnii", beta=0.0, alpha=0.2, theta=0.6, num_layers=3).double().eval()
    with torch.no_grad():
        network.entry_bias.normal_(generator=seeded(5))
    h = initial = torch.relu(operators.features.to_dense() @ network.entry + network.entry_bias)
    for i in range(3):
        conv = pyg.GCN2Conv(8, 0.2, 0.6, i + 1).double()
        with torch.no_grad():
            conv.weight1.copy_(network.convs[i].weight)
        h = torch.relu(conv(h, initial, operators.edge_index))
    torch.testing.assert_close(network(operators).logits, h @ network.prototypes)


@ALL
@pytest.mark.parametrize("training", [False, True])
def test_logits_alone_are_the_same_logits(operators, backbone, training):
    """embeddings=False lets APPNP propagate K columns; the logits and their gradients must not change."""
    network = build(backbone).double().train(training)
    full = network(operators, seeded(1)).logits
    alone = network(operators, seeded(1), embeddings=False).logits
    torch.testing.assert_close(full, alone)
    upstream = torch.randn(full.shape, generator=seeded(2), dtype=torch.float64)
    for a, b in zip(
        torch.autograd.grad((full * upstream).sum(), list(network.parameters())),
        torch.autograd.grad((alone * upstream).sum(), list(network.parameters())),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@ALL
def test_beta_changes_the_output(make_graph, backbone):
    operators = GraphOperators(make_graph())
    plain, constrained = (build(backbone, beta=beta).eval()(operators).logits for beta in (0.0, 0.05))
    assert not torch.allclose(plain, constrained)


@ALL
@pytest.mark.parametrize("nodes", [1, 3])
def test_graphs_without_edges(backbone, nodes):
    from ncgc import Graph

    operators = GraphOperators(Graph.from_edges([], torch.ones(nodes, 6)))
    output = build(backbone)(operators, seeded(1))
    output.logits.sum().backward()
    assert torch.isfinite(output.logits).all()


def test_unknown_backbone_and_norm():
    with pytest.raises(
        ParameterError,
        match=r"The 'backbone' parameter of SOGN must be one of 'gcn', .* Got 'gnc' instead; did you mean 'gcn'",
    ):
        SOGN(3, 2, "gnc")
    with pytest.raises(
        ParameterError, match=r"The 'norm' parameter of SOGN must be None, 'layer' or 'batch'. Got 'l2'"
    ):
        SOGN(3, 2, norm="l2")
