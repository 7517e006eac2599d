"""What to measure next: acquisition functions and their maximisation."""

from ceibo.acquisition.base import Acquisition, Jet
from ceibo.acquisition.build import ACQUISITIONS, Context, build, posterior_mean, register
from ceibo.acquisition.guides import Chance, Fence, Guide
from ceibo.acquisition.incumbent import Incumbent, find_incumbent, probability_best
from ceibo.acquisition.maximize import Maximum, SearchSettings, maximize, recommend

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Chance",
    "Context",
    "Fence",
    "Guide",
    "Incumbent",
    "Jet",
    "Maximum",
    "SearchSettings",
    "build",
    "find_incumbent",
    "maximize",
    "posterior_mean",
    "probability_best",
    "recommend",
    "register",
]
