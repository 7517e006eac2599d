"""What is run on the suite, fixed before any result was seen.

The problems come in nine pairs of relatives. Of each pair the name with the smaller SHA-256 is in
the development half, the other in the locked half; the pair with the smallest SHA-256 of
"first/second" is in the development half whole, which leaves eight locked problems. Each problem is
met under two noise settings, dealt out in a fixed order.
"""

import hashlib
from typing import Final

from ceibo_lab.problems.tables import TABLES
from ceibo_lab.suite.methods import CANDIDATES, REFERENCES
from ceibo_lab.suite.tasks import TASKS

PAIRS: Final = (
    ("hartmann", "hartmann-6"),
    ("griewank", "ackley"),
    ("levy", "michalewicz"),
    ("powell", "rosenbrock"),
    ("branin", "draw-2d"),
    ("hartmann-6-in-12", "branin-in-20"),
    ("mixed-process", "mixed-recipe"),
    ("svm", "mlp"),
    ("boosting", "draw-6d"),
)
KINDS: Final = ("heteroscedastic", "homoscedastic-untold", "homoscedastic", "varying-untold")
LEVELS: Final = (0.10, 0.02, 0.25)
# all twelve
NOISES: Final = tuple(
    (kind, LEVELS[(k + lap) % 3]) for lap in range(3) for k, kind in enumerate(KINDS)
)
SCREENING_SEEDS, LOCKED_SEEDS = 10, 20
# of the locked half, after those: decided when all else had been seen, but before these
CONFIRMING_SEEDS: Final = 40
CONFIRMED: Final = ("default", "ei", "botorch-qlognei")
TIMED_TRIALS: Final = 100
SCREENED: Final = tuple(CANDIDATES)
COMPARED: Final = ("default", "ei", "corrected-ei", *REFERENCES)
MEASURED_NOISES: Final = (("measured-untold", 1.0), ("measured", 1.0))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _halves() -> tuple[tuple[str, ...], tuple[str, ...]]:
    whole = min(PAIRS, key=lambda pair: _digest("/".join(pair)))
    first = [min(pair, key=_digest) for pair in PAIRS]
    second = [max(pair, key=_digest) for pair in PAIRS if pair != whole]
    return (*first, max(whole, key=_digest)), tuple(second)


DEVELOPMENT, LOCKED = _halves()


def noises(name: str) -> tuple[tuple[str, float], ...]:
    """The two noise settings of a problem, half a round apart in the list of twelve.

    Half a round leads back to the same level, and to a protocol that tells as much: a problem is
    met at one level only, and with the noise told in both of its cells or in neither. Levels and
    protocols are thus compared between problems.
    """
    if name in TABLES:
        return MEASURED_NOISES
    place = list(TASKS).index(name)
    return NOISES[place % 12], NOISES[(place + 6) % 12]


def trials(name: str) -> int:
    """How many trials a problem is given: 60 up to three dimensions, 80 above."""
    return 60 if name in ("hartmann", "branin", "draw-2d", *TABLES) else 80
