"""The result of a command with several outcomes; `ceibo tell` reads the same forms.

yield=81.2                            the last lines, one per outcome: its name and a result as of
impurity=1.7 0.1                      one objective (outcome.py)
{"yield": 81.2, "impurity": {"value": 1.7, "noise": 0.1}}      or one line of JSON; also [1.7, 1.6]

With a single outcome its name may be left out.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from ceibo.command.outcome import FIELDS, last_lines, load_json, measurement_from, parse_line
from ceibo.decide import Measurement, Outcomes
from ceibo.errors import InputError
from ceibo.text import shorten

Results = dict[str, Measurement]


def parse_outcomes(output: str, outcomes: Outcomes, whole: bool = True) -> Results:
    """The measurements in the last lines of a command's output, every goal and limit among them.

    If `output` is not the `whole` of it but its end, its first line may be the end of a line.
    """
    wanted = f"lines such as {_example(outcomes)}, or one line of JSON with the outcomes by name"
    lines = last_lines(output, whole, wanted)
    try:
        found = read_outcomes(_block(lines, outcomes), outcomes)
    except InputError as error:
        raise InputError(f"its last lines are no result: {error}") from None
    if missing := [name for name in outcomes.needed if name not in found]:
        raise InputError(
            f"its last lines have no {missing[0]!r}; they must be {wanted}, with every goal and"
            " limit among them."
        )
    return found


def _block(lines: Sequence[str], outcomes: Outcomes) -> list[str]:
    """The lines that are the result: the last one, or all `name=value` lines at the end."""
    last = lines[-1]
    if last[:1] in ("{", "[") or "=" not in last:
        if last == "}":
            raise InputError("a JSON object stands on one line, not on several.")
        return [last]
    block: list[str] = []
    for line in reversed(lines):
        if "=" not in line or line[:1] == "{":
            break
        block.insert(0, line)
        if len(block) > 2 * len(outcomes):
            break  # a name is unknown or there twice
    return block


def read_outcomes(lines: Sequence[str], outcomes: Outcomes, replicates: bool = False) -> Results:
    """The measurements in `name=result` lines, or in one line of JSON; not all need be there."""
    if lines and lines[0][:1] == "{" and len(lines) == 1:
        return _from_json(lines[0], outcomes)
    if len(outcomes) == 1 and len(lines) == 1 and "=" not in lines[0]:
        return {outcomes.names[0]: parse_line(lines[0], replicates)}
    found: Results = {}
    for line in lines:
        name, sign, result = (part.strip() for part in line.partition("="))
        if not sign:
            got = repr(shorten(line, 200))
            raise InputError(f"expected results such as {_example(outcomes)}, got {got}.")
        outcomes.check_name(name)
        if name in found:
            raise InputError(f"{name!r} is there twice; one result of each outcome is enough.")
        if not result:
            raise InputError(f"{name!r} has no value; leave it out if it is not known.")
        found[name] = _about(name, parse_line, result, replicates)
    return found


def _from_json(line: str, outcomes: Outcomes) -> Results:
    data = load_json(line, _check_pairs)
    if len(outcomes) == 1 and set(data) <= FIELDS and outcomes.names[0] not in data:
        return {outcomes.names[0]: measurement_from(data)}
    given = {outcomes.check_name(name): each for name, each in data.items() if each is not None}
    if not given:
        raise InputError(f"it has none of the outcomes {', '.join(outcomes.names)}.")
    return {name: _about(name, measurement_from, each) for name, each in given.items()}


def _check_pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which must not have one key twice."""
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise InputError(f"{key!r} is there twice; one result of each outcome is enough.")
        data[key] = value
    return data


def _about(name: str, read: Any, *arguments: Any) -> Measurement:
    """What `read` makes of a result; its error names the outcome."""
    try:
        measurement: Measurement = read(*arguments)
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None
    return measurement


def _example(outcomes: Outcomes) -> str:
    return " and ".join(f"{name}=1.5" for name in outcomes.needed[:2])


def results_line(results: Results) -> str:
    """Results on one line, for people."""
    return ", ".join(f"{name} {each}" for name, each in results.items())


def results_json(results: Results) -> str:
    """Results as `read_outcomes` reads them."""
    return json.dumps({n: result_json(each) for n, each in results.items()}, ensure_ascii=False)


def result_json(result: Measurement) -> Any:
    """A result as it is read from JSON, of which replicates have no value and noise beside them."""
    if result.replicates and not result.block:
        return list(result.replicates)
    further = ("replicates", "block") if result.replicates else FIELDS
    return {name: each for name, each in result.to_json().items() if name in further}
