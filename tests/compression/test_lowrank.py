"""Low-rank layers: exact at full rank, best at every other, as small as they say, refused where
they make no sense.
"""

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ceibo.compression.compressible import Compressible
from ceibo.compression.lowrank import FORMS, Factorization, factorizable, factorize, replace_layers
from ceibo.errors import InputError
from ceibo_lab.compression.networks import FC3

CONVOLUTIONS = ["separable", "flattened"]
GEOMETRIES = [
    dict(zip(("kernel_size", "stride", "padding", "dilation"), values, strict=True))
    for values in itertools.product([3, (3, 5), 1], [1, 2, (2, 3)], [0, 1, (2, 1)], [1, (1, 2)])
] + [
    {"kernel_size": (3, 4), "padding": "same"},
    {"kernel_size": 5, "padding": "same", "dilation": 2},
    {"kernel_size": 3, "padding": "valid", "stride": 2},
    {"kernel_size": 3, "padding": 1, "padding_mode": "reflect"},
    {"kernel_size": 3, "padding": (2, 1), "padding_mode": "replicate", "stride": (1, 2)},
    {"kernel_size": (5, 3), "padding": 1, "padding_mode": "circular"},
]


def wrapped(layer: nn.Module) -> nn.Module:
    return nn.Sequential(layer)


def stored_weights(module: nn.Module) -> int:
    return sum(p.numel() for name, p in module.named_parameters() if not name.endswith("bias"))


def random_convolution(seed: int, **geometry: object) -> nn.Conv2d:
    torch.manual_seed(seed)
    return nn.Conv2d(4, 6, **geometry)  # type: ignore[arg-type]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (6, 6), (1, 9)])
