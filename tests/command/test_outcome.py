"""The result that a command printed: what is read, and what is refused with advice."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.command.outcome import parse
from ceibo.errors import InputError


@pytest.mark.parametrize(
    ("output", "value", "noise", "replicates"),
    [
        ("0.31", 0.31, None, 0),
        ("log\nmore\n  0.31  \n\n", 0.31, None, 0),
        ("0.31 0.04", 0.31, 0.04, 0),
        ("0.31 ± 0.04", 0.31, 0.04, 0),
        ("0.31, 0.04", 0.31, 0.04, 0),
        ("0.31±0.04", 0.31, 0.04, 0),
        ("0.31 +/- 0.04", 0.31, 0.04, 0),
        ("\N{MINUS SIGN}3 1", -3.0, 1.0, 0),
        ("-1e-3\t2E+1", -1e-3, 20.0, 0),
        ("1 2 3", 2.0, None, 3),
        ('{"value": 0.31, "noise": 0.04}', 0.31, 0.04, 0),
        ('{"value": 0.31, "noise": null}', 0.31, None, 0),
        ("[0.5, 1.5]", 1.0, None, 2),
        ('{"replicates": [4]}', 4.0, None, 1),
        ("loss=1\r\n7\r\n", 7.0, None, 0),
    ],
)
def test_results(output: str, value: float, noise: float | None, replicates: int) -> None:
    found = parse(output)
    assert (found.value, found.noise, len(found.replicates)) == (value, noise, replicates)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\n \n",
        "loss: 3",
        "1_000",
        "0x10",
        "١",
        "{",
        "[1, ",
        '{"value": "3"}',
        '{"valu": 3}',
        '{"noise": 3}',
        "[]",
        '{"value": 1, "replicates": [1]}',
        "0.3 -0.1",
        '{"value": true}',
        "[" * 5000,
        "0.31 ± 0.04 ± 0.05",
        "1 2 ± 3",
        '{"replicates": 3}',
        '{"replicates": ["a"]}',
        '{"value": 66,5}',
        "±",
        "1 ±",
    ],
)
def test_no_result_is_guessed(output: str) -> None:
    with pytest.raises(InputError):
        parse(output)


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("66,5", "write 66.5"),
        ("-66,5", "write -66.5"),
        ("66,5 1,2", "write 66.5"),
        ("66.5 1,2", "write 1.2"),
        ("1.234,5", "write 1234.5"),
        ("1,234.5", "thousands no mark"),
        ("0.31,0.04", "66.5 1.2"),
        ("66 ,5", "point"),
        ("1 000", "write 1000"),
        ("12 050.5", "write 12050.5"),
        ("1 000 000", "gap"),
        ('{"value": 66,5}', "point"),
    ],
)
def test_a_number_that_could_be_two_is_refused(output: str, advice: str) -> None:
    with pytest.raises(InputError) as error:
        parse(output)
    assert advice in str(error.value)
    assert "Measurement" not in str(error.value)


@pytest.mark.parametrize(
    "output", ["nan", "inf", "-Infinity", "1 2 nan", '{"value": NaN}', "1e999"]
)
def test_results_that_are_not_finite_are_recognised(output: str) -> None:
    assert not parse(output).is_finite


@given(st.text(max_size=60))
def test_parsing_never_fails_in_another_way(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(parse(text).value, float)


def test_json_of_a_number_is_a_number() -> None:
    assert math.isclose(parse(json.dumps(0.1)).value, 0.1)
