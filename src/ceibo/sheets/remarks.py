"""What is to be said about rows that are odd, and facts all the same."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ceibo.decide import Measurement, Outcomes
from ceibo.decide.block_names import usual_kinds, why_unusual
from ceibo.decide.frame import Frame
from ceibo.decide.outcome_words import why_impossible
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params
from ceibo.study import Failure, Trial
from ceibo.text import params_line, plural, shorten

_MOST_NAMED: Final = 10  # columns that a note names

Result = Measurement | Mapping[str, Measurement] | Failure


def outside(frame: Frame, settings: Iterable[Params]) -> str:
    """Says that settings are none of the space, and what becomes of them; empty if all are."""
    found = [text for each in settings if (text := frame.outside(each)) is not None]
    if not found:
        return ""
    told = "the model learns from what was measured there, and suggests nothing there"
    if len(found) == 1:
        return f"1 row is outside the space; {told}: {found[0]}"
    return f"{len(found)} rows are outside the space; {told}. The first: {found[0]}"


def broken(frame: Frame, settings: Iterable[Params]) -> str:
    """Says that settings break a rule; empty if none does."""
    rules = frame.space.rules
    found = [(each, rule) for each in settings if (rule := first_broken(rules, each)) is not None]
    if not found:
        return ""
    params, rule = found[0]
    values = params_line({name: params[name] for name in rule.names})
    verb = "breaks" if len(found) == 1 else "break"
    first = f"{plural(len(found), 'row')} {verb} a rule of the space, first {rule.text!r}"
    return f"{first} with {values}; what was measured there counts all the same."


def unlike_others(trials: Iterable[Trial], results: Iterable[Result]) -> str:
    """Says that values are in no block, where most measurements are in one; else empty."""
    told = [list(each.values()) for each in results if isinstance(each, Mapping)]
    told += [[each] for each in results if isinstance(each, Measurement)]
    blocks = [each.block for several in told for each in several]
    before = [each.block for trial in trials for each in trial.measurements]
    usual = usual_kinds([*before, *blocks])
    found = [why for block in blocks if (why := why_unusual(block, usual))]
    if not found:
        return ""
    count = plural(len(found), "value")
    return f"{count} on the sheet {'has' if len(found) == 1 else 'have'} no usual block: {found[0]}"


def unread(headers: Sequence[str]) -> str:
    """Says which columns were not read; empty if all were."""
    if not headers:
        return ""
    named = ", ".join(repr(shorten(each, 60)) for each in headers[:_MOST_NAMED])
    more = f" and {len(headers) - _MOST_NAMED} more" if len(headers) > _MOST_NAMED else ""
    return f"not read, as no parameter or outcome has that name: {named}{more}."


def impossible(outcomes: Outcomes | None, results: Iterable[Result]) -> str:
    """Says that values are none that their outcome can have; empty if all can be."""
    if outcomes is None:
        return ""
    told = [each for each in results if isinstance(each, Mapping)]
    found = [why for each in told for why in why_impossible(outcomes, each)]
    if len(found) < 2:
        return "".join(found)
    return f"{len(found)} values are beyond what is possible. The first: {found[0]}"
