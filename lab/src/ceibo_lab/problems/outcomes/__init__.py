"""Problems of several outcomes by name; ranges and optima are those that `reference` finds.

A new one is a function of points in limits.py or fronts.py, and a line here.
"""

from typing import Final

import numpy as np

from ceibo.errors import InputError
from ceibo_lab.problems.outcomes import fronts, limits
from ceibo_lab.problems.outcomes.problem import OutcomeProblem

_SQUARE: Final = np.array([(0.0, 1.0)] * 2)
_VESSEL: Final = np.array([(0.0, 10.0), (0.0, 10.0), (10.0, 50.0), (150.0, 200.0)])
_BEAM: Final = np.array([(0.125, 10.0), (0.1, 10.0), (0.1, 10.0), (0.1, 10.0)])
_REDUCER: Final = np.array(
    [(2.6, 3.6), (0.7, 0.8), (17.0, 28.0), (7.3, 8.3), (7.8, 8.3), (2.9, 3.9), (5.0, 5.5)]
)
_STRING: Final = np.array([(0.01, 1.0), (0.01, 1.0), (0.01, 20.0)])

_LIMITED: Final = (
    OutcomeProblem(
        "gramacy",
        _SQUARE,
        limits.gramacy_values,
        goals=1,
        ranges=np.array([2.0, 3.551101965822366, 2.0]),
        optimum=0.599788052005803,
        worst=1.7320508075689243,
    ),
    OutcomeProblem(
        "hartmann-6-norms",
        np.array([(0.0, 1.0)] * 6),
        limits.hartmann_6_norms_values,
        goals=1,
        ranges=np.array([3.322367983291009, 6.0, 2.449489742783178]),
        optimum=-3.3223680114155147,
        worst=-0.00013460193839495127,
    ),
    OutcomeProblem(
        "pressure-vessel",
        _VESSEL,
        limits.pressure_vessel_values,
        goals=1,
        ranges=np.array([268658.84375, 10.772, 10.3816, 2043082.422384562, 50.0]),
        optimum=5633.950241007438,
        worst=268658.84375,
    ),
    OutcomeProblem(
        "welded-beam",
        _BEAM,
        limits.welded_beam_values,
        goals=1,
        ranges=np.array(
            [
                1220.165490380625,
                10226.518664303305,
                469708.897844483,
                19.775,
                125.92658039625,
                3.145763719504386,
                26448470637.2099,
            ]
        ),
        optimum=1.5870775121425373,
        worst=19.018589916385356,
    ),
    OutcomeProblem(
        "speed-reducer",
        _REDUCER,
        limits.speed_reducer_values,
        goals=1,
        ranges=np.array(
            [
                4782.560582077641,
                0.8281257214424236,
                0.8595586406932685,
                1.1662670948937461,
                0.10369332228705064,
                1004.7580478893461,
                250.37703717747934,
                10.5,
                1.8928571428571432,
                1.8928571428571432,
                0.30863178742366737,
                0.12766450417052844,
            ]
        ),
        optimum=2996.348164968382,
        worst=6117.38162721671,
    ),
    OutcomeProblem(
        "tension-string",
        _STRING,
        limits.tension_string_values,
        goals=1,
        ranges=np.array(
            [21.99999799, 1.0181540253082655, 0.8495637659043074, 3418.6626445444263, 1.32]
        ),
        optimum=0.012665232788233078,
        worst=0.30608198776174333,
    ),
)
_FRONTS: Final = (
    OutcomeProblem(
        "branin-currin",
        _SQUARE,
        fronts.branin_currin_values,
        goals=2,
        ranges=np.array([307.7312086538769, 12.618314023866336]),
        reference=np.array([18.0, 6.0]),
        best=59.36011874867746,  # BoTorch's, by a genetic algorithm; a grid of 4001² has 59.344
    ),
    OutcomeProblem(
        "c2-dtlz2",
        np.array([(0.0, 1.0)] * 4),
        fronts.c2_dtlz2_values,
        goals=2,
        ranges=np.array([1.75, 1.75, 0.8492821488841009]),
        reference=np.full(2, 1.1),
        best=0.39994158313429073,
    ),
    OutcomeProblem(
        "dtlz2",
        np.array([(0.0, 1.0)] * 6),
        fronts.dtlz2_values,
        goals=2,
        ranges=np.array([2.25, 2.25]),
        reference=np.full(2, 1.1),
        best=0.4246018366025519,
    ),
    OutcomeProblem(
        "vehicle-safety",
        np.array([(1.0, 3.0)] * 5),
        fronts.vehicle_safety_values,
        goals=3,
        ranges=np.array([42.851045, 5.569627842024431, 0.2246]),
        reference=np.array([1864.72022, 11.81993945, 0.2903999384]),
        best=246.81607081187002,
    ),
)
OUTCOME_PROBLEMS: Final = {each.name: each for each in (*_LIMITED, *_FRONTS)}
LIMITED: Final = tuple(each.name for each in _LIMITED)


def outcome_problem(name: str) -> OutcomeProblem:
    """The problem called `name`."""
    if name not in OUTCOME_PROBLEMS:
        raise InputError(f"problem must be one of {', '.join(OUTCOME_PROBLEMS)}, got {name!r}.")
    return OUTCOME_PROBLEMS[name]
