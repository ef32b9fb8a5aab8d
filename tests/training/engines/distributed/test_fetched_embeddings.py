"""What a process keeps of an evaluation pass: the rows of one process's pass, for all neighbours of its parts."""

import numpy as np
import pytest

from ncgc import NCGC
from ncgc.training.engines.distributed.group import Group

OPTIONS = {"hidden": 8, "random_state": 5, "batch": "partitions", "parts": 4}
KINDS = {
    "gcn": {},
    "sage": {"backbone": "sage"},
    "appnp": {"backbone": "appnp", "num_layers": 1, "steps": 3},
    "gcnii": {"backbone": "gcnii", "num_layers": 3},
}


def kept(make_trainer, planted, options):
    """For ``in_processes``: the nodes and the rows that are kept after one evaluation pass, and those that the parts need."""

    def run(group):
        engine = make_trainer(NCGC(**(OPTIONS | options)), *planted, group).engine
        engine.evaluate()
        layout = engine.layout
        needed = [layout.source.graph.adjacency[layout.operators(part).part.nodes].indices for part in layout.own]
        return layout.history.nodes, [rows.numpy() for rows in layout.history.products], np.concatenate(needed)

    return run


@pytest.mark.parametrize("halo", [0, 1])
def test_rows_are_those_of_one_process(make_planted, in_processes, ncgc_trainer, halo):
    planted = make_planted()
    options = [kind | {"halo": halo} for kind in KINDS.values()]
    ranks = in_processes(lambda group: [kept(ncgc_trainer, planted, each)(group) for each in options], 2)
    for number, each in enumerate(options):
        everybody, whole, _ = kept(ncgc_trainer, planted, each)(Group())
        place = np.argsort(everybody)
        for found in ranks:
            nodes, products, needed = found[number]
            assert set(needed) <= set(nodes)
            assert len(products) == len(whole) > 0
            for rows, all_rows in zip(products, whole, strict=True):
                np.testing.assert_allclose(rows, all_rows[place][nodes], atol=1e-5, err_msg=str(each))
