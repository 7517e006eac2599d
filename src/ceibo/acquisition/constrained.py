"""Corrected expected improvement of one goal under limits, in closed form.

With A and B the events that x and x⁺ hold all limits, and M the value at which an answer that does
not hold them is booked, measuring x exactly improves on x⁺ by

    max(0, f(x⁺) − f(x)) under A and B,      max(0, M − f(x)) under A without B,      else by 0.

Goal and limits are independent, so that the expectation is

    α(x) = p_AB σ̃ τ(u/σ̃) + (p_A − p_AB) σ τ((M − μ)/σ).

With a_j, c_j and d_j = a_j − c_j the probabilities that limit j holds at x, at x and x⁺, and at x
but not at x⁺, p_A = Π a_j and p_AB = Π c_j, and their difference is a sum of positive terms,

    p_A − p_AB = Σ_j c_1 ⋯ c_(j−1) d_j a_(j+1) ⋯ a_J.

c_j and d_j are bivariate normal probabilities (bivariate.py) of z_j = (b_j − μ_j)/σ_j at x and x⁺.
Notation beside ceibo.gp.predictor: t = σ̃_j², c = σ_j(x, x⁺) − σ_j²(x⁺); then σ_j² = t + 2c + σ⁺²,
ρ σ σ⁺ = c + σ⁺² and (1 − ρ²) σ² σ⁺² = t σ⁺² − c², in which nothing cancels close to x⁺.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self, final

import numpy as np

from ceibo.acquisition.base import Jet, chain_std
from ceibo.acquisition.bivariate import Pair, log_bivariate
from ceibo.acquisition.closed_form import log_expected_improvement
from ceibo.acquisition.common import FARTHEST
from ceibo.acquisition.joint import JointAcquisition, JointJet, JointPrediction, JointPredictor
from ceibo.acquisition.limits import FeasibleIncumbent, Limit, log_holding, observed_means
from ceibo.acquisition.monte_carlo import log_mean
from ceibo.gp import GaussianProcess
from ceibo.gp.inputs import Array
from ceibo.gp.predictor import Prediction


@final
@dataclass(frozen=True, eq=False)
class ConstrainedCorrectedExpectedImprovement(JointAcquisition):
    """α(x) above: what an exact measurement at x improves on x⁺, limits included; zero at x⁺."""

    incumbent: FeasibleIncumbent
    levels: Array  # (J,) bounds in inside units
    worst: float  # M, in inside units of the goal

    @classmethod
    def of(
        cls,
        goal: GaussianProcess,
        limits: Sequence[Limit],
        incumbent: FeasibleIncumbent,
        merits: Array,
    ) -> Self:
        """With x⁺ the incumbent."""
        processes = (goal, *(limit.gp for limit in limits))
        rows = (incumbent.index, *incumbent.indices)
        predictors = (gp.predictor(anchor=row) for gp, row in zip(processes, rows, strict=True))
        levels = np.array([limit.level for limit in limits])
        joint = JointPredictor(tuple(predictors))
        return cls(processes, joint, merits, incumbent, levels, float(observed_means(goal).max()))

    def natural(self, prediction: JointPrediction) -> JointJet:
        log = self.logarithm(prediction)
        value = np.exp(log.value)
        return JointJet(value, tuple(jet and jet.times(value) for jet in log.each))

    def logarithm(self, prediction: JointPrediction) -> JointJet:
        goal, *parts = prediction.each
        places = [_place(*each) for each in zip(self.levels, parts, strict=True)]
        terms = _terms(places)
        log_a = np.array([term.alone.value for term in terms])  # (J, N)
        log_c = np.array([term.both.value for term in terms])
        log_d = np.array([term.only.value for term in terms])
        better, instead = self._improvements(goal)
        before = np.cumsum(np.concatenate([np.zeros_like(log_c[:1]), log_c]), axis=0)
        after = np.cumsum(np.concatenate([np.zeros_like(log_a[:1]), log_a[::-1]]), axis=0)[::-1]
        logs = before[:-1] + log_d + after[1:] + instead.value
        logs = np.concatenate([logs, before[-1:] + better.value])
        value, shares = log_mean(logs.T)
        rescues, improves = shares.T[:-1], shares[:, -1]
        # how often each limit's c_j, d_j and a_j are factors of what the terms add up to
        later = np.cumsum(rescues[::-1], axis=0)[::-1] - rescues
        earlier = np.cumsum(rescues, axis=0) - rescues
        limits = (
            term.jet(earlier[j], improves + later[j], rescues[j]) for j, term in enumerate(terms)
        )
        jet = _sum(better.times(improves), instead.times(rescues.sum(axis=0)))
        return JointJet(value + np.log(len(logs)), (jet, *limits))

    def _improvements(self, goal: Prediction) -> tuple[Jet, Jet]:
        """log σ̃ τ(u/σ̃) and log σ τ((M − μ)/σ)."""
        process = self.processes[0]
        s = np.sqrt(goal.difference_variance)
        best = (self.incumbent.mean - process.mean) / process.unit
        # f(x) − f(x⁺) is exactly 0 where it has no variance
        u = np.where(s > 0, goal.improvement(best), 0.0)
        value, by_u, by_s = log_expected_improvement(u, s)
        better = Jet(value, linear=-by_u[:, None], difference_variance=chain_std(by_s, s))
        s = np.sqrt(goal.variance)
        value, by_u, by_s = log_expected_improvement(self.worst - goal.linear[:, 0], s)
        return better, Jet(value, linear=-by_u[:, None], variance=chain_std(by_s, s))

    @property
    def scale(self) -> float:
        return self.processes[0].unit


def _sum(better: Jet, instead: Jet) -> Jet:
    """The derivatives of both."""
    linear = _zero_if_none(better.linear) + _zero_if_none(instead.linear)
    return Jet(
        better.value,
        linear=linear,
        variance=instead.variance,
        difference_variance=better.difference_variance,
    )


def _zero_if_none(part: Array | None) -> Array:
    return np.zeros(1) if part is None else part


class _Term(NamedTuple):
    """The logarithm of a probability, (N,), and its derivatives in z and ρ."""

    value: Array
    by_z: Array
    by_rho: Array


@final
@dataclass(frozen=True, eq=False)
class _Place:
    """Where x and x⁺ lie in units of a limit's standard deviations there."""

    pair: Pair  # z and z⁺
    gap: Array  # σ² − σ(x, x⁺)
    std: Array  # σ
    std_best: float  # σ⁺


