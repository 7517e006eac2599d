"""Random studies with outcomes, limits, blocks, rules and branches, and values of every size.

The same must hold of them as of plain ones: settings of the space that obey its rules, finite
answers, chances between 0 and 1, nothing beyond what is physically possible, pages well-formed.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from ceibo import (
    AtLeast,
    AtMost,
    Categorical,
    Estimate,
    Float,
    Int,
    Maximize,
    Measurement,
    Minimize,
    Ordinal,
    Space,
    Study,
    Watch,
)
from ceibo.decide.dimensions import Dimension
from ceibo.decide.outcomes import Outcome
from ceibo.errors import ConflictError, InputError, NoMeasurementError
from ceibo.report import render_report
from soak.fuzz_studies import WrongError, check_page, check_params, extreme, noise_of, values_of

_NAMES: Final = ("yield", "<i>", "@cost", "n" * 60, "ü")
_T = TypeVar("_T")
_COUNTS: Final = (0, 1, 2, 3, 5, 8, 15, 30)
_RULES: Final = (
    "a + b <= 1.2",
    "a + b == 1",
    "a >= 0.5 if c == 'x'",
    "not (c == '<y>' and n == 3)",
    "at most 1 of a, b",
    "b <= 0.7 * n",
)


def several(seed: int) -> str:
    """Asks and tells, all answers, and sometimes the page, of such a study."""
    rng = random.Random(f"several {seed}")
    try:
        made = _study(rng)
    except (InputError, ConflictError):
        return "refused"
    try:
        _past(rng, made)
        trial = made.ask()
        check_params(made, trial.params, "suggestion")
        _tell(rng, made, trial.number, [extreme(rng) for _ in made.outcomes or ()])
        _check_answers(rng, made)
        if rng.random() < 0.25:
            check_page(render_report(made))
    finally:
        made.close()
    return "ok"


def _space(rng: random.Random) -> Space:
    when = {"c": rng.choice(["x", "<y>"])} if rng.random() < 0.4 else None
    width = 10.0 ** rng.choice([0, 0, 0, -8, 6, 100])
    dimensions: dict[str, Dimension] = {
        "a": Float(0, 1),
        "b": Float(0, 1),
        "n": Int(1, 5),
        "c": Categorical(["x", "<y>", "=z"]),
        "free": Float(-width, width, when=when),
        "levels": Ordinal([1, 2, 4, 24], when=when),
    }
    kept = 4 + rng.randrange(3)
    rules = rng.sample(_RULES, rng.choice([0, 0, 1, 2]))
    return Space(dict(list(dimensions.items())[:kept]), constraints=rules)


def _outcome(rng: random.Random, kind: int, size: float) -> Outcome:
    """A goal (0, 1), a limit (2, 3) or something that is watched (4)."""
    low = rng.choice([None, None, 0.0, -size])
    high = rng.choice([None, None, size, 10 * size])
    unit = rng.choice(["", "%", "<i>"])
    if kind < 2:
        goal = Minimize if kind == 0 else Maximize
        return goal(unit=unit, low=low, high=high)
    if kind < 4:
        limit = AtMost if kind == 2 else AtLeast
        return limit(rng.choice([0.5 * size, extreme(rng)]), unit=unit, low=low, high=high)
    return Watch(unit=unit)


def _study(rng: random.Random) -> Study:
    kinds = [rng.randrange(2) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    kinds += [rng.randrange(2, 5) for _ in range(rng.choice([0, 1, 1, 2]))]
    size = 10.0 ** rng.choice([0, 0, 0, -150, -8, 6, 150])
    names = rng.sample(_NAMES, len(kinds))
    outcomes = {name: _outcome(rng, kind, size) for name, kind in zip(names, kinds, strict=True)}
    return Study.create(
        _space(rng),
        outcomes=outcomes,
        confidence=rng.choice([0.5, 0.95, 0.999]),
        n_initial=rng.choice([None, 1, 3]),
        max_observations=rng.choice([1000, 1000, 12]),
        seed=rng.randrange(1000),
    )


def _past(rng: random.Random, made: Study) -> None:
    """Trials as they are told in a laboratory: whole, in part, failed, corrected, voided."""
    count = rng.choice(_COUNTS)
    if not count or made.outcomes is None:
        return
    told = [values_of(rng, count) for _ in made.outcomes]
    for place, trial in enumerate(made.ask(count)):
        check_params(made, trial.params, "suggestion")
        if rng.random() < 0.07:
            made.fail(trial, "<i>broken</i>")
            continue
        _tell(rng, made, trial.number, [each[place] for each in told])
        if rng.random() < 0.1 and made.trials[trial.number].outcomes:
            name = rng.choice(list(made.trials[trial.number].outcomes))
            made.correct(trial, {name: _value(rng, extreme(rng))})
            if rng.random() < 0.5:
                made.void(trial, "=1+1", outcome=name)


def _value(rng: random.Random, value: float) -> Measurement:
    noise = noise_of(rng, rng.randrange(6), value) if rng.random() < 0.3 else None
    block = rng.choice([None, None, {"day": "<1>"}, {"day": "2", "plate": "=3"}])
    return Measurement(value, noise, block=block)


def _tell(rng: random.Random, made: Study, number: int, values: list[float]) -> None:
    """Tells the outcomes, now and then not all of them."""
    names = list(made.outcomes or ())
    found = {
        name: _value(rng, value)
        for name, value in zip(names, values, strict=True)
        if rng.random() < 0.9
    }
    if found:
        made.tell(number, found)


def _check_answers(rng: random.Random, made: Study) -> None:
    """Every answer that is due, and a sentence that says why there is none of the others."""
    anywhere = made.space.from_unit([rng.random() for _ in made.space.names])
    assert made.outcomes is not None
    one_goal = len(made.outcomes.goals) == 1
    asked: tuple[tuple[Callable[[], Sequence[Estimate]], bool], ...] = (
        (lambda: [made.best], one_goal),
        (lambda: [made.recommended], one_goal),
        (lambda: made.front, not one_goal),
        (lambda: made.predict([anywhere]), True),
    )
    for ask, is_due in asked:
        for estimate in answer(made, ask, is_due) or ():
            check_params(made, estimate.params, "answer")
            _check_estimate(made, estimate)
    cost = rng.choice([5e-324, 1e-3, 1.0, 1e300])
    verdict = answer(made, lambda: made.should_stop(cost), one_goal)
    if verdict is not None and any(math.isnan(each) for each in verdict.remaining):
        raise WrongError(f"remaining {verdict.remaining!r}")


def answer(made: Study, ask: Callable[[], _T], is_due: bool) -> _T | None:
    """An answer, or None where there can be none: too little is measured, or it is not due.

    It is due where the study has as many goals as it is about.
    """
    try:
        found = ask()
    except NoMeasurementError as error:
        if _is_measured(made):
            raise WrongError(f"no answer, though all is measured: {error}") from error
        return None
    except InputError as error:
        if is_due:
            raise WrongError(f"refused, though it is due: {error}") from error
        return None
    if not is_due:
        raise WrongError(f"an answer of another number of goals: {found!r}")
    return found


def _is_measured(made: Study) -> bool:
    """Whether every goal and limit has been measured, at some setting all of them."""
    assert made.outcomes is not None
    needed = set(made.outcomes.needed)
    return any(needed <= set(trial.outcomes) for trial in made.trials)


def _check_estimate(made: Study, estimate: Estimate) -> None:
    for name, each in estimate.outcomes.items():
        if not math.isfinite(each.mean) or not each.std >= 0:
            raise WrongError(f"{name}: mean {each.mean!r} ± {each.std!r}")
        assert made.outcomes is not None
        outcome = made.outcomes[name]
        low = -math.inf if outcome.low is None else outcome.low
        high = math.inf if outcome.high is None else outcome.high
        if not low <= each.mean <= high:
            raise WrongError(f"{name}: mean {each.mean!r} out of [{low}, {high}]")
    for chance in (estimate.p_feasible, estimate.p_efficient):
        if chance is not None and not 0.0 <= chance <= 1.0:
            raise WrongError(f"a chance of {chance!r}")
