"""minimize(), maximize() and optimize(): a study run to its end, here or on any executor."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Final, NamedTuple, Unpack, final

from ceibo.checks import check_options, checked_options
from ceibo.decide.block_names import AnyBlock
from ceibo.decide.direction import DirectionLike
from ceibo.decide.outcomes import Outcome, Outcomes
from ceibo.decide.settings import Settings, two_for_each
from ceibo.decide.space import Space, SpaceLike
from ceibo.errors import ConflictError, InputError
from ceibo.study.evaluation import Objective
from ceibo.study.limits import USUAL_FAILURES
from ceibo.study.runner import Callback
from ceibo.study.running import Run, RunOptions
from ceibo.study.study import Result, Study


class Options(RunOptions[Study], total=False):
    """The options of `minimize` except the direction, and of `optimize`."""

    storage: str | None
    name: str
    seed: int | None
    acquisition: str | None
    n_initial: int | None


# what other tools call the same
_MEANT: Final = {"n_jobs": "jobs", "n_iter": "n_trials", "n_calls": "n_trials"}


@checked_options("minimize", **_MEANT)
def minimize(  # noqa: PLR0913 - public, keyword-only
    objective: Objective,
    space: SpaceLike,
    *,
    n_trials: int | None = None,
    cost: float | None = None,
    timeout: float | None = None,
    storage: str | None = None,
    name: str = "study",
    direction: DirectionLike = "minimize",
    seed: int | None = None,
    acquisition: str | None = None,
    n_initial: int | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    callbacks: Iterable[Callback[Study]] = (),
    max_failures: int | None = USUAL_FAILURES,
    lease: float = 60.0,
    block: AnyBlock = None,
    confirm: float = 0,
    progress: bool | None = None,
) -> Result:
    """Minimises a noisy objective; see `optimize` for several outcomes.

    Args:
        objective: called with a dict of parameters; returns a number, or a Measurement with its
            noise or replicates. An exception is recorded as a failed trial.
        space: name -> Float, Int, Ordinal or Categorical.
        n_trials: trials in all, those already in the study included; 50 if neither cost nor timeout
            is given.
        cost: price of one evaluation in the objective's units; the run ends when no measurement
            promises more.
        timeout: seconds after which no new trial is started.
        storage: database URL; with one, a study of this name is continued if it exists. In memory
            by default.
        name: of the study in the storage.
        direction: "minimize" or "maximize".
        seed, acquisition, n_initial: of a new study; see Study.create. A stored one keeps its own:
            others are refused.
        executor: any concurrent.futures executor; it is kept full. A ProcessPoolExecutor that
            breaks because a process died is made anew.
        jobs: evaluations at a time on the executor; its number of workers by default.
        callbacks: each called as callback(study, trial) after every finished trial; what it returns
            does not matter. `raise ceibo.StopRun(reason)`, there or in the objective, ends the run.
        max_failures: this many failed evaluations in a row end the run with the last exception;
            None for no limit. Unless this is given, an exception in the first trial ever of a study
            is raised at once: it is mostly an error in the objective. Every exception that ends a
            run has the study as its attribute `study`.
        lease: seconds after which a trial of a worker that has died is handed out again; a trial
            lost three times becomes a failed one.
        block: of the measurements of this run, such as the day; see Study.tell. A Measurement with
            a block of its own keeps it.
        confirm: the share of n_trials (or, if it is a whole number from 1 on, the number of trials)
            that goes into the answer at the end instead of the search; see `Study.confirm`.
        progress: show progress; by default only in a terminal and in a notebook.

    Returns:
        Result: `best`, `recommended`, `best_observed`, `stop`, and the `study`. Ctrl-C ends the run
        early with a result too; the same call goes on with a stored study.

    Example:
        >>> import ceibo
        >>> space = {"x": ceibo.Float(0, 1)}
        >>> result = ceibo.minimize(lambda p: (p["x"] - 0.3) ** 2, space, n_trials=12)
        >>> abs(result.best.params["x"] - 0.3) < 0.1
        True
    """
    options = Options(
        n_trials=n_trials,
        cost=cost,
        timeout=timeout,
        storage=storage,
        name=name,
        seed=seed,
        acquisition=acquisition,
        n_initial=n_initial,
        executor=executor,
        jobs=jobs,
        callbacks=callbacks,
        max_failures=max_failures,
        lease=lease,
        block=block,
        confirm=confirm,
        progress=progress,
    )
    return _run(objective, space, {"direction": direction}, options)


def optimize(
    objective: Objective,
    space: SpaceLike,
    outcomes: Mapping[str, Outcome],
    *,
    confidence: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Optimises several noisy outcomes: goals, and limits that are to hold.

    Args:
        objective: called with a dict of parameters; returns a dict of numbers or Measurements, one
            for each outcome. One that is left out is told later, by `study.tell`.
        space: name -> Float, Int, Ordinal or Categorical.
        outcomes: name -> Minimize, Maximize, AtMost, AtLeast or Watch.
        confidence: with which the limits are to hold at the settings answered; 0.95 by default.
        options: those of `minimize`.

    Returns:
        Result: as from `minimize`; of several goals `front` in place of `best`.

    Example:
        >>> import ceibo
        >>> def react(params):
        ...     return {"yield": 80 - (params["x"] - 0.7) ** 2, "impurity": 3 * params["x"]}
        >>> outcomes = {"yield": ceibo.Maximize(), "impurity": ceibo.AtMost(1.5)}
        >>> result = ceibo.optimize(react, {"x": ceibo.Float(0, 1)}, outcomes, n_trials=8)
        >>> result.best.params["x"] <= 0.5
        True
    """
    known = {*Options.__optional_keys__, "confidence"}
    check_options(options, known, "optimize", **_MEANT)
    aims: dict[str, Any] = {"outcomes": outcomes}
    if confidence is not None:
        aims["confidence"] = confidence
    return _run(objective, space, aims, options)


