"""Outcomes in words, for people: what is wanted of them, and how sure an answer is."""

from ceibo.decide.estimate import Estimate, OutcomeEstimate
from ceibo.decide.outcomes import Outcome
from ceibo.numbers import percent, rounded, with_uncertainty


def wish_of(outcome: Outcome) -> str:
    """What is wanted of an outcome: minimize, maximize, at most 2 %, watched."""
    if outcome.is_goal:
        return str(outcome.direction)
    if outcome.bound is None:
        return "watched"
    kind = "at most" if "at_most" in outcome.to_json() else "at least"
    return with_unit(f"{kind} {rounded(outcome.bound)}", outcome.unit)


def with_unit(text: str, unit: str) -> str:
    """A number followed by its unit, if it has one."""
    return f"{text} {unit}" if unit else text


def estimate_text(estimate: OutcomeEstimate) -> str:
    """A mean with its standard deviation and its unit."""
    return with_unit(with_uncertainty(estimate.mean, estimate.std), estimate.unit)


def doubt_about(estimate: Estimate, confidence: float) -> str | None:
    """Says that no setting holds the limits with the confidence, if that is so of an answer."""
    if estimate.p_feasible is None or estimate.p_feasible >= confidence:
        return None
    where = "setting" if estimate.number is None else "measured setting"
    return (
        f"no {where} holds every limit with probability {confidence:g}; this is the most likely"
        f" one (probability {percent(estimate.p_feasible)})."
    )
