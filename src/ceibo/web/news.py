"""What happened to a study lately, in words."""

from collections.abc import Sequence
from typing import Final

from ceibo.study.store.records import OF_STUDY, Event
from ceibo.text import one_line

_MOST: Final = 5
_PASSING: Final = ("queued", "released")
_WORDS: Final = {
    "asked": "is to be measured",
    "claimed": "is to be measured",
    "queued": "waits in the queue",
    "measured": "was told",
    "corrected": "was corrected to",
    "voided": "has a value that does not count any more",
    "failed": "failed",
    "released": "waits in the queue again",
    "withdrawn": "was withdrawn",
    "noted": "has a note",
}


def news_of(events: Sequence[Event]) -> list[str]:
    """The last of the events, a sentence each; one is enough of a trial that waited and goes on."""
    later: set[int] = set()
    told: list[Event] = []
    for event in reversed(events):
        if event.kind not in _PASSING or event.number not in later:
            told.insert(0, event)
        later.add(event.number)
    said = [_sentence(event) for event in told[-_MOST:]]
    left = len(told) - len(said)
    return [f"{left} more changes.", *said] if left else said


def _sentence(event: Event) -> str:
    if event.number == OF_STUDY:
        return "The space of the study has changed."
    words = _WORDS.get(event.kind, "has changed")
    value = "" if event.measurement is None else f" {event.measurement}"
    of = f" {one_line(event.outcome, 60)}" if event.outcome else ""
    return f"Trial {event.number} {words}{of}{value}."
