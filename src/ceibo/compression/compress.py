"""compress(): a study searches the ranks of a network's layers, under a noisy error.

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

from ceibo.checks import check_positive, check_whole
from ceibo.compression.compressible import Compressible
from ceibo.compression.lowrank import Factorization, default_method, factorizable
from ceibo.decide import DEFAULT_ACQUISITION, Float, Measurement
from ceibo.errors import InputError
from ceibo.study import Result, Study, minimize

Evaluate = Callable[[nn.Module], float | Measurement]
LOWEST_SHARE: Final = 0.02  # of the useful ranks: the low end of each layer's search
# last trials, at most a fifth of all, that measure the recommendation
CONFIRMATIONS: Final = 5


@final
@dataclass(frozen=True)
class TradeOff:
    """A measured setting that no other beats both in size and in the error believed."""

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
            Measurement of it with its noise. It may be noisy, as with a new sample of the data
            each time.
        layers: names of the layers to factorize, or name -> "svd" (linear), "separable" or
            "flattened" (convolution); by default every linear layer and convolution that can become
            smaller.
        gamma: the weight of one unit of error, in shares of the size.
        n_trials: evaluations in all.
        seed, acquisition, storage, name, progress: of the search; see ceibo.minimize.

    Returns:
        Compressed: the measured setting with the best posterior mean. The last few trials measure
        the settings that the model recommends, so that no answer rests on an unmeasured prediction.
    """
    check_positive(gamma, "gamma")
    n_trials = check_whole(n_trials, "n_trials")
    compressible = Compressible.of(network, _methods(network, layers))
    _check_smaller(compressible)
    # A logarithmic scale: the error rises steeply at low ranks, and hardly changes at high ones.
    space = {
        layer: Float(max(LOWEST_SHARE, 1.0 / (factor.break_even + 1)), 1.0, log=True)
        for layer, factor in compressible.factors.items()
    }

    def objective(params: dict[str, Any]) -> Measurement:
        ranks = ranks_of(compressible, params)
        error = evaluate(compressible.module(ranks))
        return _add_size(error, gamma, compressible.size_ratio(ranks))

    uncompressed = _add_size(evaluate(network), 1.0, 0.0).value
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
    return _describe(compressible, result, gamma, uncompressed)


def _confirm(
    study: Study, objective: Callable[[dict[str, Any]], Measurement], n_trials: int
) -> None:
    """Measures what the model recommends until there are `n_trials` trials."""
    while len(study.trials) < n_trials:
        study.enqueue(study.recommended.params)
        study.optimize(objective, n_trials=len(study.trials), progress=False)


def rank_of(factor: Factorization, share: float) -> int | None:
    """The rank at a share of the useful ones; None, the layer as it was, if it stores no less."""
    rank = max(1, math.ceil(share * (factor.break_even + 1)))
    return rank if rank <= factor.break_even else None


def ranks_of(compressible: Compressible, params: Mapping[str, Any]) -> dict[str, int | None]:
    """Layer -> rank at the parameters of the search."""
    factors = compressible.factors
    return {name: rank_of(factor, float(params[name])) for name, factor in factors.items()}


def _methods(
    network: nn.Module, layers: Sequence[str] | Mapping[str, str] | None
) -> dict[str, str]:
    if isinstance(layers, Mapping):
        return dict(layers)
    if isinstance(layers, str):
        wanted = "a list of names, or name -> method"
        raise InputError(f"layers must be {wanted}, got {layers!r}; write [{layers!r}].")
    if layers is not None and not isinstance(layers, Sequence):
        raise InputError(f"layers must be a list of names, or name -> method, got {layers!r}.")
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


def _add_size(error: float | Measurement, gamma: float, size: float) -> Measurement:
    """γ·error + size, with the error's noise or replicates, its count and its block."""
    if not isinstance(error, Measurement):
        error = Measurement(error)
    noise = None if error.noise is None else gamma * error.noise
    replicates = [gamma * value + size for value in error.replicates]
    value = Measurement.of(replicates).value if replicates else gamma * error.value + size
    return Measurement(value, noise, replicates, count=error.count, block=error.block)


def _describe(
    compressible: Compressible, result: Result, gamma: float, uncompressed: float
) -> Compressed:
    chosen = result.best
    ranks = ranks_of(compressible, chosen.params)
    size = compressible.size_ratio(ranks)
    found = Compressed(
        network=copy.deepcopy(compressible.module(ranks)),
        ranks=ranks,
        size_ratio=size,
        network_ratio=compressible.network_ratio(ranks),
        error=(chosen.mean - size) / gamma,
        std=chosen.std / gamma,
        uncompressed=uncompressed,
        trade_off=trade_off(compressible, result.study, gamma),
        result=result,
        report="",
    )
    return replace(found, report=_report(compressible, found))


def trade_off(compressible: Compressible, study: Study, gamma: float) -> tuple[TradeOff, ...]:
    """The measured settings that no other beats both in size and in error, smallest first.

    The error is the model's belief, not the measured value, so that a lucky sample does not count.
    It follows from the belief about the objective, because the size is exact.
    """
    settings = [trial.params for trial in study.trials if trial.measurements]
    means, stds = study.belief.at_points(study.space.to_unit_rows(settings))
    points = []
    for params, mean, std in zip(settings, means, stds, strict=True):
        ranks = ranks_of(compressible, params)
        size = compressible.size_ratio(ranks)
        ratio = compressible.network_ratio(ranks)
        error = (float(mean) - size) / gamma
        points.append(TradeOff(ranks, size, ratio, error, float(std) / gamma))
    front: list[TradeOff] = []
    for point in sorted(points, key=lambda each: (each.size_ratio, each.error)):
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
        before = factor.original
        rank = found.ranks[name]
        if rank is None:
            change, now = "kept as it was | –", before
        else:
            change, now = f"{factor.method} | {rank}", factor.stored(rank)
        lines.append(f"| {name} | {change} | {factor.max_rank} | {before} | {now} |")
    lines += ["", "| size of the layers | of the network | error believed |", "|---:|---:|---:|"]
    for point in found.trade_off:
        sizes = f"{point.size_ratio:.3f} | {point.network_ratio:.3f}"
        lines.append(f"| {sizes} | {point.error:.4f} ± {point.std:.4f} |")
    return "\n".join(lines) + "\n"
