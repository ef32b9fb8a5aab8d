"""Generated graphs: a block model of any size, in memory or streamed to a folder that `ncgc fit` reads."""

from ncgc.datasets.synthetic.folder import write_graph
from ncgc.datasets.synthetic.model import BlockModel
from ncgc.datasets.synthetic.sample import sample_graph, true_labels

__all__ = ["BlockModel", "sample_graph", "true_labels", "write_graph"]
