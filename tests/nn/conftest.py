"""One small graph as our operators and as PyG's tensors, in float64 so that equality means equality."""

import numpy as np
import pytest
import torch
from scipy import sparse

from ncgc import Graph
from ncgc.nn import GraphOperators


@pytest.fixture(scope="session")
def make_graph():
    def make(nodes=14, features=6, weighted=False, form="dense", seed=0):
        """A random graph whose last node is isolated."""
        generator = np.random.default_rng(seed)
        pairs = np.array([(i, j) for i in range(nodes - 1) for j in range(i) if generator.random() < 0.3])
        weights = generator.uniform(0.2, 3.0, len(pairs)) if weighted else None
        x = generator.normal(size=(nodes, features))
        if form == "sparse":
            x = np.zeros((nodes, features))
            x[np.arange(nodes), generator.integers(features, size=nodes)] = generator.uniform(0.5, 2, nodes)
            x = sparse.csr_array(x)
        return Graph.from_edges(pairs, x, generator.integers(3, size=nodes), weights=weights)

    return make


@pytest.fixture
def graph(make_graph):
    return make_graph()


@pytest.fixture
def operators(graph):
    return GraphOperators(graph, dtype=torch.float64)


@pytest.fixture(scope="session")
def normal():
    def make(*shape, seed=0, grad=True):
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_(grad)

    return make


@pytest.fixture(scope="session")
def naive_term():
    """−β·Z̃Z̃ᵀZ through the n×n matrix."""

    def term(z, beta):
        unit = z / z.norm(dim=0)
        return -beta * ((unit @ unit.t()) @ z)

    return term
