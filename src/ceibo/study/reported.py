"""What was reported of a trial: the values that can be stored, and those that are not finite."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, SupportsFloat, final

from ceibo.decide.block_names import AnyBlock, Block, block_of
from ceibo.decide.measurement import Measurement
from ceibo.decide.outcomes import Outcomes
from ceibo.errors import InputError, show_value

Value = SupportsFloat | Measurement
Values = Value | Mapping[str, Value]
"""What is told of a trial: a value, or a value for each of several outcomes."""


@final
@dataclass(frozen=True)
class Reported:
    """Values by outcome, "" in a study of one objective.

    `values` are finite. A goal, a limit or an objective among `not_finite` fails the trial, as does
    another `reason`. `attributes` are given to the trial.
    """

    values: Mapping[str, Measurement] = field(default_factory=dict)
    not_finite: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measurement(self) -> Measurement | dict[str, Measurement]:
        """The values as a user gives them."""
        return self.values[""] if "" in self.values else dict(self.values)

    def within(self, block: Block) -> "Reported":
        """The same in a block, apart from values that name their own."""
        if not block:
            return self
        values = {n: m if m.block else replace(m, block=block) for n, m in self.values.items()}
        return replace(self, values=values)

    @property
    def failure(self) -> str | None:
        """Why the trial has failed, or None."""
        if self.reason is not None:
            return self.reason
        if not self.not_finite:
            return None
        told = [f"{name or 'the value'} is {value!r}" for name, value in self.not_finite.items()]
        return ", ".join(told)

    @property
    def not_finite_shown(self) -> str:
        """The values that are not finite, for an error."""
        pairs = self.not_finite.items()
        return ", ".join(f"{name} = {value!r}" if name else repr(value) for name, value in pairs)


def reported(
    outcomes: Outcomes | None, value: object, noise: SupportsFloat | None, block: AnyBlock = None
) -> Reported:
    """What a user gave as the result of a trial, checked; `block` is that of all its values."""
    given = block_of(block)
    if outcomes is None:
        measurement = in_block(measurement_of(value, noise), given)
        if measurement.is_finite:
            return Reported({"": measurement})
        return Reported(not_finite={"": measurement.value})
    measured = outcomes.check(_with_noise(value, noise))
    values = {n: in_block(each, given) for n, each in measured.items() if each.is_finite}
    rest = {name: each.value for name, each in measured.items() if name not in values}
    wrong = {name: each for name, each in rest.items() if name in outcomes.needed}
    if not values and not wrong:
        name, each = next(iter(rest.items()))
        raise InputError(
            f"outcome {name!r}: expected a finite value, got {each!r}; it is only watched, so leave"
            " it out where it was not measured."
        )
    return Reported(values, wrong)


def measurement_of(value: object, noise: SupportsFloat | None) -> Measurement:
    """A value with its noise as a measurement."""
    if isinstance(value, Measurement):
        if noise is not None:
            raise InputError("a Measurement carries its own noise; leave noise out.")
        return value
    return Measurement(value, noise)  # type: ignore[arg-type]  # refused with a sentence


def in_block(measurement: Measurement, block: Block) -> Measurement:
    """A measurement in a block that was given beside it."""
    if not block or measurement.block == block:
        return measurement
    if measurement.block:
        raise InputError(
            f"block: expected one block, got {dict(block)!r} beside a Measurement in"
            f" {dict(measurement.block)!r}; leave one of them out."
        )
    return replace(measurement, block=block)


def _with_noise(value: object, noise: SupportsFloat | None) -> object:
    """What was told of outcomes, a noise beside a single number included."""
    if noise is None:
        return value
    if isinstance(value, Mapping):
        raise InputError(
            "the noise of an outcome is told with its value, as in"
            ' {"yield": Measurement(81.2, noise=0.5)}; leave noise out.'
        )
    return measurement_of(value, noise)


def right_values(
    outcomes: Outcomes | None,
    value: object,
    noise: SupportsFloat | None,
    outcome: str | None,
    block: AnyBlock = None,
) -> dict[str, Measurement]:
    """What is to stand in place of measurements, by outcome; a number is one of `outcome`."""
    name = checked_name(outcomes, outcome)
    if outcomes is None:
        values = {"": measurement_of(value, noise)}
    elif name is None:
        values = outcomes.check(_with_noise(value, noise))
    else:
        values = outcomes.check({name: measurement_of(value, noise)})
    given = block_of(block)
    return {name: in_block(each, given) for name, each in values.items()}


def checked_name(outcomes: Outcomes | None, outcome: str | None) -> str | None:
    """The name of an outcome, or None where none is given; "" in a study of one objective."""
    if outcomes is not None:
        return None if outcome is None else outcomes.check_name(outcome)
    if outcome is not None:
        raise InputError(
            f"the study has one objective and no outcomes, got outcome={show_value(outcome)}; leave"
            " it out."
        )
    return ""


def checked_reason(reason: object) -> str:
    """A reason that says something."""
    if not isinstance(reason, str) or not reason.strip():
        raise InputError(
            f"expected a reason why the measurement does not count, got {show_value(reason)}."
        )
    return reason
