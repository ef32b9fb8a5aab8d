"""One process reads the graph; the others know its summary and get their rows, and the training is the same."""

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.errors import GraphError, ParameterError
from ncgc.training.engines.distributed.group import Group
from ncgc.training.engines.distributed.scatter import GraphSummary, read_by_first

SHORT = {"epochs": 8, "warmup": 2, "ramp": 2, "hidden": 8, "random_state": 5}


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_rows_that_were_sent_are_those_that_were_cut(make_planted, in_processes, form):
    graph, split = make_planted(form)

    def run(group):
        def read():
            assert group.first  # nobody else
            return graph

        found = read_by_first(read, group)
        summary = None if group.first else (isinstance(found, GraphSummary), repr(found), found.degrees.tolist())
        losses = []
        for backbone in ("gcn", "sage"):
            model = NCGC(backbone, **SHORT).fit(found, split, group=group)
            losses.append(model.history_["total"].tolist())
        return summary, losses, group.traffic.sent["others"]

    ranks = in_processes(run, 3)
    expected = [
        NCGC(backbone, **SHORT).fit(graph, split, group=Group()).history_["total"] for backbone in ("gcn", "sage")
    ]
    for rank, (summary, losses, sent) in enumerate(ranks):
        np.testing.assert_allclose(losses, expected, atol=1e-4)
        assert summary == (None if rank == 0 else (True, repr(graph), graph.degrees.tolist()))
        assert (sent > 0) == (rank == 0)


def test_a_summary_answers_what_splits_and_parameters_ask(make_planted):
    graph, _ = make_planted()
    summary = GraphSummary.of(graph)
    assert summary.validate() is summary
    for name in ("num_nodes", "num_edges", "num_features", "num_classes", "feature_density", "name"):
        assert getattr(summary, name) == getattr(graph, name)
    assert summary.features.nnz == summary.adjacency.nnz == 0


def test_what_the_first_cannot_read_ends_all(raw_processes):
    def broken():
        raise GraphError("There is no such graph.")

    found = raw_processes(lambda group: read_by_first(broken, group), 2)
    assert [message.splitlines()[0] for _, message in found] == [
        "GraphError: There is no such graph.",
        "GraphError: The first process could not read the graph.",
    ]


def test_parts_need_the_graph_itself(make_planted):
    graph, split = make_planted()
    with pytest.raises(ParameterError, match="needs the graph in every process"):
        NCGC(**SHORT, batch="partitions", parts=2).fit(GraphSummary.of(graph), split, group=Group())
