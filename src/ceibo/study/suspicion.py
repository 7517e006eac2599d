"""The measurements of a study that look wrong, with the keys by which they can be voided."""

from dataclasses import replace

from ceibo.decide.suspects import Suspect
from ceibo.errors import NoMeasurementError
from ceibo.study.ledger import Ledger


def suspects_in(ledger: Ledger) -> tuple[Suspect, ...]:
    """The values that the models of a study do not believe, in the order told."""
    try:
        found = ledger.any_belief().suspects
    except NoMeasurementError:
        return ()
    return tuple(replace(each, key=_key(ledger, each)) for each in found)


def _key(ledger: Ledger, suspect: Suspect) -> str | None:
    """The key of a measurement; None if its trial has no other of that outcome."""
    named = suspect.outcome or ""
    told = ledger.snapshot.trials[suspect.number].measurements
    alike = [each for each in told if each.outcome == named]
    if len(alike) == 1:
        return None
    for each in alike:
        if suspect.value in (each.measurement.replicates or (each.measurement.value,)):
            return each.key
    return None  # pragma: no cover - a suspect is one of the values told
