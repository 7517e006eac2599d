"""Study: ask what to measure, tell what came out, get the best with its uncertainty, at any
moment.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsFloat, final, overload

import numpy as np

from ceibo.checks import check_cost
from ceibo.decide.dimensions import AnyDimension
from ceibo.decide.estimate import (
    Estimate,
    Observed,
    explain,
    incumbent,
    recommendation,
)
from ceibo.decide.measurement import Measurement
from ceibo.decide.record import hyperparameters_of, to_record
from ceibo.decide.space import Space
from ceibo.decide.stopping import (
    PATIENCE,
    Profit,
    Worth,
    judge,
    least,
    remaining_improvement,
)
from ceibo.decide.suggest import (
    DEFAULT_ACQUISITION,
    DEFAULT_KERNEL,
    Evidence,
    Model,
    Settings,
    Suggestion,
    fit_model,
    suggest,
)
from ceibo.errors import (
    ConflictError,
    InputError,
    NoMeasurementError,
    NotFoundError,
    NumberTakenError,
)
from ceibo.gp import Hyperparameters
from ceibo.gp.inputs import Array
from ceibo.study.store import (
    DONE,
    FAILED,
    QUEUED,
    WITHDRAWN,
    Lease,
    NewTrial,
    Snapshot,
    Store,
    StoredTrial,
    StudyRecord,
    hand_out_key,
)
from ceibo.study.store.records import EMPTY, damaged
from ceibo.study.table import to_dataframe
from ceibo.study.trial import Trial, evidence_of, trial_of
from ceibo.study.verify import Verification, verify

if TYPE_CHECKING:
    import pandas

MEMORY = "sqlite://"
_DIRECTIONS = {"minimize": 1.0, "maximize": -1.0}
_LOOK_BACK = 16  # how many trials back the fit looks for values to start from


@final
class Study:
    """A study of one objective over one space, kept in a database. Made by `Study.create` and
    `Study.open`.

    Example:
        >>> import ceibo
        >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, (trial.params["x"] - 0.3) ** 2, noise=0.01)
    """

    def __init__(self, store: Store, record: StudyRecord) -> None:
        self._store, self._id = store, record.id
        self.name = record.name
        try:
            self.space = Space.from_json(record.space)
            self.direction: str = record.settings["direction"]
            self.seed: int = record.settings["seed"]
            self.settings = Settings.from_json(record.settings["suggest"])
            self._sign = _DIRECTIONS[self.direction]
        except (InputError, KeyError, TypeError) as error:
            raise damaged(f"study {record.name!r}", f"{type(error).__name__}: {error}") from error
        self._snapshot: Snapshot = EMPTY
        self._coordinates: dict[int, Array] = {}
        self._models: dict[int, Model] = {}
        self._remaining: dict[tuple[bytes, ...], float] = {}
        self.last_suggestion: Suggestion | None = None

    # -- opening -----------------------------------------------------------------------

    @classmethod
    def create(  # noqa: PLR0913 - public, keyword-only
        cls,
        space: Mapping[str, AnyDimension] | Space,
        *,
        storage: str | None = None,
        name: str = "study",
        direction: str = "minimize",
        seed: int = 0,
        acquisition: str = DEFAULT_ACQUISITION,
        kernel: str = DEFAULT_KERNEL,
        fit: str = "map",
        n_initial: int | None = None,
        max_observations: int = 1000,
    ) -> Self:
        """A new study; a name that exists in the storage is an error.

        Args:
            space: name -> Float, Int or Categorical.
            storage: database URL, such as "sqlite:///lab.db" or "postgresql://user@host/db"; memory
                by default.
            name: of the study within the storage.
            direction: "minimize" or "maximize".
            seed: suggestions are a function of it and of what was told.
            acquisition, kernel, fit, n_initial, max_observations: see
                ceibo.decide.suggest.Settings.
        """
        if direction not in _DIRECTIONS:
            raise InputError(f"direction must be 'minimize' or 'maximize', got {direction!r}.")
        if (
            not isinstance(seed, int | np.integer)
            or isinstance(seed, bool)
            or not 0 <= seed < 2**63
        ):
            raise InputError(f"seed must be a whole number from 0 to 2^63 − 1, got {seed!r}.")
        settings = Settings(acquisition, kernel, fit, n_initial, max_observations)
        stored = {"direction": direction, "seed": int(seed), "suggest": settings.to_json()}
        store = Store(MEMORY if storage is None else storage)
        return cls(store, store.create_study(name, Space(space).to_json(), stored))

    @classmethod
    def open(
        cls,
        storage: str,
        name: str = "study",
        *,
        space: Mapping[str, AnyDimension] | Space | None = None,
    ) -> Self:
        """An existing study; with a `space` given, it must be the one stored. Changes nothing if
        there is none.
        """
        store = Store(storage, create=False)
        study = cls(store, store.study(name))
        if space is not None:
            study.space.check_same(Space(space))
        return study

    def close(self) -> None:
        """Closes the storage; a study in memory is gone."""
        self._store.close()

    # -- ask and tell ------------------------------------------------------------------

    @overload
    def ask(self) -> Trial: ...
    @overload
    def ask(self, count: int) -> list[Trial]: ...
    def ask(self, count: int | None = None) -> Trial | list[Trial]:
        """The next trial to measure, or a list of `count` of them.

        Queued trials (enqueued or released) come first. The trial stays pending until told, failed,
        released or withdrawn.
        """
        if count is None:
            return self._ask_one()
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 1:
            raise InputError(f"count must be a whole number above zero, got {count!r}.")
        return [self._ask_one() for _ in range(count)]

    def _ask_one(self) -> Trial:
        trial = self._ask(None, None)
        if trial is None:  # pragma: no cover - only a limit ends in None
            raise NotFoundError("there is no trial to hand out.")
        return trial

    def _ask(self, lease: Lease | None, limit: int | None) -> Trial | None:
        """A trial for a worker; None if all are handed out and there may be no more than
        `limit`.
        """
        claimed = self._store.claim(self._id, lease)
        if claimed is not None:
            return trial_of(claimed)
        while True:
            snapshot = self._refresh()
            number = len(snapshot.trials)
            if limit is not None and number >= limit:
                return None
            suggestion = self._suggest(snapshot, number, self._start_values(number))
            new = NewTrial(suggestion.params, to_record(suggestion, snapshot.seq, self.seed), lease)
            try:
                (stored,) = self._store.create_trials(self._id, [new], expect_number=number)
            except NumberTakenError:
                continue  # another worker was first: its trial is pending now, so think again
            self.last_suggestion = suggestion
            return trial_of(stored)

    def tell(
        self,
        trial: Trial | int,
        value: SupportsFloat | Measurement,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Records a measurement of a trial; returns once it is safely stored.

        Args:
            trial: from `ask`, or its number.
            value: a number, or a Measurement. NaN and ±inf are recorded as a failure.
            noise: standard deviation of the value; unknown by default, and then inferred.
            key: tells several measurements of one trial apart. Without a key a trial has one value:
                the same again changes nothing, a different one is an error; see `correct`.

        Raises:
            NotStoredError: the storage stays away; the exception holds the measurement.
        """
        measurement = self._measurement(value, noise)
        number = self._number(trial)
        if not measurement.is_finite:
            self._store.fail(self._id, number, f"the value is {measurement.value!r}")
            return
        if key is None:
            key = hand_out_key(trial.attempt if isinstance(trial, Trial) else self._attempt(number))
        self._store.tell(self._id, number, measurement, key)

    def correct(
        self,
        trial: Trial | int,
        value: SupportsFloat | Measurement,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
    ) -> Measurement:
        """Replaces a measurement that was told wrongly; returns what it was, once the right one is
        safely stored.

        From here on the study is as if the right one had been told at first. The wrong one stays in
        the record (`trial.replaced`), and suggestions that were made from it can still be verified.

        Args:
            trial: from `ask`, or its number.
            value: a number, or a Measurement.
            noise: standard deviation of the value; unknown by default, also where the wrong one had
                one.
            key: which measurement of the trial; needed if there are several.
        """
        return self._store.correct(
            self._id, self._number(trial), self._measurement(value, noise), key
        )

    def fail(self, trial: Trial | int, reason: str) -> None:
        """Records that measuring a trial failed, and why. It never becomes a value; the search
        keeps off it.
        """
        self._store.fail(self._id, self._number(trial), reason)

    def release(self, trial: Trial | int) -> None:
        """Gives a trial back unmeasured; it is handed out again by the next `ask`. See also
        `withdraw`.
        """
        number = self._number(trial)
        if not self._store.release(self._id, number) and self._state(number) != QUEUED:
            raise self._ended(number, "released", "enqueue its params to measure the setting again")

    def withdraw(self, trial: Trial | int) -> None:
        """Takes back a trial that will not be measured after all, or one that is queued; it is not
        handed out again.

        Nothing is learnt from it, but the search looks elsewhere first, as around a trial that is
        being measured. Like any other it counts as one of `n_trials`.
        """
        number = self._number(trial)
        if not self._store.withdraw(self._id, number) and self._state(number) != WITHDRAWN:
            raise self._ended(number, "withdrawn", "nothing needs to be done")

    def add(
        self,
        params: Mapping[str, Any],
        value: SupportsFloat | Measurement,
        noise: SupportsFloat | None = None,
    ) -> Trial:
        """Adds an existing measurement, made outside the study."""
        measurement = self._measurement(value, noise)
        checked = self.space.check(params)
        reason = None if measurement.is_finite else f"the value is {measurement.value!r}"
        new = NewTrial(
            checked,
            {"source": "added"},
            measurement=measurement if measurement.is_finite else None,
            reason=reason,
        )
        (stored,) = self._store.create_trials(self._id, [new])
        return trial_of(self._refresh().trials[stored.number])

    def enqueue(self, params: Mapping[str, Any]) -> Trial:
        """Queues a setting of your own; the next `ask` hands it out."""
        new = NewTrial(self.space.check(params), {"source": "enqueued"}, queued=True)
        return trial_of(self._store.create_trials(self._id, [new])[0])

    # -- answers -----------------------------------------------------------------------

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in order of number."""
        return tuple(trial_of(stored) for stored in self._refresh().trials)

    @property
    def best(self) -> Estimate:
        """The incumbent: the measured setting with the best posterior mean, with its
        uncertainty.
        """
        snapshot = self._refresh()
        x, found = incumbent(self._model(snapshot), self.space, self._sign)
        measured = (trial for trial in snapshot.trials if trial.measurements)
        number = next(trial.number for trial in measured if np.array_equal(self._unit(trial), x))
        return replace(found, number=number, params=dict(snapshot.trials[number].params))

    @property
    def recommended(self) -> Estimate:
        """The minimiser (maximiser) of the posterior mean over the whole space, which may never
        have been measured.
        """
        snapshot = self._refresh()
        return recommendation(
            self._model(snapshot), self._evidence(snapshot), self.space, self._sign, self.seed
        )

    @property
    def best_observed(self) -> Observed:
        """The best raw value: what a tool that ignores noise would report."""
        snapshot = self._refresh()
        raw = [
            (trial, each.measurement) for trial in snapshot.trials for each in trial.measurements
        ]
        if not raw:
            raise self._nothing_measured()
        trial, measurement = min(raw, key=lambda pair: self._sign * pair[1].value)
        model = self._model(snapshot)
        believed = self._sign * model.natural(
            float(model.gp.posterior(self._unit(trial)[None, :])[0][0])
        )
        why = explain((trial.number, measurement), believed, self.best)
        return Observed(dict(trial.params), measurement.value, measurement.noise, trial.number, why)

    @property
    def noise(self) -> float | None:
        """The inferred standard deviation of one measurement of unknown noise; None if all noise is
        known.
        """
        model = self._model(self._refresh())
        variance = model.fit.noise_variance
        return None if variance is None else model.natural(float(np.sqrt(variance)))

    def should_stop(self, cost: float) -> Worth:
        """Whether another measurement is worth `cost`, in the objective's units; true when it is
        not.
        """
        check_cost(cost)
        evidence = self._evidence(self._refresh())
        initial = self.settings.initial_size(len(self.space))
        remaining: list[float] = []
        state = evidence
        while len(remaining) < PATIENCE and evidence.measurements >= least(initial):
            remaining.append(self._remaining_improvement(state))
            state = state.without_last()
        return judge(evidence, tuple(remaining), float(cost), initial)

    def profit(self, cost: float) -> Profit:
        """What the study has brought at a price of `cost` per evaluation, the initial design not
        counted.
        """
        ended = self._refresh().in_state(DONE, FAILED)
        evaluations = sum(max(len(trial.measurements), 1) for trial in ended)
        paid = max(evaluations - self.settings.initial_size(len(self.space)), 0)
        best = self.best
        return Profit(
            -self._sign * best.mean - check_cost(cost) * paid, best.std, float(cost), paid
        )

    @property
    def suggestions(self) -> dict[int, dict[str, Any]]:
        """Number -> how each trial came about: source, what was seen, acquisition value, fit,
        versions.
        """
        return self._store.suggestions(self._id)

    def verify(self) -> Verification:
        """Computes every past suggestion again from its record, and reports differences."""
        return verify(self._store, self._id, self.space, self.seed, self._suggest)

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row per measurement (or per trial without one), as a pandas DataFrame. Needs pandas.

        A parameter named like a column of the outcome ("value", "noise", …) is called
        "params_value", …; unknown noise is NaN.
        """
        return to_dataframe(self.trials, self.space.names)

    # -- inside ------------------------------------------------------------------------

    def _refresh(self) -> Snapshot:
        self._snapshot = self._store.refresh(self._id, self._snapshot)
        return self._snapshot

    def _unit(self, trial: StoredTrial) -> Array:
        found = self._coordinates.get(trial.number)
        if found is None:
            try:
                found = self._coordinates[trial.number] = self.space.to_unit(trial.params)
            except InputError as error:
                raise damaged(f"trial {trial.number} of study {self.name!r}", error) from error
        return found

    def _evidence(self, snapshot: Snapshot) -> Evidence:
        return evidence_of(snapshot, self._unit, self._sign)

    def _model(self, snapshot: Snapshot) -> Model:
        model = self._models.get(snapshot.seq)
        if model is None:
            evidence = self._evidence(snapshot)
            if len(evidence) == 0:
                raise self._nothing_measured()
            model = fit_model(evidence, self.space, self.settings)
            self._models = {snapshot.seq: model}
        return model

    def _remaining_improvement(self, evidence: Evidence) -> float:
        known = (
            evidence.X,
            evidence.y,
            evidence.noise,
            evidence.pending,
            evidence.failed,
            evidence.withdrawn,
        )
        key = tuple(each.tobytes() for each in known if each is not None)
        if key not in self._remaining:
            # memory of a few states is enough
            kept = list(itertools.islice(reversed(self._remaining.items()), 3))
            self._remaining = dict(reversed(kept))
            self._remaining[key] = remaining_improvement(
                evidence, self.space, self.settings, self.seed
            )
        return self._remaining[key]

    def _start_values(self, number: int) -> Hyperparameters | None:
        """Hyperparameters recorded with the latest trial before `number` that has them."""
        records = self._store.suggestions(self._id, range(max(0, number - _LOOK_BACK), number))
        for earlier in sorted(records, reverse=True):
            try:
                found = hyperparameters_of(records[earlier])
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                what = f"the suggestion of trial {earlier} of study {self.name!r}"
                raise damaged(what, f"{type(error).__name__}: {error}") from error
            if found is not None:
                return found
        return None

    def _suggest(
        self, snapshot: Snapshot, number: int, start: Hyperparameters | None
    ) -> Suggestion:
        """The suggestion for trial `number` of what a snapshot shows; the incumbent in the user's
        direction.
        """
        found = suggest(
            self._evidence(snapshot), self.space, self.settings, start, self.seed, number
        )
        mean = None if found.incumbent_mean is None else self._sign * found.incumbent_mean
        return replace(found, incumbent_mean=mean)

    def _attempt(self, number: int) -> int:
        """How often a trial was handed out; 0 for a trial that is not there, which the store will
        say.
        """
        trials = self._refresh().trials
        return trials[number].attempt if number < len(trials) else 0

    def _state(self, number: int) -> str:
        return self._refresh().trials[number].state

    def _ended(self, number: int, wish: str, advice: str) -> ConflictError:
        state = self._state(number)
        return ConflictError(
            f"trial {number} is {state} and cannot be {wish}, only one under way can; {advice}."
        )

    def _measurement(
        self, value: SupportsFloat | Measurement, noise: SupportsFloat | None
    ) -> Measurement:
        if isinstance(value, Measurement):
            if noise is not None:
                raise InputError("a Measurement carries its own noise; leave noise out.")
            return value
        return Measurement(value, noise)

    @staticmethod
    def _number(trial: Trial | int) -> int:
        if isinstance(trial, Trial):
            return trial.number
        if isinstance(trial, bool) or not isinstance(trial, int | np.integer):
            raise InputError(f"trial must be a Trial from ask(), or its number, got {trial!r}.")
        if trial < 0:
            raise NotFoundError(f"there is no trial {trial}; numbers count from 0.")
        return int(trial)

    def _nothing_measured(self) -> NoMeasurementError:
        return NoMeasurementError(f"study {self.name!r} has no measurement yet; tell one first.")

    def __reduce__(self) -> NoReturn:
        where = (
            "a study in memory cannot go there, so give it a storage and"
            if self._store.in_memory
            else "instead,"
        )
        raise InputError(
            "a study is a connection to a database, which no other process or copy can use;"
            f" {where} call Study.open(storage, {self.name!r}) over there."
        )

    def __repr__(self) -> str:
        snapshot = self._refresh()
        done = len(snapshot.in_state("done"))
        return (
            f"<Study {self.name!r}: {self.direction} over {len(self.space)} parameters, {done}"
            " trials measured>"
        )
