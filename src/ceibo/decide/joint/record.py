"""The record of a suggestion for several outcomes, as plain JSON."""

from collections.abc import Mapping
from typing import Any

from ceibo.decide.joint.suggest import JointSuggestion
from ceibo.decide.model import Model
from ceibo.decide.record import (
    ALGORITHM,
    aims_to_json,
    discounts_to_json,
    finite,
    hyperparameters_of,
    hyperparameters_to_json,
    noise_to_json,
)
from ceibo.decide.record import versions as library_versions
from ceibo.gp import Hyperparameters


def to_joint_record(suggestion: JointSuggestion, seen: int, seed: int) -> dict[str, Any]:
    """The record of a suggestion that saw the study after its event `seen`."""
    record: dict[str, Any] = {
        "source": suggestion.source,
        "seen": seen,
        "seed": seed,
        "x": suggestion.x.tolist(),
    }
    if suggestion.model is not None:
        incumbent = suggestion.incumbent
        each = suggestion.model.each.items()
        record |= {
            "acquisition": suggestion.acquisition,
            "value": finite(suggestion.value),
            "incumbent": None
            if incumbent is None
            else {key: finite(value) for key, value in incumbent.items()},
            "fallback": suggestion.fallback,
            "outcomes": {
                name: _to_json(model, suggestion.starts.get(name)) for name, model in each
            },
        }
    record |= aims_to_json(suggestion.purpose, suggestion.repeats)
    return record | {"algorithm": ALGORITHM, "versions": library_versions()}


def _to_json(model: Model, start: Hyperparameters | None) -> dict[str, Any]:
    """What is written down about the model of one outcome."""
    return {
        "kernel": type(model.gp.kernel).__name__,
        "start": hyperparameters_to_json(start),
        "hyperparameters": hyperparameters_to_json(model.fit.hyperparameters),
        "fit": model.fit.status.name.lower(),
        "observations": model.observations,
        "used": model.used,
        **discounts_to_json(model),
        **noise_to_json(model),
    }


def starts_of(
    record: Mapping[str, Any] | None, key: str = "hyperparameters"
) -> dict[str, Hyperparameters]:
    """Name -> the hyperparameters in a record; under the key "start" those it started from."""
    each = (record or {}).get("outcomes") or {}
    found = {name: hyperparameters_of(data, key) for name, data in each.items()}
    return {name: value for name, value in found.items() if value is not None}
