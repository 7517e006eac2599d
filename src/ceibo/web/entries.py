"""What people type into the forms, as measurements and settings; errors say how to write it."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from ceibo.decide import Measurement, Space
from ceibo.decide.block_names import DEFAULT_KIND, Block
from ceibo.decide.dimensions import Dimension, Value
from ceibo.decide.space import Params
from ceibo.errors import InputError, show_value
from ceibo.numbers import is_split_thousand, to_number, with_point

LONGEST: Final = 10_000  # characters of a text that is typed
_GAPS: Final = re.compile(r"[\s;]+")


def text_in(data: Mapping[str, Any], name: str) -> str:
    """A text of a request; empty if it is not there."""
    value = data.get(name, "")
    if not isinstance(value, str) or len(value) > LONGEST:
        raise InputError(
            f"{name}: expected a text of at most {LONGEST} characters, got {show_value(value, 60)}."
        )
    return value.strip()


def whole_in(data: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """A whole number of a request, within its range."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(
            f"{name}: expected a whole number from {low} to {high}, got {show_value(value, 60)}."
        )
    return value


def rows_in(data: Mapping[str, Any], name: str, most: int) -> list[Mapping[str, Any]]:
    """A list of tables of a request; empty if it is not there."""
    rows = data.get(name, [])
    if not isinstance(rows, list) or len(rows) > most:
        raise InputError(f"{name}: expected a list of at most {most} entries.")
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError(f"{name}: expected a list of tables.")
    return rows


def read_number(text: str, what: str) -> float:
    """A finite number, with a decimal point."""
    number = to_number(text)
    if number is not None and abs(float(number)) < float("inf"):
        return float(number)
    if (written := with_point(text)) is not None:
        raise InputError(
            f"{what}: expected a number with a decimal point, got {text!r}; write {written}."
        )
    advice = ""
    if number is not None:
        advice = "; if nothing could be measured, say that it failed"
    elif "%" in text:
        advice = "; leave the % out"
    elif text[:1] in "<>":
        advice = "; write the best guess, with a noise as large as the doubt"
    raise InputError(f"{what}: expected a number, got {show_value(text, 80)}{advice}.")


def read_measurement(value: str, noise: str, what: str) -> Measurement | None:
    """A value, or several replicates with spaces between them; None if nothing was typed."""
    words = [word for word in _GAPS.split(value) if word]
    if not words:
        if noise:
            raise InputError(f"{what}: a noise was given without a value.")
        return None
    for before, word in pairwise(words):
        if is_split_thousand(before, word):
            raise InputError(
                f"{what}: {before} {word} may be one number or two; write {before}{word} without a"
                " gap, or replicates with ; between them."
            )
    numbers = [read_number(word, what) for word in words]
    std = read_number(noise, f"{what}, noise") if noise else None
    if len(numbers) == 1:
        return Measurement(numbers[0], noise=std)
    mean = Measurement.of(numbers)
    return mean if std is None else Measurement(mean.value, std, numbers)


def read_values(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> Measurement | dict[str, Measurement]:
    """What was typed for the outcomes, in their order: some may come later, one must be there."""
    found: dict[str, Measurement] = {}
    for row in rows:
        name = names[whole_in(row, "outcome", 0, len(names) - 1)]
        told = read_measurement(text_in(row, "value"), text_in(row, "noise"), name or "value")
        if told is not None:
            found[name] = told
    if not found:
        raise InputError("type a value first; if nothing could be measured, say that it failed.")
    return found.get("", found)


def read_block(data: Mapping[str, Any]) -> str | dict[str, str] | None:
    """A block as it was typed: a name, or kinds and names such as day=2026-11-14, plate=3."""
    text = text_in(data, "block")
    pieces = [piece.partition("=") for piece in re.split(r"[,;]", text) if piece.strip()]
    if pieces and all(equals for _, equals, _ in pieces):
        return {kind.strip(): name.strip() for kind, _, name in pieces}
    return text or None


def written_block(block: Block) -> str:
    """A block as it is typed."""
    if len(block) == 1 and block[0][0] == DEFAULT_KIND:
        return block[0][1]
    return ", ".join(f"{kind}={name}" for kind, name in block)


def read_value(dimension: Dimension, given: Mapping[str, Any], name: str) -> Value:
    """The value of a parameter: the place of a choice in its list, or a number that was typed."""
    listed = dimension.listed
    if listed is not None:
        return listed[whole_in(given, "choice", 0, len(listed) - 1)]
    text = text_in(given, "text")
    number = to_number(text)
    if number is None:
        read_number(text, f"parameter {name!r}")  # says what is wrong
    return dimension.check(number, name)


def read_settings(rows: Sequence[Mapping[str, Any]], space: Space) -> Params:
    """Name -> value of the parameters that rows give, by their columns."""
    found: Params = {}
    for row in rows:
        name = space.names[whole_in(row, "column", 0, len(space) - 1)]
        found[name] = read_value(space.dimensions[name], row, name)
    return found
