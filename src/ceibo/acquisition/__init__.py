"""What to measure next: acquisition functions and their maximisation."""

from ceibo.acquisition.assurance import Assurance
from ceibo.acquisition.base import Acquisition, Jet, Surface
from ceibo.acquisition.build import ACQUISITIONS, Context, build, posterior_mean, register
from ceibo.acquisition.build_joint import build_joint
from ceibo.acquisition.common import common_rows
from ceibo.acquisition.efficient import probability_efficient
from ceibo.acquisition.fronts import hypervolume, nondominated, reference_point
from ceibo.acquisition.guides import Chance, Fence, Guide
from ceibo.acquisition.incumbent import Incumbent, find_incumbent, probability_best
from ceibo.acquisition.limits import FeasibleIncumbent, Limit, chances, find_feasible_incumbent
from ceibo.acquisition.maximize import Maximum, SearchSettings, candidates, maximize, recommend
from ceibo.acquisition.mixed_limit import MixedLimit
from ceibo.acquisition.optimism import optimism
from ceibo.acquisition.regret import Regrets, draw_regrets
from ceibo.acquisition.repeats import log_gains_of_repeats

__all__ = [
    "ACQUISITIONS",
    "Acquisition",
    "Assurance",
    "Chance",
    "Context",
    "FeasibleIncumbent",
    "Fence",
    "Guide",
    "Incumbent",
    "Jet",
    "Limit",
    "Maximum",
    "MixedLimit",
    "Regrets",
    "SearchSettings",
    "Surface",
    "build",
    "build_joint",
    "candidates",
    "chances",
    "common_rows",
    "draw_regrets",
    "find_feasible_incumbent",
    "find_incumbent",
    "hypervolume",
    "log_gains_of_repeats",
    "maximize",
    "nondominated",
    "optimism",
    "posterior_mean",
    "probability_best",
    "probability_efficient",
    "recommend",
    "reference_point",
    "register",
]
