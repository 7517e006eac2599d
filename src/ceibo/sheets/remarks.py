"""What is to be said about rows that are odd, and facts all the same."""

from collections.abc import Iterable, Mapping

from ceibo.decide import Measurement, Outcomes
from ceibo.decide.frame import Frame
from ceibo.decide.outcome_words import why_impossible
from ceibo.decide.rules import first_broken
from ceibo.decide.space import Params
from ceibo.study import Failure
from ceibo.text import params_line, plural

Result = Measurement | Mapping[str, Measurement] | Failure


def outside(frame: Frame, settings: Iterable[Params]) -> str:
    """Says that settings are none of the space, and what becomes of them; empty if all are."""
    found = [text for each in settings if (text := frame.outside(each)) is not None]
    if not found:
        return ""
    count = f"{plural(len(found), 'row')} {'is' if len(found) == 1 else 'are'}"
    return (
        f"{count} outside the space; they inform the model, and such settings are not suggested."
        f" The first: {found[0]}"
    )


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


def impossible(outcomes: Outcomes | None, results: Iterable[Result]) -> str:
    """Says that values are none that their outcome can have; empty if all can be."""
    if outcomes is None:
        return ""
    told = [each for each in results if isinstance(each, Mapping)]
    found = [why for each in told for why in why_impossible(outcomes, each)]
    if len(found) < 2:
        return "".join(found)
    return f"{len(found)} values are beyond what is possible. The first: {found[0]}"
