"""What to measure next: acquisition functions and their maximisation."""

from ceibo.acquisition.base import Acquisition, Jet
from ceibo.acquisition.build import ACQUISITIONS, Context, build, posterior_mean, register
from ceibo.acquisition.build_joint import build_joint
from ceibo.acquisition.guides import Chance, Fence, Guide
from ceibo.acquisition.incumbent import Incumbent, find_incumbent, probability_best
from ceibo.acquisition.limits import FeasibleIncumbent, Limit, chances, find_feasible_incumbent
from ceibo.acquisition.maximize import Maximum, SearchSettings, maximize, recommend

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Chance",
    "Context",
    "FeasibleIncumbent",
    "Fence",
    "Guide",
    "Incumbent",
    "Jet",
    "Limit",
    "Maximum",
    "SearchSettings",
    "build",
    "build_joint",
    "chances",
    "find_feasible_incumbent",
    "find_incumbent",
    "maximize",
    "posterior_mean",
    "probability_best",
    "recommend",
    "register",
]
