"""An Optuna sampler for noisy objectives."""

import math
import secrets
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, SupportsFloat, final

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.logging import get_logger
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from ceibo.checks import check_whole, to_float
from ceibo.decide import DEFAULT_ACQUISITION, Direction, Measurement, Settings, suggest
from ceibo.decide.joint import suggest_jointly, to_joint_record
from ceibo.decide.record import to_record
from ceibo.decide.settings import check_acquisition
from ceibo.decide.space import Params
from ceibo.decide.suggest import initial_point
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.integrations.optuna.axes import Axes
from ceibo.integrations.optuna.axis import Axis, hull, single_value
from ceibo.integrations.optuna.evidence import (
    COUNT,
    NOISE,
    REPLICATES,
    evidence_of_trials,
    record_to_attributes,
    running_points,
    start_values,
)
from ceibo.integrations.optuna.history import find_search_space, teaching_trials
from ceibo.integrations.optuna.outcomes import (
    CONSTRAINTS,
    Named,
    check_constraints,
    check_objectives,
    evidence_of_outcomes,
    joint_start_values,
)

# below Optuna's own logger, so that its handler and verbosity hold
_logger = get_logger("optuna.ceibo")
# computations of one suggestion, while other processes publish theirs
_ATTEMPTS: Final = 5
# of the box, in every parameter: two suggestions so close count as the same
_NEAR: Final = 0.02
_STARTUP: Final = (
    "a model needs a first value. Leave it out for twice the number of parameters, from 4 to 40"
)


