"""What to measure next: acquisition functions and their maximisation."""

from ceibo.acquisition.avoid import avoid
from ceibo.acquisition.base import Acquisition
from ceibo.acquisition.build import ACQUISITIONS, build, posterior_mean
from ceibo.acquisition.feasible import feasible
from ceibo.acquisition.incumbent import Incumbent, find_incumbent, probability_best
from ceibo.acquisition.maximize import Maximum, SearchSettings, maximize, recommend

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Incumbent",
    "Maximum",
    "SearchSettings",
    "avoid",
    "build",
    "feasible",
    "find_incumbent",
    "maximize",
    "posterior_mean",
    "probability_best",
    "recommend",
]
