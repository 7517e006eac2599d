"""Low-rank layers: one thick layer becomes two thin ones.

Each way of factorizing unfolds a layer's weights into a matrix M (A, B), takes its singular value
decomposition once, M = U S Vᵀ, and keeps the first K terms, √S on each side:

    svd         linear layer m×n                   M = W (m, n)
                                                   K (m + n) weights
    separable   convolution, Tai et al. (2016):    M[(c, i), (j, o)] = W[o, c, i, j]
                an H×1 convolution, then 1×W       K (C·H + W·N) weights
    flattened   convolution: the same with K       M[o, (c, i, j)] = W[o, c, i, j]
                filters, then 1×1                  K (N + C·H·W) weights

C inputs, N outputs, kernel H×W. The geometry (stride, padding, dilation) is divided between the
thin layers such that with all singular values they compute what the original layer does; its bias
goes to the second.
"""

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast, final

import torch
from torch import Tensor, nn

from ceibo.checks import check_choice, check_whole
from ceibo.errors import InputError


@final
@dataclass(frozen=True)
class Form:
    """A way of factorizing."""

    kind: type[nn.Module]  # of the layers it is for
    unfold: Callable[[Tensor], Tensor]  # weights -> M (A, B)
    fold: Callable[[Tensor, torch.Size], Tensor]  # M, shape -> weights
    # layer, left, right -> thin layers
    build: Callable[[Any, Tensor, Tensor], nn.Sequential]


