"""The result of a command: the last line it printed. `ceibo tell` reads the same.

0.31                                  a value; its noise is unknown and inferred
0.31 0.04                             a value and its noise (a standard deviation); also 0.31 ± 0.04
0.31 0.29 0.36                        three or more: replicates
{"value": 0.31, "noise": 0.04}        the same as JSON
{"replicates": [0.31, 0.29]}          replicates as JSON; also [0.31, 0.29]

An object of JSON may also have a "count", of how many values the noise is a standard error, and a
"block", a name or names by kind.

A comma within a number is refused: 66,5 may be one number or two. So is a line longer than LONGEST
bytes, of which only the end is kept.
"""

import itertools
import json
import re
from collections.abc import Callable
from typing import Any, Final

from ceibo.decide import Measurement
from ceibo.errors import InputError
from ceibo.numbers import is_split_thousand, to_number, with_point
from ceibo.text import shorten

LONGEST: Final = 64 * 1024  # bytes of output kept, of each stream
FIELDS: Final = frozenset({"value", "noise", "replicates", "count", "block"})  # of JSON
_PLUS_MINUS: Final = re.compile(r"±|\+/-")
_EXAMPLES: Final = "a number, `value noise`, three or more replicates, or JSON with value and noise"


def parse(output: str, whole: bool = True) -> Measurement:
    """The measurement in the last line of a command's output that is not blank.

    If `output` is not the `whole` of it but its end, its first line may be the end of a line.
    """
    lines = last_lines(output, whole, _EXAMPLES)
    try:
        return parse_line(lines[-1])
    except InputError as error:
        raise InputError(f"its last line is no result: {error}") from None


def last_lines(output: str, whole: bool, wanted: str) -> list[str]:
    """The lines of an output that are not blank, of which the last must be the one `wanted`."""
    kept = output.splitlines()
    lines = [line.strip() for line in kept[0 if whole else 1 :] if line.strip()]
    if not lines and not whole:
        raise InputError(
            f"its last line is longer than {LONGEST:,} bytes, the most that is read, or followed by"
            " as many blank ones; print fewer digits, or fewer replicates (a value and its noise)."
        )
    if not lines:
        raise InputError(f"it printed no result; the last line of its output must be {wanted}.")
    return lines


def parse_line(line: str, replicates: bool = False) -> Measurement:
    """The measurement in one line; with `replicates` two numbers are replicates too."""
    if line[:1] in ("{", "["):
        return measurement_from(load_json(line))
    parts = [part.strip() for part in _PLUS_MINUS.split(line)]
    words = [word for part in parts for word in re.split(r",?\s+", part)]
    _check_words(words, line)
    if len(parts) > 1 and (len(words) != 2 or len(parts) != 2):
        raise InputError(f"expected one value ± its noise, got {_excerpt(line)}.")
    numbers = [number for word in words if (number := to_number(word)) is not None]
    if replicates and len(parts) > 1:
        raise InputError(f"replicates are plain numbers, as in 61.2 60.8, got {_excerpt(line)}.")
    if replicates or len(numbers) > 2:
        return Measurement.of(numbers)
    return Measurement(numbers[0], numbers[1] if len(numbers) == 2 else None)


def is_pair(line: str) -> bool:
    """Whether a line is two bare numbers, the second a noise only because of its place."""
    return line[:1] not in ("{", "[") and not _PLUS_MINUS.search(line) and len(line.split()) == 2


def _check_words(words: list[str], line: str) -> None:
    for word in words:
        if "," in word:
            example = with_point(word) or "numbers as in 66.5"
            raise InputError(
                f"{_excerpt(word)} has a comma: decimals have a point, thousands no mark; write"
                f" {example}, and a value with its noise as in 66.5 1.2, with a space between."
            )
    for before, word in itertools.pairwise(words):
        if is_split_thousand(before, word):
            gap = f"'{before} {word}' looks like one number with a gap"
            raise InputError(f"{gap}; write {before}{word}.")
    if any(to_number(word) is None for word in words):
        raise InputError(f"expected {_EXAMPLES}, got {_excerpt(line)}.")


def _excerpt(text: str) -> str:
    return repr(shorten(text, 200))


def load_json(line: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The data in a line of JSON; `pairs` makes an object of its keys and values."""
    try:
        return json.loads(line, object_pairs_hook=pairs)
    except InputError:  # of `pairs`
        raise
    except (ValueError, RecursionError) as error:
        hint = "; decimals have a point" if re.search(r"\d,\d", line) else ""
        raise InputError(f"it begins like JSON but is not: {error}{hint}.") from None


def measurement_from(data: Any) -> Measurement:
    """The measurement in a number, a list of replicates or an object of JSON."""
    if not isinstance(data, list | dict):
        return Measurement(_json_number(data, "value"))
    if isinstance(data, list):
        return _from_replicates(data)
    if unknown := sorted(set(data) - FIELDS):
        what = f"it has the unknown key {unknown[0]!r}"
        raise InputError(f"{what}; known are value, noise, replicates, count and block.")
    block = data.get("block")
    if data.get("replicates") is not None:
        if set(data) - {"replicates", "block"}:
            raise InputError("it has replicates beside other keys; replicates alone are enough.")
        return _from_replicates(data["replicates"], block)
    if data.get("value") is None:
        raise InputError('it has no "value".')
    value, noise = _json_number(data["value"], "value"), data.get("noise")
    known = None if noise is None else _json_number(noise, "noise")
    return Measurement(value, known, count=data.get("count"), block=block)


def _from_replicates(data: Any, block: Any = None) -> Measurement:
    if not isinstance(data, list) or not data:
        wanted = "a list of replicates, as in [0.31, 0.29, 0.36]"
        raise InputError(f"expected {wanted}, got {_excerpt(json.dumps(data))}.")
    return Measurement.of((_json_number(each, "replicate") for each in data), block=block)


def _json_number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"expected {what} to be a number, got {_excerpt(json.dumps(value))}.")
    return value