@final
@dataclass(frozen=True, eq=False)
class _Terms:
    """a, c and d of one limit, and how z and ρ change with the prediction."""

    alone: _Term  # a: it holds at x
    both: _Term  # c: at x and at x⁺
    only: _Term  # d: at x but not at x⁺
    place: _Place

    def jet(self, in_a: Array, in_c: Array, in_d: Array) -> Jet:
        """From derivatives (N,) in the logarithms of a, c and d to those in the prediction."""
        alone, both, only = self.alone, self.both, self.only
        by_z = in_a * alone.by_z + in_c * both.by_z + in_d * only.by_z
        by_rho = in_c * both.by_rho + in_d * only.by_rho
        z, rho, s, s_best = self._at
        certain = s <= 0
        inverse = np.where(certain, 0.0, 1.0 / np.where(certain, 1.0, s))
        inverse_best = 1.0 / s_best if s_best > 0 else 0.0
        in_rho = by_rho * self.place.gap * inverse * inverse_best
        by_shift = (in_rho - by_z * z) * inverse**2
        by_t = -0.5 * (by_z * z + by_rho * rho) * inverse**2
        # t and c = gap − t are what σ² and ρ follow from
        return Jet(
            alone.value,
            linear=-(by_z * inverse)[:, None],
            difference_variance=by_t - by_shift,
            gap=by_shift,
        )

    @property
    def _at(self) -> tuple[Array, Array, Array, float]:
        pair = self.place.pair
        return pair.h, pair.rho, self.place.std, self.place.std_best


def _place(level: float, part: Prediction) -> _Place:
    """Of a limit with this bound, at the points of a prediction whose anchor is x⁺."""
    predictor = part.predictor
    row = predictor.anchor_row[0]
    best = float(row @ predictor.weights[:, 0])
    s_best = float(np.sqrt(np.maximum(row @ predictor.anchor_weights, 0.0)))
    s, t, gap = np.sqrt(part.variance), part.difference_variance, part.gap
    z = _standard(level - part.linear[:, 0], s)
    z_best = np.full_like(z, _standard(np.array([level - best]), np.array([s_best]))[0])
    shift = gap - t
    known = (s > 0) & (s_best > 0)
    product = np.where(known, s * s_best, 1.0)
    rho = np.where(known, np.clip((shift + s_best**2) / product, -1.0, 1.0), 0.0)
    spread = np.sqrt(np.maximum(t * s_best**2 - shift**2, 0.0)) / product
    spread = np.where(known, np.minimum(spread, 1.0), 1.0)
    # z − z⁺ without cancellation
    narrower = -(t + 2.0 * shift) / np.where(known, s + s_best, 1.0)
    ahead = (part.improvement(best) + z_best * narrower) / np.where(known, s, 1.0)
    ahead = np.where(known & (np.abs(z) < FARTHEST), ahead, z - z_best)
    return _Place(Pair(z, z_best, ahead, z + z_best, rho, spread), gap, s, s_best)


def _terms(places: Sequence[_Place]) -> list[_Terms]:
    """a, c and d of every limit; all bivariate probabilities are computed in one go."""
    pairs = [place.pair for place in places]
    joined = Pair.joined([*pairs, *(pair.flipped for pair in pairs)])
    parts = [np.split(part, 2 * len(places)) for part in log_bivariate(joined)]
    terms = []
    for j, place in enumerate(places):
        z, only = place.pair.h, j + len(places)
        value, by_z, _ = log_holding(z, np.where(place.std > 0, 1.0, 0.0))
        terms.append(
            _Terms(
                _Term(value, by_z, np.zeros_like(z)),
                _Term(parts[0][j], parts[1][j], parts[2][j]),
                _Term(parts[0][only], parts[1][only], -parts[2][only]),
                place,
            )
        )
    return terms


def _standard(slack: Array, s: Array) -> Array:
    """slack/s; where s = 0, as far as numbers go on the side of the slack."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        z = np.where(s > 0, slack / s, np.where(slack >= 0, FARTHEST, -FARTHEST))
    return np.clip(z, -FARTHEST, FARTHEST)
