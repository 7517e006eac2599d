"""The better solvent arrives in the third week: what it costs beside having had it from the start.

Two studies per seed, of the same problem, seed and noise. One has five solvents from the start, the
other four of them for the first trials, and the fifth, in which the optimum is, by `Study.change`.
After as many trials again, the true regrets of what they recommend are compared in pairs.
"""

import math
from typing import Any

import numpy as np

from ceibo import Categorical, Float, Study

FIRST, FURTHER = 20, 20
TARGET = 0.1  # of log10 regret, on average
_NOISE = 0.02
_FLOOR = 1e-4  # below it a regret is nothing beside the noise
# solvent -> offset, best temperature, best concentration (log10)
_SOLVENTS = {
    "toluene": (0.45, 85.0, -1.2),
    "THF": (0.35, 55.0, -0.6),
    "DMF": (0.25, 90.0, -0.9),
    "water": (0.60, 70.0, -0.3),
    "MeCN": (0.0, 72.0, -0.8),
}


def value_at(params: dict[str, Any]) -> float:
    """The loss of a setting; its smallest value is zero."""
    offset, temp, concentration = _SOLVENTS[params["solvent"]]
    warm = ((params["temp"] - temp) / 50.0) ** 2
    dense = (math.log10(params["concentration"]) - concentration) ** 2
    return float(offset + warm + 0.5 * dense + 0.2 * warm * dense)


def space_with(solvents: list[str]) -> dict[str, Any]:
    return {
        "temp": Float(20, 120),
        "concentration": Float(0.01, 1.0, log=True),
        "solvent": Categorical(solvents),
    }


def regret(seed: int, late: bool) -> float:
    """The true regret of the recommendation after all trials."""
    rng = np.random.default_rng(seed)
    names = list(_SOLVENTS)
    study = Study.create(space_with(names[:-1] if late else names), seed=seed)
    for number in range(FIRST + FURTHER):
        if late and number == FIRST:
            study.change(space_with(names))
        trial = study.ask()
        study.tell(trial, value_at(trial.params) + _NOISE * rng.standard_normal())
    found = value_at(study.recommended.params)
    study.close()
    return found


def show_late_solvent(seeds: int) -> bool:
    """Prints the comparison; whether the target is met."""
    pairs = [(regret(seed, late=False), regret(seed, late=True)) for seed in range(seeds)]
    logs = np.log10(np.maximum(np.array(pairs), _FLOOR))
    difference = logs[:, 1] - logs[:, 0]
    mean = float(np.mean(difference))
    error = float(np.std(difference, ddof=1) / math.sqrt(seeds)) if seeds > 1 else math.nan
    print(f"{'regret, log10':<28}{'mean':>8}{'median':>8}")
    for label, column in (("from the start", 0), (f"after {FIRST} of {FIRST + FURTHER}", 1)):
        print(f"{label:<28}{np.mean(logs[:, column]):>8.2f}{np.median(logs[:, column]):>8.2f}")
    print(f"{'late, less from the start':<28}{mean:>8.2f}  ± {error:.2f} ({seeds} pairs)")
    return mean <= TARGET
