"""What methods, problems and noise settings of the suite are called on its page."""

from typing import Final

from ceibo_lab.library import Setting
from ceibo_lab.methods import SUITE
from ceibo_lab.problems import NAMES
from pages.default.runs import NOISELESS

_NOISES: Final = {
    "heteroscedastic": "up to {level}, told",
    "homoscedastic": "{level}, told",
    "homoscedastic-untold": "{level}, not told",
    "varying-untold": "about {level}, varying, not told",
    "measured": "real, told",
    "measured-untold": "real, not told",
    NOISELESS: "no noise",
}


def method_name(method: str) -> str:
    return SUITE[method].label if method in SUITE else method


def noise_name(case: Setting) -> str:
    """The noise of a case as a share of the range, and whether methods are told."""
    return _NOISES.get(case.protocol, case.protocol).format(level=f"{100 * case.level:g} %")


def case_name(case: Setting) -> str:
    return f"{NAMES[case.problem]}, {noise_name(case)}"


def listed(words: list[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none" """
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"
