"""The wrapper around PyG's layers."""

import pytest
import torch
import torch_geometric.nn as pyg

from ncgc import SOGN, SoftOrthogonal
from ncgc.errors import ParameterError
from ncgc.nn import GraphOperators

IN, OUT = 6, 8

# a layer, and the Z = H·W that it propagates, read off its definition
LAYERS = {
    "GCNConv": (lambda: pyg.GCNConv(IN, OUT), lambda c, h: h @ c.lin.weight.t()),
    "GATConv": (lambda: pyg.GATConv(IN, OUT // 2, heads=2), lambda c, h: h @ c.lin.weight.t()),
    "GATConv averaged": (
        lambda: pyg.GATConv(IN, OUT, heads=3, concat=False),
        lambda c, h: (h @ c.lin.weight.t()).view(len(h), 3, OUT).mean(dim=1),
    ),
    "SAGEConv": (lambda: pyg.SAGEConv(IN, OUT), lambda c, h: h @ c.lin_l.weight.t()),
    "GraphConv": (lambda: pyg.GraphConv(IN, OUT), lambda c, h: h @ c.lin_rel.weight.t()),
    "TransformerConv": (
        lambda: pyg.TransformerConv(IN, OUT // 2, heads=2),
        lambda c, h: h @ c.lin_value.weight.t(),
    ),
    "TransformerConv averaged": (
        lambda: pyg.TransformerConv(IN, OUT, heads=2, concat=False),
        lambda c, h: (h @ c.lin_value.weight.t()).view(len(h), 2, OUT).mean(dim=1),
    ),
    "GATv2Conv": (lambda: pyg.GATv2Conv(IN, OUT // 2, heads=2), lambda c, h: h @ c.lin_l.weight.t()),
    "GINConv of one width": (lambda: pyg.GINConv(torch.nn.Linear(IN, IN)), lambda c, h: h),
}


@pytest.fixture(params=LAYERS)
def layer(request):
    """The layer in float64 with its Z."""
    build, z = LAYERS[request.param]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build().double(), z


def test_beta_zero_is_exactly_the_layer(layer, operators, normal):
    conv, _ = layer
    h = normal(14, IN, grad=False)
    assert torch.equal(SoftOrthogonal(conv, 0.0)(h, operators.edge_index), conv(h, operators.edge_index))


def test_the_term_is_the_naive_formula(layer, operators, normal, naive_term):
    conv, z = layer
    h = normal(14, IN)
    wrapped = SoftOrthogonal(conv, 0.3)
    parameters = [h, *conv.parameters()]
    result = wrapped(h, operators.edge_index)
    expected = conv(h, operators.edge_index) + naive_term(z(conv, h), 0.3)
    torch.testing.assert_close(result, expected)
    upstream = normal(*result.shape, seed=5, grad=False)
    mine = torch.autograd.grad((result * upstream).sum(), parameters, allow_unused=True)
    theirs = torch.autograd.grad((expected * upstream).sum(), parameters, allow_unused=True)
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_no_hook_is_left_behind(layer, operators, normal):
    conv, _ = layer
    SoftOrthogonal(conv, 0.3)(normal(14, IN), operators.edge_index)
    assert not any(module._forward_hooks for module in conv.modules())


def test_the_hook_is_removed_when_the_layer_fails(normal):
    conv = pyg.GCNConv(IN, OUT).double()
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever PyG says to a wrong edge_index
        SoftOrthogonal(conv, 0.3)(normal(14, IN), torch.zeros(3, 3))
    assert not conv.lin._forward_hooks


def test_the_layers_own_product_is_reused(operators, normal):
    conv, calls = pyg.GCNConv(IN, OUT).double(), []
    conv.lin.register_forward_hook(lambda *_: calls.append(1))
    SoftOrthogonal(conv, 0.3)(normal(14, IN), operators.edge_index)
    assert len(calls) == 1


def test_gcn2_gets_z_equal_h(operators, normal, naive_term):
    conv = pyg.GCN2Conv(OUT, 0.1).double()
    h, initial = normal(14, OUT, grad=False), normal(14, OUT, seed=1, grad=False)
    result = SoftOrthogonal(conv, 0.3)(h, initial, operators.edge_index)
    torch.testing.assert_close(result, conv(h, initial, operators.edge_index) + naive_term(h, 0.3))


@pytest.mark.parametrize("width", [OUT, 3])
def test_gin_needs_a_transform(operators, normal, width):
    """Also where the output's width divides the input's (6 → 3): H is not two heads of Z."""
    conv = pyg.GINConv(torch.nn.Linear(IN, width)).double()
    with pytest.raises(
        ParameterError,
        match=rf"cannot tell what GINConv propagates: Z would be \(14, 6\) and the output is \(14, {width}\); pass transform=",
    ):
        SoftOrthogonal(conv, 0.3)(normal(14, IN), operators.edge_index)


def test_transform_gives_z(operators, normal, naive_term):
    conv = pyg.GINConv(torch.nn.Linear(IN, OUT)).double()
    h = normal(14, IN, grad=False)
    result = SoftOrthogonal(conv, 0.3, transform=conv.nn)(h, operators.edge_index)
    torch.testing.assert_close(result, conv(h, operators.edge_index) + naive_term(conv.nn(h), 0.3))


def test_edge_weights_pass_through(make_graph, normal, naive_term):
    operators = GraphOperators(make_graph(weighted=True), dtype=torch.float64)
    conv, h = pyg.GCNConv(IN, OUT).double(), normal(14, IN, grad=False)
    result = SoftOrthogonal(conv, 0.3)(h, operators.edge_index, operators.edge_weight)
    expected = conv(h, operators.edge_index, operators.edge_weight) + naive_term(conv.lin(h), 0.3)
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("beta", [-0.1, float("nan")])
def test_a_bad_beta_is_refused(beta):
    with pytest.raises(ParameterError, match=r"The 'beta' parameter of SoftOrthogonal must be a float in the range"):
        SoftOrthogonal(pyg.GCNConv(2, 2), beta)


# ---------------------------------------------------------------- as a backbone

FACTORIES = {
    "GCNConv": pyg.GCNConv,
    "GATConv": lambda i, o: pyg.GATConv(i, o, dropout=0.5),
    "SAGEConv": pyg.SAGEConv,
    "TransformerConv": lambda i, o: pyg.TransformerConv(i, o // 2, heads=2),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FACTORIES)
def test_factories_run_on_plain_and_weighted_graphs(make_graph, name, weighted):
    """Weights go into the layers that take them; the others run without."""
    operators = GraphOperators(make_graph(weighted=weighted))
    network = SOGN(6, 3, FACTORIES[name], hidden=8, generator=torch.Generator().manual_seed(0))
    output = network(operators, torch.Generator().manual_seed(1))
    assert output.logits.shape == (14, 3)
    output.logits.square().sum().backward()
    assert all(p.grad is not None for p in network.parameters())


def test_a_gcn_factory_is_our_gcn(make_graph):
    operators = GraphOperators(make_graph(weighted=True))
    ours = SOGN(6, 3, "gcn", hidden=8, beta=0.1, generator=torch.Generator().manual_seed(0)).eval()
    theirs = SOGN(6, 3, pyg.GCNConv, hidden=8, beta=0.1, generator=torch.Generator().manual_seed(0)).eval()
    with torch.no_grad():
        for mine, their in zip(ours.convs, theirs.convs, strict=True):
            their.wrapped.conv.lin.weight.copy_(mine.weight.t())
        theirs.prototypes.copy_(ours.prototypes)
    torch.testing.assert_close(ours(operators).logits, theirs(operators).logits)


def test_dropout_inside_a_layer_draws_from_the_given_generator(make_graph):
    operators = GraphOperators(make_graph())
    network = SOGN(6, 3, FACTORIES["GATConv"], hidden=8, dropout=0.0, generator=torch.Generator().manual_seed(0))
    before = torch.get_rng_state()
    first, same, other = (network(operators, torch.Generator().manual_seed(seed)).logits for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_dropout_inside_a_layer_is_new_every_pass(make_graph):
    operators, generator = GraphOperators(make_graph()), torch.Generator().manual_seed(1)
    network = SOGN(6, 3, FACTORIES["GATConv"], hidden=8, dropout=0.0, generator=torch.Generator().manual_seed(0))
    assert not torch.equal(network(operators, generator).logits, network(operators, generator).logits)


def test_the_first_weights_of_a_factory_come_from_the_generator():
    before = torch.get_rng_state()
    first, same, other = (
        SOGN(6, 3, pyg.GCNConv, hidden=8, generator=torch.Generator().manual_seed(seed)).state_dict()
        for seed in (0, 0, 1)
    )
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], same[name]) for name in first)
    weight = "convs.0.wrapped.conv.lin.weight"
    assert not torch.equal(first[weight], other[weight])
    assert not torch.equal(first["convs.1.wrapped.conv.lin.weight"][:, :6], first[weight])  # each layer its own


def test_a_layer_of_the_wrong_width_is_named(operators):
    network = SOGN(6, 3, lambda i, o: pyg.GCNConv(i, o + 1), hidden=8, num_layers=1).double()
    with pytest.raises(ParameterError, match=r"GCNConv gives \(14, 9\) for 14 nodes, but the network is 8 wide"):
        network(operators)


def test_a_sage_layer_that_projects_first_is_constrained_on_what_it_propagates():
    conv = pyg.SAGEConv(4, 4, project=True)
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    x = torch.rand(4, 4, generator=torch.Generator().manual_seed(0))
    z = x @ conv.lin_l.weight.t()
    unit = z / z.norm(dim=0)
    torch.testing.assert_close(SoftOrthogonal(conv, 0.3)(x, edges), conv(x, edges) - 0.3 * (unit @ unit.t() @ z))
