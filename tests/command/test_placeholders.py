"""Parameters in the arguments and the environment of a command."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceibo.command.placeholders import Template
from ceibo.decide import Categorical, Float, Space
from ceibo.errors import InputError
from ceibo.text import to_text


@given(st.text(st.characters(exclude_characters="{}=\0", exclude_categories=["Cs"]), max_size=30))
def test_any_text_reaches_the_arguments_unchanged(text: str) -> None:
    space = Space({"a": Categorical([text + "1", text + "2"]), "b": Float(0, 1)})
    template = Template(("prog", "{a}", "x{{{a}}}y", "{b}"), space, Path())
    params = {"a": text + "1", "b": 0.1}
    assert template.arguments(params) == ["prog", text + "1", f"x{{{text}1}}y", "0.1"]
    assert template.environment(params) == {"CEIBO_a": text + "1", "CEIBO_b": "0.1"}


def test_placeholders_are_no_format_language() -> None:
    space = Space({"x": Float(0, 1)})
    for argument in ("{x.real}", "{x!r}", "{x:.3f}", "{0}", "{}"):
        with pytest.raises(InputError, match="placeholder"):
            Template((argument,), space, Path())
    assert Template(("}{{{x}",), space, Path()).arguments({"x": 0.5}) == ["}{0.5"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_round_trip(value: float) -> None:
    assert float(to_text(value)) == value
    assert [to_text(each) for each in (True, None, 3)] == ["true", "null", "3"]


def test_a_parameter_that_does_not_exist_leaves_no_argument_behind() -> None:
    space = Space(
        {
            "o": Categorical(["sgd", "adam"]),
            "m": Float(0, 1, when={"o": "sgd"}),
            "b": Float(0, 1, when={"o": "adam"}),
        }
    )
    argv = ("prog", "-v", "{o}", "--m", "{m}", "--b={b}", "{m}:{o}", "--last", "x{b}", "{{m}}")
    template = Template(argv, space, Path())
    sgd, adam = {"o": "sgd", "m": 0.5}, {"o": "adam", "b": 0.25}
    assert template.arguments(sgd) == [
        "prog",
        "-v",
        "sgd",
        "--m",
        "0.5",
        "0.5:sgd",
        "--last",
        "{m}",
    ]
    assert template.arguments(adam) == ["prog", "-v", "adam", "--b=0.25", "--last", "x0.25", "{m}"]
    short = Template(("prog", "-D", "m={m}", "--multirun", "m={m}", "-v", "{o}"), space, Path())
    assert short.arguments(sgd) == ["prog", "-D", "m=0.5", "--multirun", "m=0.5", "-v", "sgd"]
    assert short.arguments(adam) == ["prog", "--multirun", "-v", "adam"]
    assert template.environment(adam) == {"CEIBO_o": "adam", "CEIBO_b": "0.25"}
    with pytest.raises(InputError, match=r"program '\{m\}' depends on 'm', which does not"):
        Template(("{m}",), space, Path())
