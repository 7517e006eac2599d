"""The suite: noisy problems on which ceibo's default was chosen, and against which it is measured.

What is run was fixed before any result was seen. The problems come in nine pairs of relatives. Of
each pair the name with the smaller SHA-256 is in the development half, the other in the locked
half; the pair with the smallest SHA-256 of "first/second" is in the development half whole, which
leaves eight locked problems. Each problem is met under two noise settings, dealt out in a fixed
order. Test functions are moved by random numbers of the replication's seed, so that no method gains
by the centre of the box; draws of a Gaussian process are new for every seed.
"""

import hashlib
from dataclasses import replace
from typing import Final

from ceibo.errors import InputError
from ceibo_lab.methods import CANDIDATES, REFERENCES
from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.problem import Problem
from ceibo_lab.problems import problem
from ceibo_lab.problems.tables import TABLES

PROBLEMS: Final = (
    *("hartmann", "griewank", "levy", "powell", "branin", "hartmann-6", "ackley", "rosenbrock"),
    *("michalewicz", "hartmann-6-in-12", "branin-in-20", "draw-2d", "draw-6d", "mixed-process"),
    *("mixed-recipe", *TABLES),
)
# of many parameters, beside the suite (plans/many.py)
HIDDEN: Final = ("hartmann-6-in-25", "hartmann-6-in-50", "hartmann-6-in-100")
TWENTY: Final = ("levy-20", "rosenbrock-20", "hartmann-6-in-12")
MANY: Final = (*HIDDEN, *TWENTY)
# not moved: their minimum is at the edge, or they have no box of their own
FIXED: Final = ("michalewicz", "mixed-process", "mixed-recipe", *TABLES)
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
PROTOCOLS: Final = ("heteroscedastic", "homoscedastic-untold", "homoscedastic", "varying-untold")
LEVELS: Final = (0.10, 0.02, 0.25)
# all twelve
NOISES: Final = tuple(
    (protocol, LEVELS[(k + lap) % 3]) for lap in range(3) for k, protocol in enumerate(PROTOCOLS)
)
SCREENING_SEEDS, LOCKED_SEEDS = 10, 20
# of the locked half, after those: decided when all else had been seen, but before these
CONFIRMING_SEEDS: Final = 40
# of later plans (plans/answers.py): on the locked half after those, on the development half
FINAL_FROM, LATER_FROM = LOCKED_SEEDS + CONFIRMING_SEEDS, 100
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
    place = PROBLEMS.index(name)
    return NOISES[place % 12], NOISES[(place + 6) % 12]


def trials(name: str) -> int:
    """How many trials a problem is given: 60 up to three dimensions, 80 above."""
    return 60 if name in ("hartmann", "branin", "draw-2d", *TABLES) else 80


def suite_problem(name: str, seed: int) -> Problem:
    """The problem called `name`, as replication `seed` of the suite or of `many` meets it."""
    known = dict.fromkeys([*PROBLEMS, *MANY])
    if name not in known:
        raise InputError(f"problem must be one of {', '.join(known)}, got {name!r}.")
    return problem(name, "plain" if name in FIXED else "shifted", seed)


def _blocks(
    half: tuple[str, ...],
    methods: tuple[str, ...],
    seeds: int,
    noise: tuple[str, float] | None = None,
    steps: int | None = None,
    first_seed: int = 0,
) -> tuple[Block, ...]:
    """A block per problem, with its own noise settings and trials unless others are given."""
    blocks = []
    for name in half:
        block = Block(name, (name,), methods, kind="suite", seeds=seeds, first_seed=first_seed)
        met = noises(name) if noise is None else (noise,)
        blocks.append(replace(block, noises=met, steps=steps or trials(name), quick_seeds=1))
    return tuple(blocks)


SUITE: Final = (
    Experiment(
        "suite-development",
        "Candidates for the default, on the development half of the suite",
        _blocks(DEVELOPMENT, SCREENED, SCREENING_SEEDS),
        in_all=False,
    ),
    Experiment(
        "suite-locked",
        "The default against EI and outside references, on the locked half of the suite",
        _blocks(LOCKED, COMPARED, LOCKED_SEEDS),
        in_all=False,
    ),
    Experiment(
        "suite-confirmation",
        "The default against EI and BoTorch again, on seeds of the locked half that nothing was"
        " decided by",
        _blocks(LOCKED, CONFIRMED, CONFIRMING_SEEDS, first_seed=LOCKED_SEEDS),
        in_all=False,
    ),
    Experiment(
        "suite-noiseless",
        "The default against EI without noise, on the locked half of the suite",
        _blocks(LOCKED, ("default", "ei"), LOCKED_SEEDS, ("noiseless", 0.0)),
        in_all=False,
    ),
    Experiment(
        "suite-time",
        "Seconds per suggestion after 100 trials, on the locked half of the suite; wants an idle"
        " machine",
        _blocks(LOCKED, ("default", "botorch-qlognei"), 1, steps=TIMED_TRIALS),
        in_all=False,
    ),
)
