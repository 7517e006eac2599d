"""The paper's benchmark: four functions under noise, seven acquisitions, and what stands beside."""

from dataclasses import replace
from typing import Final

from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.plans.plan import Block, Experiment

FOUR: Final = ("hartmann", "griewank", "levy", "powell")
TWO: Final = ("corrected-ei", "ei")
LEVELS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.10, 0.15, 0.20)
PAPER_SEEDS: Final = 15
# Corrected EI against EI under honest noise has more seeds than the paper's, so that a row is not
# decided by the rounding of one machine.
POWER_SEEDS: Final = 60
# The verdict on all of it is one test: of each seed the mean over POOLED (problem, variant, level)
# of the difference in log10 regret of `best` at the end, then Wilcoxon's signed-rank test over the
# seeds. A difference within MARGIN counts for little.
POOLED: Final = (
    *((name, "plain", 0.10) for name in FOUR),
    *((name, "shifted", 0.10) for name in FOUR),
    *((name, "plain", 0.15) for name in FOUR),
    *(("griewank", "plain", level) for level in LEVELS if level not in (0.10, 0.15)),
)
# Seeds below had been seen, with an older arithmetic, when this was planned; those from there on
# are tested alone too.
SEEN_SEEDS: Final = 15
MARGIN: Final = 0.1  # in log10: a quarter more regret
# The paper's remark on many dimensions and extremely noisy values.
MANY: Final = ("hartmann-6-in-12", "branin-in-20")
EXTREME_LEVEL: Final = 1.0
EXTREME_SEEDS: Final = 30
_BOTH: Final = ("heteroscedastic", "reference-code")
_MAP: Final = tuple(f"{name}/map" for name in TWO)
# the authors' code: its noise, its search, its fit
_AUTHORS: Final = tuple(f"{name}/short" for name in TWO)


def _full(
    name: str,
    methods: tuple[str, ...],
    protocols: tuple[str, ...] = ("heteroscedastic",),
    variant: str = "plain",
) -> Block:
    """A block on the four functions that the quick version leaves out."""
    return Block(name, FOUR, methods, protocols, variants=(variant,), in_quick=False)


def _power(
    name: str,
    problems: tuple[str, ...],
    levels: tuple[float, ...] = (0.10,),
    variants: tuple[str, ...] = ("plain",),
) -> Block:
    """Corrected EI and EI alone, under honest noise, with POWER_SEEDS."""
    block = Block(name, problems, TWO, levels=levels, variants=variants, in_quick=False)
    return replace(block, seeds=POWER_SEEDS)


_TEN: Final = (
    Block("heteroscedastic-plain", FOUR, PAPER_SEVEN),
    Block("heteroscedastic-shifted", FOUR, PAPER_SEVEN, variants=("shifted",)),
    Block("reference-code-plain", FOUR, PAPER_SEVEN, ("reference-code",)),
    _full("reference-code-shifted", PAPER_SEVEN, ("reference-code",), "shifted"),
    _full("homoscedastic", TWO, ("homoscedastic", "homoscedastic-untold")),
    _full("map", _MAP),
    _full("authors-code", _AUTHORS, ("reference-code",)),
    _full("references", ("botorch-qlognei", "optuna-gp"), variant="shifted"),
    _power("power", FOUR, variants=("plain", "shifted")),
)
_FIFTEEN: Final = (
    Block("heteroscedastic-plain", FOUR, PAPER_SEVEN, levels=(0.15,), quick_seeds=2),
    _power("power", FOUR, levels=(0.15,)),
)
_NOISE: Final = (
    Block("griewank", ("griewank",), PAPER_SEVEN, levels=LEVELS, quick_seeds=2, quick_steps=8),
    _power("power", ("griewank",), levels=LEVELS),
)
_EXTREMES: Final = (
    replace(_power("many-dimensions", MANY, variants=("shifted",)), seeds=EXTREME_SEEDS),
    replace(
        _power("extreme-noise", FOUR, levels=(EXTREME_LEVEL,)),
        seeds=EXTREME_SEEDS,
        in_quick=True,
        quick_seeds=2,
    ),
)
BENCHMARK: Final = (
    Experiment("benchmark-10", "Four functions, noise up to 10 % of the range", _TEN),
    Experiment("benchmark-15", "Four functions, noise up to 15 % of the range", _FIFTEEN),
    Experiment("noise-levels", "Griewank 6 under noise from 1 % to 20 % of the range", _NOISE),
    Experiment(
        "extremes",
        "Corrected EI against EI in many dimensions, and under noise up to the whole range",
        _EXTREMES,
    ),
)
