"""What a new study is: its options checked, and kept as they are stored."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ceibo.checks import check_choice
from ceibo.decide.direction import Direction
from ceibo.decide.outcomes import Outcome, Outcomes
from ceibo.decide.settings import DEFAULT_CONFIDENCE, Settings, check_acquisition
from ceibo.decide.space import Space
from ceibo.errors import InputError


def aims(
    outcomes: Mapping[str, Outcome] | None, direction: str | None, confidence: float | None
) -> tuple[dict[str, Any], Outcomes | None, float | None]:
    """What a study aims at: its direction as stored, or its outcomes and their confidence."""
    if outcomes is None:
        if confidence is not None:
            raise InputError(
                "confidence is that with which limits hold, and a study without outcomes has none;"
                " leave it out."
            )
        chosen = "minimize" if direction is None else direction
        return {"direction": check_choice(chosen, "direction", list(Direction))}, None, None
    if direction is not None:
        raise InputError(
            f"direction={direction!r} is of a study without outcomes; a goal among the outcomes is"
            " Minimize() or Maximize()."
        )
    return {}, Outcomes(outcomes), DEFAULT_CONFIDENCE if confidence is None else confidence


def settings_for(
    outcomes: Outcomes | None, confidence: float | None, settings: Settings, dimension: int
) -> Settings:
    """The settings of a new study, resolved; an acquisition that has no meaning is refused."""
    resolved = replace(settings, confidence=confidence).resolve(dimension)
    if outcomes is not None:
        check_acquisition(resolved.acquisition, len(outcomes.goals), len(outcomes.limits))
        if resolved.precision is not None and len(outcomes.goals) > 1:
            raise InputError(
                "precision: what a value is worth beside its price is known of one goal, and there"
                f" are {len(outcomes.goals)}; leave it out, or make all but one of them limits."
            )
    return resolved


def study_data(
    outcomes: Outcomes | None, space: Space, settings: Settings
) -> dict[str, Any] | None:
    """What is stored with a study beside its space and settings.

    Its outcomes, rules between its parameters, a price of precision, that it doubts measurements,
    and that noise may differ over the space: a ceibo that knows nothing of one of these must not go
    on with the study.
    """
    choices = {"outliers": settings.outliers, "varying_noise": settings.varying_noise}
    data: dict[str, Any] = {name: True for name, chosen in choices.items() if chosen}
    if outcomes is not None:
        data["outcomes"] = outcomes.to_json()
    if space.constraints:
        data["constraints"] = list(space.constraints)
    if settings.precision is not None:
        data["precision"] = settings.precision.to_json()
    return data or None
