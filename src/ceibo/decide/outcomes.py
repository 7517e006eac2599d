"""Measured outcomes: goals, limits, and what is only watched.

A goal is to be as small or as large as possible, a limit is to be held, and a watched outcome is
modelled but decides nothing. `low` and `high` of an outcome are what is physically possible, not
what is wanted: a yield is between 0 and 100 %.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self, final

from ceibo.checks import ask_nearest, check_choice, to_float
from ceibo.decide.direction import Direction
from ceibo.decide.measurement import Measurement
from ceibo.errors import InputError, show_value

MOST_GOALS: Final = 3
LONGEST_NAME: Final = 100
LONGEST_UNIT: Final = 20


@dataclass(frozen=True, kw_only=True)
class Outcome(ABC):
    """Something that is measured.

    Args:
        unit: by which values are shown.
        low, high: what is physically possible, if that is known.
    """

    direction: ClassVar[Direction] = Direction.MINIMIZE
    """Which values are better; of a limit, those on its right side."""
    is_goal: ClassVar[bool] = False

    unit: str = ""
    low: float | None = None
    high: float | None = None

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data, as in a study file."""

    @property
    def bound(self) -> float | None:
        """The limit to hold, or None."""
        return None

    @property
    def possible(self) -> tuple[float, float]:
        """The ends of what it can be; ±inf where there is none."""
        low, high = self.low, self.high
        return -math.inf if low is None else low, math.inf if high is None else high

    def holds(self, value: float) -> bool:
        """Whether a value holds the limit; always, if there is none."""
        if self.bound is None:
            return True
        return self.direction.flip(value) <= self.direction.flip(self.bound)

    def __post_init__(self) -> None:
        if not isinstance(self.unit, str) or len(self.unit) > LONGEST_UNIT:
            raise InputError(
                f"unit must be a text of at most {LONGEST_UNIT} characters, got"
                f" {show_value(self.unit)}."
            )
        if not self.unit.isprintable():
            raise InputError(f"unit must be printable, got {show_value(self.unit)}.")
        for name in ("low", "high"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _number(value, name))
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise InputError(f"low must be below high, got low={self.low!r}, high={self.high!r}.")
        if self.bound is not None:
            object.__setattr__(self, "limit", _number(self.bound, "limit"))
            self._check_possible()

    def _check_possible(self) -> None:
        """Refuses a limit that nothing possible can hold."""
        name = "low" if self.direction is Direction.MINIMIZE else "high"
        best = getattr(self, name)
        if best is not None and not self.holds(best):
            raise InputError(
                f"the limit {self.bound!r} can never be held with {name}={best!r}; give one between"
                " low and high."
            )

    def _shared_json(self) -> dict[str, Any]:
        given = {"unit": self.unit or None, "low": self.low, "high": self.high}
        return {name: value for name, value in given.items() if value is not None}


@final
@dataclass(frozen=True, kw_only=True)
class Minimize(Outcome):
    """A goal: as small as possible."""

    is_goal: ClassVar[bool] = True

    def to_json(self) -> dict[str, Any]:
        return {"goal": "minimize", **self._shared_json()}


@final
@dataclass(frozen=True, kw_only=True)
class Maximize(Outcome):
    """A goal: as large as possible."""

    direction: ClassVar[Direction] = Direction.MAXIMIZE
    is_goal: ClassVar[bool] = True

    def to_json(self) -> dict[str, Any]:
        return {"goal": "maximize", **self._shared_json()}


@final
@dataclass(frozen=True)
class AtMost(Outcome):
    """A limit: not above `limit`."""

    limit: float

    @property
    def bound(self) -> float:
        return self.limit

    def to_json(self) -> dict[str, Any]:
        return {"at_most": self.limit, **self._shared_json()}


@final
@dataclass(frozen=True)
class AtLeast(Outcome):
    """A limit: not below `limit`."""

    direction: ClassVar[Direction] = Direction.MAXIMIZE
    limit: float

    @property
    def bound(self) -> float:
        return self.limit

    def to_json(self) -> dict[str, Any]:
        return {"at_least": self.limit, **self._shared_json()}


@final
@dataclass(frozen=True, kw_only=True)
class Watch(Outcome):
    """An outcome that is modelled and shown, and decides nothing; it need not be told."""

    def to_json(self) -> dict[str, Any]:
        return {"watch": True, **self._shared_json()}


_KINDS: Final = ("goal", "at_most", "at_least", "watch")
_SHARED: Final = ("unit", "low", "high")
_GOALS: Final = {"minimize": Minimize, "maximize": Maximize}


