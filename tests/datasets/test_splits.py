"""The ways to split: sizes, balance, seeds, the paper's recipe, and what is refused."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ncgc.datasets import digits_graph, few_split, load_dataset, make_split, paper_split, public_split, random_split
from ncgc.errors import SplitError
from ncgc.graph import Graph


def labelled(labels, name="graph", classes=None):
    return Graph.from_edges([], np.ones((len(labels), 1)), labels=labels, name=name, classes=classes)


def same(one, other):
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("train", "val", "test"))


def per_class(graph, nodes):
    return np.bincount(graph.labels[nodes], minlength=graph.num_classes).tolist()


@pytest.fixture(scope="module")
def digits():
    return digits_graph()


@pytest.fixture(scope="module")
def citation():
    """A pretended Cora: three classes of 600 nodes, shuffled."""
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(3), 600))
    return labelled(labels, name="cora")


# ---------------------------------------------------------------- paper


def recipe(labels):
    """The paper's split written down once more, in plain loops: 20 a class, 500, 1,000, generator seed 123."""
    generator = torch.Generator()
    generator.manual_seed(123)
    train, pool = [], []
    for k in sorted(set(labels.tolist())):
        members = [node for node, label in enumerate(labels.tolist()) if label == k]
        order = torch.randperm(len(members), generator=generator).tolist()
        for place, position in enumerate(order):
            (train if place < 20 else pool).append(members[position])
    pool = [pool[position] for position in torch.randperm(len(pool), generator=generator).tolist()]
    return sorted(train), sorted(pool[:500]), sorted(pool[500:1500])


@pytest.mark.parametrize(("name", "classes"), [("cora", 7), ("citeseer", 6), ("pubmed", 3)])
def test_paper_split_of_citation_graphs(benchmark_data, name, classes):
    graph = load_dataset(name, root=benchmark_data)
    split = paper_split(graph)
    assert (len(split.train), len(split.val), len(split.test)) == (20 * classes, 500, 1000)
    assert per_class(graph, split.train) == [20] * classes
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == recipe(graph.labels)
    assert all(same(split, paper_split(graph, seed)) for seed in range(1, 5))
    assert (split.name, split.seed) == ("paper", 123)


def test_paper_recipe_on_a_pretended_cora(citation):
    split = paper_split(citation, seed=9)
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == recipe(citation.labels)


def test_paper_split_elsewhere(digits):
    split = paper_split(digits, seed=1)
    assert per_class(digits, split.train) == [20] * 10
    assert per_class(digits, split.val) == [30] * 10
    assert len(split.test) == 1797 - 500
    assert same(split, paper_split(digits, seed=1))
    assert not same(split, paper_split(digits, seed=2))
    assert (split.name, split.seed) == ("paper", 1)


# ---------------------------------------------------------------- the others


def test_public_split(benchmark_data):
    graph = load_dataset("citeseer", root=benchmark_data)
    split = public_split(graph)
    assert (len(split.train), len(split.val), len(split.test)) == (120, 500, 1000)
    assert per_class(graph, split.train) == [20] * 6
    assert split.name == "public"


def test_no_public_split(digits):
    with pytest.raises(SplitError) as caught:
        public_split(digits)
    assert str(caught.value) == (
        "The graph 'digits' has no public split (only cora, citeseer, pubmed have one); use 'random' instead."
    )


def test_random_split_of_a_citation_graph(citation):
    split = random_split(citation, seed=3, labels_per_class=5)
    assert per_class(citation, split.train) == [5, 5, 5]
    assert (len(split.val), len(split.test)) == (500, 1000)
    assert not same(split, random_split(citation, seed=4, labels_per_class=5))


def test_random_split_elsewhere(digits):
    split = random_split(digits, 0, labels_per_class=3, val_per_class=2)
    assert per_class(digits, split.train) == [3] * 10
    assert per_class(digits, split.val) == [2] * 10
    assert len(split.test) == 1797 - 50


def test_few_split_on_any_graph(citation):
    split = few_split(citation, 1, seed=0)
    assert (len(split.train), len(split.val), len(split.test)) == (3, 0, 1797)
    assert len(few_split(citation, 1, 0, val_per_class=4).val) == 12


@pytest.mark.parametrize("kind", ["paper", "random", "few"])
def test_the_global_generators_are_left_alone(digits, kind):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    numbers = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make_split(digits, kind, seed=5)
    torch.manual_seed(1)
    second = make_split(digits, kind, seed=5)
    assert same(first, second)
    torch.manual_seed(0)
    make_split(digits, kind, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numbers)  # noqa: NPY002