def test_linear_at_full_rank_is_the_original(shape: tuple[int, int], bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(*shape, bias=bias)
    factor = factorize(wrapped(layer), "0", "svd")
    x = torch.randn(11, 3, shape[0])
    torch.testing.assert_close(factor.module(factor.max_rank)(x), layer(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("method", CONVOLUTIONS)
def test_convolution_at_full_rank_is_the_original_in_every_geometry(
    method: str, bias: bool
) -> None:
    x = torch.randn(2, 4, 13, 14)
    for seed, geometry in enumerate(GEOMETRIES):
        layer = random_convolution(seed, bias=bias, **geometry)
        factor = factorize(wrapped(layer), "0", method)
        torch.testing.assert_close(
            factor.module(factor.max_rank)(x), layer(x), atol=1e-5, rtol=1e-5
        )


@pytest.mark.parametrize("method", sorted(FORMS))
def test_reported_size_is_what_is_stored_and_no_memory_is_shared(method: str) -> None:
    layer: nn.Module = nn.Linear(12, 9) if method == "svd" else random_convolution(0, kernel_size=3)
    factor = factorize(wrapped(layer), "0", method)
    for rank in range(1, factor.max_rank + 1):
        pair = factor.module(rank)
        assert stored_weights(pair) == factor.stored(rank)
        for parameter in pair.parameters():
            assert (
                parameter.untyped_storage().nbytes() == parameter.numel() * parameter.element_size()
            )
        next(pair.parameters()).data.zero_()
    assert float(factor.left.abs().sum()) > 0
    assert float(factor.right.abs().sum()) > 0


def test_stored_weights_follow_the_formulas() -> None:
    torch.manual_seed(0)
    convolution = wrapped(nn.Conv2d(8, 10, 3))
    assert factorize(wrapped(nn.Linear(784, 100)), "0", "svd").stored(7) == 7 * (784 + 100)
    assert factorize(convolution, "0", "separable").stored(5) == 5 * 3 * (8 + 10)
    assert factorize(convolution, "0", "flattened").stored(5) == 5 * (10 + 8 * 9)


@pytest.mark.parametrize("method", sorted(FORMS))
def test_truncation_is_the_best_of_its_rank(method: str) -> None:
    """Eckart and Young: the squared distance is the sum of the squared singular values left out."""
    layer = nn.Linear(12, 9) if method == "svd" else random_convolution(1, kernel_size=3)
    factor = factorize(wrapped(layer), "0", method)
    for rank in range(1, factor.max_rank + 1):
        gap = float(((factor.dense(rank) - layer.weight.detach()) ** 2).sum())
        assert gap == pytest.approx(float((factor.singular_values[rank:] ** 2).sum()), abs=1e-5)


@pytest.mark.parametrize("method", CONVOLUTIONS)
def test_thin_layers_and_their_product_are_one_function(method: str) -> None:
    layer = random_convolution(2, kernel_size=3, stride=2, padding=1)
    factor = factorize(wrapped(layer), "0", method)
    x = torch.randn(2, 4, 9, 9)
    for rank in (1, 3, factor.max_rank):
        product = nn.functional.conv2d(x, factor.dense(rank), layer.bias, 2, 1)
        torch.testing.assert_close(factor.module(rank)(x), product, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(factor.module(rank, own=False)(x), product, atol=1e-5, rtol=1e-5)


def test_singular_values_are_split_evenly() -> None:
    factor = factorize(wrapped(random_convolution(3, kernel_size=3)), "0", "separable")
    for side in (factor.left.double().T, factor.right.double()):
        torch.testing.assert_close(
            (side**2).sum(dim=1), factor.singular_values, atol=1e-5, rtol=1e-5
        )


def diagonal(values: list[float]) -> Factorization:
    layer = nn.Linear(len(values), len(values), bias=False)
    layer.weight.data = torch.diag(torch.tensor(values))
    return factorize(wrapped(layer), "0", "svd")


def test_share_keeps_the_smallest_rank_that_reaches_it() -> None:
    factor = diagonal([4.0, 3.0, 2.0, 1.0])
    shares = [0.0, 0.39, 0.4, 0.41, 0.7, 0.71, 0.9, 0.91, 1.0]
    assert [factor.rank_for_share(share) for share in shares] == [1, 1, 1, 2, 2, 3, 3, 4, 4]
    assert diagonal([0.0, 0.0]).rank_for_share(0.5) == 1
    with pytest.raises(InputError, match="layer '0': expected a share from 0 to 1"):
        factor.rank_for_share(1.1)


def test_break_even_is_the_last_rank_that_saves() -> None:
    factor = factorize(wrapped(nn.Linear(20, 30)), "0", "svd")
    assert (
        factor.stored(factor.break_even) < factor.original <= factor.stored(factor.break_even + 1)
    )


def test_half_precision_and_training_state_are_kept() -> None:
    layer = nn.Linear(6, 5).to(torch.bfloat16).eval()
    layer.weight.requires_grad_(False)
    pair = factorize(wrapped(layer).eval(), "0", "svd").module(3)
    assert {p.dtype for p in pair.parameters()} == {torch.bfloat16}
    assert not pair.training
    assert [p.requires_grad for p in pair.parameters()] == [False, False, True]


def test_replacing_layers_leaves_the_original_alone() -> None:
    network = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Linear(4, 2))
    x, before = torch.randn(3, 4), network(torch.zeros(1, 4))
    smaller = replace_layers(network, {"0.0": nn.Identity()})
    assert isinstance(network.get_submodule("0.0"), nn.Linear)
    assert torch.equal(network(torch.zeros(1, 4)), before)
    assert torch.equal(smaller(x), network[1](x.relu()))
    assert smaller.get_submodule("1") is network[1]
    with pytest.raises(InputError, match=r"'0\.7' is not in the network"):
        replace_layers(network, {"0.7": nn.Identity()})


class Odd(nn.Linear):
    """Calls itself a linear layer and is none."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + 1


@pytest.mark.parametrize(
    ("layer", "method", "message"),
    [
        (
            nn.Conv2d(4, 4, 3, groups=2),
            "flattened",
            "layer 'x.0' cannot be factorized: it has 2 groups, expected 1",
        ),
        (
            nn.Conv2d(4, 4, 3),
            "svd",
            "layer 'x.0' cannot be factorized this way: expected a torch.nn.Linear .*Conv2d",
        ),
        (nn.Linear(4, 4), "separable", "layer 'x.0' .* expected a torch.nn.Conv2d .* got Linear"),
        (nn.ConvTranspose2d(4, 4, 3), "flattened", "layer 'x.0' .* got ConvTranspose2d"),
        (nn.BatchNorm2d(4), "svd", "layer 'x.0' .* got BatchNorm2d"),
        (Odd(4, 4), "svd", "layer 'x.0' .* got Odd"),
        (
            nn.Linear(4, 4),
            "qr",
            "layer 'x.0': method must be one of svd, separable, flattened, got 'qr'",
        ),
    ],
)
def test_layers_that_cannot_be_factorized_are_named(
    layer: nn.Module, method: str, message: str
) -> None:
    network = nn.ModuleDict({"x": nn.Sequential(layer), "y": nn.Linear(4, 4)})
    with pytest.raises(InputError, match=message):
        factorize(network, "x.0", method)


def test_unknown_layers_and_broken_weights_are_named() -> None:
    network = FC3(hidden=16)
    with pytest.raises(
        InputError, match="layer 'fc9' is not in the network; expected one of fc1, fc2, fc3"
    ):
        factorize(network, "fc9", "svd")
    network.fc2.weight.data[0, 0] = np.nan
    with pytest.raises(InputError, match="layer 'fc2': its weights are not all finite"):
        factorize(network, "fc2", "svd")


@pytest.mark.parametrize("rank", [0, -1, 10, 2.5, True])
def test_ranks_outside_their_range_are_refused(rank: int) -> None:
    factor = factorize(wrapped(nn.Linear(12, 9)), "0", "svd")
    with pytest.raises(InputError, match="layer '0': the rank must be a whole number from 1 to 9"):
        factor.module(rank)


def test_layers_that_can_become_smaller_are_found() -> None:
    network = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.Conv2d(8, 8, 3, groups=8),
        nn.BatchNorm2d(8),
        nn.Linear(8, 1),
        nn.Linear(8, 8),
    )
    assert factorizable(network) == ("0", "4")


def test_sizes_of_a_network_count_what_is_there() -> None:
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 20), nn.Linear(20, 5)
    )
    compressible = Compressible.of(network, {"0": "separable", "3": "svd"})
    ranks = {"0": 4, "3": None}
    smaller = compressible.module(ranks)
    originals = sum(next(network[k].parameters()).numel() for k in (0, 3))
    now = sum(stored_weights(smaller.get_submodule(k)) for k in ("0", "3"))
    assert compressible.size_ratio(ranks) == now / originals
    assert compressible.size_ratio(ranks, "reference") == (now + 4) / originals
    whole = [sum(p.numel() for p in each.parameters()) for each in (smaller, network)]
    assert compressible.network_ratio(ranks) == whole[0] / whole[1]
    with pytest.raises(InputError, match="layer '3': expected one rank for each of 0, 3, got 0"):
        compressible.module({"0": 4})
    with pytest.raises(InputError, match="count must be one of stored, reference"):
        compressible.size_ratio(ranks, "guess")
    with pytest.raises(InputError, match="at least one layer"):
        Compressible.of(network, {})
