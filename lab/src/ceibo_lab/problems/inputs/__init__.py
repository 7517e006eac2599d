"""Problems whose inputs have rules or branches, by name; their figures are `reference`'s.

A new one is a function of settings, its dimensions and rules, and a line here.
"""

from typing import Final

from ceibo.errors import InputError
from ceibo_lab.problems.inputs import branches, mixtures, reactions
from ceibo_lab.problems.inputs.problem import InputProblem

_RULED: Final = (
    InputProblem(
        "scheffe-3",
        mixtures.THREE,
        mixtures.scheffe,
        mixtures.THREE_RULES,
        tuple(mixtures.THREE),
        optimum=-17.919228509874213,
        worst=-9.229517981976343,
    ),
    InputProblem(
        "coating-5",
        mixtures.COATING,
        mixtures.coating,
        mixtures.COATING_RULES,
        mixtures.COATING_PARTS,
        optimum=-112.83307377030964,
        worst=32.34565918324889,
    ),
    InputProblem(
        "blend-8",
        mixtures.EIGHT,
        mixtures.blend,
        mixtures.EIGHT_RULES,
        tuple(mixtures.EIGHT),
        optimum=-14.464896319692397,
        worst=-3.369990270663984,
    ),
    InputProblem(
        "reflux",
        reactions.REFLUX,
        reactions.reflux,
        reactions.REFLUX_RULES,
        optimum=-86.88150577484882,
        worst=-0.02820732028506787,
    ),
    InputProblem(
        "coupling",
        reactions.COUPLING,
        reactions.coupling,
        reactions.COUPLING_RULES,
        optimum=-80.89772852379213,
        worst=-6.202500155539855e-06,
    ),
)
_BRANCHED: Final = (
    InputProblem(
        "jenatton",
        branches.JENATTON,
        branches.jenatton,
        when=branches.JENATTON_WHEN,
        optimum=0.1,
        worst=2.382909434164067,
    ),
    InputProblem(
        "training",
        branches.TRAINING,
        branches.training,
        when=branches.TRAINING_WHEN,
        optimum=0.21,
        worst=2.045916332645855,
    ),
)
INPUT_PROBLEMS: Final = {each.name: each for each in (*_RULED, *_BRANCHED)}
RULED: Final = tuple(each.name for each in _RULED)
BRANCHED: Final = tuple(each.name for each in _BRANCHED)


def input_problem(name: str) -> InputProblem:
    """The problem called `name`."""
    if name not in INPUT_PROBLEMS:
        raise InputError(f"problem must be one of {', '.join(INPUT_PROBLEMS)}, got {name!r}.")
    return INPUT_PROBLEMS[name]