@final
class Outcomes(Mapping[str, Outcome]):
    """The outcomes of a study by name, in a fixed order; at least one of them is a goal."""

    def __init__(self, outcomes: "Mapping[str, Outcome] | Outcomes") -> None:
        example = '{"yield": Maximize(), "impurity": AtMost(2.0)}'
        if not isinstance(outcomes, Mapping) or not outcomes:
            raise InputError(f"expected outcomes as in {example}, got {show_value(outcomes)}.")
        self._each: dict[str, Outcome] = {}
        for name, outcome in outcomes.items():
            check_outcome_name(name)
            if not isinstance(outcome, Outcome):
                raise InputError(
                    f"outcome {name!r}: expected Minimize(), Maximize(), AtMost(…), AtLeast(…) or"
                    f" Watch(), got {show_value(outcome)}."
                )
            self._each[name] = outcome
        count = len(self.goals)
        if not 1 <= count <= MOST_GOALS:
            raise InputError(
                f"expected one to {MOST_GOALS} goals, Minimize() or Maximize(), among the outcomes,"
                f" got {count}; an outcome that decides nothing is Watch()."
            )

    def __getitem__(self, name: str) -> Outcome:
        return self._each[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self._each)

    def __eq__(self, other: object) -> bool:
        mine = list(self._each.items())
        return isinstance(other, Outcomes) and mine == list(other.items())

    __hash__ = None  # type: ignore[assignment]  # outcomes are compared, and are never a key

    def __repr__(self) -> str:
        return f"Outcomes({self._each!r})"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._each)

    @property
    def goals(self) -> tuple[str, ...]:
        """The names of what is to be small or large."""
        return tuple(name for name, each in self._each.items() if each.is_goal)

    @property
    def limits(self) -> tuple[str, ...]:
        """The names of what is to be held."""
        return tuple(name for name, each in self._each.items() if each.bound is not None)

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of what a trial must have told to be done: goals and limits."""
        return tuple(name for name in self._each if name in (*self.goals, *self.limits))

    def check_name(self, name: object) -> str:
        """The name of one of these outcomes, or an error that lists them."""
        if not isinstance(name, str) or name not in self._each:
            listed = ", ".join(self._each)
            end = ask_nearest(name, self._each) if isinstance(name, str) else "."
            raise InputError(f"outcome must be one of {listed}, got {show_value(name)}{end}")
        return name

    def check(self, values: object) -> dict[str, Measurement]:
        """What was told, as measurements by name; a bare number where there is one outcome."""
        if isinstance(values, Mapping):
            if not values:
                raise InputError(f"expected a value of {', '.join(self._each)}, got none.")
            return {self.check_name(name): _measurement(name, values[name]) for name in values}
        if len(self._each) > 1:
            example = ", ".join(f"{name!r}: …" for name in self._each)
            raise InputError(
                f"expected a value for each outcome, as in {{{example}}}, got {show_value(values)}."
            )
        (name,) = self._each
        return {name: _measurement(name, values)}

    def check_same(self, given: "Outcomes") -> None:
        """Refuses outcomes that are not these."""
        if given != self:
            raise InputError(
                f"the study's outcomes are {self._each!r}, got {dict(given)!r}; leave them out to"
                " go on with the study, or start one under another name."
            )

    def to_json(self) -> dict[str, Any]:
        """Plain data, as stored with a study and written in a study file."""
        return {name: each.to_json() for name, each in self._each.items()}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The outcomes that `to_json` or a study file wrote down."""
        if not isinstance(data, Mapping):
            raise InputError(f"expected outcomes by name, got {show_value(data)}.")
        return cls({name: outcome_from_json(name, each) for name, each in data.items()})


def outcome_from_json(name: str, data: object) -> Outcome:
    """One outcome from plain data, such as {"at_most": 2.0, "unit": "%"}."""
    if not isinstance(data, Mapping):
        raise InputError(
            f'outcome {name!r}: expected {{goal = "maximize"}}, {{at_most = 2.0}} or the like, got'
            f" {show_value(data)}."
        )
    kinds = [kind for kind in _KINDS if kind in data]
    unknown = [key for key in data if key not in (*_KINDS, *_SHARED)]
    if unknown:
        end = ask_nearest(unknown[0], (*_KINDS, *_SHARED))
        raise InputError(f"outcome {name!r}: unknown key {unknown[0]!r}{end}")
    if len(kinds) != 1:
        got = " and ".join(kinds) or "none"
        raise InputError(
            f"outcome {name!r}: expected one of goal, at_most, at_least and watch, got {got}."
        )
    (kind,) = kinds
    shared = {key: data[key] for key in _SHARED if key in data}
    try:
        return _made(kind, data[kind], shared)
    except InputError as error:
        raise InputError(f"outcome {name!r}: {error}") from None


def _made(kind: str, value: Any, shared: dict[str, Any]) -> Outcome:
    if kind == "goal":
        return _GOALS[check_choice(value, "goal", _GOALS)](**shared)
    if kind == "watch":
        if value is not True:
            raise InputError(f"watch must be true, got {show_value(value)}.")
        return Watch(**shared)
    return (AtMost if kind == "at_most" else AtLeast)(value, **shared)


def check_outcome_name(name: object) -> str:
    """A name of an outcome: printable, without "=" and white space at its ends."""
    right = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable()
    if not right or "=" in str(name) or str(name).strip() != name:
        raise InputError(
            f'expected an outcome\'s name of 1 to {LONGEST_NAME} printable characters without "=",'
            f" got {show_value(name)}."
        )
    return str(name)


def _measurement(name: object, value: object) -> Measurement:
    if isinstance(value, Measurement):
        return value
    try:
        return Measurement(value)  # type: ignore[arg-type]  # refused with a sentence
    except InputError as error:
        raise InputError(f"outcome {name!r}: {error}") from None


def _number(value: object, name: str) -> float:
    number = to_float(value)
    if number is None or not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {show_value(value)}.")
    return number + 0.0
