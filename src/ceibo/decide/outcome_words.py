"""Outcomes in words, for people: what is wanted of them, and how sure an answer is."""

from collections.abc import Mapping

from ceibo.decide.estimate import Estimate, OutcomeEstimate
from ceibo.decide.measurement import Measurement
from ceibo.decide.outcomes import Outcome, Outcomes
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


def why_impossible(
    outcomes: Outcomes, told: Mapping[str, Measurement], mended: str = ""
) -> list[str]:
    """Says which values lie beyond what is possible; noise may do that, or a slip of the pen.

    `mended` says how a slip is put right.
    """
    found = []
    for name, measurement in told.items():
        outcome = outcomes[name]
        for value in measurement.replicates or (measurement.value,):
            end = None
            if outcome.low is not None and value < outcome.low:
                end = f"below {rounded(outcome.low)}, the lowest"
            elif outcome.high is not None and value > outcome.high:
                end = f"above {rounded(outcome.high)}, the highest"
            if end is not None:
                shown = with_unit(f"{value:.6g}", outcome.unit)
                slip = "correct it if it is a slip of the pen"
                slip += f": {mended}" if mended else "."
                found.append(f"{name} {shown} is {end} that is possible; {slip}")
    return found
