"""Limits on outcomes in BoTorch: what they are made of, and how likely they hold.

A limit is on one output of the model or on a linear combination of several, between two ends of
which one may be missing. Limits and the objective are taken as independent of one another, as in
BoTorch's own analytic functions, so no two of them may share an output.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import torch
from botorch.acquisition.objective import PosteriorTransform, ScalarizedPosteriorTransform
from botorch.exceptions.errors import UnsupportedError
from botorch.models.model import Model
from botorch.utils.probability.utils import log_ndtr
from torch import Tensor

from ceibo.integrations.botorch.bivariate import FAR, log_between, log_rectangle

# BoTorch's way to say it: output -> (lower, upper), None where there is no such bound.
Constraints = Mapping[int, tuple[float | None, float | None]]
# Of the largest weight: weights that differ by less are the same.
_SAME: Final = 1e-9


@final
@dataclass(frozen=True)
class Limit:
    """lower ≤ Σ weight · output ≤ upper, with weights by the number of the output."""

    weights: Mapping[int, float]
    lower: float | None
    upper: float | None

    def transform(self, outputs: int, like: Tensor) -> ScalarizedPosteriorTransform:
        """Makes the posterior of the model's outputs that of the limited quantity."""
        weights = torch.zeros(outputs, dtype=like.dtype, device=like.device)
        for output, weight in self.weights.items():
            weights[output] = weight
        return ScalarizedPosteriorTransform(weights)

    def standardize(self, mean: Tensor, std: Tensor) -> tuple[Tensor, Tensor]:
        """The ends in standard deviations from the mean; one that is missing is far away."""
        far = torch.full_like(mean, FAR)
        lower = -far if self.lower is None else (self.lower - mean) / std
        return lower, far if self.upper is None else (self.upper - mean) / std

    def log_chance(self, mean: Tensor, std: Tensor) -> Tensor:
        """log P(the limit holds) of a normal variable."""
        lower, upper = self.standardize(mean, std)
        if self.lower is None:
            return log_ndtr(upper)
        return log_ndtr(-lower) if self.upper is None else log_between(lower, upper)

    def log_chances_given(
        self, at_x: tuple[Tensor, Tensor], at_incumbent: tuple[Tensor, Tensor], rho: Tensor
    ) -> tuple[Tensor, Tensor]:
        """log P(B | A) and log P(not B | A), for A, B "the limit holds at x, at the incumbent".

        Args:
            at_x, at_incumbent: mean and standard deviation of the limited quantity there.
            rho: their correlation.
        """
        here, there = self.standardize(*at_x), self.standardize(*at_incumbent)
        here = here[0].clamp(-FAR, FAR - 1.0), here[1].clamp(1.0 - FAR, FAR)
        log_a = log_between(*here)
        held = log_rectangle(here, there, rho) - log_a
        far = torch.full_like(rho, FAR)
        outside = []
        if self.lower is not None:
            outside.append(log_rectangle(here, (-far, there[0]), rho))
        if self.upper is not None:
            outside.append(log_rectangle(here, (there[1], far), rho))
        return held, torch.stack(outside).logsumexp(dim=0) - log_a