@final
@dataclass(frozen=True, eq=False)
class Factorization:
    """The decomposition of one layer, truncated on demand.

    Args:
        name: of the layer in its network.
        method: a name of FORMS.
        layer: the original.
        left: (A, R) U√S.
        right: (R, B) √S Vᵀ.
        singular_values: (R,) descending, float64.
    """

    name: str
    method: str
    layer: nn.Module
    left: Tensor
    right: Tensor
    singular_values: Tensor

    @property
    def max_rank(self) -> int:
        return self.left.shape[1]

    @property
    def original(self) -> int:
        """Weights of the original layer, its bias left out."""
        return _weight(self.layer).numel()

    def stored(self, rank: int) -> int:
        """Weights that the two layers of this rank store, their bias left out."""
        return self.check(rank) * (self.left.shape[0] + self.right.shape[1])

    @property
    def break_even(self) -> int:
        """The largest rank that stores less than the original; zero if none does."""
        return min((self.original - 1) // self.stored(1), self.max_rank)

    def check(self, rank: int) -> int:
        """Checks that there is such a rank, and returns it."""
        return check_whole(rank, f"layer {self.name!r}: the rank", 1, self.max_rank)

    def rank_for_share(self, share: float) -> int:
        """The smallest rank whose singular values add up to this share of their sum."""
        if not 0.0 <= share <= 1.0:
            raise InputError(f"layer {self.name!r}: expected a share from 0 to 1, got {share!r}.")
        running = torch.cumsum(self.singular_values, dim=0)
        return min(int((running < share * running[-1]).sum()) + 1, self.max_rank)

    def module(self, rank: int, *, own: bool = True) -> nn.Sequential:
        """The two thin layers of this rank; their parameters are copies unless `own` is false."""
        k = self.check(rank)
        pair = FORMS[self.method].build(self.layer, self.left[:, :k], self.right[:k])
        if own:
            for parameter in pair.parameters():
                parameter.data = parameter.detach().clone(memory_format=torch.contiguous_format)
        return pair.train(self.layer.training)

    def dense(self, rank: int) -> Tensor:
        """The original layer's weights, reduced to this rank."""
        k = self.check(rank)
        return FORMS[self.method].fold(self.left[:, :k] @ self.right[:k], _weight(self.layer).shape)


def factorize(network: nn.Module, name: str, method: str) -> Factorization:
    """The decomposition of the layer called `name`.

    Args:
        network: holds the layer.
        name: as in `network.named_modules()`.
        method: "svd" for a linear layer, "separable" or "flattened" for a convolution.
    """
    check_choice(method, f"layer {name!r}: method", FORMS)
    layer = _find_layer(network, name, FORMS[method].kind)
    weight = _weight(layer)
    matrix = FORMS[method].unfold(weight.detach()).double()
    if not torch.isfinite(matrix).all():
        why = "its weights are not all finite, so it cannot be factorized"
        raise InputError(f"layer {name!r}: {why}.")
    # On the CPU, which gives the same factors whatever the device.
    U, S, Vt = torch.linalg.svd(matrix.cpu(), full_matrices=False)
    left = (U * S.sqrt()).contiguous()
    right = (S.sqrt()[:, None] * Vt).contiguous()
    return Factorization(name, method, layer, left.to(weight), right.to(weight), S)


def default_method(network: nn.Module, name: str) -> str:
    """How a layer is factorized by default: "svd" if linear, "flattened" if a convolution."""
    layers = dict(network.named_modules())
    return "svd" if isinstance(layers.get(name), nn.Linear) else "flattened"


def factorizable(network: nn.Module) -> tuple[str, ...]:
    """Names of the layers that can be factorized into something smaller.

    Not those that share their weights with another: these would stay, beside the smaller ones.
    """
    uses = Counter(id(each) for _, each in network.named_parameters(remove_duplicate=False))
    names = []
    for name, layer in network.named_modules():
        if not name or type(layer) not in (nn.Linear, nn.Conv2d):
            continue
        if getattr(layer, "groups", 1) != 1 or uses[id(layer.weight)] > 1:
            continue
        shape = _weight(layer).shape
        outputs, inputs = shape[0], shape[1:].numel()
        if outputs * inputs > outputs + inputs:
            names.append(name)
    return tuple(names)


def _find_layer(network: nn.Module, name: str, kind: type[nn.Module]) -> nn.Module:
    layers = dict(network.named_modules())
    if name not in layers or not name:
        known = ", ".join(factorizable(network))
        raise InputError(f"layer {name!r} is not in the network; expected one of {known}.")
    layer = layers[name]
    if type(layer) is not kind:
        raise InputError(
            f"layer {name!r} cannot be factorized this way: expected a torch.nn.{kind.__name__}"
            f" (not a subclass, which may compute something else), got {type(layer).__name__}."
        )
    groups = getattr(layer, "groups", 1)
    if groups != 1:
        raise InputError(
            f"layer {name!r} cannot be factorized: it has {groups} groups, expected 1; its groups"
            " are small matrices already, leave it out."
        )
    return layer


def replace_layers(network: nn.Module, replacements: Mapping[str, nn.Module]) -> nn.Module:
    """A network with some layers replaced, which shares all else with the original."""
    root = _copy_module(network)
    for name, replacement in replacements.items():
        parent = root
        *path, last = name.split(".")
        for part in path:
            setattr(parent, part, _copy_module(parent.get_submodule(part)))
            parent = parent.get_submodule(part)
        try:
            parent.get_submodule(last)
        except AttributeError:
            raise InputError(f"layer {name!r} is not in the network.") from None
        setattr(parent, last, replacement)
    return root


def _copy_module(module: nn.Module) -> nn.Module:
    """A copy of a module with a list of children of its own, but the same children."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)  # noqa: SLF001 - torch has no public shallow copy
    return twin


def _weight(layer: nn.Module) -> Tensor:
    return cast(Tensor, layer.weight)


def _parameter(values: Tensor, like: Tensor) -> nn.Parameter:
    """Values as a parameter that shares their memory, trainable if the original is."""
    return nn.Parameter(values.detach(), requires_grad=like.requires_grad)


def _linear(weight: Tensor, bias: nn.Parameter | None, like: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    layer.weight = _parameter(weight, like)
    if bias is not None:
        layer.bias = _parameter(bias, bias)
    return layer


def _build_linear(layer: nn.Linear, left: Tensor, right: Tensor) -> nn.Sequential:
    first = _linear(right, None, layer.weight)
    return nn.Sequential(first, _linear(left, layer.bias, layer.weight))


def _convolution(
    weight: Tensor, like: nn.Conv2d, biased: bool, geometry: dict[str, Any]
) -> nn.Conv2d:
    outputs, inputs, height, width = weight.shape
    bias = like.bias if biased else None
    geometry = geometry | {"padding_mode": like.padding_mode, "device": "meta"}
    layer = nn.Conv2d(inputs, outputs, (height, width), bias=bias is not None, **geometry)
    layer.weight = _parameter(weight, like.weight)
    if bias is not None:
        layer.bias = _parameter(bias, bias)
    return layer


def _along(layer: nn.Conv2d, axis: int) -> dict[str, Any]:
    """The part of a convolution's geometry that lies along one axis; neutral along the other."""

    def keep(pair: tuple[int, ...], neutral: int) -> tuple[int, int]:
        return (pair[0], neutral) if axis == 0 else (neutral, pair[1])

    padding = layer.padding
    return {
        "stride": keep(layer.stride, 1),
        "padding": padding if isinstance(padding, str) else keep(padding, 0),
        "dilation": keep(layer.dilation, 1),
    }


def _unfold_separable(weight: Tensor) -> Tensor:
    outputs, inputs, height, width = weight.shape
    return weight.permute(1, 2, 3, 0).reshape(inputs * height, width * outputs)


def _fold_separable(matrix: Tensor, shape: torch.Size) -> Tensor:
    outputs, inputs, height, width = shape
    return matrix.reshape(inputs, height, width, outputs).permute(3, 0, 1, 2)


def _build_separable(layer: nn.Conv2d, left: Tensor, right: Tensor) -> nn.Sequential:
    outputs, inputs, height, width = layer.weight.shape
    rank = left.shape[1]
    upright = left.T.reshape(rank, inputs, height, 1)
    level = right.reshape(rank, width, outputs).permute(2, 0, 1).unsqueeze(2)
    return nn.Sequential(
        _convolution(upright, layer, False, _along(layer, 0)),
        _convolution(level, layer, True, _along(layer, 1)),
    )


def _build_flattened(layer: nn.Conv2d, left: Tensor, right: Tensor) -> nn.Sequential:
    geometry = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation}
    filters = right.reshape(right.shape[0], *layer.weight.shape[1:])
    mix = left[:, :, None, None]
    first = _convolution(filters, layer, False, geometry)
    return nn.Sequential(first, _convolution(mix, layer, True, {}))


FORMS: Final[dict[str, Form]] = {
    "svd": Form(nn.Linear, lambda w: w, torch.reshape, _build_linear),
    "separable": Form(nn.Conv2d, _unfold_separable, _fold_separable, _build_separable),
    "flattened": Form(nn.Conv2d, lambda w: w.flatten(1), torch.reshape, _build_flattened),
}
