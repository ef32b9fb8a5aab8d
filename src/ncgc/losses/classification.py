"""Cross-entropy against soft targets (pseudo-labels) and against labels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import cross_entropy

from ncgc.errors import ParameterError
from ncgc.losses.softmax import row_sums, shifted_exp


class _SoftCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, index: Tensor | None, count: int) -> Tensor:
        rows = logits if index is None else logits.index_select(0, index)
        exponentials, shift = shifted_exp(rows)
        sums, mass = row_sums(exponentials), row_sums(targets)
        # −Σ_k Ψ_k (x_k − log Σ exp x) = Σ_k Ψ_k · logsumexp − ⟨Ψ, x⟩, summed over the rows
        normaliser = sums.log() + shift.flatten()
        loss = (torch.dot(mass, normaliser) - torch.dot(targets.flatten(), rows.flatten())) / count
        if ctx.needs_input_grad[0]:
            ctx.num_rows = len(logits)
            gradient = exponentials.mul_((mass / sums).unsqueeze(1)).sub_(targets).div_(count)
            ctx.save_for_backward(gradient, *(() if index is None else (index,)))
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor, None, None, None]:
        gradient, *index = ctx.saved_tensors
        gradient = gradient * grad_output
        if index:
            full = gradient.new_zeros(ctx.num_rows, gradient.shape[1])
            gradient = full.index_copy_(0, index[0], gradient)
        return gradient, None, None, None


def soft_cross_entropy(
    logits: Tensor, targets: Tensor, index: Tensor | None = None, count: int | None = None
) -> Tensor:
    r"""mean_i −Σ_k Ψ_ik log softmax(logits)_ik: the paper's pseudo-label loss L_PL for pseudo-labels Ψ.

    The gradient is closed-form, (softmax(logits)_ik · Σ_j Ψ_ij − Ψ_ik) / m, and reaches ``logits`` only.

    Args:
        logits: (n, K).
        targets: (m, K) non-negative rows, usually from :func:`ncgc.losses.sinkhorn`; detached here.
        index: (m,) rows of ``logits`` that the targets belong to, all n in order if ``None``. They must be distinct:
            the gradient is written to them, not added.
        count: divisor of the sum over rows where it is not m, such as the number of rows in the whole graph.

    Returns:
        The loss, a scalar; 0 without rows.

    Raises:
        ParameterError: if logits and targets differ in shape.

    Example:
        >>> import torch
        >>> from ncgc.losses import soft_cross_entropy
        >>> logits = torch.tensor([[2.0, 0.0], [0.0, 0.0]], requires_grad=True)
        >>> loss = soft_cross_entropy(logits, torch.tensor([[1.0, 0.0], [0.5, 0.5]]))
        >>> round(loss.item(), 4)
        0.41
        >>> loss.backward()
        >>> logits.grad
        tensor([[-0.0596,  0.0596],
                [ 0.0000,  0.0000]])
    """
    rows = len(logits) if index is None else len(index)
    if logits.dim() != 2 or tuple(targets.shape) != (rows, logits.shape[1]):
        raise ParameterError(
            f"The 'targets' of soft_cross_entropy must have the shape {(rows, *logits.shape[1:])} of the logits they are for. "
            f"Got the shape {tuple(targets.shape)} instead."
        )
    if rows == 0:
        return (
            logits.sum() * 0
        )  # still attached to the graph of gradients: a batch without unlabelled nodes is no error
    return _SoftCrossEntropy.apply(logits, targets.detach().to(logits.dtype), index, rows if count is None else count)


def hard_cross_entropy(logits: Tensor, labels: Tensor, count: int | None = None) -> Tensor:
    """mean_i −log softmax(logits)_{i, label}: the paper's classification loss L_class.

    Args:
        logits: (m, K).
        labels: (m,) classes, 0 to K−1.
        count: divisor of the sum over rows where it is not m, such as the number of labelled nodes in the whole graph;
            the loss is then 0 without rows.

    Returns:
        The loss, a scalar.

    Example:
        >>> import torch
        >>> hard_cross_entropy(torch.zeros(2, 2), torch.tensor([0, 1]), count=4)
        tensor(0.3466)
    """
    return cross_entropy(logits, labels) if count is None else cross_entropy(logits, labels, reduction="sum") / count
