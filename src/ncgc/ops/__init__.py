"""Fast kernels, as free functions over tensors. Nothing here depends on layers, losses or training.

Each custom gradient is checked by ``gradcheck`` and each kernel against a slow oracle in tests/ops/.
"""

from ncgc.ops.attention import attend
from ncgc.ops.dropout import dropout, keep_factors, keep_mask, kept_scale, random_bytes, relu_dropout
from ncgc.ops.feature_matrix import FeatureMatrix, first_rows, linear, narrow_linear, narrow_product
from ncgc.ops.memory import kept_memory
from ncgc.ops.propagation import gcn_normalised, mean_normalised, personalised_pagerank, propagate, with_self_loops
from ncgc.ops.reduction import ALONE, Reduction, total_logsumexp
from ncgc.ops.row_generator import RandomSource, RowGenerator
from ncgc.ops.soft_orthogonal import propagate_soft_orthogonal, soft_orthogonal
from ncgc.ops.soft_orthogonal_layer import soft_orthogonal_layer
from ncgc.ops.sparse import SparseMatrix

__all__ = [
    "ALONE",
    "FeatureMatrix",
    "RandomSource",
    "Reduction",
    "RowGenerator",
    "SparseMatrix",
    "attend",
    "dropout",
    "first_rows",
    "gcn_normalised",
    "keep_factors",
    "keep_mask",
    "kept_memory",
    "kept_scale",
    "linear",
    "mean_normalised",
    "narrow_linear",
    "narrow_product",
    "personalised_pagerank",
    "propagate",
    "propagate_soft_orthogonal",
    "random_bytes",
    "relu_dropout",
    "soft_orthogonal",
    "soft_orthogonal_layer",
    "total_logsumexp",
    "with_self_loops",
]
