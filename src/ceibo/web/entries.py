"""What people type into the forms, as measurements and settings; errors say how to write it."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeVar

from ceibo.decide import Measurement, Space
from ceibo.decide.block_names import DEFAULT_KIND, Block, block_of
from ceibo.decide.dimensions import Dimension, Value
from ceibo.decide.space import Params
from ceibo.errors import InputError, show_value
from ceibo.numbers import MINUS, grouped_in, is_split_thousand, to_number, with_point
from ceibo.web.forms import LONGEST

S = TypeVar("S")
T = TypeVar("T")
_GAPS: Final = re.compile(r"[\s;]+")
_EITHER: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}([eE].*)?", re.ASCII)
# a number, and a unit: letters that are no exponent, or a sign
_WITH_MORE: Final = re.compile(
    r"([+-]?[0-9.,]*[0-9][.,]?)\s*((?![eE][+-]?[0-9])[^\W\d_].*|[%‰°].*)"
)


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


def each_of(works: Iterable[Callable[[], T]]) -> list[T]:
    """What every piece of work reads; an error says what is wrong with each of them."""
    found, wrong = [], []
    for work in works:
        try:
            found.append(work())
        except InputError as error:
            wrong.append(str(error))
    if wrong:
        raise InputError(" ".join(wrong))
    return found


def both(one: Callable[[], T], other: Callable[[], S]) -> tuple[T, S]:
    """What two pieces of work read; an error says what is wrong with either."""
    found: list[T] = []
    others: list[S] = []
    each_of([lambda: found.append(one()), lambda: others.append(other())])
    return found[0], others[0]


def read_number(text: str, what: str, unit: str = "", *, measured: bool = False) -> int | float:
    """A finite number, with a point or a comma that can be nothing else, and maybe its unit.

    Of one that was `measured`, an error may say what to do where nothing could be.
    """
    bare = _without_unit(text.strip(), unit).replace(MINUS, "-")
    number = to_number(bare)
    if number is None and "." not in bare and not _EITHER.fullmatch(bare):
        number = to_number(with_point(bare) or "")
    if number is not None and abs(number) <= sys.float_info.max:
        return number
    shown = show_value(text, 80)
    if _EITHER.fullmatch(bare):
        raise InputError(
            f"{what}: expected a number that is read in one way, got {shown}; write"
            f" {bare.replace(',', '.')} or {bare.replace(',', '')}."
        )
    advice = _advice_on_value(bare, number) if measured else ""
    advice = advice or _advice_on(bare, unit)
    raise InputError(f"{what}: expected a number, got {shown}{advice}.")


def _without_unit(text: str, unit: str) -> str:
    """A text without the unit of its numbers; a unit that could be digits must stand apart."""
    if not unit or to_number(unit) is not None:
        return text
    gap = r"\s+" if unit[0] in "0123456789.,+-eE" else r"\s*"
    return re.sub(rf"(?<=[\d.,]){gap}{re.escape(unit)}(?=[\s;]|$)", "", text)


def _advice_on_value(text: str, number: float | None) -> str:
    """What to do about a measured value that is no number, or not a finite one."""
    if number is not None:
        return "; if nothing could be measured, say that it failed"
    if text[:1] in ("<", ">"):
        return "; write the best guess, with a noise as large as the doubt"
    return "; write what follows the ± in the field beside it" if "±" in text else ""


def _advice_on(text: str, unit: str) -> str:
    """What to do about a text that is no number, where its fault is a known one."""
    if (written := with_point(text) or _grouped(text)) is not None:
        return f"; write {written}"
    if text[:1] == "," or text[-1:] == ",":
        return "; write a decimal comma without a space, and a space or ; between replicates"
    more = _WITH_MORE.fullmatch(text)
    if more is not None:
        return f"; leave out {show_value(more[2], 40)}" + (f"; the unit is {unit}" if unit else "")
    return ""


def _grouped(text: str) -> str | None:
    """A number with commas between its thousands, without them; None if it is none."""
    if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", text, re.ASCII):
        return text.replace(",", "")
    return None


def read_measurement(value: str, noise: str, what: str, unit: str = "") -> Measurement | None:
    """A value, or several replicates with spaces between them; None if nothing was typed."""
    if not value:
        if noise:
            raise InputError(f"{what}: a noise was given without a value.")
        return None
    numbers, std = both(
        lambda: _replicates(value, what, unit),
        lambda: float(read_number(noise, f"{what}, noise", unit)) if noise else None,
    )
    try:
        if len(numbers) == 1:
            return Measurement(numbers[0], noise=std)
        mean = Measurement.of(numbers)
        return mean if std is None else Measurement(mean.value, std, numbers)
    except InputError as error:
        raise InputError(f"{what}: {error}") from error


def _replicates(text: str, what: str, unit: str) -> list[float]:
    """The numbers of a text, with spaces or ; between them."""
    if gap := grouped_in(text):
        whole = "".join(gap.split())
        raise InputError(f"{what}: {gap} may be one number or two; write {whole} without a gap.")
    words: list[str] = []
    for word in filter(None, _GAPS.split(_without_unit(text, unit))):
        if words and to_number(word) is None and not any(map(str.isdigit, word)):
            words[-1] += f" {word}"  # no replicate but a unit or a mark, which an error shows
        else:
            words.append(word)
    for before, word in pairwise(words):
        if is_split_thousand(before, word):
            raise InputError(
                f"{what}: {before} {word} may be one number or two; write {before}{word} without a"
                " gap, or replicates with ; between them."
            )
    return [float(read_number(word, what, unit, measured=True)) for word in words or [text]]


def read_values(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], units: Mapping[str, str]
) -> Measurement | dict[str, Measurement]:
    """What was typed for the outcomes, in their order: some may come later, one must be there."""

    def read(row: Mapping[str, Any]) -> tuple[str, Measurement | None]:
        name = names[whole_in(row, "outcome", 0, len(names) - 1)]
        value, noise = text_in(row, "value"), text_in(row, "noise")
        return name, read_measurement(value, noise, name or "value", units.get(name, ""))

    told = each_of([partial(read, row) for row in rows])
    found = {name: each for name, each in told if each is not None}
    if not found:
        raise InputError("type a value first; if nothing could be measured, say that it failed.")
    return found.get("", found)


def read_block(data: Mapping[str, Any]) -> Block:
    """A block as it was typed: a name, or kinds and names such as day=2026-11-14, plate=3."""
    text = text_in(data, "block")
    return block_of(_named_kinds(text) or text or None)


def is_bare(data: Mapping[str, Any]) -> bool:
    """Whether a block was typed without its kind."""
    return not _named_kinds(text_in(data, "block"))


def _named_kinds(text: str) -> dict[str, str]:
    """Kind -> name, if every piece of a text says both; else nothing."""
    pieces = [piece.partition("=") for piece in re.split(r"[,;]", text) if piece.strip()]
    if not all(equals for _, equals, _ in pieces):
        return {}
    return {kind.strip(): name.strip() for kind, _, name in pieces}


def written_block(block: Block, kind: str = "") -> str:
    """A block as it is typed, where a name alone is of a kind, if that is the usual one."""
    if len(block) == 1 and block[0][0] in (DEFAULT_KIND, kind):
        return block[0][1]
    return ", ".join(f"{each}={name}" for each, name in block)


def written_noise(measurement: Measurement) -> str:
    """A noise as it is typed, with all its digits; empty if it is unknown."""
    return "" if measurement.noise is None else repr(measurement.noise)


def read_value(dimension: Dimension, given: Mapping[str, Any], name: str) -> Value:
    """The value of a parameter: the place of a choice in its list, or a number that was typed."""
    listed = dimension.listed
    if listed is not None:
        return listed[whole_in(given, "choice", 0, len(listed) - 1)]
    return dimension.check(read_number(text_in(given, "text"), f"parameter {name!r}"), name)


def read_settings(rows: Sequence[Mapping[str, Any]], space: Space) -> Params:
    """Name -> value of the parameters that rows give, by their columns."""

    def read(row: Mapping[str, Any]) -> tuple[str, Value]:
        name = space.names[whole_in(row, "column", 0, len(space) - 1)]
        return name, read_value(space.dimensions[name], row, name)

    return dict(each_of([partial(read, row) for row in rows]))
