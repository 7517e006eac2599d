"""Checks of what users give, one of each kind.

Each returns the value as plain Python, or raises an InputError. `name` is what the value is called
where it was given (an argument, a key of a study file): it is the subject of the message.
"""

import difflib
import math
import operator
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import wraps
from inspect import signature
from typing import Final, ParamSpec, TypeVar

import numpy as np

from ceibo.errors import InputError, show_value

DAY: Final = 86_400.0  # seconds
TEN_YEARS: Final = 3650 * DAY
LONGEST_LEASE: Final = 30 * DAY
LARGEST_SEED: Final = 2**63 - 1  # what every database can store
_LONGEST_WORD: Final = 300  # that may be a misspelt one
_NEAR: Final = 0.65  # likeness from which a word is taken for a misspelt one
_NO_NUMBERS: Final = (bool, str, bytes, bytearray, complex)

P = ParamSpec("P")
R = TypeVar("R")


def check_whole(
    value: object, name: str, low: int = 1, high: float = math.inf, advice: str = ""
) -> int:
    """A whole number from `low` to `high`; numpy's are taken, True and False are not."""
    number = low - 1
    if not isinstance(value, bool | np.bool_):
        with suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]  # a TypeError is an answer
    if low <= number <= high:
        return number
    if high < math.inf:
        expected = f"a whole number from {low} to {high}"
    else:
        words = {0: "a whole number, zero or above", 1: "a whole number above zero"}
        expected = words.get(low, f"a whole number, at least {low}")
    raise _refusal(value, name, expected, advice)


def check_seed(value: object, name: str = "seed") -> int:
    """A seed of a study, small enough to be stored."""
    try:
        return check_whole(value, name, 0, LARGEST_SEED)
    except InputError:
        raise _refusal(value, name, "a whole number from 0 to 2^63 − 1") from None


def check_positive(value: object, name: str, units: str = "") -> float:
    """A finite number above zero."""
    number = _to_float(value)
    if not 0 < number < math.inf:
        raise _refusal(value, name, f"a finite number above zero{units}")
    return number


def check_not_negative(value: object, name: str) -> float:
    """A finite number, zero or above."""
    number = _to_float(value)
    if not 0 <= number < math.inf:
        raise _refusal(value, name, "a finite number, zero or above")
    return number


def check_confidence(value: object, name: str = "confidence") -> float:
    """A probability with which something is to hold: at least one half, and below one."""
    number = _to_float(value)
    if not 0.5 <= number < 1:
        raise _refusal(value, name, "a probability from 0.5 to below 1")
    return number


def check_probability(value: object, name: str = "probability") -> float:
    """A probability that is neither 0 nor 1."""
    number = _to_float(value)
    if not 0 < number < 1:
        raise _refusal(value, name, "a probability above 0 and below 1")
    return number


def check_confirm(value: object, name: str = "confirm") -> float:
    """A share from 0 to below 1, or a number of trials, which is a whole one."""
    if isinstance(value, float | np.floating) and 0 <= value < 1:
        return float(value)
    try:
        return check_whole(value, name, 0, LARGEST_SEED)
    except InputError:
        expected = "a share from 0 to below 1, or a whole number of trials"
        raise _refusal(value, name, expected) from None


def check_cost(value: object, name: str = "cost") -> float:
    """The price of one evaluation."""
    return check_positive(value, name, ", in the objective's units")


def check_seconds(value: object, name: str, low: float = 0.0, high: float = TEN_YEARS) -> float:
    """A time in seconds above zero, from `low` to `high`."""
    number = check_positive(value, name, ", in seconds")
    if not low <= number <= high:
        days = f"{high:,.0f} ({high / DAY:,.0f} days)"
        expected = f"from {low:g} to {days} seconds" if low else f"at most {days} seconds"
        raise _refusal(value, name, expected)
    return number


def check_choice(value: object, name: str, known: Iterable[str]) -> str:
    """One of several names; the message suggests the one most like a misspelt word."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        end = ask_nearest(value, words) if isinstance(value, str) else "."
        raise InputError(f"{name} must be one of {', '.join(words)}, got {show_value(value)}{end}")
    return value


def ask_nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about a misspelt word: did you mean the nearest, if there is one?"""
    close = nearest(word, known)
    return "." if close is None else f"; did you mean {str(close)!r}?"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like a misspelt one, or None."""
    if len(word) > _LONGEST_WORD:
        return None
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=_NEAR)
    return by_lower[close[0]] if close else None


def check_options(given: Iterable[str], known: Iterable[str], what: str, **meant: str) -> None:
    """Refuses an option that there is not, as Python does, with what was probably meant.

    Args:
        given, known: names of options.
        what: has them.
        meant: names that other tools have -> the options that are the same here.
    """
    names = sorted(known)
    for name in given:
        if name in names:
            continue
        likely = meant.get(name) or nearest(name, names)
        end = f"; did you mean {likely!r}?" if likely else f"; it has {', '.join(names)}."
        raise TypeError(f"{what}() has no option {name!r}{end}")


def checked_options(what: str, **meant: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function say more than Python does of options it does not have; see above."""

    def checked(function: Callable[P, R]) -> Callable[P, R]:
        known = [each for each in signature(function).parameters if each != "self"]

        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            check_options(options, known, what, **meant)
            return function(*args, **options)

        return call

    return checked


def to_float(value: object) -> float | None:
    """A real number of Python, numpy or torch as a float, ±inf if it is too large; else None.

    Truth values, complex numbers, dates, text and arrays with axes are no real numbers.
    """
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.kind not in "iuf" or value.ndim:
            return None
    elif getattr(value, "ndim", 0) != 0:
        return None
    elif hasattr(value, "item"):  # a scalar of torch or jax
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError):
            return None
    if isinstance(value, _NO_NUMBERS):
        return None
    try:
        return float(value)  # type: ignore[arg-type]  # a TypeError is an answer
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # a real number
    except (TypeError, ValueError):
        return None


def _to_float(value: object) -> float:
    """The number as a float; NaN for what is no number."""
    number = to_float(value)
    return math.nan if number is None else number


def _refusal(value: object, name: str, expected: str, advice: str = "") -> InputError:
    """The error about a value: what was expected, what came, what to try."""
    end = f"; {advice}" if advice else ""
    stop = "" if advice.endswith("?") else "."
    return InputError(f"{name} must be {expected}, got {show_value(value)}{end}{stop}")
