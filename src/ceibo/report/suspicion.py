"""Measurements that look wrong, on the page."""

from collections.abc import Sequence

from ceibo.decide.suspects import Suspect, sentences_about
from ceibo.report.svg import text_of

_MOST = 1500  # characters


def suspicion(suspects: Sequence[Suspect]) -> str:
    """A paragraph about values that look wrong; empty if there are none."""
    text = " ".join(each[:1].upper() + each[1:] for each in sentences_about(suspects))
    return f'<p class="wrong">{text_of(text, _MOST)}</p>' if text else ""


def wrong_note(suspects: Sequence[Suspect], number: int, outcome: str | None = None) -> str:
    """What follows the value of a trial that looks wrong."""
    found = any(each.number == number and each.outcome == outcome for each in suspects)
    return ' <small class="wrong">looks wrong</small>' if found else ""
