"""The fast kernels, as free functions over tensors. This room knows nothing of layers, losses or training.

Each custom gradient is checked by ``gradcheck`` and each kernel against a slow oracle in tests/ops/.
"""

from ncgc.ops.attention import attend, attention_values
from ncgc.ops.dropout import drawn_bytes, dropout, keep_factors, keep_mask, kept_scale, relu_dropout
from ncgc.ops.feature_matrix import FeatureMatrix, first_rows, linear
from ncgc.ops.few_columns import product_of_few, to_classes
from ncgc.ops.memory import kept_memory
from ncgc.ops.normalise import gcn_normalised, mean_normalised, with_self_loops
from ncgc.ops.propagation import personalised_pagerank, propagate
from ncgc.ops.reduction import ALONE, Reduction, total_logsumexp
from ncgc.ops.row_generator import Draws, RowDraws
from ncgc.ops.soft_orthogonal import propagate_soft_orthogonal, soft_orthogonal
from ncgc.ops.soft_orthogonal_layer import soft_orthogonal_layer
from ncgc.ops.sparse import SparseMatrix

__all__ = [
    "ALONE",
    "Draws",
    "FeatureMatrix",
    "Reduction",
    "RowDraws",
    "SparseMatrix",
    "attend",
    "attention_values",
    "drawn_bytes",
    "dropout",
    "first_rows",
    "gcn_normalised",
    "keep_factors",
    "keep_mask",
    "kept_memory",
    "kept_scale",
    "linear",
    "mean_normalised",
    "personalised_pagerank",
    "product_of_few",
    "propagate",
    "propagate_soft_orthogonal",
    "relu_dropout",
    "soft_orthogonal",
    "soft_orthogonal_layer",
    "to_classes",
    "total_logsumexp",
    "with_self_loops",
]
