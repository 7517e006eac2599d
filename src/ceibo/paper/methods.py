"""How the next point is chosen: the paper's acquisition functions through ceibo's own suggestion, and others beside.

A method is asked with all it may know, and answers with a point of the unit cube. Methods of ceibo go through
`ceibo.study.suggest`, the same code that every study uses, with maximum likelihood ("ml", as the paper) or the
product's maximum a posteriori ("map"). The model that `best` and `recommended` are read off is the method's own; for
random search and the outside references, which have none to offer, it is ceibo's maximum likelihood fit to the same
data.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol, final

import numpy as np
from scipy.optimize import minimize

from ceibo import acquisition as acq
from ceibo.acquisition.sampling import spread_points
from ceibo.errors import InputError
from ceibo.gp.inputs import Array
from ceibo.paper.problems import stream
from ceibo.study.space import Float, Space
from ceibo.study.suggest import Evidence, Model, Settings, fit_model, suggest

KERNEL: Final = "matern52"


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """A point of the unit cube (d,), the model it was chosen with (None: none), the acquisition's value there."""

    x: Array
    model: Model | None
    value: float | None


class Proposer(Protocol):
    """A method at work in one replication; asked once per step, in order."""

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        """The point for trial `number`."""


@final
@dataclass(frozen=True)
class Method:
    """A method by name: how to start it for (dimension, seed), and how it is shown."""

    name: str
    label: str
    start: Callable[[int, int], Proposer]
    settings: dict[str, object]


@final
class CeiboProposer:
    """ceibo's own suggestion, each fit also started from the one before, as a study does."""

    def __init__(self, dimension: int, seed: int, settings: Settings) -> None:
        self.space, self.settings, self.seed = unit_space(dimension), settings, seed
        self.previous: Model | None = None

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        start = None if self.previous is None else self.previous.fit.hyperparameters
        found = suggest(evidence, self.space, self.settings, start, self.seed, number)
        self.previous = found.model
        return Proposal(found.x, found.model, found.value)


@final
class ShortSearchProposer:
    """The same model and acquisition, maximised by a few L-BFGS steps on its natural scale.

    Stands for code that stops the inner search early: `starts` of the best of `raw` quasi-random points climb for
    `steps` iterations each.
    """

    raw, starts, steps = 512, 10, 5

    def __init__(self, dimension: int, seed: int, settings: Settings) -> None:
        self.space, self.settings, self.seed = unit_space(dimension), settings, seed
        self.previous: Model | None = None

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        start = None if self.previous is None else self.previous.fit.hyperparameters
        model = self.previous = fit_model(evidence, self.space, self.settings, start)
        seed = int(stream(self.seed, f"search {number}").integers(2**62))
        function = acq.build(self.settings.acquisition, model.gp, seed=seed)
        points = spread_points(self.raw, len(self.space), np.random.default_rng(seed))
        order = np.argsort(-function.value(points), kind="stable")[: self.starts]

        def loss(x: Array) -> tuple[float, Array]:
            value, gradient = function.value_and_gradient(x[None, :])
            return -float(value[0]), -gradient[0]

        bounds = [(0.0, 1.0)] * len(self.space)
        ends = [
            minimize(loss, points[k], jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": self.steps})
            for k in order
        ]
        best = min(ends, key=lambda end: float(end.fun))
        return Proposal(np.clip(best.x, 0.0, 1.0), model, model.natural(-float(best.fun)))


@final
class RandomProposer:
    """Uniform random points."""

    def __init__(self, dimension: int, seed: int) -> None:
        self.dimension, self.rng = dimension, stream(seed, "random search")

    def __call__(self, evidence: Evidence, number: int) -> Proposal:
        return Proposal(self.rng.random(self.dimension), None, None)


def unit_space(dimension: int) -> Space:
    """The unit cube as a space: problems are scaled to it before a method sees them."""
    return Space({f"x{k}": Float(0.0, 1.0) for k in range(dimension)})


def judge_settings() -> Settings:
    """Of the model that answers for methods which have none."""
    return Settings(kernel=KERNEL, fit="ml")


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


def ceibo_method(acquisition: str, fit: str = "ml", short: bool = False) -> Method:
    """An acquisition of ceibo's: `name` is the acquisition, with /map or /short where that differs from the paper's."""
    settings = Settings(acquisition=acquisition, kernel=KERNEL, fit=fit, n_initial=1)
    suffix = ("/map" if fit == "map" else "") + ("/short" if short else "")
    words = (", MAP" if fit == "map" else "") + (", short search" if short else "")
    proposer = ShortSearchProposer if short else CeiboProposer
    described = {k: v for k, v in settings.to_json().items() if k != "n_initial"} | {"short_search": short}
    return Method(
        acquisition + suffix,
        LABELS[acquisition] + words,
        lambda dimension, seed: proposer(dimension, seed, settings),
        described,
    )


def _reference(name: str) -> Callable[[int, int], Proposer]:
    def start(dimension: int, seed: int) -> Proposer:
        from ceibo.paper.references import START  # torch, BoTorch and Optuna, only when one of them is asked for

        return START[name](dimension, seed)

    return start


_OWN: Final = [
    *(ceibo_method(name, fit) for name in LABELS for fit in ("ml", "map")),
    *(ceibo_method(name, "ml", short=True) for name in PAPER_SEVEN),
]
METHODS: Final[dict[str, Method]] = {method.name: method for method in _OWN} | {
    "random": Method("random", "random search", RandomProposer, {}),
    "botorch-qlognei": Method("botorch-qlognei", "BoTorch qLogNEI", _reference("botorch-qlognei"), {}),
    "optuna-gp": Method("optuna-gp", "Optuna GPSampler", _reference("optuna-gp"), {}),
}


def method(name: str) -> Method:
    """The method called `name`."""
    if name not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {name!r}.")
    return METHODS[name]


def judge(evidence: Evidence, previous: Model | None) -> Model:
    """ceibo's maximum likelihood model of the data, for methods without one."""
    start = None if previous is None else previous.fit.hyperparameters
    return fit_model(evidence, unit_space(evidence.X.shape[1]), judge_settings(), start)


def with_row(evidence: Evidence, x: Array, y: float, told: float) -> Evidence:
    """The evidence with one more measurement."""
    return replace(
        evidence,
        X=np.vstack([evidence.X, x]),
        y=np.append(evidence.y, y),
        noise=np.append(evidence.noise, told),
        group=np.arange(len(evidence) + 1),
        trials=evidence.trials + 1,
    )


def nothing_yet(dimension: int) -> Evidence:
    """No evidence at all."""
    none = np.empty((0, dimension))
    return Evidence(none, np.empty(0), np.empty(0), np.empty(0, dtype=np.intp), none, none, 0)
