"""Numbers at the ends of what doubles and integers hold, and scalars that are no numbers."""

import math
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import ceibo
from ceibo import Categorical, Float, Int, Measurement
from ceibo.checks import check_positive, to_float
from ceibo.decide.direction import DirectionLike
from ceibo.errors import InputError, NotFoundError, show_value
from ceibo.gp.grid import evenly
from ceibo.numbers import to_number
from soak.fuzz import watched

LARGEST = sys.float_info.max


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(True),
        np.array(True),
        1 + 2j,
        np.complex128(1 + 2j),
        np.complex64(1),
        np.array(1j),
        np.datetime64(5, "ns"),
        np.timedelta64(5, "ns"),
        np.str_("3"),
        np.array("3"),
        np.bytes_(b"3"),
        np.void(b"3"),
        bytearray(b"3"),
        "3",
        None,
        np.array([1.0]),
        [1.0],
    ],
    ids=repr,
)
def test_what_is_no_real_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="expected value to be a number"):
        Measurement(value)  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(InputError):
        Measurement(1.0, value) if value is not None else check_positive(value, "cost")  # type: ignore[arg-type]  # likewise
    with pytest.raises(InputError):
        Float(0, value)  # type: ignore[arg-type]  # likewise


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (np.float32(0.5), 0.5),
        (np.int8(-3), -3.0),
        (np.uint64(7), 7.0),
        (np.longdouble(1.5), 1.5),
        (np.array(2.5), 2.5),
        (Decimal("0.25"), 0.25),
        (Fraction(1, 4), 0.25),
        (10**400, math.inf),
        (-(10**400), -math.inf),
        (Fraction(-(10**400), 3), -math.inf),
    ],
)
def test_real_numbers_of_other_types_are_taken(value: object, number: float) -> None:
    assert to_float(value) == number
    assert Measurement(value).value == number  # type: ignore[arg-type]  # numbers by duck typing


def test_scalars_with_item_are_what_they_hold() -> None:
    """As those of torch and jax, which have no common base."""

    class Scalar:
        ndim = 0

        def __init__(self, held: object) -> None:
            self.held = held

        def item(self) -> object:
            return self.held

    class Vector(Scalar):
        ndim = 1

    assert to_float(Scalar(1.5)) == 1.5
    assert to_float(Scalar(True)) is None
    assert to_float(Scalar(1j)) is None
    assert to_float(Vector(1.5)) is None


def test_integers_too_long_to_be_written_are_refused_in_a_sentence() -> None:
    huge = 10**5000
    for make in (
        lambda: Int(0, huge),
        lambda: Int(huge, huge + 1),
        lambda: Float(0, huge),
        lambda: Categorical([1, huge]),
        lambda: Categorical([1, 2]).check(huge, "c"),
        lambda: Int(0, 5).check(huge, "n"),
        lambda: Float(0, 5).check(huge, "x"),
        lambda: ceibo.Study.create({"x": Float(0, 1)}, seed=huge),
    ):
        with pytest.raises(InputError, match="too long to show"):
            make()
    assert len(show_value("x" * 10_000)) < 3000
    assert Measurement(huge).value == math.inf


def test_a_trial_number_that_no_database_holds_is_not_found() -> None:
    study = ceibo.Study.create({"x": Float(0, 1)})
    for number in (99999999999999999999, 2**31, 10**5000, -1):
        with pytest.raises(NotFoundError, match="there is no trial"):
            study.tell(number, 1.0)


def test_ten_thousand_choices_are_found_by_one_look() -> None:
    choices = [*range(4000), *map(float, range(3000)), *map(str, range(2998)), True, None]
    with watched():
        many = Categorical(choices)
        assert [many.check(choice, "c") for choice in choices] == choices
        assert all(many.from_unit(many.to_unit(choice)) is choice for choice in choices)
        assert many == Categorical(choices)
    with pytest.raises(InputError, match=r"distinct choices, got 5 twice"):
        Categorical([*range(9000), 5])
    with pytest.raises(InputError, match=r"9950 more"):
        many.check("none", "c")


def test_choices_are_told_apart_as_before() -> None:
    choices = Categorical([1, 1.0, True, "1", 0.0, -0.0, None])
    for choice in choices.choices:
        found = choices.check(choice, "c")
        assert type(found) is type(choice)
        assert repr(found) == repr(choice)
    assert choices.check(np.int64(1), "c") == 1
    assert Categorical([1, 2]) != Categorical([True, 2])
    with pytest.raises(InputError, match="distinct"):
        Categorical([np.float64(0.5), 0.5])


@pytest.mark.parametrize("low", [2**70, -(2**70), 10**400, -(10**400), 2**53])
@pytest.mark.parametrize("width", [1, 10, 2**39])
def test_ticks_of_huge_integers(low: int, width: int) -> None:
    ticks = Int(low, low + width).ticks(5)
    places = [place for place, _ in ticks]
    assert len(ticks) >= 2
    assert places == sorted(places)
    assert 0 <= places[0] < places[-1] <= 1
    assert len({label for _, label in ticks}) == len(ticks)


def test_a_number_of_many_digits_is_read_at_once() -> None:
    with watched():
        assert to_number("9" * 1_000_000 + "x") is None
        assert to_number("9" * 1_000_000) == math.inf


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_answers_beyond_the_largest_double_are_the_largest(direction: DirectionLike) -> None:
    study = ceibo.Study.create({"x": Float(0, 1)}, direction=direction, fit="ml")
    for place, value in (
        (0.0, LARGEST),
        (0.1, LARGEST),
        (0.5, 0.0),
        (0.8, -LARGEST),
        (0.9, -LARGEST),
    ):
        study.add({"x": place}, value, 0.0)
    for answer in (study.best, study.recommended, study.belief.at({"x": 1.0})):
        assert math.isfinite(answer.mean)
        assert math.isfinite(answer.std)
    assert np.all(np.isfinite(study.belief.improvement(np.array([[0.3], [1.0]]))))


@pytest.mark.parametrize(("largest", "usual"), [(1e6, 1e-309), (1e200, 1e-120)])
@pytest.mark.parametrize("noise", [None, 0.0, 1e200])
def test_a_fit_to_a_part_of_the_rows_holds_for_values_of_any_size(
    largest: float, usual: float, noise: float | None
) -> None:
    """Above max_observations the fit sees a part of the rows, here without the largest value."""
    study = ceibo.Study.create({"x": Float(0, 1)}, max_observations=10, n_initial=4)
    fitted = set(evenly(12, 10).tolist())
    left_out = min(set(range(12)) - fitted)
    for number in range(12):
        value = largest if number == left_out else usual * (1 + number % 5)
        study.add({"x": number / 12}, value, noise)
    assert 0 <= study.ask().params["x"] <= 1
    assert math.isfinite(study.best.mean)
    assert math.isfinite(study.recommended.mean)


@pytest.mark.parametrize("power", [-400, 300, 900])
def test_values_of_zero_are_as_large_as_their_noise(power: int) -> None:
    """Where all values are zero, the known noise alone has a size."""

    def answers(unit: float) -> list[float]:
        study = ceibo.Study.create({"x": Float(0, 1)}, n_initial=3)
        study.add_all(({"x": x / 5}, Measurement(0.0, noise=unit * (1 + x % 2))) for x in range(5))
        best, recommended = study.best, study.recommended
        return [each / unit for each in (best.mean, best.std, recommended.std)]

    assert answers(2.0**power) == answers(1.0)
