"""Mixtures: parts that sum to one, and rules between them.

scheffe-3   three parts; a Scheffé polynomial with interactions of pairs and of all three
coating-5   five parts within bounds, two further inequalities, and a temperature
blend-8     eight parts of which at most four are used; a Scheffé polynomial of pairs
"""

from math import exp
from typing import Final

from ceibo.decide.dimensions import Float
from ceibo_lab.problems.inputs.rules import Few, Params, Rule, Total

THREE: Final = {name: Float(0.0, 1.0) for name in ("a", "b", "c")}
THREE_RULES: Final[tuple[Rule, ...]] = (Total(dict.fromkeys(THREE, 1.0), 1.0, equal=True),)

COATING: Final = {
    "resin": Float(0.2, 0.7),
    "hardener": Float(0.05, 0.4),
    "solvent": Float(0.1, 0.5),
    "filler": Float(0.0, 0.3),
    "additive": Float(0.0, 0.1),
    "temperature": Float(80.0, 180.0),
}
COATING_PARTS: Final = ("resin", "hardener", "solvent", "filler", "additive")
COATING_RULES: Final[tuple[Rule, ...]] = (
    Total(dict.fromkeys(COATING_PARTS, 1.0), 1.0, equal=True),
    Total({"filler": 1.0, "resin": -0.5}, 0.0),
    Total({"hardener": 1.0, "solvent": 1.0}, 0.55),
)

EIGHT: Final = {name: Float(0.0, 0.7) for name in "abcdefgh"}
EIGHT_RULES: Final[tuple[Rule, ...]] = (
    Total(dict.fromkeys(EIGHT, 1.0), 1.0, equal=True),
    Few(tuple(EIGHT), most=4),
)
_ALONE: Final = dict(zip("abcdefgh", (6.0, 9.5, 4.0, 7.5, 10.5, 5.0, 8.0, 3.0), strict=True))
_PAIRS: Final = {
    "ab": 14.0,
    "ac": 30.0,
    "ad": 13.0,
    "ae": 9.0,
    "ag": 18.0,
    "bc": -8.0,
    "be": -20.0,
    "bf": 22.0,
    "cd": 21.0,
    "cg": 26.0,
    "ch": 12.0,
    "df": 17.0,
    "dg": 19.0,
    "dh": 15.0,
    "ef": -10.0,
    "eg": 8.0,
    "eh": 24.0,
    "fg": 11.0,
    "gh": -6.0,
}


def scheffe(p: Params) -> float:
    """The negative of an elongation; pairs help or hurt, and so do all three together."""
    a, b, c = p["a"], p["b"], p["c"]
    alone = 11.7 * a + 9.4 * b + 16.4 * c
    pairs = 19.0 * a * b + 11.4 * a * c - 9.6 * b * c
    return float(-(alone + pairs + 26.0 * a * b * (a - b) + 48.0 * a * b * c))


def coating(p: Params) -> float:
    """The negative of a hardness: a ratio of hardener to resin, a cure, and a flow that suit."""
    ratio = p["hardener"] / (p["resin"] + p["hardener"])
    suits = exp(-(((ratio - 0.32) / 0.14) ** 2))
    cure = exp(-(((p["temperature"] - 152.0 + 350.0 * p["additive"]) / 38.0) ** 2))
    body = 0.6 + 1.8 * p["filler"] + 7.0 * p["additive"] - 70.0 * p["additive"] ** 2
    flow = p["solvent"] - 0.12 - 0.5 * p["filler"]
    return float(-100.0 * suits * cure * body + 260.0 * flow**2)


def blend(p: Params) -> float:
    """The negative of a strength: parts alone, and pairs that help or hurt each other."""
    alone = sum(weight * p[name] for name, weight in _ALONE.items())
    pairs = sum(weight * p[pair[0]] * p[pair[1]] for pair, weight in _PAIRS.items())
    return float(-(alone + pairs))
