"""SoftOrthogonal: the soft orthogonal term added to any PyG message-passing layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ncgc.errors import ParameterError
from ncgc.nn.layers import ForwardPass, Hidden, Layer
from ncgc.ops import FeatureMatrix, RowGenerator, soft_orthogonal
from ncgc.params.ncgc import NCGC_PARAMETERS

# where PyG's layers keep the W of Z = H·W that is propagated, in the order they are tried
_LINEAR_NAMES = ("lin_l", "lin", "lin_src", "lin_rel", "lin_value", "lin1")


class SoftOrthogonal(nn.Module):
    """conv(H, edge_index) − β·Z̃Z̃ᵀZ for any PyG ``MessagePassing`` layer, with Z̃ the columns of Z at unit length.

    Z = H·W comes from the layer's own linear map (``lin``, ``lin_src``, ``lin_l``, ``lin_rel``, ``lin_value``); if the
    layer applies that map to H itself, its result is reused at no cost. A layer without one gets Z = H when its width
    does not change (as in GCNII); otherwise pass ``transform``, a function from H to Z.

    Args:
        conv: a PyG layer, called as ``conv(x, edge_index, ...)``.
        beta: strength β of the term, ≥ 0, by default the paper's; 0 gives exactly ``conv``.
        transform: H (n×in) → Z (n×out), when the layer's linear map is not found.

    Raises:
        ParameterError: if β is negative or, in the forward pass, if Z and the output differ in shape.

    >>> from torch_geometric.nn import GCNConv
    >>> layer = SoftOrthogonal(GCNConv(3, 2), beta=0.005)
    >>> layer(torch.eye(3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(self, conv: nn.Module, beta: float = 0.005, transform: Callable[[Tensor], Tensor] | None = None):
        super().__init__()
        NCGC_PARAMETERS["beta"].check(beta, "SoftOrthogonal")
        self.conv = conv
        self.beta = float(beta)
        self.transform = transform

    def forward(self, x: Tensor, edge_index: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The layer's output minus β·Z̃Z̃ᵀZ.

        Args:
            x: H, (n, in).
            edge_index: as ``conv`` takes it.
            *args: further arguments of ``conv``.
            **kwargs: further arguments of ``conv``.

        Returns:
            (n, out).
        """
        if self.beta == 0.0:
            return self.conv(x, edge_index, *args, **kwargs)
        out, z = self._call(x, edge_index, *args, **kwargs)
        mapped = self.transform is None and self._linear() is not None
        if mapped and z.shape != out.shape and z.shape[1] % out.shape[1] == 0:
            z = z.view(len(z), -1, out.shape[1]).mean(dim=1)  # heads that the layer averages
        if z.shape != out.shape:
            raise ParameterError(
                f"SoftOrthogonal cannot tell what {type(self.conv).__name__} propagates: Z would be "
                f"{tuple(z.shape)} and the output is {tuple(out.shape)}; pass transform=, a function from H to Z."
            )
        return out + soft_orthogonal(z, self.beta)

    def _call(self, x: Tensor, edge_index: Any, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The layer's output, and Z."""
        if self.transform is not None:
            return self.conv(x, edge_index, *args, **kwargs), self.transform(x)
        linear = self._linear()
        if linear is None:
            return self.conv(x, edge_index, *args, **kwargs), x
        seen: list[Tensor] = []

        def remember(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            if inputs[0] is x and getattr(linear, "bias", None) is None:
                seen.append(output)

        handle = linear.register_forward_hook(remember)
        try:
            out = self.conv(x, edge_index, *args, **kwargs)
        finally:
            handle.remove()
        z = seen[0].view(len(x), -1) if seen else x @ linear.weight.t()  # type: ignore[operator]
        return out, z

    def _linear(self) -> nn.Module | None:
        for name in _LINEAR_NAMES:
            module = getattr(self.conv, name, None)
            if isinstance(module, nn.Module) and isinstance(getattr(module, "weight", None), Tensor):
                return module
        return None


class WrappedLayer(Layer):
    """A SoftOrthogonal PyG layer as a layer of SOGN; edge weights are passed on when the PyG layer takes them."""

    def __init__(self, conv: nn.Module, in_features: int, out_features: int, beta: float):
        super().__init__(in_features, out_features, beta)
        self.wrapped = SoftOrthogonal(conv, beta)
        self._takes_weights = "edge_weight" in inspect.signature(conv.forward).parameters

    def forward(self, h: Hidden, forward_pass: ForwardPass) -> Tensor:
        x = h.to_dense() if isinstance(h, FeatureMatrix) else h
        weight = forward_pass.operators.edge_weight if self._takes_weights else None
        weights = {} if weight is None else {"edge_weight": weight}
        with _randomness_from(forward_pass):
            out = self.wrapped(x, forward_pass.operators.edge_index, **weights)
        if out.shape != (len(x), self.out_features):
            raise ParameterError(
                f"{type(self.wrapped.conv).__name__} gives {tuple(out.shape)} for {len(x)} nodes, but the network is "
                f"{self.out_features} wide; build the layer so that its output has that many columns."
            )
        return out


@contextmanager
def _randomness_from(forward_pass: ForwardPass) -> Iterator[None]:
    """PyG layers draw dropout from the global generator: in training it is seeded from our own and restored afterwards."""
    if not forward_pass.training or forward_pass.generator is None:
        yield
        return
    if isinstance(forward_pass.generator, RowGenerator):
        raise ParameterError("PyG layers cannot drop by row, so they train in one process and with batch='full' only.")
    seed = int(torch.randint(2**31, (1,), generator=forward_pass.generator))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def wrap(
    factory: Callable[[int, int], nn.Module], in_features: int, out_features: int, beta: float, seed: int
) -> WrappedLayer:
    """Build a PyG layer with the soft orthogonal term; the state of torch's global generator stays as it is.

    Args:
        factory: ``(in, out) -> PyG layer``.
        in_features: width of H.
        out_features: width of the output.
        beta: strength of the soft orthogonal term.
        seed: of the layer's first weights.

    Returns:
        The layer, called as the other layers of a backbone.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # PyG layers draw their first weights from the global generator only; restored on exit
        return WrappedLayer(factory(in_features, out_features), in_features, out_features, beta)
