"""Features are normalised by what was learnt on the fitted graph, and by that alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from ncgc import NCGC, Graph
from ncgc.errors import GraphError
from ncgc.graph.features import ROWS, FeatureNormalizer

DENSE = np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [2.0, 5.0, 6.0]])


def graph(features):
    n = features.shape[0]
    return Graph.from_edges([[i, i + 1] for i in range(n - 1)], features)


def words(n=10, columns=40):
    return sparse.csr_array((np.arange(1.0, n + 1), (np.arange(n), np.arange(n))), shape=(n, columns))


def test_each_kind_is_its_formula():
    lengths = np.linalg.norm(DENSE, axis=1, keepdims=True)
    centred = DENSE - DENSE.mean(axis=0)
    expected = {
        "raw": DENSE,
        "row": DENSE / DENSE.sum(axis=1, keepdims=True),
        "unit": DENSE / lengths,
        "centred": centred / np.linalg.norm(centred, axis=1, keepdims=True),
        "binary": np.array([[1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
    }
    assert expected.keys() == ROWS.keys()
    for kind, wanted in expected.items():
        found = FeatureNormalizer.fit(graph(DENSE), kind).apply(graph(DENSE)).features
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    stored = graph(sparse.csr_array(DENSE))
    found = FeatureNormalizer.fit(stored, "binary").apply(stored).features
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), expected["binary"], rtol=1e-6)


def test_another_graph_is_centred_by_the_fitted_mean():
    normalizer = FeatureNormalizer.fit(graph(DENSE), "centred")
    one = graph(np.array([[2.0, 3.0, 9.0]]))  # its own mean is itself, which would leave nothing
    np.testing.assert_allclose(normalizer.apply(one).features, [[0, 0, 1]], atol=1e-7)


def test_sparse_words_are_not_centred_and_stay_sparse():
    normalizer = FeatureNormalizer.fit(graph(words()), "centred")
    assert normalizer.mean is None
    assert sparse.issparse(normalizer.apply(graph(words())).features)


def test_the_fitted_density_decides_for_every_graph():
    dense, lean = graph(np.ones((10, 40))), graph(words())
    assert not sparse.issparse(FeatureNormalizer.fit(dense, "centred").apply(lean).features)
    by_words = FeatureNormalizer.fit(lean, "centred").apply(dense).features
    np.testing.assert_allclose(by_words, 1 / np.sqrt(40), rtol=1e-6)  # unit length, nothing taken off


def test_other_columns_are_a_sentence():
    normalizer = FeatureNormalizer.fit(graph(DENSE), "centred")
    with pytest.raises(GraphError, match=r"has 2 features but the normaliser was fitted on 3; give the same columns"):
        normalizer.apply(graph(DENSE[:, :2]))


def test_centred_takes_off_what_it_is_given():
    np.testing.assert_array_equal(graph(DENSE).centred(np.array([1, 0, 0])).features, DENSE - [1, 0, 0])
    np.testing.assert_allclose(graph(DENSE).centred().features.mean(axis=0), 0, atol=1e-6)
    assert not sparse.issparse(graph(words()).centred().features)


def test_a_part_of_the_graph_is_predicted_as_it_was_in_the_whole(make_planted):
    """Without edges and soft orthogonality a node stands alone, and must get by itself what it got among the others."""
    planted, split = make_planted()
    apart = Graph.from_edges([], planted.features, planted.labels)
    model = NCGC(hidden=8, epochs=8, warmup=2, ramp=1, soft_orthogonality=False).fit(apart, split)
    few = Graph.from_edges([], planted.features[:2])
    np.testing.assert_allclose(model.predict_proba(few), model.predict_proba()[:2], rtol=1e-5)


def test_a_parameter_set_later_does_not_change_a_fitted_model(make_planted):
    planted, split = make_planted()
    model = NCGC(hidden=8, epochs=8, warmup=2, ramp=1).fit(planted, split)
    before = model.predict_proba(planted)
    np.testing.assert_array_equal(model.set_params(features="raw").predict_proba(planted), before)
