"""What may be meant by a parameter as it was spelled in a shell: slips that read as something."""

import re
from decimal import Decimal
from typing import Any, Final

from ceibo.decide.dimensions import Dimension
from ceibo.errors import InputError
from ceibo.numbers import to_number, with_point

_PIECE: Final = re.compile(r'\s*"(?:[^"]|"")*"\s*|[^,]*')
_ALONE: Final = re.compile(r"\s*(\d+|N)\s*")
_LOCANT: Final = re.compile(r"\s*(\d+|N)-[^\W\d]")


def check_spelled(name: str, spec: str) -> None:
    """Refuses the name of a chemical that a comma would split: 1,4-dioxane, N,N-dimethylaniline."""
    pieces = [each for each in _PIECE.findall(spec) if each]
    joined: list[str] = []
    split: list[str] = []
    alone: list[str] = []
    for piece in pieces:
        if alone and _LOCANT.match(piece):
            split = [*alone, piece]
            joined.append('"' + ",".join(each.strip() for each in split) + '"')
            alone = []
        elif _ALONE.fullmatch(piece):
            alone.append(piece)
        else:
            joined += [*alone, piece]
            alone = []
    if split:
        quoted = f"'{name}={','.join([*joined, *alone])}'"
        each = ",".join(f'"{piece.strip()}"' for piece in split)
        raise InputError(
            f"--param: {name}: a comma splits {','.join(split).strip()} into {len(split)}"
            f" categories; put a name with a comma in double quotes, as in {quoted}, or, if these"
            f" are {len(split)}, each of them, as in {each}."
        )


def with_points(name: str, spec: str) -> str:
    """The end of an error about numbers with a decimal comma, or nothing."""
    words = spec.split(":")
    written = [with_point(each) or each for each in words]
    if written == words or None in map(to_number, written[:2]):
        return ""
    return f"; numbers have a decimal point: {name}={':'.join(written)}"


def why_short(dimension: Dimension) -> str:
    """Says that the steps of a range do not reach its end; empty if they do, or there are none."""
    ends: Any = dimension
    step = getattr(dimension, "step", None)
    if step is None:
        return ""
    low, high, by = (Decimal(repr(each)) for each in (ends.low, ends.high, step))
    rest = (high - low) % by
    if not rest:
        return ""
    steps, first, last, end = (_written(each) for each in (by, low, high - rest, high))
    return (
        f"in steps of {steps} from {first} the last is {last}, so {end} will never be"
        " suggested; choose another step or other ends if it should be."
    )


def _written(number: Decimal) -> str:
    """A number with all its digits, and without zeros behind them."""
    short = number.normalize()
    return f"{short:f}" if -5 < short.adjusted() < 16 else f"{short:e}"
