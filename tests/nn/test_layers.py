"""Each layer is PyG's at β = 0, and PyG's minus the naive β·Z̃Z̃ᵀZ otherwise: forward and all gradients."""

import pytest
import torch
import torch_geometric.nn as pyg
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ncgc.errors import ParameterError
from ncgc.nn import GraphOperators
from ncgc.nn.layers import ForwardPass, GATLayer, GCNIILayer, GCNLayer, Layer, MLPLayer, SAGELayer
from ncgc.ops import personalised_pagerank

BETAS = pytest.mark.parametrize("beta", [0.0, 0.05])
IN, OUT = 6, 8


def seeded():
    return torch.Generator().manual_seed(0)


def set_bias(layer):
    """Begins at zero; a test needs it to matter."""
    with torch.no_grad():
        layer.bias.copy_(torch.linspace(-1, 1, len(layer.bias)))
    return layer.double()


def check(ours, theirs, h, h_theirs, normal):
    """Same output, same gradient of the input under one random upstream gradient."""
    upstream = normal(*ours.shape, seed=77, grad=False)
    torch.testing.assert_close(ours, theirs)
    (ours * upstream).sum().backward()
    (theirs * upstream).sum().backward()
    torch.testing.assert_close(h.grad, h_theirs.grad)


def two(normal, *shape, seed=1):
    h = normal(*shape, seed=seed)
    return h, h.detach().clone().requires_grad_()


@BETAS
@pytest.mark.parametrize("weighted", [False, True])
def test_gcn(make_graph, normal, naive_term, beta, weighted):
    operators = GraphOperators(make_graph(weighted=weighted), dtype=torch.float64)
    assert (operators.edge_weight is not None) == weighted
    layer = set_bias(GCNLayer(IN, OUT, beta, seeded()))
    conv = pyg.GCNConv(IN, OUT).double()
    with torch.no_grad():
        conv.lin.weight.copy_(layer.weight.t())
        conv.bias.copy_(layer.bias)
    h, h_theirs = two(normal, 14, IN)
    theirs = conv(h_theirs, operators.edge_index, operators.edge_weight)
    theirs = theirs + naive_term(conv.lin(h_theirs), beta)
    ours = layer(h, ForwardPass(operators))
    check(ours, theirs, h, h_theirs, normal)
    torch.testing.assert_close(layer.weight.grad, conv.lin.weight.grad.t())
    torch.testing.assert_close(layer.bias.grad, conv.bias.grad)


