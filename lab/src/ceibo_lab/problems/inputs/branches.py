"""Conditional searches: parameters that exist only where others have certain values.

jenatton   two levels of binary choices, a number at each leaf, one shared by two leaves
           (Jenatton, Archambeau, González, Seeger 2017)
training   how a network is trained: SGD with its momentum, or Adam with its two decay rates; a
           schedule with a warm-up of its own. A smooth surface, made up
"""

from collections.abc import Mapping
from math import log1p, log10
from typing import Any, Final

from ceibo.decide.dimensions import Categorical, Float
from ceibo_lab.problems.inputs.rules import Params

JENATTON: Final = {
    "x1": Categorical([0, 1]),
    "x2": Categorical([0, 1]),
    "x3": Categorical([0, 1]),
    "x4": Float(-1.0, 1.0),
    "x5": Float(-1.0, 1.0),
    "x6": Float(-1.0, 1.0),
    "x7": Float(-1.0, 1.0),
    "r8": Float(0.0, 1.0),
    "r9": Float(0.0, 1.0),
}
JENATTON_WHEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "x2": {"x1": 0},
    "x3": {"x1": 1},
    "x4": {"x2": 0},
    "x5": {"x2": 1},
    "x6": {"x3": 0},
    "x7": {"x3": 1},
    "r8": {"x1": 0},
    "r9": {"x1": 1},
}
TRAINING: Final = {
    "optimizer": Categorical(["sgd", "adam"]),
    "schedule": Categorical(["constant", "cosine"]),
    "learning_rate": Float(1e-5, 1.0, log=True),
    "weight_decay": Float(1e-6, 1e-1, log=True),
    "momentum": Float(0.0, 0.99),
    "beta1": Float(0.5, 0.99),
    "beta2_gap": Float(1e-4, 1e-1, log=True),
    "warmup": Float(0.0, 0.5),
}
TRAINING_WHEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "momentum": {"optimizer": "sgd"},
    "beta1": {"optimizer": "adam"},
    "beta2_gap": {"optimizer": "adam"},
    "warmup": {"schedule": "cosine"},
}


def jenatton(p: Params) -> float:
    """0.1 at the best of the leaf whose level is lowest; the others begin 0.1 higher each."""
    if p["x1"] == 0:
        leaf = p["x4"] ** 2 + 0.1 if p["x2"] == 0 else p["x5"] ** 2 + 0.2
        return float(leaf + p["r8"])
    leaf = p["x6"] ** 2 + 0.3 if p["x3"] == 0 else p["x7"] ** 2 + 0.4
    return float(leaf + p["r9"])


def training(p: Params) -> float:
    """A loss: steps of the right size, decay that goes with it, a little gain by the schedule."""
    rate, decay = log10(p["learning_rate"]), log10(p["weight_decay"])
    if p["optimizer"] == "sgd":
        momentum = -log10(1.0 - p["momentum"])  # how much longer steps become
        step = rate + momentum + 0.4
        shape = 0.8 * (step / 0.7) ** 2 + 0.9 * (momentum - 1.0) ** 2
        floor, wanted = 0.24, -3.3 - 0.3 * step
    else:
        step = rate + 2.7
        gap = log10(p["beta2_gap"])
        shape = 0.8 * (step / 0.6) ** 2 + 7.0 * (p["beta1"] - 0.86) ** 2
        shape += 0.25 * (gap + 2.4 - 0.3 * step) ** 2
        floor, wanted = 0.27, -2.2
    shape += 0.12 * (decay - wanted) ** 2
    if p["schedule"] == "cosine":
        warm = 0.12 if p["optimizer"] == "sgd" else 0.22
        shape += 2.5 * (p["warmup"] - warm) ** 2
        floor -= 0.03
    return floor + 0.5 * log1p(shape)
