"""The blocks of a measurement: kinds and names, as a user may give them and as they are kept.

A block is what measurements share beside the setting: a day, a plate, a batch of material. A
measurement belongs to at most one block of each kind.
"""

import operator
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from typing import Any, Final

import numpy as np

from ceibo.errors import InputError, show_value

Block = tuple[tuple[str, str], ...]  # (kind, name), sorted by kind
# names may be texts, days and whole numbers, which a type of mixed values cannot say
AnyBlock = str | date | int | Mapping[str, Any] | Iterable[tuple[str, str]] | None

DEFAULT_KIND: Final = "block"
_LONGEST: Final = 100  # characters of a name
_MOST_KINDS: Final = 8  # each has a variance that must be inferred
_EXAMPLES: Final = '"2026-11-14" or {"day": "2026-11-14", "plate": 3}'


def block_of(given: object) -> Block:
    """A block as it is kept; a name alone is of the kind "block", None is no block at all."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, tuple) and all(isinstance(each, tuple) for each in given):
        pairs = [pair for pair in given if len(pair) == 2]
        if len(pairs) < len(given):
            raise _refused(given)
    else:
        pairs = [(DEFAULT_KIND, given)]
    if len(pairs) > _MOST_KINDS:
        raise InputError(
            f"block: expected at most {_MOST_KINDS} kinds of block, got {len(pairs)}; leave out"
            " those that differ from one measurement to the next."
        )
    named = {_kind(kind): _name(name, given) for kind, name in pairs}
    if len(named) < len(pairs):
        raise InputError(
            f"block: expected each kind once, got {show_value(given)}; a measurement is in one"
            " block of a kind."
        )
    return tuple(sorted(named.items()))


def block_line(block: Block) -> str:
    """A block on one line: its name, with the kind where that says something."""
    return ", ".join(name if kind == DEFAULT_KIND else f"{kind} {name}" for kind, name in block)


def usual_kinds(blocks: Iterable[Block]) -> tuple[str, ...]:
    """The kinds of which more than half of the measurements are in a block; each has one in here.

    A value told without such a block counts as one of an average block, which may be a slip.
    """
    count = 0
    found: dict[str, int] = {}
    for block in blocks:
        count += 1
        for kind, _ in block:
            found[kind] = found.get(kind, 0) + 1
    return tuple(sorted(kind for kind, times in found.items() if 2 * times > count))


def why_unusual(block: Block, usual: Iterable[str]) -> str:
    """What is to be said of a measurement that is in no block of a usual kind; else nothing."""
    kinds, usual = dict(block), tuple(usual)
    missing = [kind for kind in usual if kind not in kinds]
    if not missing:
        return ""
    named = [kind for kind in missing if kind != DEFAULT_KIND]
    if named and DEFAULT_KIND in kinds and DEFAULT_KIND not in usual:
        written = f"{named[0]}={kinds[DEFAULT_KIND]}"
        return (
            f"the block {kinds[DEFAULT_KIND]!r} is of no kind, and most are; was {written} meant?"
        )
    of = f" of a {' and a '.join(named)}" if named else ""
    return f"most measurements are in a block{of}, and this one counts as one of an average block."


def _kind(given: object) -> str:
    kind = given.strip() if isinstance(given, str) else ""
    if not _fits(kind) or "=" in kind:
        raise InputError(
            f"block: expected a kind such as 'day' or 'plate', of at most {_LONGEST} printable"
            f" characters without '=', got {show_value(given, 200)}."
        )
    return kind


def _name(given: object, whole: object) -> str:
    """The name of one block: a text, a day, or a whole number such as that of a plate."""
    if isinstance(given, datetime):
        raise InputError(
            f"block: expected the name of a block or a day, got the time {show_value(given)}; give"
            " its date, as in .date(), for what one day shares."
        )
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, str):
        name = str(given.strip())
        if _fits(name):
            return name
        raise InputError(
            f"block: expected a name of 1 to {_LONGEST} printable characters, got"
            f" {show_value(given, 200)}; leave block out where there is none."
        )
    if not isinstance(given, bool | np.bool_):
        with suppress(TypeError):
            whole_number: Any = given  # a TypeError is an answer
            if _fits(number := str(operator.index(whole_number))):
                return number
    raise _refused(whole)


def _fits(text: str) -> bool:
    return 0 < len(text) <= _LONGEST and text.isprintable()


def _refused(given: object) -> InputError:
    return InputError(
        f"block: expected a name, or names by kind, as in {_EXAMPLES}, got"
        f" {show_value(given, 200)}."
    )
