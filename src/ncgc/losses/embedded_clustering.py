"""Deep embedded clustering: draw the embeddings toward their nearest centroids.

Xie, Girshick, Farhadi, *Unsupervised deep embedding for clustering analysis* (2016).

Inside, matrices are (K, n), not (n, K): C·Hᵀ is up to twice as fast as H·Cᵀ in one thread, and so are sums over K.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from ncgc.errors import ParameterError
from ncgc.losses._arguments import DEFAULTS, check_argument, check_count
from ncgc.ops import ALONE, Reduction

# With more rows, three starts take over a second at 256 columns, and the centroids hardly change.
_KMEANS_ROWS = 10_000
_KMEANS_STARTS = 3


def student_t(embeddings: Tensor, centroids: Tensor) -> Tensor:
    r"""Soft assignments Q_ik = (1+‖H_i−C_k‖²)⁻¹ / Σ_j (1+‖H_i−C_j‖²)⁻¹.

    Args:
        embeddings: H, (n, d).
        centroids: C, (K, d).

    Returns:
        Q, (n, K), rows sum to 1; differentiable. Nothing of size n·K·d is built.

    Raises:
        ParameterError: if the widths differ.

    Example:
        >>> import torch
        >>> from ncgc.losses import student_t
        >>> student_t(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]]))
        tensor([[0.8333, 0.1667],
                [0.5000, 0.5000]])
    """
    _check_pair(embeddings, centroids, "student_t")
    similarity = _squared_distances(embeddings, centroids).add(1).reciprocal()
    return (similarity / similarity.sum(0)).t().contiguous()


def target_distribution(assignments: Tensor) -> Tensor:
    r"""Sharpened targets P_ik ∝ Q_ik² / Σ_j Q_jk.

    An empty cluster (a column of Q that is 0) stays empty.

    Args:
        assignments: Q, (n, K) soft assignments.

    Returns:
        P, (n, K), rows sum to 1; detached.

    Example:
        >>> import torch
        >>> from ncgc.losses import target_distribution
        >>> target_distribution(torch.tensor([[0.8, 0.2], [0.5, 0.5]]))
        tensor([[0.8960, 0.1040],
                [0.3500, 0.6500]])
    """
    with torch.no_grad():
        return _sharpen(assignments.detach().t()).t().contiguous()


def embedded_clustering_loss(
    embeddings: Tensor,
    centroids: Tensor,
    targets: Tensor | None = None,
    reduction: Reduction = ALONE,
    count: int | None = None,
) -> Tensor:
    r"""mean_i KL(P_i ‖ Q_i), the paper's L_KL, with Q = :func:`student_t` and P = :func:`target_distribution` of it.

    P is a constant. With w_ik = (1+‖H_i−C_k‖²)⁻¹ the gradients are closed-form,

        ∂L/∂H_i = 2/n Σ_k w_ik (P_ik − Q_ik)(H_i − C_k),      ∂L/∂C_k = −2/n Σ_i w_ik (P_ik − Q_ik)(H_i − C_k),

    so a step is three products of n·K·d and one matrix of n·d, the gradient itself.

    Args:
        embeddings: H, (n, d).
        centroids: C, (K, d).
        targets: P, (n, K); computed from Q if ``None``.
        reduction: completes the cluster frequencies Σ_i Q_ik, where ``embeddings`` hold some of the rows.
        count: divisor of the sum over rows where it is not n, such as the number of nodes in the whole graph.

    Returns:
        The loss, a scalar; 0 without rows.

    Raises:
        ParameterError: if shapes do not fit.

    Example:
        >>> import torch
        >>> from ncgc.losses import embedded_clustering_loss
        >>> embeddings = torch.tensor([[0.0], [1.0]], requires_grad=True)
        >>> loss = embedded_clustering_loss(embeddings, torch.tensor([[0.0], [2.0]]))
        >>> loss.backward()
        >>> round(loss.item(), 4), embeddings.grad.flatten()
        (0.0471, tensor([ 0.0370, -0.1667]))
    """
    _check_pair(embeddings, centroids, "embedded_clustering_loss")
    if targets is not None and tuple(targets.shape) != (len(embeddings), len(centroids)):
        raise ParameterError(
            f"The 'targets' of embedded_clustering_loss must have the shape {(len(embeddings), len(centroids))}. "
            f"Got the shape {tuple(targets.shape)} instead."
        )
    if len(embeddings) == 0 and reduction.alone:
        return (embeddings.sum() + centroids.sum()) * 0
    return _EmbeddedClustering.apply(embeddings, centroids, targets, reduction, count)


class _EmbeddedClustering(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, embeddings: Tensor, centroids: Tensor, targets: Tensor | None, reduction: Reduction, count: int | None
    ) -> Tensor:
        n = len(embeddings) if count is None else count
        similarity = _squared_distances(embeddings, centroids).add_(1).reciprocal_()
        assignments = similarity / similarity.sum(0)
        targets = _sharpen(assignments, reduction) if targets is None else targets.t().contiguous()
        tiny = torch.finfo(assignments.dtype).tiny
        ratio = targets.div(assignments.clamp_min(tiny)).clamp_min_(tiny).log_()  # 0 · log 0 = 0 where both vanish
        loss = torch.dot(targets.flatten(), ratio.flatten()) / n
        if any(ctx.needs_input_grad):
            pull = targets.sub(assignments).mul_(similarity).mul_(2 / n)
            ctx.save_for_backward(embeddings, centroids, pull)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        embeddings, centroids, pull = ctx.saved_tensors
        pull = pull * grad_output
        of_embeddings = of_centroids = None
        if ctx.needs_input_grad[0]:
            of_embeddings = (embeddings * pull.sum(0).unsqueeze(1)).addmm_(pull.t(), centroids, alpha=-1)
        if ctx.needs_input_grad[1]:
            of_centroids = (centroids * pull.sum(1, keepdim=True)).addmm_(pull, embeddings, alpha=-1)
        return of_embeddings, of_centroids, None, None, None


def initial_centroids(
    embeddings: Tensor, k: int, method: str = DEFAULTS["centroids"], seed: int = 0, reduction: Reduction = ALONE
) -> Tensor:
    """Centroids to start from, finite and distinct, the same for the same seed.

    Where there are fewer than k distinct rows, the missing centroids are slightly shifted copies: two equal centroids
    would always get equal gradients.

    Args:
        embeddings: (n, d), any n; beyond 10,000 rows k-means runs on a random 10,000.
        k: number of centroids.
        method: ``"kmeans"``, or ``"random"`` for the embeddings of k random nodes.
        seed: of this draw; no global generator is touched.
        reduction: collects the drawn rows, where ``embeddings`` hold some of the rows; the result does not depend on
            how they are distributed.

    Returns:
        (k, d).

    Raises:
        ParameterError: for k < 1, an unknown method, or embeddings with NaN or infinity.

    Example:
        >>> import torch
        >>> from ncgc.losses import initial_centroids
        >>> embeddings = torch.tensor([[0.0], [0.2], [5.0], [5.2]])
        >>> initial_centroids(embeddings, 2).sort(0).values
        tensor([[0.1000],
                [5.1000]])
    """
    check_count("initial_centroids", "k", k)
    check_argument("initial_centroids", "method", method, "centroids")
    if embeddings.dim() != 2:
        raise ParameterError(
            f"The 'embeddings' of initial_centroids must be an (n, d) matrix. Got the shape {tuple(embeddings.shape)} instead."
        )
    embeddings = embeddings.detach().cpu()
    if not bool(torch.isfinite(embeddings.sum())) and not bool(torch.isfinite(embeddings).all()):
        raise ParameterError(
            "The 'embeddings' of initial_centroids hold NaN or infinity; the model has diverged: lower the learning rate or normalise the features."
        )
    generator, n = np.random.default_rng(seed), reduction.count(len(embeddings))
    if method == "kmeans" and n > k:
        drawn = np.sort(generator.choice(n, _KMEANS_ROWS, replace=False)) if n > _KMEANS_ROWS else np.arange(n)
        centroids = _kmeans(_taken(embeddings, drawn, reduction), k, int(generator.integers(2**31)))
    else:
        centroids = _taken(embeddings, generator.permutation(n)[:k], reduction)
    centroids = _fill_apart(centroids, k, generator)
    return torch.from_numpy(centroids).to(embeddings)


def _taken(embeddings: Tensor, drawn: np.ndarray, reduction: Reduction) -> np.ndarray:
    """The rows with these numbers in the whole graph, a copy."""
    taken: np.ndarray = reduction.rows(embeddings, torch.from_numpy(drawn)).numpy()
    return taken


def _kmeans(rows: np.ndarray, k: int, seed: int) -> np.ndarray:
    # Imported here: scikit-learn's clustering takes half a second to import, and training from a model file needs none.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    # One thread: with more, partial sums arrive in any order and the last bit differs from run to run.
    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="openmp"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=_KMEANS_STARTS, max_iter=100, random_state=seed).fit(rows).cluster_centers_


def _fill_apart(centroids: np.ndarray, k: int, generator: np.random.Generator) -> np.ndarray:
    """Exactly k rows, no two equal."""
    distinct = np.zeros(len(centroids), dtype=bool)
    distinct[np.unique(centroids, axis=0, return_index=True)[1]] = True
    missing = k - int(distinct.sum())
    if missing == 0 or centroids.shape[1] == 0:
        return np.resize(centroids, (k, centroids.shape[1]))
    kept = centroids[distinct]
    source = kept[generator.integers(len(kept), size=missing)] if len(kept) else np.zeros((missing, centroids.shape[1]))
    scale = 0.01 * (1 + np.abs(source))
    copies = source + scale * generator.standard_normal(source.shape)
    return np.concatenate([kept, copies.astype(centroids.dtype)])


def _squared_distances(embeddings: Tensor, centroids: Tensor) -> Tensor:
    """(K, n) of ‖H_i‖² + ‖C_k‖² − 2⟨H_i, C_k⟩; rounding can leave it below 0 where a node sits on a centroid."""
    of_embeddings = torch.linalg.vector_norm(embeddings, dim=1).square()
    of_centroids = torch.linalg.vector_norm(centroids, dim=1).square()
    norms = of_embeddings.unsqueeze(0) + of_centroids.unsqueeze(1)
    return torch.addmm(norms, centroids, embeddings.t(), alpha=-2).clamp_min(0)


def _sharpen(assignments: Tensor, reduction: Reduction = ALONE) -> Tensor:
    """P of (K, n) assignments."""
    tiny = torch.finfo(assignments.dtype).tiny
    frequency = reduction.total(assignments.sum(1, keepdim=True)).clamp_min_(tiny)
    weights = assignments.square().div_(frequency)
    return weights.div_(weights.sum(0).clamp_min_(tiny))


def _check_pair(embeddings: Tensor, centroids: Tensor, owner: str) -> None:
    if embeddings.dim() != 2 or centroids.dim() != 2 or embeddings.shape[1] != centroids.shape[1]:
        raise ParameterError(
            f"The 'embeddings' and 'centroids' of {owner} must be matrices with the same number of columns. "
            f"Got the shapes {tuple(embeddings.shape)} and {tuple(centroids.shape)} instead."
        )
