"""An Optuna sampler that knows its objective is noisy, and the answers that go with it.

    study = optuna.create_study(sampler=CeiboSampler(seed=0))
    study.optimize(objective, n_trials=60, callbacks=[stop_by_cost(0.01)])
    best_trial_by_posterior(study)     # Optuna's own best_trial is the luckiest value
    recommended(study)                 # the best setting by the model, measured or not

The objective may tell the noise of its value with report_noise(trial, std); otherwise it is
inferred.
"""

import logging
import math
import secrets
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

try:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.search_space import intersection_search_space
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, Trial, TrialState
except ImportError as error:
    raise ImportError(
        "ceibo.integrations.optuna needs Optuna 4.0 or newer: pip install 'ceibo[optuna]'"
    ) from error

from ceibo.checks import check_cost, check_whole
from ceibo.decide import (
    DEFAULT_ACQUISITION,
    Belief,
    Direction,
    Estimate,
    Settings,
    Verdict,
    suggest,
)
from ceibo.decide.belief import Memory
from ceibo.decide.record import to_record
from ceibo.errors import InputError, NoMeasurementError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.branches import Branches, best_in_branch, single_value
from ceibo.integrations.optuna.evidence import (
    NOISE,
    Axes,
    evidence_of_trials,
    is_measured,
    record_to_attributes,
    running_points,
    start_values,
)

__all__ = [
    "CeiboSampler",
    "PosteriorBest",
    "best_trial_by_posterior",
    "recommended",
    "report_noise",
    "stop_by_cost",
]

_logger = logging.getLogger(__name__)
_ATTEMPTS: Final = 5  # computations of one suggestion, while other processes publish theirs
_NEAR: Final = 0.02  # of the box, in every parameter: two suggestions so close are one


