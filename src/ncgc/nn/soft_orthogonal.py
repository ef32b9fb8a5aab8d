"""SoftOrthogonal: the constraint around any PyG message-passing layer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from ncgc.errors import ParameterError
from ncgc.nn.layers import Hidden, Layer, Pass
from ncgc.ops import FeatureMatrix, RowDraws, soft_orthogonal

# where PyG's layers keep the W of Z = H·W that is propagated, in the order to look
_LINEAR_NAMES = ("lin_l", "lin", "lin_src", "lin_rel", "lin_value", "lin1")


class SoftOrthogonal(nn.Module):
    """conv(H, edge_index) − β·Z̃Z̃ᵀZ for any PyG ``MessagePassing`` layer.

    Z = H·W is found from the layer's own linear map (``lin``, ``lin_src``, ``lin_l``, ``lin_rel``, ``lin_value``); if the
    layer runs that map on H itself, its result is reused and costs nothing. A layer without one gets Z = H when its width
    does not change (as in GCNII); otherwise pass ``transform``, a function from H to Z.

    Args:
        conv: a PyG layer, called as ``conv(x, edge_index, ...)``.
        beta: strength of the constraint, ≥ 0; 0 gives exactly ``conv``.
        transform: H (n×in) → Z (n×out), when it cannot be found.

    >>> from torch_geometric.nn import GCNConv
    >>> layer = SoftOrthogonal(GCNConv(3, 2), beta=0.005)
    >>> layer(torch.eye(3), torch.tensor([[0, 1], [1, 0]])).shape
    torch.Size([3, 2])
    """

    def __init__(self, conv: nn.Module, beta: float = 0.005, transform: Callable[[Tensor], Tensor] | None = None):
        super().__init__()
        if not beta >= 0:
            raise ParameterError(
                f"The 'beta' parameter of SoftOrthogonal must be a float in the range [0.0, inf). Got {beta!r} instead."
            )
        self.conv = conv
        self.beta = float(beta)
        self.transform = transform

    def forward(self, x: Tensor, edge_index: Any, *args: Any, **kwargs: Any) -> Tensor:
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
    """A SoftOrthogonal PyG layer as one of the skeleton's layers; edge weights go in when the layer takes them."""

    def __init__(self, conv: nn.Module, in_features: int, out_features: int, beta: float):
        super().__init__(in_features, out_features, beta)
        self.wrapped = SoftOrthogonal(conv, beta)
        self._takes_weights = "edge_weight" in inspect.signature(conv.forward).parameters

    def forward(self, h: Hidden, walk: Pass) -> Tensor:
        x = h.to_dense() if isinstance(h, FeatureMatrix) else h
        weight = walk.operators.edge_weight if self._takes_weights else None
        weights = {} if weight is None else {"edge_weight": weight}
        with _randomness_from(walk):
            out = self.wrapped(x, walk.operators.edge_index, **weights)
        if out.shape != (len(x), self.out_features):
            raise ParameterError(
                f"{type(self.wrapped.conv).__name__} gives {tuple(out.shape)} for {len(x)} nodes, but the network is "
                f"{self.out_features} wide; build the layer so that its output has that many columns."
            )
        return out


@contextmanager
def _randomness_from(walk: Pass) -> Iterator[None]:
    """PyG layers drop from the global generator: in training it is seeded from the walk's, and restored afterwards."""
    if not walk.training or walk.generator is None:
        yield
        return
    if isinstance(walk.generator, RowDraws):
        raise ParameterError("PyG layers cannot drop by row, so they train in one process and with batch='full' only.")
    seed = int(torch.randint(2**31, (1,), generator=walk.generator))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def wrap(
    factory: Callable[[int, int], nn.Module], in_features: int, out_features: int, beta: float, seed: int
) -> WrappedLayer:
    """Build a PyG layer from ``factory(in, out)`` without touching the global generator's state."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # PyG layers draw their first weights from the global generator only; restored on exit
        return WrappedLayer(factory(in_features, out_features), in_features, out_features, beta)
