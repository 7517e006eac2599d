"""How large the initial design should be where there are many parameters.

What is run, how it is judged and by which margins was fixed before any of these seeds was run. The
question comes from one look (Hartmann 6 hidden in 50 parameters, noise 0.15, 120 trials, 15 seeds):
two points for each parameter leave 20 of 120 trials to the model.

Runs. 120 trials, the initial design among them; noise of up to 10 % of the range, told
(`heteroscedastic`), or of 5 %, not told. Seeds from 0 on.

    many-hidden   Hartmann 6 among 25, 50 and 100 parameters: 6 cells of 40 seeds
    many-twenty   Levy 20, Rosenbrock 20, and Hartmann 6 among 12: 6 cells of 60 seeds

Methods. `two-each`, the default with two initial points for each parameter, as it was; and
`twenty-initial`, with 20. In ten parameters these are the same; below, two for each stay. BoTorch's
qLogNEI with 20 initial points (`botorch-qlognei-twenty`) is run on many-hidden when named, with as
many seeds as there is time for.

What is compared is log10 of the true regret of `recommended`, at least 1e-6 of the range, seed by
seed: Wilcoxon's signed-rank test with Holm's correction over the six cells of a question, and the
95 % bootstrap interval, over cells, of the mean of the cells' mean differences.

    gain      many-hidden, twenty-initial − two-each: the mean is at most −0.30, its interval ends
              below zero, and no cell is lost
    no loss   many-twenty, the same difference: the interval ends below +0.06, and no cell is lost
    BoTorch   many-hidden, twenty-initial − botorch-qlognei-twenty: the interval ends below +0.10,
              and no cell is lost

If the first two hold, the default's design has at most twenty points.
"""

from dataclasses import replace
from typing import Final

from ceibo_lab.methods import BOTORCH_TWENTY, TWO_EACH
from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.plans.suite import HIDDEN, TWENTY

TRIALS: Final = 120
SEEDS: Final = {"many-hidden": 40, "many-twenty": 60}
NOISES: Final = (("heteroscedastic", 0.10), ("homoscedastic-untold", 0.05))
CAPPED: Final = "twenty-initial"
BOTORCH: Final = BOTORCH_TWENTY
FLOOR: Final = 1e-6  # of the range, of a regret
GAIN: Final = -0.30  # log10 of the regret, on hidden problems
MARGIN: Final = 0.06  # on the others
BOTORCH_MARGIN: Final = 0.10


def _blocks(experiment: str, problems: tuple[str, ...]) -> tuple[Block, ...]:
    """A block per problem."""
    shared = Block("", (), (TWO_EACH, CAPPED), kind="suite", seeds=SEEDS[experiment], steps=TRIALS)
    each = replace(shared, noises=NOISES, quick_seeds=1)
    return tuple(replace(each, name=name, problems=(name,)) for name in problems)


MANY: Final = (
    Experiment(
        "many-hidden",
        "The size of the initial design: six of 25, 50 and 100 parameters matter",
        _blocks("many-hidden", HIDDEN),
        in_all=False,
    ),
    Experiment(
        "many-twenty",
        "The size of the initial design: 12 and 20 parameters",
        _blocks("many-twenty", TWENTY),
        in_all=False,
    ),
)
