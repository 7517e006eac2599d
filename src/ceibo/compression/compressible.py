"""A network with the decompositions of some of its layers: smaller networks on demand, and what
they store.
"""

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
        return Compressible(
            network, {name: factorize(network, name, method) for name, method in methods.items()}
        )

    def module(self, ranks: Ranks, *, own: bool = True) -> nn.Module:
        """The smaller network: thin layers in place of the factorized ones, the rest shared with
        the original.

        The thin layers have memory of their `own`, or borrow it from the decompositions for a quick
        evaluation.
        """
        pairs = {
            name: self.factors[name].module(rank, own=own)
            for name, rank in self._chosen(ranks).items()
        }
        return replace_layers(self.network, pairs)

    def dense_weights(self, ranks: Ranks) -> dict[str, Tensor]:
        """Parameter name -> the weights of reduced rank, multiplied out: the same function in the
        original's shape.
        """
        return {
            f"{name}.weight": self.factors[name].dense(rank)
            for name, rank in self._chosen(ranks).items()
        }

    @property
    def layer_weights(self) -> int:
        """Weights of the factorized layers' originals, biases left out."""
        return sum(factor.original for factor in self.factors.values())

    def stored(self, ranks: Ranks, count: str = "stored") -> int:
        """Weights in place of those: as stored, or one more per rank as the paper's authors count
        ("reference").
        """
        check_choice(count, "count", COUNTS)
        chosen = self._chosen(ranks)
        kept = sum(factor.original for name, factor in self.factors.items() if name not in chosen)
        extra = sum(chosen.values()) if count == "reference" else 0
        return kept + extra + sum(self.factors[name].stored(rank) for name, rank in chosen.items())

    def size_ratio(self, ranks: Ranks, count: str = "stored") -> float:
        """Weights stored over those of the originals, of the factorized layers alone."""
        return self.stored(ranks, count) / self.layer_weights

    def network_ratio(self, ranks: Ranks) -> float:
        """All parameters of the smaller network, biases and untouched layers included, over all of
        the original.
        """
        whole = sum(parameter.numel() for parameter in self.network.parameters())
        return (whole - self.layer_weights + self.stored(ranks)) / whole

    def _chosen(self, ranks: Ranks) -> dict[str, int]:
        if ranks.keys() != self.factors.keys():
            odd = sorted(ranks.keys() ^ self.factors.keys())
            raise InputError(
                f"layer {odd[0]!r}: expected one rank for each of {', '.join(self.factors)}, got"
                f" {', '.join(ranks)}."
            )
        return {
            name: self.factors[name].check(rank) for name, rank in ranks.items() if rank is not None
        }
