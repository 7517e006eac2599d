"""Outputs too long to be kept, and hostile ones: never a wrong number (more in soak/outputs.py)."""

import sys
from pathlib import Path

import pytest

from ceibo.command.command import Command
from ceibo.command.outcome import LONGEST, parse
from ceibo.command.placeholders import Template
from ceibo.decide import Float, Measurement, Space
from ceibo.errors import CommandFailedError, InputError
from ceibo.numbers import to_number
from soak.outputs import attack, attack_outcomes, attack_really


def command(code: str, folder: Path) -> Command:
    return Command(Template((sys.executable, "-c", code), Space({"x": Float(0, 1)}), folder, 60.0))


@pytest.mark.parametrize(
    "code",
    [
        "print('1000.2 ' * 10_000)",
        "print('1' + '0' * 70_000)",
        "print(0.5); print(' ' * 70_000)",
        "print('{{\"value\": 1, ' + ' ' * 70_000 + '\"noise\": 2}}')",
    ],
)
def test_a_line_that_is_not_kept_as_a_whole_is_no_result(code: str, tmp_path: Path) -> None:
    with pytest.raises(CommandFailedError, match="longer than 65,536 bytes"):
        command(code, tmp_path)({"x": 0.5})


def test_a_line_that_just_fits_is_read(tmp_path: Path) -> None:
    code = "print('x' * 70_000); print('0' * 65_000 + '1.5', 0.25)"
    measured = command(code, tmp_path)({"x": 0.5})
    assert isinstance(measured, Measurement)
    assert (measured.value, measured.noise) == (1.5, 0.25)


def test_the_first_line_kept_counts_only_if_it_is_whole() -> None:
    assert parse("0.5", whole=True).value == 0.5
    with pytest.raises(InputError, match="longer than"):
        parse("0.5", whole=False)
    assert parse("2\n0.5", whole=False).value == 0.5


def test_digits_without_end_are_judged_at_once() -> None:
    assert to_number("1" * LONGEST + "x") is None
    assert to_number("1" * LONGEST + ".x") is None


def test_hostile_outputs() -> None:
    figures = attack(cases=400, seed=1)
    assert figures.good, figures.wrong
    assert figures.cases == 400


def test_hostile_outputs_of_outcomes() -> None:
    figures = attack_outcomes(cases=400, seed=3)
    assert figures.good, figures.wrong


def test_hostile_outputs_of_real_commands() -> None:
    figures = attack_really(cases=12, seed=2)
    assert figures.good, figures.wrong
