"""What is to be said about rows that are odd, and facts all the same."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from ceibo.dates import is_day
from ceibo.decide import Measurement, Outcomes
from ceibo.decide.block_names import Block, usual_kinds, why_unusual
from ceibo.decide.frame import Frame
from ceibo.decide.outcome_words import why_impossible
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params
from ceibo.sheets.entries import Spot
from ceibo.study import Failure, Trial
from ceibo.study.blocks import why_no_day
from ceibo.text import one_line, params_line, plural, shorten

_MOST_NAMED: Final = 10  # columns that a note names
_MOST_PLACES: Final = 5  # rows or cells that a note names
_T = TypeVar("_T")

Result = Measurement | Mapping[str, Measurement] | Failure
Placed = tuple[Spot, _T]  # where a row is, and what it says


def outside(frame: Frame, settings: Iterable[Placed[Params]]) -> str:
    """Says that settings are none of the space, and what becomes of them; empty if all are."""
    found = [(at.row, why) for at, each in settings if (why := frame.outside(each)) is not None]
    if not found:
        return ""
    told = "the model learns from what was measured there, and suggests nothing there"
    where = _listed(place for place, _ in found)
    if len(found) == 1:
        return f"1 row is outside the space{where}; {told}: {found[0][1]}"
    return f"{len(found)} rows are outside the space{where}; {told}. The first: {found[0][1]}"


def broken(frame: Frame, settings: Iterable[Placed[Params]]) -> str:
    """Says that settings break a rule; empty if none does."""
    rules = frame.space.rules
    found = [
        (at, each, rule) for at, each in settings if (rule := first_broken(rules, each)) is not None
    ]
    if not found:
        return ""
    _, params, rule = found[0]
    values = params_line({name: params[name] for name in rule.names})
    verb = "breaks" if len(found) == 1 else "break"
    where = _listed(at.row for at, _, _ in found)
    first = f"{plural(len(found), 'row')} {verb} a rule of the space{where}, first {rule.text!r}"
    return f"{first} with {values}; what was measured there counts all the same."


def unlike_others(trials: Iterable[Trial], results: Iterable[Placed[Result]]) -> str:
    """Says that values are in no block, where most measurements are in one; else empty."""
    told = _blocks_in(results)
    before = [each.block for trial in trials for each in trial.measurements]
    usual = usual_kinds([*before, *(block for _, block in told)])
    found = [(at.row, why) for at, block in told if (why := why_unusual(block, usual))]
    if not found:
        return ""
    verb = "has" if len(found) == 1 else "have"
    count = f"{plural(len(found), 'value')} on the sheet {verb} no usual block"
    return f"{count}{_listed(place for place, _ in found)}: {found[0][1]}"


def no_days(trials: Iterable[Trial], results: Iterable[Placed[Result]]) -> str:
    """Says that the names of blocks are no days, where those of the others are; else empty."""
    before = {pair for trial in trials for each in trial.measurements for pair in each.block}
    told = [(at.row, pair) for at, block in _blocks_in(results) for pair in block]
    days = [pair for _, pair in told if is_day(pair[1])]
    kinds = Counter(kind for kind, _ in days)
    kinds.subtract(kind for _, (kind, name) in told if not is_day(name))
    known = before.union(days)
    found = [
        (place, why)
        for place, pair in told
        if (kinds[pair[0]] > 0 or pair[0] in dict(before)) and (why := why_no_day(pair, known))
    ]
    if not found:
        return ""
    where = _listed(place for place, _ in found)
    if len(found) == 1:
        return f"1 value is in a block that is no day{where}: {found[0][1]}"
    return f"{len(found)} values are in blocks that are no days{where}. The first: {found[0][1]}"


def _blocks_in(results: Iterable[Placed[Result]]) -> list[Placed[Block]]:
    """The block of every value, and where it is."""
    found = []
    for at, result in results:
        if isinstance(result, Mapping):
            found += [(at, each.block) for each in result.values()]
        elif isinstance(result, Measurement):
            found.append((at, result.block))
    return found


def _listed(places: Iterable[str]) -> str:
    """Where rows or cells are, in brackets: the first few, and how many more there are."""
    every = list(dict.fromkeys(filter(None, places)))
    if not every:
        return ""
    more = f" and {len(every) - _MOST_PLACES} more" if len(every) > _MOST_PLACES else ""
    return f" ({', '.join(every[:_MOST_PLACES])}{more})"


def unread(headers: Sequence[str]) -> str:
    """Says which columns were not read; empty if all were."""
    if not headers:
        return ""
    named = ", ".join(repr(shorten(each, 60)) for each in headers[:_MOST_NAMED])
    more = f" and {len(headers) - _MOST_NAMED} more" if len(headers) > _MOST_NAMED else ""
    return f"not read, as no parameter or outcome has that name: {named}{more}."


def impossible(
    outcomes: Outcomes | None, results: Iterable[Placed[Result]], mended: Sequence[str] = ()
) -> str:
    """Says that values are none that their outcome can have; empty if all can be.

    `mended` has for each result the command that corrects it, up to the value; "" where none does.
    """
    if outcomes is None:
        return ""
    found = []
    for place, (at, result) in enumerate(results):
        if not isinstance(result, Mapping):
            continue
        for name, each in result.items():
            cell, how = at.cells.get(name, ""), "mend the cell."
            if mended[place:] and mended[place]:
                also = f", and mend {cell}" if cell else ""
                how = f"{mended[place]} {shlex.quote(name)}=VALUE{also}."
            found += [(cell, why) for why in why_impossible(outcomes, {name: each}, how)]
    if len(found) < 2:
        return "".join(f"{place}: {why}" if place else why for place, why in found)
    where = _listed(place for place, _ in found)
    return f"{len(found)} values are beyond what is possible{where}. The first: {found[0][1]}"


def lacking(
    outcomes: Outcomes | None, trials: Sequence[Trial], results: Iterable[tuple[int, Result]]
) -> list[str]:
    """Which trials lack which outcomes that others of theirs are known for, a line each.

    Args:
        outcomes: of the study.
        trials: as they were before.
        results: what was told now of trials by number.
    """
    if outcomes is None:
        return []
    known = {each.number: set(each.outcomes) for each in trials if each.state == "running"}
    before = {each.number: each.outcomes for each in trials}
    for number, result in results:
        if isinstance(result, Mapping):
            known.setdefault(number, set(before.get(number, ()))).update(result)
    found: dict[str, list[int]] = {}
    for number, names in sorted(known.items()):
        missing = [name for name in outcomes.needed if name not in names]
        if names and missing and number >= 0:
            found.setdefault(" and ".join(missing), []).append(number)
    lines = []
    for missed, numbers in found.items():
        shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
        more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
        verb = "trial {} still lacks {}" if len(numbers) == 1 else "trials {} still lack {}"
        lines.append(verb.format(f"{shown}{more}", one_line(missed, 80)))
    return lines