@final
class CeiboSampler(BaseSampler):
    """Sampler for noisy objectives, based on a Gaussian process and noisy expected improvement.

    One to three objectives, and any number of constraints: each has a process of its own. With one
    objective the improvement counts as far as constraints are likely to hold; with two or three
    it is that of the hypervolume.

    The noise of a value may be told with :func:`report_noise`, differently for every trial; where
    it is not, one noise level is inferred, best from :func:`report_replicates`. Running trials
    count as pending points, so workers do not repeat each other. A pruned trial counts with its
    last report, shifted by what finished trials gained after that step. Failed trials, and those
    pruned without a report, have no value and are kept off.

    Parameters that not all trials have (conditional ones) are part of one model of all trials. With
    which values of others a parameter exists is learnt from the finished trials; a parameter that
    none of them has is sampled independently. Ranges may change from trial to trial.

    Suggestions depend on the seed, the trial's number and the record of the study alone: a study
    goes on after a restart, and with other workers, as if nothing had happened.

    Args:
        seed: Seed of all random numbers. Defaults to None (picked at random).
        acquisition: Name of an acquisition function, see ``ceibo.acquisition.ACQUISITIONS``.
        n_startup_trials: Trials that make up the initial design. Defaults to twice the number of
            parameters, from 4 to 40.
        noise_attribute: User attribute of a trial that holds the standard deviation of its value.
            What was told with :func:`report_noise` counts for trials without it.
        independent_sampler: Sampler for parameters that no finished trial has. Defaults to None
            (uniform).
        warn_independent_sampling: Warn when a parameter is sampled independently after the initial
            design.
        constraints_func: Function of a finished trial that returns a sequence of numbers, each at
            most 0 where its constraint holds. With Optuna 5, ``trial.set_constraint`` in the
            objective does the same without it. Constraints are modelled as noisy values.
        confidence: With which constraints hold at the settings that count as feasible; 0.95 by
            default.
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
        confidence: float | None = None,
    ) -> None:
        if n_startup_trials is not None:
            n_startup_trials = check_whole(n_startup_trials, "n_startup_trials", advice=_STARTUP)
        self.seed = secrets.randbelow(2**62) if seed is None else check_whole(seed, "seed", 0)
        if constraints_func is not None:
            check_acquisition(acquisition, limits=1)
        self.settings = Settings(
            acquisition=acquisition, n_initial=n_startup_trials, confidence=confidence
        )
        self.noise_attribute = noise_attribute
        self._independent = independent_sampler
        self._warn = warn_independent_sampling
        self._constraints = constraints_func
        self._axes: Axes | None = None  # of the last search space, to save time

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002 - Optuna's signature
    ) -> dict[str, BaseDistribution]:
        """The parameters of the finished trials, without those of a single value."""
        self._check_objectives(study)
        ended = (TrialState.COMPLETE, TrialState.PRUNED)
        return find_search_space(study.get_trials(deepcopy=False, states=ended))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The point of the initial design or the best by the model, recorded with the trial."""
        self._check_objectives(study)
        if not search_space:
            return {}
        trials = study.get_trials(deepcopy=False)
        axes = self._axes_of(search_space, trials)
        if axes.space.conditions is not None:  # then what was enqueued may decide on the branch
            axes = axes.held(trial.system_attrs.get("fixed_params", {})) or axes
        published: dict[str, str] = {}
        for attempt in range(_ATTEMPTS):
            found = self._suggest(study, trials, axes, trial.number)
            params = axes.decode(found.params)
            known = running_points(trials, axes, trial.number)
            record = found.record
            record["names"] = list(axes.space.names)
            record["pending"] = list(known)  # the trials it knew to be running
            record["internal"] = axes.to_internal(params)
            # The pieces of a longer record published before are emptied.
            published = dict.fromkeys(published, "") | record_to_attributes(record)
            _set_system_attributes(study, trial, published)
            if not known and not _others_run(trials, trial):
                break
            # Another worker may have suggested the same point at the same time. Both suggestions
            # are published by now: suggest again with the new ones pending, and repeat that while
            # a new one is too near.
            trials = study.get_trials(deepcopy=False)
            new = _new_points(known, running_points(trials, axes, trial.number))
            if attempt > 0:
                new = [x for x in new if np.max(np.abs(x - found.x)) < _NEAR]
            if not new:
                break
        return params

    def _suggest(
        self, study: Study, trials: list[FrozenTrial], axes: Axes, number: int
    ) -> "_Suggested":
        """What to try in trial `number`, by what is known from the trials."""
        attribute, space, names = self.noise_attribute, axes.space, axes.space.names
        named = Named.of(study, trials)
        if named is None:
            direction = direction_of(study)
            alone = evidence_of_trials(trials, axes, direction, attribute, before=number)
            start = start_values(trials, names, number)
            found = suggest(alone, space, self.settings, start, self.seed, number)
            record = to_record(found, len(alone), self.seed)
            return _Suggested(found.x, found.params, found.source, record)
        evidence = evidence_of_outcomes(trials, axes, named, attribute, before=number)
        starts = joint_start_values(trials, names, number)
        chosen = suggest_jointly(evidence, space, self.settings, starts, self.seed, number)
        record = to_joint_record(chosen, evidence.measurements, self.seed)
        return _Suggested(chosen.x, chosen.params, chosen.source, record)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Keeps what `constraints_func` says of a finished or pruned trial."""
        if self._constraints is not None and state in (TrialState.COMPLETE, TrialState.PRUNED):
            numbers = list(check_constraints(self._constraints(trial)))
            _set_system_attributes(study, trial, {CONSTRAINTS: numbers})
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """The best value by the model, given what the trial has already; or a uniform draw.

        This is asked for where the trial has taken another branch than the one suggested. While the
        initial design is under way, it is that design's value. The draw of a parameter that no
        finished trial has is keyed by the seed, the trial's number and the parameter's name.
        """
        self._check_objectives(study)
        if (found := self._sample_given(study, trial, param_name, param_distribution)) is not None:
            return found.value
        if self._warn and trial.number >= self.settings.initial_size(max(1, len(trial.params))):
            _logger.warning(
                "The parameter %r in trial %d is sampled independently, without the model, because"
                " %s. Set warn_independent_sampling=False if that is intended.",
                param_name,
                trial.number,
                _why_alone(param_name, teaching_trials(study.get_trials(deepcopy=False))),
            )
        if self._independent is not None:
            given = (study, trial, param_name, param_distribution)
            return self._independent.sample_independent(*given)
        if param_distribution.single():
            return single_value(param_distribution)
        axes = Axes.of({param_name: param_distribution})
        rng = np.random.default_rng([self.seed, trial.number, zlib.crc32(param_name.encode())])
        return axes.decode(axes.space.from_unit(rng.random(1)))[param_name]

    def _sample_given(
        self, study: Study, trial: FrozenTrial, name: str, asked: BaseDistribution
    ) -> "_Value | None":
        """The value by the model, or by the initial design, if finished trials have it."""
        trials = study.get_trials(deepcopy=False)
        known = find_search_space(trials)
        if name not in known or asked.single():
            return None
        known[name] = hull(known[name], asked)
        teaching = teaching_trials(trials)
        # What the trial has asked for may contradict what was learnt of its branches.
        for unexplained in ((), (name,)):
            axes = Axes.of(known, teaching, unexplained).held(trial.params, name, asked)
            if axes is None:
                continue
            found = self._suggest(study, trials, axes, trial.number)
            if found.source != "model":
                shares = initial_point(len(axes.space), self.seed, trial.number)
                own = Axis.of(asked)
                unit = own.dimension.at_share(float(shares[axes.space.names.index(name)]))
                return _Value(own.decode(own.dimension.from_unit(unit)))
            if name in found.params:
                return _Value(Axis.of(asked).nearest(axes.decode(found.params)[name]))
        return None

    def _check_objectives(self, study: Study) -> None:
        check_objectives(study)
        goals = len(study.directions)
        if goals > 1:
            check_acquisition(self.settings.acquisition, goals)

    def _axes_of(
        self, search_space: dict[str, BaseDistribution], trials: Sequence[FrozenTrial]
    ) -> Axes:
        axes = Axes.of(search_space, teaching_trials(trials))
        if self._axes != axes:
            self._axes = axes
        return self._axes

    def reseed_rng(self) -> None:
        """Reseeds the independent sampler; the model's random numbers are keyed by the trial."""
        if self._independent is not None:
            self._independent.reseed_rng()


