"""Study: ask what to measure, tell what came out, get the best with its uncertainty."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsFloat, final, overload

import numpy as np

from ceibo.checks import check_choice, check_seed, check_whole
from ceibo.decide.belief import Belief
from ceibo.decide.direction import Direction
from ceibo.decide.estimate import Estimate, Observed
from ceibo.decide.measurement import Measurement
from ceibo.decide.settings import DEFAULT_ACQUISITION, DEFAULT_KERNEL, Settings
from ceibo.decide.space import Space, SpaceLike, check_searchable
from ceibo.decide.stopping import Profit, Verdict
from ceibo.errors import ConflictError, InputError, NoMeasurementError, NotFoundError, show_value
from ceibo.study.ledger import Ledger
from ceibo.study.store import DONE, FAILED, QUEUED, WITHDRAWN, NewTrial, Store, hand_out_key
from ceibo.study.table import to_dataframe
from ceibo.study.trial import Failure, Trial, trial_of
from ceibo.study.verify import Verification, verify

if TYPE_CHECKING:
    import pandas

MEMORY = "sqlite://"
_LARGEST_NUMBER = 2**31 - 1  # of a trial, that every database can store
_REMEMBERED = 4  # states whose remaining improvement is kept for the next verdict


@final
class Study:
    """A study of one objective over one space, kept in a database.

    Made by `Study.create` and `Study.open`. `ledger` is its stored record, for ceibo's own use.

    Example:
        >>> import ceibo
        >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, (trial.params["x"] - 0.3) ** 2, noise=0.01)
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.name = ledger.name
        self.space = ledger.space
        self.direction = str(ledger.direction)
        self.seed = ledger.seed
        self.settings = ledger.settings
        self._remaining: dict[tuple[bytes, ...], float] = {}

    # -- opening -----------------------------------------------------------------------

    @classmethod
    def create(  # noqa: PLR0913 - public, keyword-only
        cls,
        space: SpaceLike,
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
        """Creates a study; a name that exists in the storage is an error.

        Args:
            space: name -> Float, Int or Categorical; at most 5,000 of them.
            storage: database URL, such as "sqlite:///lab.db" or "postgresql://user@host/db"; memory
                by default.
            name: of the study within the storage.
            direction: "minimize" or "maximize".
            seed: suggestions are a function of it and of what was told.
            acquisition, kernel, fit, n_initial, max_observations: see ceibo.decide.Settings.
        """
        checked = Space(space)
        check_searchable(checked)
        settings = Settings(acquisition, kernel, fit, n_initial, max_observations)
        stored = {
            "direction": check_choice(direction, "direction", list(Direction)),
            "seed": check_seed(seed),
            "suggest": settings.resolve(len(checked)).to_json(),
        }
        store = Store(MEMORY if storage is None else storage)
        return cls(Ledger(store, store.create_study(name, checked.to_json(), stored)))

    @classmethod
    def open(cls, storage: str, name: str = "study", *, space: SpaceLike | None = None) -> Self:
        """Opens an existing study; a `space` that is given must be the one stored.

        If there is no such study, nothing is written.
        """
        store = Store(storage, create=False)
        study = cls(Ledger(store, store.study(name)))
        if space is not None:
            study.space.check_same(Space(space))
        return study

    def close(self) -> None:
        """Closes the storage; a study in memory is lost."""
        self.ledger.store.close()

    def backup(self, path: str | Path, *, force: bool = False) -> None:
        """Copies the whole storage, with all its studies, to a new SQLite file.

        The copy is consistent also while others write, and needs no other file beside it. It works
        from PostgreSQL and from memory too, and rescues a study whose file was deleted.

        Args:
            path: of the new file.
            force: replace a file that exists there.
        """
        self.ledger.store.backup(Path(path), force)

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
        return [self._ask_one() for _ in range(check_whole(count, "count"))]

    def _ask_one(self) -> Trial:
        stored = self.ledger.ask(None, None)
        if stored is None:  # pragma: no cover - only a limit ends in None
            raise NotFoundError("there is no trial to hand out.")
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
            NotStoredError: the storage could not be reached; the exception holds the measurement.
        """
        measurement = _measurement_of(value, noise)
        number = _number_of(trial)
        if not measurement.is_finite:
            self.ledger.fail(number, _not_finite(measurement).reason)
            return
        if key is None:
            attempt = trial.attempt if isinstance(trial, Trial) else self._attempt(number)
            key = hand_out_key(attempt)
        self.ledger.store.tell(self.ledger.id, number, measurement, key)

    def correct(
        self,
        trial: Trial | int,
        value: SupportsFloat | Measurement,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
    ) -> Measurement:
        """Replaces a measurement that was told wrongly, and returns the wrong one.

        Returns once the right one is safely stored. The wrong one stays in the record
        (`trial.replaced`), so that suggestions made from it can still be verified.

        Args:
            trial: from `ask`, or its number.
            value: a number, or a Measurement.
            noise: standard deviation of the value; unknown by default, also where the wrong one
                had one.
            key: which measurement of the trial; needed if there are several.
        """
        measurement = _measurement_of(value, noise)
        return self.ledger.store.correct(self.ledger.id, _number_of(trial), measurement, key)

    def fail(self, trial: Trial | int, reason: str) -> None:
        """Records that measuring a trial failed, and why; the search keeps off it."""
        self.ledger.fail(_number_of(trial), reason)

    def release(self, trial: Trial | int) -> None:
        """Gives a trial back unmeasured; the next `ask` hands it out again. See also `withdraw`."""
        number = _number_of(trial)
        released = self.ledger.store.release(self.ledger.id, number)
        if not released and self.ledger.trial(number).state != QUEUED:
            advice = "enqueue its params to measure the setting again"
            raise self._not_under_way(number, "released", advice)

    def withdraw(self, trial: Trial | int) -> None:
        """Takes back a trial that will not be measured, or one that is queued.

        It is not handed out again. Nothing is learnt from it, but the search looks elsewhere first,
        as around a trial that is being measured. Like any other it counts as one of `n_trials`.
        """
        number = _number_of(trial)
        withdrawn = self.ledger.store.withdraw(self.ledger.id, number)
        if not withdrawn and self.ledger.trial(number).state != WITHDRAWN:
            raise self._not_under_way(number, "withdrawn", "nothing needs to be done")

    def add(
        self,
        params: Mapping[str, Any],
        value: SupportsFloat | Measurement | Failure,
        noise: SupportsFloat | None = None,
    ) -> Trial:
        """Adds an existing measurement, made outside the study."""
        result = value if isinstance(value, Failure) else _measurement_of(value, noise)
        (number,) = self.add_all([(params, result)])
        return trial_of(self.ledger.trial(number))

    def add_all(
        self,
        rows: Iterable[tuple[Mapping[str, Any], SupportsFloat | Measurement | Failure]],
        *,
        expect_number: int | None = None,
    ) -> list[int]:
        """Adds existing measurements and failures, all or none; returns the trials' numbers.

        Args:
            rows: parameters with a number, a Measurement, or a ceibo.study.Failure.
            expect_number: the number that the first one must get, if it matters: how many trials
                there were when the rows were chosen.

        Raises:
            NumberTakenError: there are more trials by now; nothing was added.
        """
        new = []
        for params, value in rows:
            result = value if isinstance(value, Failure) else _measurement_of(value, None)
            if isinstance(result, Measurement) and not result.is_finite:
                result = _not_finite(result)
            checked = self.space.check(params)
            if isinstance(result, Measurement):
                trial = NewTrial(checked, {"source": "added"}, measurement=result)
            else:
                trial = NewTrial(checked, {"source": "added"}, reason=result.reason)
            new.append(trial)
        stored = self.ledger.create(new, expect_number=expect_number)
        return [trial.number for trial in stored]

    def enqueue(self, params: Mapping[str, Any]) -> Trial:
        """Queues a setting of your own; the next `ask` hands it out."""
        new = NewTrial(self.space.check(params), {"source": "enqueued"}, queued=True)
        return trial_of(self.ledger.create([new])[0])

    # -- answers -----------------------------------------------------------------------

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in order of number."""
        return tuple(trial_of(stored) for stored in self.ledger.refresh().trials)

    @property
    def belief(self) -> Belief:
        """What all measurements together say, for questions beyond the ones below."""
        belief = self.ledger.belief()
        if not belief.evidence.told:
            raise NoMeasurementError(f"study {self.name!r} has no measurement yet; tell one first.")
        return belief

    @property
    def best(self) -> Estimate:
        """The incumbent: the measured setting with the best posterior mean, with its std."""
        best = self.belief.best
        return replace(best, params=self._params(best.number))

    @property
    def recommended(self) -> Estimate:
        """The setting with the best posterior mean over the space, which may be unmeasured."""
        found = self.belief.recommended
        return replace(found, params=dict(found.params))

    @property
    def best_observed(self) -> Observed:
        """The best raw value: what a tool that ignores noise would report."""
        observed = self.belief.best_observed
        return replace(observed, params=self._params(observed.number))

    @property
    def noise(self) -> float | None:
        """The inferred std of one value of unknown noise; None if all noise is known."""
        return self.belief.noise

    def should_stop(self, cost: float) -> Verdict:
        """Whether to stop because no measurement is worth `cost`, in the objective's units."""
        verdict = self.ledger.belief().verdict(cost, self._remaining)
        for key in list(self._remaining)[:-_REMEMBERED]:
            del self._remaining[key]
        return verdict

    def profit(self, cost: float) -> Profit:
        """What the study has brought at a price of `cost` per evaluation, less the initial ones."""
        belief = self.belief
        ended = self.ledger.snapshot.in_state(DONE, FAILED)
        return belief.profit(cost, sum(max(len(trial.measurements), 1) for trial in ended))

    @property
    def suggestions(self) -> dict[int, dict[str, Any]]:
        """Number -> how each trial came about: source, what was seen, value, fit, versions."""
        return self.ledger.store.suggestions(self.ledger.id)

    def verify(self) -> Verification:
        """Computes every past suggestion again from its record, and reports differences."""
        return verify(self.ledger)

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row per measurement (or per trial without one), as a pandas DataFrame.

        Needs pandas. A parameter named like a column of the outcome ("value", "noise", …) is called
        "params_value", …; unknown noise is NaN.
        """
        return to_dataframe(self.trials, self.space.names)

    # -- inside ------------------------------------------------------------------------

    def _params(self, number: int | None) -> dict[str, Any]:
        """The parameters of a trial as they were recorded, rather than decoded from the cube."""
        if number is None:  # pragma: no cover - an answer about measured settings has a number
            raise NotFoundError("there is no such trial.")
        return dict(self.ledger.snapshot.trials[number].params)

    def _attempt(self, number: int) -> int:
        """How often a trial was handed out; 0 for one that does not exist."""
        trials = self.ledger.refresh().trials
        return trials[number].attempt if number < len(trials) else 0

    def _not_under_way(self, number: int, wish: str, advice: str) -> ConflictError:
        state = self.ledger.trial(number).state
        return ConflictError(
            f"trial {number} is {state} and cannot be {wish}, only one under way can; {advice}."
        )

    def __reduce__(self) -> NoReturn:
        where = "instead,"
        if self.ledger.store.in_memory:
            where = "a study in memory cannot go there, so give it a storage and"
        raise InputError(
            f"a study is a connection to a database, which no other process or copy can use;"
            f" {where} call Study.open(storage, {self.name!r}) over there."
        )

    def __repr__(self) -> str:
        done = len(self.ledger.refresh().in_state(DONE))
        parameters = f"{len(self.space)} parameters"
        return f"<Study {self.name!r}: {self.direction} over {parameters}, {done} trials measured>"


def _measurement_of(value: SupportsFloat | Measurement, noise: SupportsFloat | None) -> Measurement:
    if isinstance(value, Measurement):
        if noise is not None:
            raise InputError("a Measurement carries its own noise; leave noise out.")
        return value
    return Measurement(value, noise)


def _not_finite(measurement: Measurement) -> Failure:
    return Failure(f"the value is {measurement.value!r}")


def _number_of(trial: Trial | int) -> int:
    if isinstance(trial, Trial):
        return trial.number
    if isinstance(trial, bool) or not isinstance(trial, int | np.integer):
        raise InputError(
            f"trial must be a Trial from ask(), or its number, got {show_value(trial)}."
        )
    if not 0 <= trial <= _LARGEST_NUMBER:
        raise NotFoundError(f"there is no trial {show_value(int(trial))}; numbers count from 0.")
    return int(trial)
