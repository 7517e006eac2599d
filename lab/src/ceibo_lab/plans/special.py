"""The paper's other experiments: a picture, profit, draws of a Gaussian process, cost, theory."""

from typing import Final

from ceibo_lab.methods import PAPER_SEVEN
from ceibo_lab.plans.benchmark import FOUR, POWER_SEEDS, TWO
from ceibo_lab.plans.plan import Block, Experiment

# costs of a measurement, as shares of the range
KAPPA_SHARES: Final = (
    *(0.001, 0.0016, 0.0026, 0.0042, 0.0069, 0.011),
    *(0.018, 0.029, 0.047, 0.076, 0.124, 0.2),
)
SCENARIO_SEEDS: Final = 200  # a replication takes a moment
# domain of the draws, in the units of their length scale 3; the second beside the first
DRAW_WIDTHS: Final = (40, 12)
_ONE: Final = ("homoscedastic",)

SCENARIO: Final = Experiment(
    "scenario",
    "Where EI and corrected EI want to measure next",
    (
        Block(
            "picture",
            ("scenario",),
            ("ei",),
            _ONE,
            (0.30,),
            kind="scenario",
            seeds=SCENARIO_SEEDS,
            steps=4,
        ),
    ),
)
PROFIT: Final = Experiment(
    "profit",
    "Profit when stopping at κ: Sphere 3, noise of standard deviation 20",
    (Block("sphere", ("sphere",), TWO, _ONE, (20 / 300,), seeds=POWER_SEEDS, quick_steps=30),),
)
GP_SAMPLES: Final = Experiment(
    "gp-samples",
    "EI against corrected EI on draws from the model's own kernel",
    (
        Block(
            "draws",
            tuple(f"gp-draw-{width}" for width in DRAW_WIDTHS),
            TWO,
            _ONE,
            (0.16,),
            kind="draws",
            seeds=30,
            quick_seeds=6,
        ),
    ),
)
COST: Final = Experiment(
    "cost",
    "Seconds per suggestion, fit and maximise, by acquisition and number of observations",
    (Block("griewank", ("griewank",), PAPER_SEVEN, kind="cost", seeds=8, steps=0),),
)
THEORY: Final = Experiment(
    "theory",
    "Cumulative regret beside the bound, and the information gain, for one run of each problem",
    (
        Block(
            "runs",
            (*FOUR, "sphere"),
            ("corrected-ei", "corrected-ei/se"),
            kind="theory",
            seeds=1,
            quick_steps=30,
        ),
    ),
)