def report_replicates(trial: Trial, values: Iterable[SupportsFloat]) -> float:
    """Reports repeated measurements, and returns their mean, for the objective to return.

    The noise is inferred from the spread of all trials' replicates. The spread of a handful of
    values alone is often too small by luck, and their mean then believed too much.

    Example:
        >>> def objective(trial):
        ...     x = trial.suggest_float("x", 0, 1)
        ...     return report_replicates(trial, [measure(x) for _ in range(4)])
    """
    measurement = Measurement.of(values)
    if measurement.is_finite:  # otherwise Optuna takes the trial for failed
        trial.set_user_attr(REPLICATES, list(measurement.replicates))
    return measurement.value


def report_noise(
    trial: Trial, std: float | Sequence[float | None], *, count: int | None = None
) -> None:
    """Reports the known standard deviation of the value that the objective is about to return.

    Of several objectives, a sequence has that of each, None where it is unknown. For the mean of a
    few values whose noise is not known beforehand, see :func:`report_replicates`; if only its
    standard error is left, `count` says of how many values it is.

    Example:
        >>> def objective(trial):
        ...     count = 10_000  # photons, of which the square root is the noise
        ...     report_noise(trial, 1 / np.sqrt(count))
        ...     return measure(trial.suggest_float("x", 0, 1), count)
    """
    given = list(std) if isinstance(std, Sequence) else [std]
    numbers = [None if each is None else to_float(each) for each in given]
    known = [number for number, each in zip(numbers, given, strict=True) if each is not None]
    if not all(number is not None and 0 <= number < math.inf for number in known):
        wanted = "a finite standard deviation >= 0"
        raise InputError(f"std must be {wanted}, got {std!r}; leave it out if it is unknown.")
    if count is not None:
        if isinstance(std, Sequence):
            raise InputError(
                f"count: expected none beside the noise of several objectives, got {count!r}."
            )
        counted = Measurement(0.0, numbers[0], count=count)  # refused with a sentence
        trial.set_user_attr(COUNT, counted.count)
    trial.set_user_attr(NOISE, numbers if isinstance(std, Sequence) else numbers[0])


def direction_of(study: Study) -> Direction:
    """The direction of a study of one objective."""
    maximize = study.direction is StudyDirection.MAXIMIZE
    return Direction.MAXIMIZE if maximize else Direction.MINIMIZE


def _why_alone(name: str, finished: Sequence[FrozenTrial]) -> str:
    """Why the model has no value of a parameter."""
    if not any(name in each.params for each in finished):
        return "no finished trial has it"
    return "finished trials have it with one value only, or not beside what this one has"


def _set_system_attributes(study: Study, trial: FrozenTrial, attributes: Mapping[str, Any]) -> None:
    storage = study._storage  # noqa: SLF001 - Optuna's samplers write system attributes this way
    for key, text in attributes.items():
        storage.set_trial_system_attr(trial._trial_id, key, text)  # noqa: SLF001 - likewise


def _new_points(before: Mapping[int, Array], now: Mapping[int, Array]) -> list[Array]:
    """The points of trials that have begun to run, or have moved."""
    return [x for number, x in now.items() if not np.array_equal(before.get(number, ()), x)]


def _others_run(trials: list[FrozenTrial], trial: FrozenTrial) -> bool:
    return any(each.state is TrialState.RUNNING and each.number != trial.number for each in trials)


@final
class _Suggested(NamedTuple):
    """A point of the unit cube, the parameters there, and the record of how it was found."""

    x: Array
    params: Params
    source: str
    record: dict[str, Any]


@final
class _Value(NamedTuple):
    """A value of a parameter, which may be None itself."""

    value: Any
