"""The result of a command: the last line it printed.

0.31                                  a value; its noise is unknown and inferred
0.31 0.04                             a value and its noise (a standard deviation)
0.31 0.29 0.36                        three or more: replicates
{"value": 0.31, "noise": 0.04}        the same as JSON; also {"replicates": [0.31, 0.29]}, and [0.31, 0.29]
"""

import json
import re
from typing import Any, Final

from ceibo.errors import InputError
from ceibo.study import Measurement

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_EXAMPLES: Final = "a number, `value noise`, three or more replicates, or JSON with value and noise"


def parse(output: str) -> Measurement:
    """The measurement in the last line of a command's output that is not blank."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"it printed no result; the last line of its output must be {_EXAMPLES}.")
    return parse_line(lines[-1].strip())


def parse_line(line: str) -> Measurement:
    """The measurement in one line."""
    if line[:1] in ("{", "["):
        return _from_json(line)
    words = re.split(r"\s*,\s*|\s+", line.replace("±", " ").replace("+/-", " ").strip())
    if not all(_NUMBER.fullmatch(word) for word in words):
        shown = line if len(line) <= 200 else f"{line[:200]}…"
        raise InputError(f"its last line is no result: expected {_EXAMPLES}, got {shown!r}.")
    numbers = [float(word) for word in words]
    if len(numbers) > 2:
        return Measurement.of(numbers)
    return Measurement(numbers[0], numbers[1] if len(numbers) == 2 else None)


def _from_json(line: str) -> Measurement:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"its last line begins like JSON but is not: {error}.") from None
    if isinstance(data, list):
        return Measurement.of(data)
    known = {"value", "noise", "replicates"}
    if unknown := sorted(set(data) - known):
        raise InputError(f"its result has the unknown key {unknown[0]!r}; known are value, noise and replicates.")
    if data.get("replicates") is not None:
        if set(data) - {"replicates"}:
            raise InputError("its result has replicates beside other keys; replicates alone are enough.")
        return Measurement.of(data["replicates"])
    if data.get("value") is None:
        raise InputError('its result has no "value".')
    return Measurement(data["value"], data.get("noise"))
