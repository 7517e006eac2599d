"""Compresses a network of one's own: its layers' ranks are searched with a study, under a noisy
error.

from ceibo.compression import compress

found = compress(network, lambda smaller: Measurement(error_of(smaller), noise=0.02))
found.network            # the smaller network, with parameters of its own
found.trade_off          # size against error, as the model believes it
print(found.report)
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from torch import nn

from ceibo.checks import check_positive
from ceibo.compression.compressible import Compressible
from ceibo.compression.lowrank import Factorization, default_method, factorizable
from ceibo.decide import DEFAULT_ACQUISITION, Float, Measurement
from ceibo.errors import InputError
from ceibo.study import Result, Study, minimize

Evaluate = Callable[[nn.Module], float | Measurement]
LOWEST_SHARE: Final = 0.02  # of the ranks worth having: the low end of each layer's search
CONFIRMATIONS: Final = 5  # of the trials, at most a fifth, measure what the model would recommend


@final
@dataclass(frozen=True)
class TradeOff:
    """A measured setting that no other beats in both: size of the factorized layers, and the error
    believed there.
    """

    ranks: dict[str, int | None]
    size_ratio: float
    network_ratio: float
    error: float
    std: float


@final
@dataclass(frozen=True, eq=False)
class Compressed:
    """What `compress` found.

    Args:
        network: the smaller network, with parameters of its own.
        ranks: layer -> its rank; None where the layer is kept as it was.
        size_ratio: weights stored over those of the original, of the layers that were searched,
            biases left out.
        network_ratio: all parameters over all of the original.
        error, std: what the model believes of the error there.
        uncompressed: the error measured of the original network.
        trade_off: from the smallest to the largest.
        result: of the search: `result.study`, `result.best`, ….
        report: all of this in Markdown.
    """

    network: nn.Module
    ranks: dict[str, int | None]
    size_ratio: float
    network_ratio: float
    error: float
    std: float
    uncompressed: float
    trade_off: tuple[TradeOff, ...]
    result: Result
    report: str


def compress(  # noqa: PLR0913 - public, keyword-only
    network: nn.Module,
    evaluate: Evaluate,
    *,
    layers: Sequence[str] | Mapping[str, str] | None = None,
    gamma: float = 1.0,
    n_trials: int = 60,
    seed: int = 0,
    acquisition: str = DEFAULT_ACQUISITION,
    storage: str | None = None,
    name: str = "compression",
    progress: bool | None = None,
) -> Compressed:
    """Searches the ranks of a network's layers for the least γ·error + size ratio.

    Args:
        network: trained; it is not changed.
        evaluate: called with a smaller network; returns its error (larger is worse), or a
            Measurement of it with its noise. It may be noisy: a fresh sample of pictures each time
            is fine.
        layers: names of the layers to factorize, or name -> "svd" (linear), "separable" or
            "flattened" (convolution); by default every linear layer and convolution that can become
            smaller.
        gamma: what one unit of error is worth, in shares of the size.
        n_trials: evaluations in all.
        seed, acquisition, storage, name, progress: of the search; see ceibo.minimize.

    Returns:
        Compressed: the measured setting with the best posterior mean. The last few trials measure
        what the model would recommend without having measured it, so that a promise it cannot keep
        is found out.
    """
    check_positive(gamma, "gamma")
    compressible = Compressible.of(network, _methods(network, layers))
    _check_smaller(compressible)
    # A logarithmic scale: the error falls off a cliff at low ranks, and hardly changes at high
    # ones.
    space = {
        layer: Float(max(LOWEST_SHARE, 1.0 / (factor.break_even + 1)), 1.0, log=True)
        for layer, factor in compressible.factors.items()
    }

    def objective(params: dict[str, Any]) -> Measurement:
        ranks = ranks_of(compressible, params)
        return _weighed(evaluate(compressible.module(ranks)), gamma, compressible.size_ratio(ranks))

    uncompressed = _weighed(evaluate(network), 1.0, 0.0).value
    confirmations = min(CONFIRMATIONS, n_trials // 5)
    result = minimize(
        objective,
        space,
        n_trials=n_trials - confirmations,
        seed=seed,
        acquisition=acquisition,
        storage=storage,
        name=name,
        progress=progress,
    )
    _confirm(result.study, objective, n_trials)
    return _described(compressible, result, gamma, uncompressed)


def _confirm(
    study: Study, objective: Callable[[dict[str, Any]], Measurement], n_trials: int
) -> None:
    """Spends the last trials on what the model recommends: beyond the cliff it may be wrong where
    it never looked.
    """
    while len(study.trials) < n_trials:
        params = study.recommended.params
        study.add(params, objective(params))


def rank_of(factor: Factorization, share: float) -> int | None:
    """The rank at a share of those worth having; None (the layer as it was) at the whole, which
    stores no less.
    """
    rank = max(1, math.ceil(share * (factor.break_even + 1)))
    return rank if rank <= factor.break_even else None


def ranks_of(compressible: Compressible, params: Mapping[str, Any]) -> dict[str, int | None]:
    """Layer -> rank at the parameters of the search."""
    return {
        name: rank_of(factor, float(params[name])) for name, factor in compressible.factors.items()
    }


def _methods(
    network: nn.Module, layers: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    if isinstance(layers, Mapping):
        return dict(layers)
    if isinstance(layers, str):
        raise InputError(
            f"layers must be a list of names, or name -> method, got {layers!r}; write"
            f" [{layers!r}]."
        )
    names = factorizable(network) if layers is None else layers
    if not names:
        raise InputError(
            "the network has no layer that can become smaller; expected a torch.nn.Linear or an"
            " ungrouped torch.nn.Conv2d inside a module."
        )
    return {name: default_method(network, name) for name in names}


def _check_smaller(compressible: Compressible) -> None:
    for name, factor in compressible.factors.items():
        if factor.break_even < 1:
            raise InputError(
                f"layer {name!r}: two layers of rank 1 already store {factor.stored(1)} weights, no"
                f" less than the {factor.original} of the original; leave it out."
            )


def _weighed(measured: float | Measurement, gamma: float, size: float) -> Measurement:
    """γ·error + size, with the error's noise and replicates."""
    if not isinstance(measured, Measurement):
        measured = Measurement(measured)
    noise = None if measured.noise is None else gamma * measured.noise
    if not measured.replicates:
        return Measurement(gamma * measured.value + size, noise=noise)
    weighed = Measurement.of([gamma * value + size for value in measured.replicates])
    return Measurement(weighed.value, noise, weighed.replicates)


