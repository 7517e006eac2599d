"""How large the initial design should be where there are many parameters.

What is run, how it is judged and by which margins was fixed before any of these seeds was run. The
question comes from one look (Hartmann 6 hidden in 50 parameters, noise 0.15, 120 trials, 15 seeds):
two points for each parameter leave 20 of 120 trials to the model.

Runs. 120 trials, the initial design among them; noise of up to 10 % of the range, told
(`heteroscedastic`), or of 5 %, not told. Seeds from 0 on.

    many-hidden   Hartmann 6 among 25, 50 and 100 parameters: 6 cells of 40 seeds
    many-twenty   Levy 20, Rosenbrock 20, and Hartmann 6 among 12: 6 cells of 60 seeds
    many-botorch  the cells of many-hidden, BoTorch alone: 10 seeds, in 100 parameters 5

Methods. `two-each`, the default with two initial points for each parameter, as it was; and
`twenty-initial`, with 20. In ten parameters these are the same; below, two for each stay.
`botorch-qlognei-twenty` is BoTorch's qLogNEI with 20 initial points.

What is compared is what a user of each is given, ceibo's `recommended` and the minimiser of
BoTorch's own posterior mean (`own`): log10 of its true regret, at least 1e-6 of the range, seed by
seed. The test is Wilcoxon's signed-rank test with Holm's correction over the six cells of a
question, the interval the 95 % t interval, over cells, of the mean of the cells' mean differences.
There is no verdict before every planned seed of every cell is there, and further ones do not count.

    gain      many-hidden, twenty-initial − two-each: the mean is at most −0.30, its interval ends
              below zero, and no cell is lost
    no loss   many-twenty, the same difference: the interval ends below +0.06, and no cell is lost
    BoTorch   many-botorch, twenty-initial − botorch-qlognei-twenty: the interval ends below
              +0.10, and no cell is lost; with five seeds none can be, and the interval alone
              speaks of 100 parameters

If the first two hold, the default's design has at most twenty points.

They did not: twenty points gain where few of many parameters matter, and lose on Rosenbrock 20. So
a second round asks for at most forty, with which nothing changes up to 20 parameters. It was fixed
after the first was seen and before its own seeds, which are new, were run.

    many-forty    the cells of many-hidden, `two-each` and `forty-initial`: seeds 100 to 119

    forty   forty-initial − two-each: the interval over cells ends below +0.06, no cell is lost, and
            both cells of 100 parameters are won

If that holds, the default's design has at most forty points. It was missed by the interval alone,
whose cells differ too much; docs/default.md says why forty was taken all the same.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ceibo_lab.methods import BOTORCH_TWENTY, FORTY_INITIAL, TWENTY_INITIAL, TWO_EACH
from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.plans.suite import HIDDEN, TWENTY

TRIALS: Final = 120
NOISES: Final = (("heteroscedastic", 0.10), ("homoscedastic-untold", 0.05))
CAPPED: Final = TWENTY_INITIAL
BOTORCH: Final = BOTORCH_TWENTY
BOTORCH_SEEDS: Final = {"hartmann-6-in-25": 10, "hartmann-6-in-50": 10, "hartmann-6-in-100": 5}
FLOOR: Final = 1e-6  # of the range, of a regret
GAIN: Final = -0.30  # log10 of the regret, on hidden problems
MARGIN: Final = 0.06  # on the others
BOTORCH_MARGIN: Final = 0.10


def _blocks(
    problems: tuple[str, ...], methods: tuple[str, ...], seeds: Mapping[str, int]
) -> tuple[Block, ...]:
    """A block per problem."""
    shared = Block("", (), methods, kind="suite", steps=TRIALS, noises=NOISES, quick_seeds=1)
    return tuple(replace(shared, name=p, problems=(p,), seeds=seeds[p]) for p in problems)


PLAN_HIDDEN: Final = Experiment(
    "many-hidden",
    "The size of the initial design: six of 25, 50 and 100 parameters matter",
    _blocks(HIDDEN, (TWO_EACH, CAPPED), dict.fromkeys(HIDDEN, 40)),
    in_all=False,
)
PLAN_TWENTY: Final = Experiment(
    "many-twenty",
    "The size of the initial design: 12 and 20 parameters",
    _blocks(TWENTY, (TWO_EACH, CAPPED), dict.fromkeys(TWENTY, 60)),
    in_all=False,
)
PLAN_BOTORCH: Final = Experiment(
    "many-botorch",
    "The size of the initial design: BoTorch where six of 25, 50 and 100 parameters matter",
    _blocks(HIDDEN, (BOTORCH,), BOTORCH_SEEDS),
    in_all=False,
)
FORTY_SEEDS, FIRST_FORTY = 20, 100
LARGEST: Final = "hartmann-6-in-100"
PLAN_FORTY: Final = Experiment(
    "many-forty",
    "The size of the initial design: at most forty points, with new seeds",
    tuple(
        replace(each, first_seed=FIRST_FORTY)
        for each in _blocks(HIDDEN, (TWO_EACH, FORTY_INITIAL), dict.fromkeys(HIDDEN, FORTY_SEEDS))
    ),
    in_all=False,
)
MANY: Final = (PLAN_HIDDEN, PLAN_TWENTY, PLAN_BOTORCH, PLAN_FORTY)
