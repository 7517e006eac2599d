"""Study: ask what to measure, tell what came out, get the best with its uncertainty."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, SupportsFloat, Unpack, final, overload

from ceibo.attached import Shown
from ceibo.checks import check_options, check_seed
from ceibo.decide.block_names import AnyBlock
from ceibo.decide.direction import DirectionLike
from ceibo.decide.measurement import Measurement
from ceibo.decide.outcomes import Outcome
from ceibo.decide.precision import Precision
from ceibo.decide.settings import DEFAULT_ACQUISITION, DEFAULT_KERNEL, Settings
from ceibo.decide.space import Space, SpaceLike, check_searchable
from ceibo.errors import ConflictError
from ceibo.study.adding import checked_rows, new_trial
from ceibo.study.asking import Asking
from ceibo.study.attributes import checked_attributes
from ceibo.study.changing import change
from ceibo.study.creation import aims, settings_for, study_data
from ceibo.study.evaluation import Objective
from ceibo.study.faces import Faces
from ceibo.study.handing import Handing
from ceibo.study.ledger import Ledger
from ceibo.study.page import Page
from ceibo.study.reported import Value, Values, checked_name, checked_reason, reported, right_values
from ceibo.study.result import Found
from ceibo.study.running import Run, RunOptions
from ceibo.study.store import QUEUED, WITHDRAWN, Named, NewTrial, Store, hand_out_key
from ceibo.study.trial import Failure, Trial, number_of, trial_of

MEMORY = "sqlite://"


@final
class Study(Handing, Faces):
    """A study of one objective, or of several outcomes, over one space, kept in a database.

    Made by `Study.create` and `Study.open`. `ledger` is its stored record, for ceibo's own use.
    `outcomes` and `confidence` are None in a study of one objective; in one of several outcomes
    `direction` is that of the first goal.

    Example:
        >>> import ceibo
        >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, (trial.params["x"] - 0.3) ** 2, noise=0.01)
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.asking = Asking(ledger)
        self.name = ledger.name
        self.outcomes = ledger.outcomes
        self.direction = str(ledger.direction)
        self.seed = ledger.seed
        self.settings = ledger.settings
        self.confidence = ledger.settings.confidence

    # -- opening -----------------------------------------------------------------------

    @classmethod
    def create(  # noqa: PLR0913 - public, keyword-only
        cls,
        space: SpaceLike,
        *,
        outcomes: Mapping[str, Outcome] | None = None,
        confidence: float | None = None,
        storage: str | None = None,
        name: str = "study",
        direction: DirectionLike | None = None,
        seed: int = 0,
        acquisition: str = DEFAULT_ACQUISITION,
        kernel: str = DEFAULT_KERNEL,
        fit: str = "map",
        n_initial: int | None = None,
        max_observations: int = 1000,
        precision: Precision | None = None,
        outliers: bool = True,
        varying_noise: bool = True,
    ) -> Self:
        """Creates a study; a name that exists in the storage is an error.

        Args:
            space: name -> Float, Int, Ordinal or Categorical; at most 5,000 of them. A `Space` of
                them may have rules between them.
            outcomes: name -> Minimize, Maximize, AtMost, AtLeast or Watch, if several things are
                measured; by default one objective is.
            confidence: with which the limits among the outcomes are to hold at the settings
                answered; 0.95 by default.
            storage: database URL, such as "sqlite:///lab.db" or "postgresql://user@host/db"; memory
                by default.
            name: of the study within the storage.
            direction: "minimize" (by default) or "maximize"; not beside outcomes.
            seed: suggestions are a function of it and of what was told.
            acquisition, kernel, fit, n_initial, max_observations, outliers, varying_noise: see
                ceibo.decide.Settings.
            precision: what a trial and each of its values cost, if a setting can be measured more
                precisely for more money; `trial.repeats` then says how many values to take.
        """
        checked = Space(space)
        check_searchable(checked)
        stored, goals, assurance = aims(outcomes, direction, confidence)
        settings = Settings(
            acquisition,
            kernel,
            fit,
            n_initial,
            max_observations,
            precision=precision,
            outliers=outliers,
            varying_noise=varying_noise,
        )
        resolved = settings_for(goals, assurance, settings, checked.breadth)
        stored |= {"seed": check_seed(seed), "suggest": resolved.to_json()}
        data = study_data(goals, checked, resolved)
        store = Store(MEMORY if storage is None else storage)
        return cls(Ledger(store, store.create_study(name, checked.to_json(), stored, data)))

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

    # -- ask and tell ------------------------------------------------------------------

    def tell(
        self,
        trial: Trial | int,
        value: Values,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
        block: AnyBlock = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Records a measurement of a trial; returns once it is safely stored.

        Args:
            trial: from `ask`, or its number.
            value: a number, or a Measurement. NaN and ±inf are recorded as a failure. In a study
                with outcomes a dict of them, of which some may be told later.
            noise: standard deviation of the value; unknown by default, and then inferred.
            key: tells several measurements of one trial apart. Without a key a trial has one value
                (of each outcome): the same again changes nothing, a different one is an error; see
                `correct` and `void`.
            block: what the measurement shares with others beside its setting, as in "2026-11-14"
                or {"day": "2026-11-14", "plate": 3}; see `blocks`.
            attributes: name -> whatever else belongs to the trial, as numbers, texts, and lists and
                dicts of them; see `Trial.attributes`. They may also be told with the same value
                again.

        Raises:
            NotStoredError: the storage could not be reached; the exception holds the measurement.
        """
        given = checked_attributes(attributes)
        told = replace(reported(self.outcomes, value, noise, block), attributes=given)
        number = number_of(trial)
        if told.values and key is None:
            attempt = trial.attempt if isinstance(trial, Trial) else self.ledger.attempt(number)
            key = hand_out_key(attempt)
        self.ledger.tell(number, told, key or "")

    @overload
    def correct(
        self,
        trial: Trial | int,
        value: Value,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
        outcome: str | None = None,
        block: AnyBlock = None,
    ) -> Measurement: ...
    @overload
    def correct(
        self,
        trial: Trial | int,
        value: Mapping[str, Value],
        noise: None = None,
        *,
        key: str | None = None,
        block: AnyBlock = None,
    ) -> dict[str, Measurement]: ...
    def correct(
        self,
        trial: Trial | int,
        value: Values,
        noise: SupportsFloat | None = None,
        *,
        key: str | None = None,
        outcome: str | None = None,
        block: AnyBlock = None,
    ) -> Measurement | dict[str, Measurement]:
        """Replaces a measurement that was told wrongly, and returns the wrong one.

        Returns once the right one is safely stored. The wrong one stays in the record
        (`trial.replaced`), so that suggestions made from it can still be verified.

        Args:
            trial: from `ask`, or its number.
            value: a number, or a Measurement; in a study with outcomes also a dict of them.
            noise: standard deviation of the value; unknown by default, also where the wrong one
                had one.
            key: which measurement of the trial; needed if there are several.
            outcome: which one a number is of, in a study with outcomes.
            block: as in `tell`; that of the wrong one by default, and {} for none.
        """
        values = right_values(self.outcomes, value, noise, outcome, block)
        store, number = self.ledger.store, number_of(trial)
        wrong = store.correct_outcomes(self.ledger.id, number, values, key, block is None)
        return wrong if isinstance(value, Mapping) else next(iter(wrong.values()))

    def void(
        self, trial: Trial | int, reason: str, key: str | None = None, outcome: str | None = None
    ) -> Measurement:
        """Takes back a measurement that must not count, such as one of a broken instrument.

        It stays in the record (`trial.voided`) with the reason. A trial that lacks a value then is
        under way again until another is told; it may also be released, withdrawn or failed.

        Args:
            trial: from `ask`, or its number.
            reason: why it does not count.
            key, outcome: which measurement of the trial; needed if there are several.

        Returns:
            The measurement.
        """
        named = Named(checked_name(self.outcomes, outcome), key, self.ledger.needed)
        text = checked_reason(reason)
        return self.ledger.store.void(self.ledger.id, number_of(trial), named, text)

    def fail(self, trial: Trial | int, reason: str) -> None:
        """Records that measuring a trial failed, and why; the search keeps off it."""
        self.ledger.store.fail(self.ledger.id, number_of(trial), reason)

    def release(self, trial: Trial | int) -> None:
        """Gives a trial back unmeasured; the next `ask` hands it out again. See also `withdraw`."""
        number = number_of(trial)
        released = self.ledger.store.release(self.ledger.id, number)
        if not released and self.ledger.trial(number).state != QUEUED:
            advice = "enqueue its params to measure the setting again"
            raise self._not_under_way(number, "released", advice)

    def withdraw(self, trial: Trial | int) -> None:
        """Takes back a trial that will not be measured, or one that is queued.

        It is not handed out again. Nothing is learnt from it, but the search looks elsewhere first,
        as around a trial that is being measured. Like any other it counts as one of `n_trials`.
        """
        number = number_of(trial)
        withdrawn = self.ledger.store.withdraw(self.ledger.id, number)
        if not withdrawn and self.ledger.trial(number).state != WITHDRAWN:
            raise self._not_under_way(number, "withdrawn", "nothing needs to be done")

    def add(
        self,
        params: Mapping[str, Any],
        value: Values | Failure,
        noise: SupportsFloat | None = None,
        *,
        block: AnyBlock = None,
    ) -> Trial:
        """Adds an existing measurement, made outside the study.

        It may lie outside the range of a parameter or off its grid, have a choice that is no longer
        offered, or break a rule: it informs the model, and is not suggested.
        """
        (trial,) = self.ledger.create([new_trial(self.ledger, params, value, noise, block)])
        return trial_of(self.ledger.trial(trial.number))

    def add_all(
        self,
        rows: Iterable[tuple[Mapping[str, Any], Values | Failure]],
        *,
        expect_number: int | None = None,
    ) -> list[int]:
        """Adds existing measurements and failures, all or none; returns the trials' numbers.

        Args:
            rows: parameters with what would be told, or with a ceibo.study.Failure.
            expect_number: the number that the first one must get, if it matters: how many trials
                there were when the rows were chosen.

        Raises:
            NumberTakenError: there are more trials by now; nothing was added.
        """
        new = [new_trial(self.ledger, *row) for row in checked_rows(rows)]
        stored = self.ledger.create(new, expect_number=expect_number)
        return [trial.number for trial in stored]

    def enqueue(self, params: Mapping[str, Any]) -> Trial:
        """Queues a setting of your own, which holds the rules; the next `ask` hands it out."""
        checked = self.space.check(params)
        self.space.check_rules(checked)
        new = NewTrial(checked, {"source": "enqueued"}, queued=True)
        return trial_of(self.ledger.create([new])[0])

    def change(self, space: SpaceLike, before: Mapping[str, Any] | None = None) -> None:
        """Gives the study another space from now on; what was measured stays, and counts.

        A range may be wider or narrower, a choice new or retired, a step, a scale or a rule
        another, and a parameter may be added. Suggestions in the queue that are no setting of the
        new space are withdrawn; settings that were enqueued stay.

        Args:
            space: the whole new space.
            before: name -> the value that each new parameter had in the trials so far.
        """
        change(self.ledger, space, before)

    # -- a run -------------------------------------------------------------------------

    def optimize(self, objective: Objective, **options: Unpack[RunOptions["Study"]]) -> "Result":
        """Measures by calling a function, until a limit is reached.

        Whatever ends it, the study has all that was measured, and another call goes on.

        Args:
            objective: called with a dict of parameters; see `ceibo.minimize`.
            options: `n_trials` (in all, those that the study has included), `cost`, `timeout`,
                `executor`, `jobs`, `callbacks`, `max_failures`, `lease`, `block`, `confirm` and
                `progress`, each as in `ceibo.minimize`.

        Example:
            >>> import ceibo
            >>> study = ceibo.Study.create({"x": ceibo.Float(0, 1)})
            >>> queued = study.enqueue({"x": 0.25})
            >>> result = study.optimize(lambda p: (p["x"] - 0.3) ** 2, n_trials=8)
            >>> study.trials[0].params, len(study.trials)
            ({'x': 0.25}, 8)
        """
        check_options(options, RunOptions.__optional_keys__, "optimize", n_jobs="jobs")
        run: Run[Study] = Run.of(objective, options)
        return Result(self, run.on(self), run.limits.cost)

    # -- inside ------------------------------------------------------------------------

    def _not_under_way(self, number: int, wish: str, advice: str) -> ConflictError:
        state = self.ledger.trial(number).state
        return ConflictError(
            f"trial {number} is {state} and cannot be {wish}, only one under way can; {advice}."
        )


@final
@dataclass(frozen=True, repr=False)
class Result(Found[Study], Shown):
    """What a run found and why it ended; the answers are the study's."""

    def report(self, *, cost: float | None = None) -> Page:
        """The report of the study; see `Study.report`. The price is that of the run by default."""
        return self.study.report(cost=self.cost if cost is None else cost)
