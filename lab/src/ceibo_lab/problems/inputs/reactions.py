"""Reactions whose temperature must stay below the boiling point of the solvent.

reflux     five solvents; the most promising one is best at its boiling point
coupling   four solvents and four bases, two of which do not go with water, and one of which
           allows a small excess only
"""

from math import exp, log10
from typing import Final

from ceibo.decide.dimensions import Categorical, Float
from ceibo_lab.problems.inputs.rules import Forbidden, Params, Rule, Total

# solvent: (boiling point, level, best temperature, best log10 of the concentration)
_REFLUX: Final = {
    "THF": (66.0, 100.0, 84.0, -0.5),
    "ethanol": (78.0, 70.0, 70.0, -0.2),
    "acetonitrile": (82.0, 84.0, 105.0, -0.7),
    "toluene": (111.0, 78.0, 92.0, 0.0),
    "DMF": (153.0, 80.0, 118.0, -0.4),
}
REFLUX: Final = {
    "temperature": Float(20.0, 160.0),
    "concentration": Float(0.02, 2.0, log=True),
    "equivalents": Float(1.0, 3.0),
    "solvent": Categorical(list(_REFLUX)),
}
REFLUX_RULES: Final[tuple[Rule, ...]] = tuple(
    Total({"temperature": 1.0}, entry[0], where={"solvent": solvent})
    for solvent, entry in _REFLUX.items()
)

_SOLVENTS: Final = {  # boiling point, level, best temperature
    "water": (100.0, 0.82, 85.0),
    "THF": (66.0, 0.95, 92.0),
    "dioxane": (101.0, 0.9, 112.0),
    "DMF": (153.0, 0.85, 120.0),
}
_BASES: Final = {  # level, best log10 of the hours, best equivalents
    "K2CO3": (0.88, 1.0, 2.2),
    "NaH": (1.0, 0.4, 1.9),
    "Et3N": (0.75, 1.1, 1.6),
    "KOtBu": (0.94, 0.6, 1.4),
}
COUPLING: Final = {
    "temperature": Float(20.0, 160.0),
    "hours": Float(0.5, 24.0, log=True),
    "equivalents": Float(1.0, 3.0),
    "solvent": Categorical(list(_SOLVENTS)),
    "base": Categorical(list(_BASES)),
}
COUPLING_RULES: Final[tuple[Rule, ...]] = (
    *(
        Total({"temperature": 1.0}, entry[0], where={"solvent": solvent})
        for solvent, entry in _SOLVENTS.items()
    ),
    Total({"equivalents": 1.0}, 1.5, where={"base": "NaH"}),
    Forbidden({"base": "NaH", "solvent": "water"}),
    Forbidden({"base": "KOtBu", "solvent": "water"}),
)


def reflux(p: Params) -> float:
    """The negative of a yield in per cent."""
    _, level, best, concentration = _REFLUX[p["solvent"]]
    warmth = exp(-(((p["temperature"] - best) / 48.0) ** 2))
    strength = exp(-(((log10(p["concentration"]) - concentration) / 0.7) ** 2))
    excess = 1.0 - 0.12 * (p["equivalents"] - 1.7) ** 2
    return float(-level * warmth * strength * excess)


def coupling(p: Params) -> float:
    """The negative of a yield in per cent; a hot reaction needs less time."""
    _, dissolved, best = _SOLVENTS[p["solvent"]]
    activated, hours, equivalents = _BASES[p["base"]]
    shift = (p["temperature"] - best) / 52.0
    warmth = exp(-(shift**2))
    time = exp(-(((log10(p["hours"]) - hours + 0.4 * shift) / 0.6) ** 2))
    excess = exp(-(((p["equivalents"] - equivalents) / 1.1) ** 2))
    return -100.0 * dissolved * activated * warmth * time * excess
