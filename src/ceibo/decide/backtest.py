"""Would ceibo have found the best of settings that were all measured already, and how soon?

The search is replayed among these settings alone: each suggestion is the one not yet taken at
which the acquisition is largest, after an initial design of those nearest to a space-filling one.
What was measured there is then told. An order at random takes a given one of n settings as number
(n + 1)/2 on average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, final

import numpy as np

from ceibo import acquisition as acq
from ceibo.decide.belief import Belief
from ceibo.decide.evidence import Evidence, Told, evidence_of
from ceibo.decide.holding import hold
from ceibo.decide.model import Model, fit_model
from ceibo.decide.space import Params, Space
from ceibo.decide.suggest import initial_params, seed_of
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.gp.linalg import limited_blas
from ceibo.numbers import rounded, with_uncertainty

_FEWEST: Final = 8  # settings from which a replay says anything
_EVERY_STEP: Final = 30  # settings up to which hyperparameters are fitted at each step
_GROWTH: Final = 1.1  # of the settings taken, after which they are fitted again beyond that


@final
@dataclass(frozen=True)
class Target:
    """A setting to be found: what was measured and is believed there, and when it was taken."""

    number: int  # of its first trial
    params: Params
    value: float  # the mean of what was measured there
    mean: float  # posterior, by all measurements together
    std: float
    own: int  # as which setting it came in the order given, from 1 on
    found: tuple[int, ...]  # the same in each replay

    @property
    def median(self) -> float:
        """The middle one of the replays."""
        return median(self.found)

    @property
    def sooner(self) -> int:
        """In how many replays it was taken before its place in the order given."""
        return sum(each < self.own for each in self.found)


@final
@dataclass(frozen=True)
class Backtest:
    """When ceibo would have taken the best setting of those measured; `str` says it in words.

    `raw` is the setting with the best measured value, `believed` the one with the best posterior
    mean by all measurements together, which may be the same.
    """

    settings: int  # that were measured
    initial: int  # of them taken before there is a model
    noise: float | None  # inferred, of one value
    raw: Target
    believed: Target

    @property
    def random(self) -> float:
        """As which setting an order at random takes a given one, on average."""
        return (self.settings + 1) / 2

    def __str__(self) -> str:
        first, rest = self.raw, len(self.raw.found)
        said = (
            f"the best value, {rounded(first.value)} (trial {first.number}), came as number"
            f" {first.own} of {self.settings} settings; among the same settings ceibo takes it as"
            f" number {first.median:g} ({min(first.found)} to {max(first.found)} in"
            f" {rest} replays, sooner in {first.sooner}), an order at random as number"
            f" {self.random:g} on average."
        )
        if self.believed.number == first.number:
            return said
        other = self.believed
        return (
            f"{said} By all measurements together trial {other.number} is expected to be better,"
            f" {with_uncertainty(other.mean, other.std)} beside"
            f" {with_uncertainty(first.mean, first.std)}; it came as number {other.own}, ceibo"
            f" takes it as number {other.median:g}."
        )


def backtest_of(belief: Belief, seeds: Sequence[int]) -> Backtest:
    """Replays the search among the settings that a belief knows, once for each seed."""
    evidence = belief.evidence
    groups = _grouped(evidence)
    initial = belief.settings.initial_size(belief.space.breadth)
    if len(groups) < max(_FEWEST, initial + 2):
        raise InputError(
            f"expected measurements at {max(_FEWEST, initial + 2)} different settings or more, got"
            f" {len(groups)}: with so few, any order finds the best soon."
        )
    X = np.array([group[0].x for group in groups])
    values = np.array([np.mean([told.measurement.value for told in group]) for group in groups])
    means, stds = belief.at_points(X)
    flip = evidence.direction.flip
    targets = int(np.argmin(flip(values))), int(np.argmin(flip(means)))
    orders = [_Replay(belief, groups, X, seed).order(set(targets)) for seed in seeds]

    def target(index: int) -> Target:
        return Target(
            number=min(told.number for told in groups[index]),
            params=belief.space.from_unit(np.clip(X[index], 0.0, 1.0)),
            value=float(values[index]),
            mean=float(means[index]),
            std=float(stds[index]),
            own=index + 1,
            found=tuple(order.index(index) + 1 for order in orders),
        )

    return Backtest(len(groups), initial, belief.noise, *(target(index) for index in targets))


def _grouped(evidence: Evidence) -> list[list[Told]]:
    """The measurements of each setting, settings in the order in which they came."""
    groups: dict[bytes, list[Told]] = {}
    for told in evidence.told:
        groups.setdefault((told.x + 0.0).tobytes(), []).append(told)
    return list(groups.values())


@final
class _Replay:
    """One search among settings (n, d) that were all measured."""

    def __init__(self, belief: Belief, groups: list[list[Told]], X: Array, seed: int) -> None:
        self.space, self.settings = belief.space, belief.settings
        self.direction = belief.evidence.direction
        self.groups, self.X, self.seed = groups, X, seed
        self.model: Model | None = None
        self.fitted = 0  # settings known when the hyperparameters were fitted

    def order(self, targets: set[int]) -> list[int]:
        """The settings in the order in which they are taken, until all targets are."""
        taken: list[int] = []
        initial = self.settings.initial_size(self.space.breadth)
        while not targets <= set(taken):
            left = np.setdiff1d(np.arange(len(self.X)), taken)
            scores = self._nearness(left, len(taken))
            if len(taken) >= initial:
                scores = self._promise(left, taken)
            taken.append(int(left[np.argmax(scores)]))
        return taken

    def _nearness(self, left: Array, number: int) -> Array:
        """Minus the distances from the next point of the initial design."""
        point = _design_point(self.space, self.seed, number)
        gaps = np.abs(self.X[left] - point)
        choices = list(self.space.categorical)
        gaps[:, choices] = gaps[:, choices] > 0
        return np.asarray(-np.sum(gaps**2, axis=1))

    def _promise(self, left: Array, taken: list[int]) -> Array:
        """What the acquisition says of the settings that are left."""
        told = [each for index in taken for each in self.groups[index]]
        evidence = evidence_of(told, self.X.shape[1], self.direction)
        model, limit = self.model, self.settings.max_observations
        due = len(taken) <= _EVERY_STEP or len(taken) >= _GROWTH * self.fitted
        if model is None or due:
            start = None if model is None else model.fit.hyperparameters
            self.model = fit_model(evidence, self.space, self.settings, start)
            self.fitted = len(taken)
        else:
            self.model = model.refitted_to(evidence, limit)
        name, draws = self.settings.acquisition, self.settings.draws
        seed = seed_of(self.seed, len(taken))
        function = acq.build(name, self.model.gp, seed=seed, draws=draws)
        with limited_blas(len(function.points)):
            return np.asarray(function.climbable(function.predictor(self.X[left])).value)


def _design_point(space: Space, seed: int, number: int) -> Array:
    return space.to_unit(initial_params(hold(space), seed, number))
