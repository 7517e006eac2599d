"""The methods by name.

METHODS are those of the paper's experiments: acquisitions of ceibo's, fitted by maximum likelihood
as in the paper or, with /map, as the product does; with /se the kernel is the squared exponential;
with /short the search for the next point is cut off after five steps and the fit has one start, as
in the authors' published code. They follow an initial design that all of them share.

SUITE are those of the suite: ceibo's default and candidates for it, each a line in CANDIDATES or
VARIANTS, and the outside references, each with an initial design of its own.

A new method is a class in a file of its own (see `Method`), and an Entry in one of the two tables.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ceibo.decide import Settings, Space
from ceibo.decide.settings import two_for_each
from ceibo.errors import InputError
from ceibo_lab.method import RAW_SAMPLES, REFERENCE_INITIAL, RESTARTS, Entry, Method, PointEntry
from ceibo_lab.methods.ceibo import KERNEL, Ceibo
from ceibo_lab.methods.last_look import LAST_LOOK, SHARE, LastLook
from ceibo_lab.methods.peers import PEERS
from ceibo_lab.methods.random import RandomSearch
from ceibo_lab.methods.variants import VARIANTS, short_search

LABELS: Final = {
    "corrected-ei": "corrected EI",
    "ei": "EI",
    "corrected-pi": "corrected PI",
    "pi": "PI",
    "ucb": "UCB",
    "noisy-ei": "noisy EI",
    "q-noisy-ei": "parallel noisy EI",
    "corrected-kg": "corrected KG",
    "knowledge-gradient": "knowledge gradient",
}
PAPER_SEVEN: Final = ("corrected-ei", "ei", "corrected-pi", "pi", "ucb", "noisy-ei", "q-noisy-ei")
REFERENCES: Final = ("random", "botorch-qlognei", "optuna-gp")


def _references(initial: int) -> dict[str, PointEntry]:
    """The outside references, each with an initial design of so many points of its own."""

    def botorch(space: Space, seed: int) -> Method:
        from ceibo_lab.methods.botorch import Botorch  # torch and BoTorch, only when asked for

        return Botorch(space, seed, initial)

    def optuna(space: Space, seed: int) -> Method:
        from ceibo_lab.methods.optuna import Optuna  # torch and Optuna, only when asked for

        return Optuna(space, seed, initial)

    search = {"restarts": RESTARTS, "raw_samples": RAW_SAMPLES}
    # records of runs without such a design say nothing of their settings
    return {
        "random": Entry("random search", RandomSearch, {}),
        "botorch-qlognei": Entry(
            "BoTorch qLogNEI", botorch, search if initial else {}, ("botorch", "gpytorch", "torch")
        ),
        "optuna-gp": Entry(
            "Optuna GPSampler",
            optuna,
            {"n_startup_trials": initial} if initial else {},
            ("optuna", "torch"),
        ),
    }


# -- the paper's -----------------------------------------------------------------------


def paper_settings(acquisition: str, **others: Any) -> Settings:
    """Of an acquisition in the paper's experiments, whose initial design comes first.

    The paper's model believes every measurement: none is taken for an outlier.
    """
    paper: dict[str, Any] = {"kernel": KERNEL, "fit": "ml", "n_initial": 1}
    paper |= {"outliers": False, "varying_noise": False}
    return Settings(acquisition=acquisition, **(paper | others))


# What is not the paper's, by the end of a method's name: how it is shown, settings.
_OTHERWISE: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "": ("", {}),
    "/map": (", MAP", {"fit": "map"}),
    "/se": (", squared exponential", {"kernel": "squared-exponential"}),
    "/short": (", as the authors' code searches", {"restarts": 1}),
}


def _acquisition(acquisition: str, end: str = "") -> tuple[str, PointEntry]:
    """An acquisition of ceibo's under its name.

    A record says nothing of n_initial: there the design comes before the method.
    """
    words, others = _OTHERWISE[end]
    settings, short = paper_settings(acquisition, **others), end == "/short"

    def start(space: Space, seed: int) -> Method:
        inner = Ceibo(space, seed, settings)
        return short_search(inner) if short else inner

    described = {k: v for k, v in settings.to_json().items() if k != "n_initial"}
    entry = Entry(LABELS[acquisition] + words, start, described | {"short_search": short})
    return acquisition + end, entry


METHODS: Final[dict[str, PointEntry]] = {
    **dict(_acquisition(name, end) for name in LABELS for end in ("", "/map")),
    **dict(_acquisition(name, "/short") for name in PAPER_SEVEN),
    **dict(_acquisition(name, "/se") for name in ("corrected-ei", "ei")),
    **_references(0),
}

# -- the suite's -----------------------------------------------------------------------

# What each changes of the default. The factors were screened one at a time around corrected KG with
# kernel "auto", as the names say; the first six are the combinations that followed.
_KG_AUTO: Final = {"acquisition": "corrected-kg", "kernel": "auto"}
CANDIDATES: Final[dict[str, dict[str, Any]]] = {
    "default": {},
    "ei": {"acquisition": "ei"},
    "corrected-ei": {"acquisition": "corrected-ei"},
    "knowledge-gradient": {"acquisition": "knowledge-gradient"},
    "corrected-kg": {"acquisition": "corrected-kg"},
    "ten-initial": {"n_initial": 10},
    "auto": {"kernel": "auto"},
    "ei-auto": {"acquisition": "ei", "kernel": "auto"},
    "corrected-ei-auto": {"acquisition": "corrected-ei", "kernel": "auto"},
    "ucb-auto": {"acquisition": "ucb", "kernel": "auto"},
    "q-noisy-ei-auto": {"acquisition": "q-noisy-ei", "kernel": "auto"},
    "knowledge-gradient-auto": {"acquisition": "knowledge-gradient", "kernel": "auto"},
    "corrected-kg-auto": _KG_AUTO,
    "corrected-kg-squared-exponential": {
        "acquisition": "corrected-kg",
        "kernel": "squared-exponential",
    },
    "corrected-kg-auto-ml": {**_KG_AUTO, "fit": "ml"},
    "corrected-kg-auto-four-initial": {**_KG_AUTO, "n_initial": 4},
    "corrected-kg-auto-ten-initial": {**_KG_AUTO, "n_initial": 10},
    **{name: {} for name in VARIANTS},  # the default's settings, used otherwise
}
# Beside the candidates, whose plan was fixed before its runs: the designs of plans/many.py, twenty
# points, and two for each parameter as before, whatever the default's is.
TWENTY_INITIAL: Final = "twenty-initial"
FORTY_INITIAL: Final = "forty-initial"
TWO_EACH: Final = "two-each"
# Of plans/answers.py: the default as it was before it doubted values and had levels of noise.
BELIEVING: Final = "believing"
BOTORCH_TWENTY: Final = "botorch-qlognei-twenty"
_SHOWN: Final = {"default": "ceibo's default", "ei": "EI", "corrected-ei": "corrected EI"}


def _candidate(name: str) -> PointEntry:
    sizes = {TWENTY_INITIAL: 20, FORTY_INITIAL: 40}
    settings = Settings(
        **({"n_initial": sizes[name]} if name in sizes else CANDIDATES.get(name, {}))
    )
    said = {"n_initial": "two for each parameter, at least 4"} if name == TWO_EACH else {}

    def start(space: Space, seed: int) -> Method:
        size = two_for_each(space.breadth)
        chosen = replace(settings, n_initial=size) if name == TWO_EACH else settings
        inner = Ceibo(space, seed, chosen)
        return VARIANTS[name].around(inner) if name in VARIANTS else inner

    return Entry(_SHOWN.get(name, name), start, settings.to_json() | said)


def _last_look() -> PointEntry:
    """The default whose last trials go into the answer."""
    settings = Settings()

    def start(space: Space, seed: int) -> Method:
        return LastLook(Ceibo(space, seed, settings))

    return Entry(LAST_LOOK, start, settings.to_json() | {"confirm": SHARE})


def _believing() -> PointEntry:
    settings = Settings(outliers=False, varying_noise=False)

    def start(space: Space, seed: int) -> Method:
        return Ceibo(space, seed, settings)

    return Entry(BELIEVING, start, settings.to_json())


SUITE: Final[dict[str, PointEntry]] = {
    **{name: _candidate(name) for name in (*CANDIDATES, TWENTY_INITIAL, FORTY_INITIAL, TWO_EACH)},
    **_references(REFERENCE_INITIAL),
    BELIEVING: _believing(),
    LAST_LOOK: _last_look(),
    BOTORCH_TWENTY: _references(20)["botorch-qlognei"],
    **PEERS,
}


def method(name: str, table: Mapping[str, PointEntry] = METHODS) -> PointEntry:
    """The method called `name`."""
    if name not in table:
        raise InputError(f"method must be one of {', '.join(table)}, got {name!r}.")
    return table[name]
