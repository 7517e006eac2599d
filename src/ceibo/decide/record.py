"""The record of a suggestion as plain JSON: what it depended on, and how it was found."""

import platform
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from ceibo.decide.model import Model
from ceibo.decide.suggest import CONFIRM, Suggestion
from ceibo.gp import Hyperparameters
from ceibo.gp.linalg import load_blas
from ceibo.version import __version__

# Raised by every change of arithmetic that may change a suggestion. A record without one is of 1.
# 2: what corrected EI, corrected PI and corrected KG are close to x⁺.
# 3: measurements that look wrong count less, in studies that were begun with it; those begun before
#    and those without such a measurement get the suggestions of 2.
# 4: what looks wrong on the scale of the values may be right on a logarithmic one. In spaces with
#    rules, parameters that no rule concerns are spread evenly in the initial design, a rule applies
#    only where all its parameters exist, and measured settings that break one are nothing to beat;
#    with limits or several goals nor are those outside the space. One value told as exact among
#    values of unknown noise does not make the next one exact.
# 5: outliers are searched only where discounts come near to paying their price, and the scales
#    that may acquit them one after the other. With limits the reference point of several goals is
#    no nearer than without.
# Noise that differs over the space is no new version: the settings of a study say whether it may.
ALGORITHM: Final = 5
UNDOUBTED: Final = 3
"""Since this version a suggestion is the same where no measurement looks wrong, without rules, in a
space that was not changed."""


def to_record(suggestion: Suggestion, seen: int, seed: int) -> dict[str, Any]:
    """The record of a suggestion that saw the study after its event `seen`."""
    record: dict[str, Any] = {
        "source": suggestion.source,
        "seen": seen,
        "seed": seed,
        "x": suggestion.x.tolist(),
    }
    if suggestion.source == "model":
        record |= {
            "acquisition": suggestion.acquisition,
            "value": finite(suggestion.value),
            "incumbent": {
                "mean": finite(suggestion.incumbent_mean),
                "std": finite(suggestion.incumbent_std),
            },
            "kernel": _kernel_name(suggestion),
            "start": hyperparameters_to_json(suggestion.start),
            "hyperparameters": hyperparameters_to_json(suggestion.hyperparameters),
            "fit": suggestion.fit_status,
            "fallback": suggestion.fallback,
            "observations": suggestion.observations,
            "used": suggestion.used,
        }
        if suggestion.model is not None:
            record |= discounts_to_json(suggestion.model) | noise_to_json(suggestion.model)
    record |= aims_to_json(suggestion.purpose, suggestion.repeats)
    return record | {"algorithm": ALGORITHM, "versions": versions()}


def discounts_to_json(model: Model) -> dict[str, Any]:
    """The values that a model gives more noise, minimised; nothing if there are none."""
    discounted = [
        {"trial": each.number, "value": each.value, "noise": model.natural(each.noise)}
        for each in model.discounts
    ]
    return {"discounted": discounted} if discounted else {}


def noise_to_json(model: Model) -> dict[str, Any]:
    """The smallest and the largest noise of a value among the measured settings, where it differs
    over the space; nothing where it does not."""
    span = model.noise_span
    return {} if span is None else {"noise_span": list(span)}


def aims_to_json(purpose: str | None, repeats: int | None) -> dict[str, Any]:
    """What a suggestion is for, and how many values to take, where it says so."""
    aims = {"purpose": purpose, "repeats": repeats}
    return {key: value for key, value in aims.items() if value is not None}


def is_to_confirm(record: Mapping[str, Any]) -> bool:
    """Whether a recorded suggestion goes into the answer instead of the search."""
    return record.get("purpose") == CONFIRM


def algorithm_of(record: Mapping[str, Any]) -> int:
    """The version of the arithmetic that made a recorded suggestion."""
    return int(record.get("algorithm", 1))


def _kernel_name(suggestion: Suggestion) -> str | None:
    return None if suggestion.model is None else type(suggestion.model.gp.kernel).__name__


def hyperparameters_of(
    record: Mapping[str, Any] | None, key: str = "hyperparameters"
) -> Hyperparameters | None:
    """Hyperparameters from a record, or None."""
    data = (record or {}).get(key)
    if data is None:
        return None
    noise = float("nan") if data["noise"] is None else data["noise"]
    blocks = np.array(data.get("blocks", ()), dtype=float)
    return Hyperparameters(np.array(data["lengthscales"]), data["variance"], noise, blocks)


def finite(value: float | None) -> float | None:
    """The value, or None in place of an infinity or NaN, which JSON does not have."""
    return value if value is not None and np.isfinite(value) else None


def hyperparameters_to_json(hyperparameters: Hyperparameters | None) -> dict[str, Any] | None:
    """Plain JSON data, or None."""
    if hyperparameters is None:
        return None
    blocks = hyperparameters.blocks.tolist()
    return {
        "lengthscales": hyperparameters.lengthscales.tolist(),
        "variance": hyperparameters.variance,
        "noise": None if np.isnan(hyperparameters.noise) else hyperparameters.noise,
        **({"blocks": blocks} if blocks else {}),
    }


@cache
def versions() -> dict[str, str]:
    """What decides the last bits of a result; with the same versions it is the same bytes."""
    load_blas()
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    names = (
        f"{each['internal_api']} {each.get('version')} {each.get('architecture')}"
        for each in libraries
    )
    return {
        "ceibo": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "blas": ", ".join(sorted(set(names))),
    }