@BETAS
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_gat(operators, normal, naive_term, beta, heads):
    layer = set_bias(GATLayer(IN, OUT, beta, heads, generator=seeded()))
    conv = pyg.GATConv(IN, OUT // heads, heads).double()
    with torch.no_grad():
        conv.lin.weight.copy_(layer.weight.t())
        conv.att_src.copy_(layer.source.unsqueeze(0))
        conv.att_dst.copy_(layer.target.unsqueeze(0))
        conv.bias.copy_(layer.bias)
    h, h_theirs = two(normal, 14, IN)
    theirs = conv(h_theirs, operators.edge_index) + naive_term(conv.lin(h_theirs), beta)
    check(layer(h, ForwardPass(operators)), theirs, h, h_theirs, normal)
    torch.testing.assert_close(layer.weight.grad, conv.lin.weight.grad.t())
    torch.testing.assert_close(layer.source.grad, conv.att_src.grad[0])
    torch.testing.assert_close(layer.target.grad, conv.att_dst.grad[0])
    torch.testing.assert_close(layer.bias.grad, conv.bias.grad)


def test_gat_drops_attention_only_in_training(operators, normal):
    layer = GATLayer(IN, OUT, 0.0, 2, attention_dropout=0.5, generator=seeded()).double()
    h = normal(14, IN, grad=False)
    plain = layer(h, ForwardPass(operators))
    assert torch.equal(plain, layer(h, ForwardPass(operators, training=False, generator=seeded())))
    dropped = layer(h, ForwardPass(operators, training=True, generator=seeded()))
    assert not torch.allclose(plain, dropped)
    assert torch.equal(dropped, layer(h, ForwardPass(operators, training=True, generator=seeded())))


def test_gat_weights_attention_by_the_edges(make_graph, normal):
    """A pair of weight 3 counts as three edges: PyG sees it as a multigraph."""
    from ncgc import Graph

    pairs = [[0, 1], [1, 2], [2, 3], [0, 3]]
    operators = GraphOperators(Graph.from_edges(pairs, torch.eye(4), weights=[1.0, 3.0, 1.0, 2.0]), dtype=torch.float64)
    layer = set_bias(GATLayer(4, OUT, 0.0, 2, generator=seeded()))
    conv = pyg.GATConv(4, OUT // 2, 2).double()
    with torch.no_grad():
        conv.lin.weight.copy_(layer.weight.t())
        conv.att_src.copy_(layer.source.unsqueeze(0))
        conv.att_dst.copy_(layer.target.unsqueeze(0))
        conv.bias.copy_(layer.bias)
    repeated = torch.repeat_interleave(operators.edge_index, operators.edge_weight.long(), dim=1)
    h = normal(4, 4, grad=False)
    torch.testing.assert_close(layer(h, ForwardPass(operators)), conv(h, repeated))


def test_gat_heads_must_divide_the_width():
    with pytest.raises(ParameterError, match=r"The 'heads' parameter of GAT must divide .* 8\. Got 3 instead\."):
        GATLayer(IN, OUT, 0.0, heads=3)


@BETAS
def test_sage(operators, normal, naive_term, beta):
    layer = set_bias(SAGELayer(IN, OUT, beta, seeded()))
    conv = pyg.SAGEConv(IN, OUT, aggr="mean").double()
    with torch.no_grad():
        conv.lin_l.weight.copy_(layer.weight.t())
        conv.lin_l.bias.copy_(layer.bias)
        conv.lin_r.weight.copy_(layer.self_weight.t())
    h, h_theirs = two(normal, 14, IN)
    theirs = conv(h_theirs, operators.edge_index) + naive_term(h_theirs @ conv.lin_l.weight.t(), beta)
    check(layer(h, ForwardPass(operators)), theirs, h, h_theirs, normal)
    torch.testing.assert_close(layer.weight.grad, conv.lin_l.weight.grad.t())
    torch.testing.assert_close(layer.self_weight.grad, conv.lin_r.weight.grad.t())
    torch.testing.assert_close(layer.bias.grad, conv.lin_l.bias.grad)


@pytest.mark.parametrize("number", [1, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_gcnii_at_zero_is_pygs(make_graph, normal, number, weighted):
    operators = GraphOperators(make_graph(weighted=weighted), dtype=torch.float64)
    layer = GCNIILayer(OUT, 0.0, number, alpha=0.2, theta=0.7, generator=seeded()).double()
    conv = pyg.GCN2Conv(OUT, alpha=0.2, theta=0.7, layer=number).double()
    with torch.no_grad():
        conv.weight1.copy_(layer.weight)
    h, h_theirs = two(normal, 14, OUT)
    initial, initial_theirs = two(normal, 14, OUT, seed=2)
    ours = layer(h, ForwardPass(operators, initial=initial))
    theirs = conv(h_theirs, initial_theirs, operators.edge_index, operators.edge_weight)
    check(ours, theirs, h, h_theirs, normal)
    torch.testing.assert_close(initial.grad, initial_theirs.grad)
    torch.testing.assert_close(layer.weight.grad, conv.weight1.grad)


def test_gcnii_with_the_term_is_the_formula(operators, normal, naive_term):
    """support = (1−α)(ÂH − βH̃H̃ᵀH) + αH⁰, with Â from PyG."""
    alpha, beta = 0.2, 0.05
    layer = GCNIILayer(OUT, beta, 2, alpha=alpha, theta=0.7, generator=seeded()).double()
    edges, weights = gcn_norm(operators.edge_index, None, 14, dtype=torch.float64)
    a = torch.zeros(14, 14, dtype=torch.float64).index_put_((edges[1], edges[0]), weights, accumulate=True)
    h, h_theirs = two(normal, 14, OUT)
    initial = normal(14, OUT, seed=2, grad=False)
    theta = torch.log(torch.tensor(0.7 / 2 + 1, dtype=torch.float64))
    support = (1 - alpha) * (a @ h_theirs + naive_term(h_theirs, beta)) + alpha * initial
    expected = (1 - theta) * support + theta * support @ layer.weight.detach()
    check(layer(h, ForwardPass(operators, initial=initial)), expected, h, h_theirs, normal)


@BETAS
def test_mlp(operators, normal, naive_term, beta):
    layer = set_bias(MLPLayer(IN, OUT, beta, seeded()))
    conv = torch.nn.Linear(IN, OUT).double()
    with torch.no_grad():
        conv.weight.copy_(layer.weight.t())
        conv.bias.copy_(layer.bias)
    h, h_theirs = two(normal, 14, IN)
    theirs = conv(h_theirs) + naive_term(h_theirs @ conv.weight.t(), beta)
    check(layer(h, ForwardPass(operators)), theirs, h, h_theirs, normal)
    torch.testing.assert_close(layer.weight.grad, conv.weight.grad.t())
    torch.testing.assert_close(layer.bias.grad, conv.bias.grad)


@pytest.mark.parametrize("weighted", [False, True])
def test_appnps_propagation_is_pygs(make_graph, normal, weighted):
    operators = GraphOperators(make_graph(weighted=weighted), dtype=torch.float64)
    h, h_theirs = two(normal, 14, 3)
    ours = personalised_pagerank(operators.gcn, h, 0.15, 7)
    theirs = pyg.APPNP(7, 0.15)(h_theirs, operators.edge_index, operators.edge_weight)
    check(ours, theirs, h, h_theirs, normal)


@pytest.mark.parametrize("form", ["sparse", "dense"])
@pytest.mark.parametrize("kind", [GCNLayer, GATLayer, SAGELayer, MLPLayer])
def test_features_and_a_tensor_give_the_same(make_graph, kind, form):
    operators = GraphOperators(make_graph(features=40, form=form), dtype=torch.float64)
    assert operators.features.is_sparse == (form == "sparse")
    layer = kind(40, OUT, 0.05, generator=seeded()).double()
    x = operators.features.to_dense()
    ours, oracle = layer(operators.features, ForwardPass(operators)), layer(x, ForwardPass(operators))
    torch.testing.assert_close(ours, oracle)
    mine = torch.autograd.grad(ours.square().sum(), list(layer.parameters()))
    theirs = torch.autograd.grad(oracle.square().sum(), list(layer.parameters()))
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_float32_layers_equal_pyg_too(graph):
    operators = GraphOperators(graph)
    layer = GCNLayer(IN, OUT, 0.0, seeded())
    conv = pyg.GCNConv(IN, OUT)
    with torch.no_grad():
        conv.lin.weight.copy_(layer.weight.t())
    torch.testing.assert_close(
        layer(operators.features, ForwardPass(operators)), conv(operators.features.to_dense(), operators.edge_index)
    )


def test_a_layer_without_forward_says_so(operators):
    class Unfinished(Layer):
        pass

    with pytest.raises(TypeError, match="Unfinished must define forward"):
        Unfinished(2, 2, 0.0)(torch.zeros(2, 2), ForwardPass(operators))