def log_none_or_all(held: Sequence[Tensor], broken: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """log Π cⱼ and log(1 − Π cⱼ) from log cⱼ and log(1 − cⱼ), without cancellation."""
    so_far = torch.zeros_like(held[0])
    first_broken = []
    for c, not_c in zip(held, broken, strict=True):
        first_broken.append(so_far + not_c)
        so_far = so_far + c
    return so_far, torch.stack(first_broken).logsumexp(dim=0)


def limits_of(constraints: object, outputs: int) -> list[Limit]:
    """The limits in a dict of output -> (lower, upper), or a list of them."""
    if isinstance(constraints, Mapping):
        limits = [_limit_of(output, ends, outputs) for output, ends in constraints.items()]
    elif isinstance(constraints, Sequence) and all(isinstance(e, Limit) for e in constraints):
        limits = list(constraints)
    else:
        raise UnsupportedError(
            "constraints must be a dict of output index -> (lower, upper), with None where there is"
            f" no such bound, as in {{1: (None, 0.5)}}; got {constraints!r}."
        )
    for limit in limits:
        _check_ends(limit)
    used: set[int] = set()
    for limit in limits:
        if used & limit.weights.keys():
            shared = sorted(used & limit.weights.keys())
            raise UnsupportedError(
                f"two constraints share the model output {shared[0]}; the closed form takes limits"
                " as independent. Use an acquisition function that samples, such as"
                " qLogNoisyExpectedImprovement."
            )
        used |= limit.weights.keys()
    return limits


def limits_of_tuple(matrix: Tensor, bounds: Tensor) -> list[Limit]:
    """The limits in A f(x) ≤ b, as Ax gives them; rows on the same quantity become one limit."""
    limits: list[Limit] = []
    for row, bound in zip(matrix, bounds.reshape(-1), strict=True):
        weights = {i: float(w) for i, w in enumerate(row.tolist()) if w != 0}
        if not weights or not all(map(math.isfinite, weights.values())):
            raise UnsupportedError(
                f"a constraint has the weights {row.tolist()}: it limits nothing."
            )
        leading = next(iter(weights.values()))
        scaled = {i: w / leading for i, w in weights.items()}
        end = float(bound) / leading
        added = Limit(scaled, None, end) if leading > 0 else Limit(scaled, end, None)
        for place, known in enumerate(limits):
            if _same_weights(known.weights, scaled):
                limits[place] = _both(known, added)
                break
        else:
            limits.append(added)
    return limits


def objective_of(
    model: Model, limits: Sequence[Limit], given: PosteriorTransform | None, like: Tensor
) -> PosteriorTransform:
    """The transform that picks the objective: the one given, or the only output without a limit."""
    limited = {output for limit in limits for output in limit.weights}
    if given is None:
        free = [output for output in range(model.num_outputs) if output not in limited]
        if len(free) != 1:
            raise UnsupportedError(
                "with constraints, the objective is the one output of the model without a"
                f" constraint; there are {len(free)} such outputs. Give a posterior_transform, such"
                " as ScalarizedPosteriorTransform, that says which it is."
            )
        return Limit({free[0]: 1.0}, None, None).transform(model.num_outputs, like)
    if isinstance(given, ScalarizedPosteriorTransform):
        own = set(torch.nonzero(torch.as_tensor(given.weights)).flatten().tolist())
        if own & limited:
            raise UnsupportedError(
                f"the model output {min(own & limited)} is part of the objective and has a"
                " constraint; the closed form takes them as independent. Use an acquisition"
                " function that samples, such as qLogNoisyExpectedImprovement."
            )
    return given


def _limit_of(output: Any, ends: Any, outputs: int) -> Limit:
    whole = isinstance(output, int) and not isinstance(output, bool)
    if not whole or not -outputs <= output < outputs:
        raise UnsupportedError(
            f"a constraint is on the output {output!r}; the model has the outputs 0 to"
            f" {outputs - 1}."
        )
    try:
        lower, upper = (None if end is None else float(end) for end in ends)
    except (TypeError, ValueError):
        raise UnsupportedError(
            f"the constraint on output {output} must be (lower, upper), with None where there is no"
            f" such bound; got {ends!r}."
        ) from None
    return Limit({output % outputs: 1.0}, _finite(lower), _finite(upper))


def _finite(end: float | None) -> float | None:
    """An end, or None where it is infinite."""
    return None if end is None or math.isinf(end) else end


def _check_ends(limit: Limit) -> None:
    given = [end for end in (limit.lower, limit.upper) if end is not None]
    wrong = not given or any(map(math.isnan, given)) or (len(given) == 2 and given[0] >= given[1])
    if wrong:
        raise UnsupportedError(
            f"the constraint on output {', '.join(map(str, limit.weights))} must have a lower bound"
            f" below its upper one, or one of them; got ({limit.lower}, {limit.upper})."
        )


def _same_weights(first: Mapping[int, float], second: Mapping[int, float]) -> bool:
    if first.keys() != second.keys():
        return False
    size = max(map(abs, first.values()))
    return all(abs(first[i] - second[i]) <= _SAME * size for i in first)


def _both(first: Limit, second: Limit) -> Limit:
    """The tighter of two limits on the same quantity, at each end."""
    lower = [end for end in (first.lower, second.lower) if end is not None]
    upper = [end for end in (first.upper, second.upper) if end is not None]
    return Limit(first.weights, max(lower, default=None), min(upper, default=None))