@final
class CeiboSampler(BaseSampler):
    """Sampler for noisy objectives, based on a Gaussian process and noisy expected improvement.

    The noise of a value may be told with :func:`report_noise`, differently for every trial; where
    it is not, one noise level is inferred. Running trials count as pending points, so workers do
    not repeat each other. Failed and pruned trials have no value and are kept off. Parameters that
    not all finished trials have (conditional ones, or with changing ranges) are sampled
    independently, the others by the model.

    Suggestions depend on the seed, the trial's number and the record of the study alone: a study
    goes on after a restart, and with other workers, as if nothing had happened.

    Args:
        seed: Seed of all random numbers. Defaults to None (picked at random).
        acquisition: Name of an acquisition function, see ``ceibo.acquisition.ACQUISITIONS``.
        n_startup_trials: Trials that make up the initial design. Defaults to twice the number of
            parameters, at least four.
        noise_attribute: User attribute of a trial that holds the standard deviation of its value.
            What was told with :func:`report_noise` counts for trials without it.
        independent_sampler: Sampler for parameters outside the model. Defaults to None (uniform).
        warn_independent_sampling: Warn when a parameter is sampled independently after the initial
            design.
        constraints_func: Refused: this sampler does not handle constraints.
    """

    def __init__(  # noqa: PLR0913 - public, keyword-only
        self,
        seed: int | None = None,
        *,
        acquisition: str = DEFAULT_ACQUISITION,
        n_startup_trials: int | None = None,
        noise_attribute: str = NOISE,
        independent_sampler: BaseSampler | None = None,
        warn_independent_sampling: bool = True,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        if constraints_func is not None:
            raise InputError(_NO_CONSTRAINTS)
        if n_startup_trials is not None:
            n_startup_trials = check_whole(n_startup_trials, "n_startup_trials", advice=_STARTUP)
        self.seed = secrets.randbelow(2**62) if seed is None else check_whole(seed, "seed", 0)
        self.settings = Settings(acquisition=acquisition, n_initial=n_startup_trials)
        self.noise_attribute = noise_attribute
        self._independent = independent_sampler
        self._warn = warn_independent_sampling
        self._axes: Axes | None = None  # of the last search space, to save time

    # -- what Optuna calls -------------------------------------------------------------

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002 - Optuna's signature
    ) -> dict[str, BaseDistribution]:
        """The parameters that all finished trials share, without those of a single value."""
        _check_single_objective(study)
        return _search_space(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The point of the initial design, or the best by the model; recorded in the trial's system
        attributes.
        """
        _check_single_objective(study)
        if not search_space:
            return {}
        axes, direction = self._axes_of(search_space), _direction(study)
        trials = study.get_trials(deepcopy=False)
        published: dict[str, str] = {}
        for attempt in range(_ATTEMPTS):
            _check_no_constraints(trials)
            evidence = evidence_of_trials(
                trials, axes, direction, self.noise_attribute, before=trial.number
            )
            start = start_values(trials, axes.space.names, trial.number)
            found = suggest(evidence, axes.space, self.settings, start, self.seed, trial.number)
            params = axes.decode(found.params)
            known = running_points(trials, axes, trial.number)
            record = to_record(found, len(evidence), self.seed) | {"names": list(axes.space.names)}
            # numbers of the trials it knew to be running, and where
            record["pending"] = list(known)
            record["internal"] = {
                name: axes.axes[name].distribution.to_internal_repr(params[name]) for name in params
            }
            # leaves nothing of a longer one
            published = dict.fromkeys(published, "") | record_to_attributes(record)
            for key, text in published.items():
                study._storage.set_trial_system_attr(trial._trial_id, key, text)
            if not known and not _others_run(trials, trial):
                break
            # Another worker may have thought at the same time and come to the same point. Both have
            # published by now: think again with what is new, and once more for as long as what is
            # new is too near.
            trials = study.get_trials(deepcopy=False)
            now = running_points(trials, axes, trial.number)
            new = [
                x
                for number, x in now.items()
                if number not in known or not np.array_equal(known[number], x)
            ]
            if not any(attempt == 0 or np.max(np.abs(x - found.x)) < _NEAR for x in new):
                break
        return params

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A uniform draw, keyed by the seed, the trial's number and the parameter's name."""
        _check_single_objective(study)
        if self._warn and trial.number >= self.settings.initial_size(max(1, len(trial.params))):
            _logger.warning(
                "The parameter %r in trial %d is sampled independently, without the model, because"
                " not all finished trials have it with the same range. Set"
                " warn_independent_sampling=False if that is intended.",
                param_name,
                trial.number,
            )
        if self._independent is not None:
            return self._independent.sample_independent(
                study, trial, param_name, param_distribution
            )
        if param_distribution.single():
            return single_value(param_distribution)
        axes = Axes.of({param_name: param_distribution})
        rng = np.random.default_rng([self.seed, trial.number, zlib.crc32(param_name.encode())])
        return axes.decode(axes.space.from_unit(rng.random(1)))[param_name]

    def _axes_of(self, search_space: dict[str, BaseDistribution]) -> Axes:
        axes = self._axes
        if axes is None or axes.search_space != search_space:
            axes = self._axes = Axes.of(search_space)
        return axes

    def reseed_rng(self) -> None:
        """Nothing to do for the model: its random numbers are keyed by the trial's number."""
        if self._independent is not None:
            self._independent.reseed_rng()


# -- what users call -------------------------------------------------------------------


def report_noise(trial: Trial, std: float) -> None:
    """Tells the standard deviation of the value that the objective is about to return.

    Example:
        >>> def objective(trial):
        ...     values = [measure(trial.suggest_float("x", 0, 1)) for _ in range(5)]
        ...     report_noise(trial, np.std(values, ddof=1) / np.sqrt(5))
        ...     return np.mean(values)
    """
    number = float(std)
    if not 0 <= number < math.inf:
        raise InputError(
            f"std must be a finite standard deviation >= 0, got {std!r}; leave it out if it is"
            " unknown."
        )
    trial.set_user_attr(NOISE, number)


@final
@dataclass(frozen=True)
class PosteriorBest:
    """The finished trial that the model believes to be the best: posterior mean and standard
    deviation of the objective at its parameters, and the probability that it is the best of all
    finished trials.
    """

    trial: FrozenTrial
    mean: float
    std: float
    probability: float

    @property
    def number(self) -> int:
        return self.trial.number

    @property
    def params(self) -> dict[str, Any]:
        return self.trial.params


def best_trial_by_posterior(study: Study) -> PosteriorBest:
    """The finished trial with the best posterior mean, of several with the same parameters the
    first.

    ``study.best_trial`` is the one with the best noisy value, which is usually a lucky one. Works
    for studies of any sampler; the noise is taken from the trials where it was reported, and
    inferred otherwise. The model is one of all parameters of all trials, also of those that only
    some trials have.
    """
    answer = _Answer.of(study)
    best = answer.belief.best
    return PosteriorBest(answer.incumbent, best.mean, best.std, best.probability or 0.0)


def recommended(study: Study) -> Estimate:
    """The parameters with the best posterior mean over the whole search space, which may never have
    been tried.

    If trials have different parameters, only some sets of parameters belong together, and the study
    does not know
    which: the recommendation then has the parameters of the best trial by the model, within the
    values that trials with just these parameters have tried.
    """
    answer = _Answer.of(study)
    belief, branches, incumbent = answer.belief, answer.branches, answer.incumbent
    branch = branches.branches[frozenset(incumbent.params)]
    if len(branches.branches) == 1 and branch.axes is not None:
        found = belief.recommended
        return Estimate({**branch.fixed, **branch.axes.decode(found.params)}, found.mean, found.std)
    tried = [x for trial, x in answer.points if trial.params.keys() == incumbent.params.keys()]
    x = best_in_branch(belief, np.array(tried))
    means, stds = belief.at_points(x[None, :])
    return Estimate(branch.decode(x), float(means[0]), float(stds[0]))


def stop_by_cost(cost: float) -> Callable[[Study, FrozenTrial], None]:
    """A callback for ``study.optimize`` that stops the study when no trial is expected to pay for
    itself.

    Args:
        cost: Price of one trial, in the units of the objective: how much better a value must be to
            be worth it.

    Example:
        >>> study.optimize(objective, n_trials=200, callbacks=[stop_by_cost(0.01)])
    """
    price = check_cost(cost)
    memory: Memory = {}

    def stop(study: Study, _trial: FrozenTrial) -> None:
        verdict = verdict_of(study, price, memory)
        if verdict:
            _logger.info("%s", verdict.message)
            study.stop()

    return stop


def verdict_of(study: Study, cost: float, memory: Memory | None = None) -> Verdict:
    """Whether to stop, another trial not being worth its cost; see ceibo.decide.Belief.verdict."""
    trials = study.get_trials(deepcopy=False)
    sampler = _sampler(study)
    shared = _search_space(trials)
    if not shared:
        reason = "the finished trials have no parameter in common yet"
        return Verdict(False, cost, (), f"go on: {reason}.", reason)
    axes = Axes.of(shared)
    evidence = evidence_of_trials(trials, axes, _direction(study), sampler.noise_attribute)
    return Belief(evidence, axes.space, sampler.settings, sampler.seed).verdict(cost, memory)


# -- inside ----------------------------------------------------------------------------

_STARTUP: Final = (
    "a model needs a first value. Leave it out for twice the number of parameters, at least four"
)
_NO_CONSTRAINTS: Final = (
    "CeiboSampler does not handle constraints. Use a sampler that does (such as GPSampler or"
    " TPESampler), or let the objective raise optuna.TrialPruned where a constraint is violated:"
    " CeiboSampler then keeps off that place."
)


@final
@dataclass(frozen=True, eq=False)
class _Answer:
    """What is believed of all finished trials of a study, and the trials behind it."""

    # the finished trials with a finite value, and where they are
    points: list[tuple[FrozenTrial, Array]]
    branches: Branches
    belief: Belief

    @staticmethod
    def of(study: Study) -> "_Answer":
        _check_single_objective(study)
        trials, sampler = study.get_trials(deepcopy=False), _sampler(study)
        _check_no_constraints(trials)
        finished = [trial for trial in trials if is_measured(trial)]
        if not finished:
            raise NoMeasurementError("the study has no finished trial with a finite value.")
        branches = Branches.of(finished)
        if branches is None:
            raise NoMeasurementError(
                "the study has no finished trial with a parameter that can vary."
            )
        direction = _direction(study)
        evidence = evidence_of_trials(trials, branches, direction, sampler.noise_attribute)
        belief = Belief(evidence, branches.space, sampler.settings, sampler.seed)
        located = [(trial, branches.coordinates(trial.params)) for trial in finished]
        points = [(trial, x) for trial, x in located if x is not None]
        return _Answer(points, branches, belief)

    @property
    def incumbent(self) -> FrozenTrial:
        """The trial with the best posterior mean."""
        number = self.belief.best.number
        return next(trial for trial, _ in self.points if trial.number == number)


def _search_space(trials: list[FrozenTrial]) -> dict[str, BaseDistribution]:
    shared = intersection_search_space(trials)
    return {
        name: distribution for name, distribution in shared.items() if not distribution.single()
    }


def _sampler(study: Study) -> CeiboSampler:
    return study.sampler if isinstance(study.sampler, CeiboSampler) else CeiboSampler(seed=0)


def _direction(study: Study) -> Direction:
    maximize = study.direction is StudyDirection.MAXIMIZE
    return Direction.MAXIMIZE if maximize else Direction.MINIMIZE


def _others_run(trials: list[FrozenTrial], trial: FrozenTrial) -> bool:
    return any(each.state is TrialState.RUNNING and each.number != trial.number for each in trials)


def _check_single_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise InputError(
            f"CeiboSampler optimises one objective, and the study has {len(study.directions)}."
        )


def _check_no_constraints(trials: list[FrozenTrial]) -> None:
    for trial in trials:
        if any(
            key == "constraints" or key.startswith("constraints:") for key in trial.system_attrs
        ):
            raise InputError(f"trial {trial.number} has constraints. {_NO_CONSTRAINTS}")