def _run(objective: Objective, space: SpaceLike, aims: dict[str, Any], options: Options) -> Result:
    """Runs a study, whose options but for its aims are given, to its end."""
    run: Run[Study] = Run.of(objective, options)
    given = {key: options.get(key) for key in ("seed", "acquisition", "n_initial")}
    aims |= {option: value for option, value in given.items() if value is not None}
    study = open_or_create(space, options.get("storage"), options.get("name", "study"), aims)
    return Result(study, run.on(study), run.limits.cost)


def maximize(objective: Objective, space: SpaceLike, **options: Unpack[Options]) -> Result:
    """Maximises a noisy objective; the options are those of `minimize`."""
    if "direction" in options:
        raise TypeError(
            "maximize() has no option 'direction', because it maximises; leave it out, or use"
            " minimize(…, direction=…), which has one."
        )
    check_options(options, Options.__optional_keys__, "maximize", **_MEANT)
    return minimize(objective, space, **options, direction="maximize")


def open_or_create(
    space: SpaceLike, storage: str | None, name: str, options: Mapping[str, Any]
) -> Study:
    """The stored study of this name, after checking that it is the same, or a new one."""
    study = create_or_open(space, storage, name, options)
    study.space.check_same(Space(space))
    _check_outcomes(study, options.get("outcomes"))
    change = first_change(study, options)
    if change is None:
        return study
    if change.option == "direction":
        raise InputError(f"study {name!r} is to {study.direction}; start one under another name.")
    raise InputError(
        f"study {name!r} was begun with {change.option}={change.stored!r}, now came"
        f" {change.option}={change.given!r}; leave it out to go on with the study, or start one"
        " under another name."
    )


def create_or_open(
    space: SpaceLike, storage: str | None, name: str, options: Mapping[str, Any]
) -> Study:
    """A new study, or the stored one of this name, which may differ from what is given."""
    try:
        return Study.create(space, storage=storage, name=name, **options)
    except ConflictError:
        # It exists, perhaps made just now by another worker.
        if storage is None:
            raise
    return Study.open(storage, name)


def _check_outcomes(study: Study, given: Mapping[str, Outcome] | None) -> None:
    """Refuses outcomes that are not those of a stored study."""
    if study.outcomes is not None and given is not None:
        study.outcomes.check_same(Outcomes(given))
    elif study.outcomes is not None:
        raise InputError(
            f"study {study.name!r} has the outcomes {', '.join(study.outcomes)}; go on with it by"
            " optimize, or start one under another name."
        )
    elif given is not None:
        raise InputError(
            f"study {study.name!r} has one objective and no outcomes; go on with it by"
            f" {study.direction}, or start one under another name."
        )


@final
class Change(NamedTuple):
    """An option that was given with another value than its study was begun with."""

    option: str
    stored: Any
    given: Any


def first_change(study: Study, options: Mapping[str, Any]) -> Change | None:
    """The first of the options of Study.create that differs from the study's own, or None."""
    stored = {"direction": study.direction, "seed": study.seed, **study.settings.to_json()}
    # what is not written down where it is off
    for option in ("precision", "outliers", "varying_noise"):
        stored[option] = getattr(study.settings, option)
    if "n_initial" in options:  # None means the default size
        breadth = study.ledger.spaces.first.breadth  # which decided, whatever has changed since
        own = stored["n_initial"] = study.settings.initial_size(breadth)
        given = Settings(n_initial=options["n_initial"]).initial_size(breadth)
        if options["n_initial"] is None and own == two_for_each(breadth):
            given = own  # the default of its time
        options = {**options, "n_initial": given}
    for option, value in options.items():
        if option != "outcomes" and value != stored.get(option):
            return Change(option, stored.get(option), value)
    return None
