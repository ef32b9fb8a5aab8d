"""The `paper` protocol on Cora: a plain GCN comes out where the field has it, 84.6."""

import numpy as np

from ncgc import NCGC, load_dataset, make_split
from ncgc.params.presets import preset


def test_plain_gcn_on_the_paper_split_of_cora(benchmark_data):
    graph = load_dataset("cora", root=benchmark_data)
    split = make_split(graph, "paper")
    brief = {"epochs": 120, "patience": 120, "soft_orthogonality": False, "kl": False, "pl": False}
    settings = preset("paper", "gcn", "cora") | brief
    scores = [NCGC(**settings, random_state=seed).fit(graph, split).score() for seed in range(3)]
    # one run scatters by 0.8 and three by 0.5; the other random splits of Cora give 81, three points below
    assert abs(100 * np.mean(scores) - 84.6) < 1.5, scores
