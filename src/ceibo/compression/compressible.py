"""A network with the decompositions of some of its layers, and the smaller networks from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from torch import Tensor, nn

from ceibo.checks import check_choice
from ceibo.compression.lowrank import Factorization, factorize, replace_layers
from ceibo.errors import InputError

COUNTS: Final = ("stored", "reference")
Ranks = Mapping[str, int | None]  # layer -> its rank; None leaves the layer as it is


@final
@dataclass(frozen=True, eq=False)
class Compressible:
    """A network, and layer name -> decomposition in the order of the parameters."""

    network: nn.Module
    factors: Mapping[str, Factorization]

    @staticmethod
    def of(network: nn.Module, methods: Mapping[str, str]) -> "Compressible":
        """Decomposes layers, each by its method of lowrank.FORMS; the slow part, done once."""
        if not methods:
            raise InputError("expected at least one layer to factorize, got none.")
        factors = {name: factorize(network, name, method) for name, method in methods.items()}
        return Compressible(network, factors)

    def module(self, ranks: Ranks, *, own: bool = True) -> nn.Module:
        """The smaller network, which shares the other layers with the original.

        The thin layers have memory of their `own`, or, quicker, share that of the decompositions.
        """
        chosen = self._check_ranks(ranks)
        pairs = {name: self.factors[name].module(rank, own=own) for name, rank in chosen.items()}
        return replace_layers(self.network, pairs)

    def dense_weights(self, ranks: Ranks) -> dict[str, Tensor]:
        """Parameter name -> the weights of reduced rank in the original's shape."""
        chosen = self._check_ranks(ranks)
        return {f"{name}.weight": self.factors[name].dense(rank) for name, rank in chosen.items()}

    @property
    def layer_weights(self) -> int:
        """Weights of the factorized layers' originals, biases left out."""
        return sum(factor.original for factor in self.factors.values())

    def stored(self, ranks: Ranks, count: str = "stored") -> int:
        """Weights in place of those; "reference" counts one more per rank, as the paper does."""
        check_choice(count, "count", COUNTS)
        chosen = self._check_ranks(ranks)
        total = 0
        for name, factor in self.factors.items():
            total += factor.stored(chosen[name]) if name in chosen else factor.original
        return total + (sum(chosen.values()) if count == "reference" else 0)

    def size_ratio(self, ranks: Ranks, count: str = "stored") -> float:
        """Weights stored over those of the originals, of the factorized layers alone."""
        return self.stored(ranks, count) / self.layer_weights

    def network_ratio(self, ranks: Ranks) -> float:
        """All parameters of the smaller network over all of the original, shared ones once."""
        return _size(self.module(ranks, own=False)) / _size(self.network)

    def _check_ranks(self, ranks: Ranks) -> dict[str, int]:
        """Layer -> its rank, of the layers that are to become smaller."""
        if ranks.keys() != self.factors.keys():
            odd = sorted(ranks.keys() ^ self.factors.keys())
            raise InputError(
                f"layer {odd[0]!r}: expected one rank for each of {', '.join(self.factors)}, got"
                f" {', '.join(ranks)}."
            )
        chosen = {name: rank for name, rank in ranks.items() if rank is not None}
        return {name: self.factors[name].check(rank) for name, rank in chosen.items()}


def _size(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())
