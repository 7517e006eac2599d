"""How suggestions are made: the choices that are stored with a study."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Final, final

from ceibo import acquisition as acq
from ceibo.checks import LARGEST_SEED, check_choice, check_confidence, check_whole
from ceibo.decide.precision import Precision, check_precision
from ceibo.errors import InputError
from ceibo.gp import KERNELS, GaussianProcess, Matern52
from ceibo.gp.fit import RESTARTS

# Chosen on a suite of noisy problems: docs/default.md has the figures.
DEFAULT_ACQUISITION: Final = "noisy-ei"
DEFAULT_KERNEL: Final = "matern52"
DEFAULT_CONFIDENCE: Final = 0.95
MOST_INITIAL: Final = 40


def two_for_each(dimension: int) -> int:
    """The size of the initial design of a study that was begun when it had no upper end."""
    return max(4, 2 * dimension)


@final
@dataclass(frozen=True)
class Settings:
    """How suggestions are made; docs/default.md says why the defaults are these.

    A study stores them resolved (`resolve`), so that a later version of ceibo with other defaults
    goes on with an old study as it was begun.

    Args:
        acquisition: a name from ceibo.acquisition.ACQUISITIONS; "corrected-ei" is the paper's.
        kernel: a name from ceibo.gp.KERNELS, or "auto": of Matérn 5/2 and the squared exponential
            the one that explains the observations better, chosen anew for every suggestion.
        fit: "map" or "ml".
        n_initial: size of the initial design, which counts existing data; twice the number of
            parameters, from 4 to 40, by default.
        max_observations: of more observations, those of one setting are merged first, which is
            exact, values of known and of unknown noise apart. If more than this many are left, the
            model uses a subset: half of it the settings with the best posterior means, half spread
            evenly over the rest. Hyperparameters are then fitted to 400 settings spread evenly,
            values of known and of unknown noise in proportion, at least 20 of each.
        draws: of an acquisition that averages over draws; its own number by default.
        restarts: from how many fresh starts the hyperparameters are searched for; by default 1 for
            "map" and 16 for "ml".
        confidence: with which the limits of an answer hold, from 0.5 to below 1; None in a study
            without outcomes.
        outliers: whether measurements that look wrong count less; a study that was begun by a ceibo
            that did not know of it goes on without.
        varying_noise: whether unknown noise may differ over the space, if the scatter of replicates
            says so; likewise.
        precision: what a trial and each of its values cost, if a setting may be measured several
            times; None: a trial is one value.
    """

    acquisition: str = DEFAULT_ACQUISITION
    kernel: str = DEFAULT_KERNEL
    fit: str = "map"
    n_initial: int | None = None
    max_observations: int = 1000
    draws: int | None = None
    restarts: int | None = None
    confidence: float | None = None
    outliers: bool = True
    varying_noise: bool = True
    precision: Precision | None = None

    def __post_init__(self) -> None:
        acq.ACQUISITIONS.find(self.acquisition)
        if self.kernel != "auto":
            KERNELS.find(self.kernel, also=("auto",))
        check_choice(self.fit, "fit", ("map", "ml"))
        if self.restarts is None:
            object.__setattr__(self, "restarts", RESTARTS[self.fit])
        if self.confidence is not None:
            object.__setattr__(self, "confidence", check_confidence(self.confidence))
        for name in ("outliers", "varying_noise"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        check_precision(self.precision)
        least = {"n_initial": 1, "max_observations": 10, "draws": 1, "restarts": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None or name == "max_observations":
                object.__setattr__(self, name, check_whole(value, name, low, LARGEST_SEED))

    @property
    def assurance(self) -> float:
        """The confidence, or its default."""
        return DEFAULT_CONFIDENCE if self.confidence is None else self.confidence

    def initial_size(self, dimension: int) -> int:
        """The size of the initial design in a space of so many dimensions."""
        if self.n_initial is not None:
            return self.n_initial
        return min(two_for_each(dimension), MOST_INITIAL)

    def resolve(self, dimension: int) -> "Settings":
        """The same settings with every choice written out, for a space of so many dimensions."""
        draws = acq.ACQUISITIONS[self.acquisition].draws if self.draws is None else self.draws
        return replace(self, n_initial=self.initial_size(dimension), draws=draws)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, as stored with a study; without what is not used.

        Without the precision too: it is part of a study's own data, which an older ceibo refuses.
        """
        data = asdict(self)
        del data["precision"]
        if self.draws is None:
            del data["draws"]
        if self.restarts == 1:
            del data["restarts"]
        if self.confidence is None:
            del data["confidence"]
        for name in ("outliers", "varying_noise"):
            if not data[name]:
                del data[name]
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Settings":
        """The settings that `to_json` wrote; an absent key means the default of version 0.1."""
        before = {"restarts": 1, "outliers": False, "varying_noise": False}
        return Settings(**{**before, **data})


@cache
def check_acquisition(name: str, goals: int = 1, limits: int = 0) -> None:
    """Refuses an acquisition function that has no meaning for so many goals and limits."""
    gp = GaussianProcess([[0.5]], [0.0], 1.0, Matern52([0.5]))
    acq.build_joint(name, [gp] * goals, [acq.Limit(gp, 0.0)] * limits)