def _described(
    compressible: Compressible, result: Result, gamma: float, uncompressed: float
) -> Compressed:
    chosen = result.best
    ranks = ranks_of(compressible, chosen.params)
    size, whole = compressible.size_ratio(ranks), compressible.network_ratio(ranks)
    found = Compressed(
        network=copy.deepcopy(compressible.module(ranks)),
        ranks=ranks,
        size_ratio=size,
        network_ratio=whole,
        error=(chosen.mean - size) / gamma,
        std=chosen.std / gamma,
        uncompressed=uncompressed,
        trade_off=trade_off(compressible, result.study, gamma),
        result=result,
        report="",
    )
    return replace(found, report=_report(compressible, found))


def trade_off(compressible: Compressible, study: Study, gamma: float) -> tuple[TradeOff, ...]:
    """The measured settings that no other beats in size and in the error believed there, smallest
    first.

    The size is exact, so that the model's belief about the objective is one about the error: a
    lucky sample does not make the list.
    """
    settings = [trial.params for trial in study.trials if trial.measurements]
    means, stds = study.belief.at_points(study.space.to_unit_rows(settings))
    points = []
    for params, mean, std in zip(settings, means, stds, strict=True):
        ranks = ranks_of(compressible, params)
        size = compressible.size_ratio(ranks)
        error = (float(mean) - size) / gamma
        whole = compressible.network_ratio(ranks)
        points.append(TradeOff(ranks, size, whole, error, float(std) / gamma))
    front: list[TradeOff] = []
    for point in sorted(points, key=lambda p: (p.size_ratio, p.error)):
        if not front or point.error < front[-1].error:
            front.append(point)
    return tuple(front)


def _report(compressible: Compressible, found: Compressed) -> str:
    """What was found, in Markdown."""
    lines = [
        "# Compression",
        "",
        (
            f"{len(found.result.study.trials)} settings were measured. The best network keeps"
            f" {found.network_ratio:.1%} of all parameters ({found.size_ratio:.1%} of the weights"
            f" of the layers searched). Its error is believed to be {found.error:.4g} ±"
            f" {found.std:.2g}; that of the original was measured as {found.uncompressed:.4g}."
        ),
        "",
        "| layer | factorized by | rank | of | weights before | weights now |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, factor in compressible.factors.items():
        rank = found.ranks[name]
        now = factor.original if rank is None else factor.stored(rank)
        how, shown = ("kept as it was", "–") if rank is None else (factor.method, str(rank))
        lines.append(
            f"| {name} | {how} | {shown} | {factor.max_rank} | {factor.original} | {now} |"
        )
    lines += ["", "| size of the layers | of the network | error believed |", "|---:|---:|---:|"]
    lines += [
        f"| {p.size_ratio:.3f} | {p.network_ratio:.3f} | {p.error:.4f} ± {p.std:.4f} |"
        for p in found.trade_off
    ]
    return "\n".join(lines) + "\n"
