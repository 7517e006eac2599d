"""The paper's benchmark: four functions under noise, seven acquisitions, and what stands beside."""

from typing import Final

from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.plans.plan import Block, Experiment

FOUR: Final = ("hartmann", "griewank", "levy", "powell")
TWO: Final = ("corrected-ei", "ei")
LEVELS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.10, 0.15, 0.20)
_BOTH: Final = ("heteroscedastic", "reference-code")
_MAP: Final = tuple(f"{name}/map" for name in PAPER_SEVEN)
_SHORT: Final = ("corrected-ei/short", "ei/short", "corrected-pi/short")
_BEYOND: Final = ("random", "corrected-kg", "knowledge-gradient")


def _full(
    name: str,
    methods: tuple[str, ...],
    protocols: tuple[str, ...] = ("heteroscedastic",),
    variant: str = "plain",
) -> Block:
    """A block on the four functions that the quick version leaves out."""
    return Block(name, FOUR, methods, protocols, variants=(variant,), in_quick=False)


_TEN: Final = (
    Block("heteroscedastic-plain", FOUR, PAPER_SEVEN),
    Block("heteroscedastic-shifted", FOUR, PAPER_SEVEN, variants=("shifted",)),
    Block("reference-code-plain", FOUR, PAPER_SEVEN, ("reference-code",)),
    _full("reference-code-shifted", PAPER_SEVEN, ("reference-code",), "shifted"),
    _full("homoscedastic", TWO, ("homoscedastic", "homoscedastic-untold")),
    _full("map", _MAP),
    _full("short-search", _SHORT, _BOTH),
    _full("references", ("botorch-qlognei", "optuna-gp"), variant="shifted"),
    _full("beyond", _BEYOND, variant="shifted"),
)
_FIFTEEN: Final = Block("heteroscedastic-plain", FOUR, PAPER_SEVEN, levels=(0.15,), quick_seeds=2)
_NOISE: Final = Block(
    "griewank", ("griewank",), PAPER_SEVEN, levels=LEVELS, quick_seeds=2, quick_steps=8
)
BENCHMARK: Final = (
    Experiment("benchmark-10", "Four functions, noise up to 10 % of the range", _TEN),
    Experiment("benchmark-15", "Four functions, noise up to 15 % of the range", (_FIFTEEN,)),
    Experiment("noise-levels", "Griewank 6 under noise from 1 % to 20 % of the range", (_NOISE,)),
)