@given(
    labels=st.lists(st.integers(-1, 3), min_size=1, max_size=60),
    k=st.integers(1, 3),
    v=st.integers(0, 2),
    seed=st.integers(0, 99),
)
def test_few_split_is_a_partition_of_the_labelled(labels, k, v, seed):
    graph = labelled(labels, classes=["a", "b", "c", "d"])
    counts = np.bincount([label for label in labels if label >= 0], minlength=4)
    present = counts > 0
    if present.sum() < 2 or counts[present].min() < k + v:
        with pytest.raises(SplitError):
            few_split(graph, k, seed, v)
        return
    split = few_split(graph, k, seed, v)
    assert per_class(graph, split.train) == (k * present).tolist()
    assert per_class(graph, split.val) == (v * present).tolist()
    together = np.sort(np.concatenate([split.train, split.val, split.test]))
    assert together.tolist() == np.flatnonzero(np.array(labels) >= 0).tolist()


def test_a_class_without_labels_is_skipped():
    graph = labelled([0, 0, 2, 2], classes=["a", "nobody", "c"])
    assert per_class(graph, few_split(graph, 1).train) == [1, 0, 1]


# ---------------------------------------------------------------- dispatch and refusals


def test_make_split_by_name(digits, citation):
    assert same(make_split(digits, "paper", seed=2), paper_split(digits, 2))
    assert same(make_split(citation, "random", seed=2), random_split(citation, 2))
    assert same(make_split(digits, "random", seed=2, labels_per_class=4), random_split(digits, 2, 4, 30))
    assert same(make_split(digits, "few", seed=2), few_split(digits, 1, 2))
    assert len(make_split(digits, "few", labels_per_class=2, val_per_class=1).val) == 10


def test_make_split_public(citation):
    nodes = np.arange(citation.num_nodes)
    graph = dataclasses.replace(citation, public_split=(nodes[:100], nodes[100:200], nodes[200:]))
    assert len(make_split(graph, "public").train) == 100


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("randm", {}, "Unknown split 'randm' (did you mean 'random'?); the known ones are public, paper, random, few."),
        ("", {}, "Unknown split ''; the known ones are public, paper, random, few."),
        ("paper", {"labels_per_class": 5}, "The 'paper' split has fixed sizes, but labels_per_class is 5; drop it, or use 'random' or 'few'."),
        ("public", {"val_per_class": 5}, "The 'public' split has fixed sizes, but val_per_class is 5; drop it, or use 'random' or 'few'."),
        ("few", {"labels_per_class": 0}, "The 'labels_per_class' of a split must be a whole number from 1. Got 0 instead."),
        ("few", {"labels_per_class": 1.5}, "The 'labels_per_class' of a split must be a whole number from 1. Got 1.5 instead."),
        ("random", {"val_per_class": -1}, "The 'val_per_class' of a split must be a whole number from 0. Got -1 instead."),
        ("few", {"seed": -3}, "The 'seed' of a split must be a whole number from 0. Got -3 instead."),
        ("few", {"labels_per_class": 175}, "The class 8 has 174 labelled nodes but the split needs 175 training nodes of each class; ask for fewer (--split few --labels-per-class 87) or label more."),
    ],
)  # fmt: skip
def test_refused(digits, kind, options, message):
    with pytest.raises(SplitError) as caught:
        make_split(digits, kind, **options)
    assert str(caught.value) == message


def test_a_class_may_be_used_up(digits):
    assert per_class(digits, few_split(digits, 174).test)[8] == 0


def test_one_labelled_node_of_a_class():
    graph = labelled([0] * 60 + [1, -1, -1], classes=["ham", "spam"])
    with pytest.raises(SplitError) as caught:
        make_split(graph, "random")
    assert str(caught.value) == (
        "The class 'spam' has 1 labelled node but the split needs 20 training and 30 validation nodes of each class; "
        "ask for fewer (--split few --labels-per-class 1) or label more."
    )
    assert len(make_split(graph, "few", labels_per_class=1).train) == 2


def test_class_names_of_any_type_are_shown():
    graph = labelled([0] * 3 + [1], classes=np.array(["ham", "spam"], dtype=object))
    with pytest.raises(SplitError, match="The class 'spam' has 1 labelled node "):
        few_split(graph, 2)


def test_validation_per_class_means_nothing_on_citation_graphs(citation):
    with pytest.raises(
        SplitError, match="has 500 validation nodes in all, but val_per_class is 30; drop it, or use 'few'"
    ):
        make_split(citation, "random", val_per_class=30)


def test_citation_graph_that_is_too_small():
    with pytest.raises(SplitError, match=r"has 60 labelled nodes beside the training nodes, but .* needs 1500"):
        paper_split(labelled([0, 1] * 50, name="cora"))


def test_no_labels():
    with pytest.raises(SplitError, match="has no labelled node; give some labels before splitting"):
        few_split(labelled([-1, -1]), 1)


def test_one_class_only():
    with pytest.raises(SplitError, match="All 1 training nodes are of the class 0"):
        few_split(labelled([0, 0, -1]), 1)
