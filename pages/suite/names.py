"""What the suite's methods, problems and noise settings are called on its page and in its
figures.
"""

from typing import Final

from pages.suite.analysis import NOISELESS, Case

_METHODS: Final = {
    "default": "ceibo's default",
    "ei": "EI",
    "corrected-ei": "corrected EI",
    "random": "random search",
    "botorch-qlognei": "BoTorch qLogNEI",
    "optuna-gp": "Optuna GPSampler",
}
PROBLEMS: Final = {
    "hartmann": "Hartmann 3",
    "griewank": "Griewank 6",
    "levy": "Levy 4",
    "powell": "Powell 5",
    "branin": "Branin 2",
    "hartmann-6": "Hartmann 6",
    "ackley": "Ackley 5",
    "rosenbrock": "Rosenbrock 4",
    "michalewicz": "Michalewicz 5",
    "hartmann-6-in-12": "Hartmann 6 in 12",
    "branin-in-20": "Branin 2 in 20",
    "draw-2d": "GP draws 2",
    "draw-6d": "GP draws 6",
    "mixed-process": "mixed process 7",
    "mixed-recipe": "mixed recipe 4",
    "svm": "SVM 2",
    "mlp": "MLP 3",
    "boosting": "boosting 3",
}
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
    return _METHODS.get(method, method)


def noise_name(case: Case) -> str:
    """The noise of a case: its standard deviation as a share of the range, and whether methods are
    told.
    """
    return _NOISES.get(case.protocol, case.protocol).format(level=f"{100 * case.level:g} %")


def case_name(case: Case) -> str:
    return f"{PROBLEMS[case.problem]}, {noise_name(case)}"


def listed(words: list[str]) -> str:
    """ "a", "a and b", "a, b and c"; "none" """
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} and {words[-1]}"
