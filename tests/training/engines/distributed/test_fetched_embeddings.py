"""What a process keeps of the look: the rows of one process's look, for all neighbours of its parts."""

import numpy as np
import pytest
from ncgc.training.engines.distributed.fitting import make_trainer

from ncgc import NCGC
from ncgc.training.engines.distributed.group import Group

OPTIONS = {"hidden": 8, "random_state": 5, "batch": "partitions", "parts": 4}
KINDS = {
    "gcn": {},
    "sage": {"backbone": "sage"},
    "appnp": {"backbone": "appnp", "num_layers": 1, "steps": 3},
    "gcnii": {"backbone": "gcnii", "num_layers": 3},
}


def looked(planted, options):
    """For ``in_processes``: the nodes and the rows that are kept after one look, and those that the parts ask for."""

    def run(group):
        trainer, _, _ = make_trainer(NCGC(**(OPTIONS | options)), *planted, group)
        trainer._output()
        asked = [trainer.source.graph.adjacency[trainer.cut(part).part.nodes].indices for part in trainer.own]
        return trainer.history.nodes, [rows.numpy() for rows in trainer.history.products], np.concatenate(asked)

    return run


@pytest.mark.parametrize("halo", [0, 1])
def test_rows_are_those_of_one_process(make_planted, in_processes, halo):
    planted = make_planted()
    options = [kind | {"halo": halo} for kind in KINDS.values()]
    ranks = in_processes(lambda group: [looked(planted, each)(group) for each in options], 2)
    for number, each in enumerate(options):
        everybody, whole, _ = looked(planted, each)(Group())
        place = np.argsort(everybody)
        for found in ranks:
            nodes, products, asked = found[number]
            assert set(asked) <= set(nodes)
            assert len(products) == len(whole) > 0
            for rows, all_rows in zip(products, whole, strict=True):
                np.testing.assert_allclose(rows, all_rows[place][nodes], atol=1e-5, err_msg=str(each))
