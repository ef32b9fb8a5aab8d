"""Sinkhorn–Knopp: balanced soft targets out of the current predictions.

Cuturi, *Sinkhorn distances* (2013); relaxed marginals: Chizat et al., *Scaling algorithms for unbalanced transport*
(2016).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from ncgc.errors import ParameterError
from ncgc.losses._arguments import check_argument
from ncgc.losses.prior import Prior, resolve_prior
from ncgc.losses.softmax import column_sums, row_softmax
from ncgc.ops import ALONE, Reduction, total_logsumexp

# One shift for the whole kernel as long as no entry falls below exp(-40); beyond that one per row.
_ONE_SHIFT = 40.0
# The column scaling may span exp(30) before it is absorbed into the kernel: nothing in float32 under- or overflows.
_ABSORB = 30.0
# Entries of the kernel are kept at or above exp(-80): normal numbers, for subnormal ones are slow.
_FLOOR = -80.0
# The floor adds less than n · exp(30 − 80) to a column; smaller columns than this are summed in the log domain.
_TINY = 1e-11
# Scores/ε that span more than this lose too much in float32: exp of a number of size 1,000 is good to 1e-4.
_FLOAT32_SPREAD = 1000.0


def sinkhorn(
    scores: Tensor,
    epsilon: float = 0.04,
    iterations: int = 3,
    prior: Prior = None,
    relaxation: float = 1.0,
    reduction: Reduction = ALONE,
) -> Tensor:
    r"""Soft targets Ψ whose rows sum to 1 and whose columns sum to n·b, exactly or, with κ < 1, approximately.

    With L = scores/ε, Ψ is the maximiser of ⟨Ψ, scores⟩ + ε·H(Ψ) − λ·KL(Ψᵀ1 ‖ n·b) over the matrices with rows that sum
    to 1, reached by T rounds of columns, then rows, from f = g = 0:

        f_k = κ · ( log(n b_k) − logsumexp_i(L_ik + g_i) ),      g_i = −logsumexp_k(L_ik + f_k),      κ = λ/(λ+ε)

        Ψ_ik = exp(L_ik + f_k + g_i)

    κ = 1 (λ = ∞) is the paper's Sinkhorn–Knopp; κ = 0 is ``softmax(scores/ε)``. In between, the result depends on κ
    and, once converged, not on T (each round shrinks the distance to it at least κ-fold). This is POT's
    ``ot.unbalanced.sinkhorn_unbalanced(a, b, -scores, ε, reg_m=(inf, λ), reg_type="entropy")`` with a = 1/n, times n,
    and λ = ε·κ/(1−κ). (POT's ``reg_type="kl"`` measures the entropy against a·bᵀ instead: as κ → 0 it tends to
    b_k·exp(L_ik), not to the plain softmax; with a uniform b the two are the same.)

    Computed as scalings of one kernel exp(L), which is rebuilt, or a column summed in the log domain, only where
    float32 would run out of exponents: finite and correct from ε = 1e-3 to 10.

    Defaults are the paper's; NCGC passes its own.

    Args:
        scores: (n, K), finite. Probabilities in the paper; log-probabilities and logits work too.
        epsilon: strength ε of the entropy; smaller is sharper.
        iterations: rounds T. With 0, or with ``relaxation=0``, the result is ``softmax(scores/ε)``, whatever the prior.
        prior: (K,) non-negative class shares b, any positive sum; uniform if ``None``. A class of share 0 gets nothing.
        relaxation: κ, from 0 to 1.
        reduction: completes the sums over rows, K numbers per round, where ``scores`` hold some of the rows.

    Returns:
        Ψ, (n, K), detached, of the type of ``scores``.

    Raises:
        ParameterError: for a parameter out of range or scores with NaN or infinity.

    Example:
        >>> import torch
        >>> from ncgc.losses import sinkhorn
        >>> scores = torch.tensor([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6]])
        >>> sinkhorn(scores, epsilon=0.1, iterations=100).sum(0)
        tensor([2.0000, 2.0000])
        >>> sinkhorn(scores, epsilon=0.1, iterations=100, prior=torch.tensor([0.75, 0.25])).sum(0)
        tensor([3.0000, 1.0000])
        >>> sinkhorn(scores, epsilon=0.1, iterations=100, relaxation=0.0).sum(0)
        tensor([3.0984, 0.9016])
    """
    check_argument("sinkhorn", "epsilon", epsilon)
    check_argument("sinkhorn", "iterations", iterations, "sinkhorn_iterations")
    check_argument("sinkhorn", "relaxation", relaxation)
    if scores.dim() != 2 or scores.shape[1] == 0:
        raise ParameterError(
            f"The 'scores' of sinkhorn must be an (n, K) matrix with at least one column. Got the shape {tuple(scores.shape)} instead."
        )
    shares = resolve_prior(prior, scores.shape[1], owner="sinkhorn")
    with torch.no_grad():
        scores = scores.detach()
        if scores.numel() == 0 and reduction.alone:
            return torch.empty_like(scores)
        lowest, highest = _extremes(scores, reduction)
        if not (math.isfinite(lowest) and math.isfinite(highest)):  # NaN passes through aminmax
            raise ParameterError(
                "The 'scores' of sinkhorn hold NaN or infinity; the model has diverged: lower the learning rate or normalise the features."
            )
        spread = (highest - lowest) / epsilon
        dtype = torch.float64 if scores.dtype == torch.float64 or spread > _FLOAT32_SPREAD else torch.float32
        wide = scores.to(dtype)
        if iterations == 0 or relaxation == 0:
            return row_softmax((wide - highest).div_(epsilon)).to(scores.dtype)
        present = shares > 0
        if bool(present.all()):
            return _scale(wide, epsilon, iterations, shares, relaxation, highest, spread, reduction).to(scores.dtype)
        columns = present.nonzero().squeeze(1).to(scores.device)
        some = wide.index_select(1, columns)
        some = _scale(some, epsilon, iterations, shares[present], relaxation, highest, spread, reduction)
        return torch.zeros_like(scores).index_copy_(1, columns, some.to(scores.dtype))


def marginal_error(targets: Tensor, prior: Prior = None, reduction: Reduction = ALONE) -> float:
    """Total variation ½ Σ_k |s_k − b_k| between the column shares s of the targets and the prior b.

    Args:
        targets: (n, K), rows sum to 1.
        prior: b as in :func:`sinkhorn`.
        reduction: completes the column sums, where ``targets`` hold some of the rows.

    Returns:
        From 0 (balanced as b) to 1.

    Example:
        >>> import torch
        >>> from ncgc.losses import marginal_error
        >>> marginal_error(torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
        0.25
    """
    shares = resolve_prior(prior, targets.shape[1], owner="marginal_error")
    if targets.shape[0] == 0 and reduction.alone:
        return 0.0
    with torch.no_grad():
        columns = reduction.total(column_sums(targets))
        return float((columns / columns.sum() - shares).abs().sum() / 2)


def _extremes(scores: Tensor, reduction: Reduction) -> tuple[float, float]:
    """The lowest and the highest score of the whole graph."""
    if reduction.alone:
        low, high = torch.stack(torch.aminmax(scores)).tolist()
        return low, high
    ends = scores.new_full((3,), -math.inf)
    if scores.numel():
        low_, high_ = torch.aminmax(scores)
        ends = torch.stack([-low_, high_, high_.isnan().to(high_.dtype)])
    low, high, broken = reduction.highest(ends.nan_to_num(math.inf, math.inf, -math.inf)).tolist()
    return (math.nan, math.nan) if broken > 0 else (-low, high)


def _scale(
    scores: Tensor,
    epsilon: float,
    iterations: int,
    shares: Tensor,
    relaxation: float,
    highest: float,
    spread: float,
    reduction: Reduction,
) -> Tensor:
    """The rounds, with L = (scores − highest)/ε. K-vectors are NumPy's in float64, n-vectors are torch's."""
    n, k = scores.shape
    # only differences of f matter, so the n of all rows, which would take a message, may be left out
    log_target = np.log((n if reduction.alone else 1) * shares.numpy() / float(shares.sum()))
    absorbed = np.zeros(k)  # the part of f that is inside the kernel
    if spread <= _ONE_SHIFT:
        kernel, height = scores.sub(highest).mul_(1 / epsilon).exp_(), scores.new_zeros(())
        row_scale = scores.new_ones(n)
        row_potential = height  # −g, up to a constant: only differences of f matter
    else:
        kernel, height = _kernel(scores, epsilon, absorbed, highest)
        row_potential = reduction.highest(_largest(height))
        row_scale = (height - row_potential).exp_()
    column_scale = scores.new_ones(k)
    for round_ in range(iterations):
        columns = reduction.total(column_sums(kernel, row_scale)).numpy()
        if columns.min() >= _TINY:
            log_columns = np.log(columns) - absorbed
        else:
            if round_ > 0:
                row_potential = height - row_scale.log()
            log_columns = np.log(np.maximum(columns, _TINY)) - absorbed
            for column in np.flatnonzero(columns < _TINY).tolist():
                exact = total_logsumexp((scores[:, column] - highest) / epsilon - row_potential, reduction)
                log_columns[column] = float(exact)
        potential = relaxation * (log_target - log_columns)
        step = potential - absorbed
        step -= step.max()
        if step.min() < -_ABSORB:
            absorbed = potential - potential.max()
            kernel, height = _kernel(scores, epsilon, absorbed, highest)
            column_scale = scores.new_ones(k)
        else:
            column_scale = torch.from_numpy(np.exp(step)).to(scores)
        row_scale = torch.mv(kernel, column_scale).reciprocal_()
    return kernel.mul_(column_scale).mul_(row_scale.unsqueeze(1))


def _largest(height: Tensor) -> Tensor:
    return height.max() if len(height) else height.new_tensor(-math.inf)


def _kernel(scores: Tensor, epsilon: float, absorbed: np.ndarray, highest: float) -> tuple[Tensor, Tensor]:
    """``exp(L + f − height)``, (n, K), and its row maxima ``height``, (n,)."""
    top = scores.amax(1, keepdim=True)
    exponent = torch.sub(scores, top).mul_(1 / epsilon).add_(torch.from_numpy(absorbed).to(scores))
    shift = exponent.amax(1, keepdim=True)
    kernel = exponent.sub_(shift).clamp_min_(_FLOOR).exp_()
    return kernel, (top.sub_(highest).mul_(1 / epsilon) + shift).squeeze(1)
