"""Cells as values of parameters."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from ceibo.checks import ask_nearest
from ceibo.decide import Space
from ceibo.decide.dimensions import Value
from ceibo.decide.dimensions.choices import identity
from ceibo.decide.dimensions.spacing import are_numbers
from ceibo.decide.frame import Frame
from ceibo.errors import InputError
from ceibo.sheets.cells import unguard
from ceibo.sheets.grid import Cell
from ceibo.sheets.names import fold, normalize
from ceibo.sheets.numerals import Numbers
from ceibo.text import shorten, to_text


def setting_of(space: Space, name: str, cell: Cell | str, numbers: Numbers, unit: str = "") -> Any:
    """A cell as the value of a parameter."""
    cell = Cell(cell) if isinstance(cell, str) else cell
    dimension = space.dimensions[name]
    if cell.fault:
        raise InputError(f"parameter {name!r}: {cell.fault}")
    if dimension.listed is not None:
        return _choice(dimension.listed, name, cell, numbers, unit)
    return numbers.read(cell, f"parameter {name!r}", dimension.wanted, unit)


def fact_of(frame: Frame, name: str, cell: Cell, numbers: Numbers, unit: str = "") -> Any:
    """A cell as the value of a parameter, which may be one that is no longer offered."""
    dimension, once = frame.space.dimensions[name], frame.retired.get(name, ())
    try:
        return setting_of(frame.space, name, cell, numbers, unit)
    except InputError:
        if once and (found := _meant(once, unguard(cell.text), cell, name, numbers)):
            return found[0]
        if not are_numbers(dimension.listed or ()) or not dimension.is_ordered:
            raise
        return numbers.read(cell, f"parameter {name!r}", dimension.wanted, unit)


def _choice(choices: Sequence[Value], name: str, cell: Cell, numbers: Numbers, unit: str) -> Value:
    """The choice that a cell means; what stands behind an apostrophe of an export is a text."""
    texts = [choice for choice in choices if isinstance(choice, str)]
    bare = unguard(cell.text)
    found = _meant(texts, bare, Cell(bare), name, numbers) if bare != cell.text else ()
    found = found or _meant(choices, cell.text, cell, name, numbers, unit)
    if found:
        return found[0]
    words = [to_text(choice) for choice in choices]
    known = ", ".join(repr(shorten(word, 200)) for word in words[:20])
    end = ask_nearest(normalize(cell.text), words)
    raise InputError(
        f"parameter {name!r}: expected one of {known}, got {shorten(cell.text, 200)!r}{end}"
    )


def _meant(
    choices: Sequence[Value], text: str, cell: Cell, name: str, numbers: Numbers, unit: str = ""
) -> tuple[Value, ...]:
    """The one choice that a cell is: as written, as people see it, as a number or truth value.

    Capitals and gaps do not count where that leaves one choice only.
    """

    def same_number(choice: Value) -> bool:
        if isinstance(choice, bool) or not isinstance(choice, int | float):
            return False
        try:
            return numbers.read(cell if cell.text == text else text, name, unit=unit) == choice
        except InputError:
            return False

    def same_list(choice: Value) -> bool:
        if not isinstance(choice, tuple) or not text.strip().startswith("["):
            return False
        try:
            return identity(json.loads(text)) == identity(choice)
        except (ValueError, RecursionError):
            return False

    ways: tuple[Callable[[Value], bool], ...] = (
        lambda choice: to_text(choice) == text,
        lambda choice: normalize(to_text(choice)) == normalize(text),
        lambda choice: isinstance(choice, bool) and to_text(choice).upper() == normalize(text),
        same_number,
        same_list,
        lambda choice: isinstance(choice, str) and fold(choice) == fold(text),
    )
    for way in ways:
        found = tuple(choice for choice in choices if way(choice))
        if len(found) == 1:
            return found
    return ()
