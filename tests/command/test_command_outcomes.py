"""The results of a command with several outcomes: what is read, and what is refused with advice."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.command.outcome import LONGEST
from ceibo.command.outcomes import parse_outcomes, read_outcomes, results_json
from ceibo.decide import AtMost, Maximize, Measurement, Outcomes, Watch
from ceibo.errors import InputError

BOTH = Outcomes({"yield": Maximize(), "impurity": AtMost(2.0), "colour": Watch()})
ALONE = Outcomes({"yield": Maximize()})
PURE = Measurement(1.7, 0.1)


@pytest.mark.parametrize(
    "output",
    [
        "yield=81.2\nimpurity=1.7 0.1\n",
        "epoch=3\ndone\n impurity = 1.7 ± 0.1 \r\n\n  yield =81.2  \n\n",
        '{"yield": 81.2, "impurity": {"value": 1.7, "noise": 0.1}}',
        'yield=3\n{"impurity": {"value": 1.7, "noise": 0.1}, "yield": 81.2, "colour": null}',
        'yield={"value": 81.2}\nimpurity=1.7 +/- 0.1',
    ],
)
def test_results(output: str) -> None:
    assert parse_outcomes(output, BOTH) == {"yield": Measurement(81.2), "impurity": PURE}


def test_replicates_and_watched_outcomes() -> None:
    found = parse_outcomes("colour=3\nyield=80 81 82\nimpurity=[1.5, 1.7]", BOTH)
    several = {name: each.replicates for name, each in found.items()}
    assert several == {"yield": (80, 81, 82), "impurity": (1.5, 1.7), "colour": ()}
    assert found["colour"] == Measurement(3)
    both = read_outcomes(["yield=80 82"], BOTH, replicates=True)
    assert both["yield"].replicates == (80, 82)


@pytest.mark.parametrize("output", ["81.2 0.5", '{"value": 81.2, "noise": 0.5}', "yield=81.2 0.5"])
def test_the_name_of_a_single_outcome_may_be_left_out(output: str) -> None:
    assert parse_outcomes(output, ALONE) == {"yield": Measurement(81.2, 0.5)}
    if "yield" not in output:
        with pytest.raises(InputError):
            parse_outcomes(output, BOTH)


def test_an_outcome_may_be_called_value() -> None:
    outcomes = Outcomes({"value": Maximize()})
    line = '{"value": {"value": 3, "noise": 1}}'
    assert parse_outcomes(line, outcomes) == {"value": Measurement(3, 1)}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("", ["no result", "yield=1.5 and impurity=1.5"]),
        ("yeild=3\nimpurity=1", ["'yeild'", "did you mean 'yield'?"]),
        ('{"yeild": 3, "impurity": 1}', ["'yeild'", "did you mean 'yield'?"]),
        ("yield=81.2", ["no 'impurity'"]),
        ('{"impurity": 1.2}', ["no 'yield'"]),
        ('{"impurity": 1.2, "yield": null}', ["no 'yield'"]),
        ("yield=1\nyield=2\nimpurity=1", ["'yield' is there twice"]),
        ('{"yield": 1, "impurity": 1, "yield": 2}', ["'yield' is there twice"]),
        ("yield=81,2\nimpurity=1", ["'yield'", "write 81.2"]),
        ("yield=1 000\nimpurity=1", ["'yield'", "write 1000"]),
        ("yield=high\nimpurity=1", ["'yield'", "'high'"]),
        ("yield=\nimpurity=1", ["'yield' has no value"]),
        ("yield=1\nimpurity=1 -1", ["'impurity'", "noise"]),
        ('{"yield": "81.2", "impurity": 1}', ["'yield'", "a number"]),
        ('{"yield": {"valu": 1}, "impurity": 1}', ["'yield'", "'valu'"]),
        ('{\n "yield": 1,\n "impurity": 2\n}', ["on one line"]),
        ('{"yield": 81,2, "impurity": 1}', ["JSON", "point"]),
        ("yield=1\nimpurity=2\ndone", ["expected results such as", "'done'"]),
        ("81.2", ["expected results such as"]),
        ("[81.2, 1.7]", ["expected results such as"]),
        ("{}", ["none of the outcomes"]),
    ],
)
def test_no_result_is_guessed(output: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        parse_outcomes(output, BOTH)
    for word in words:
        assert word in str(error.value)
    assert ".." not in str(error.value)


def test_only_the_end_of_a_long_output_is_known() -> None:
    lines = "yield=1\nimpurity=1\n"
    cut = "0" * (LONGEST - len(lines) - 1) + "\n" + lines
    assert set(parse_outcomes(cut, BOTH, whole=False)) == {"yield", "impurity"}
    with pytest.raises(InputError, match="no 'yield'"):
        parse_outcomes(lines, BOTH, whole=False)  # its first line may be the end of another


def test_results_are_read_as_they_are_written() -> None:
    told = {"yield": Measurement.of([0.1, 0.3]), "impurity": PURE}
    assert read_outcomes([results_json(told)], BOTH) == told


@given(st.text(st.characters(codec="utf-8") | st.sampled_from('yield=\n{}":,.1'), max_size=60))
def test_parsing_never_fails_in_another_way(text: str) -> None:
    with contextlib.suppress(InputError):
        assert set(parse_outcomes(text, ALONE)) == {"yield"}
