"""Several outcomes: one goal under limits, and two goals, under noise.

What is run, how it is judged and by which margin was fixed before any of these seeds was run. Seed
0 was looked at while the laboratory was built; it showed that a run may end without any true
volume, for which the two rules about fronts were put into their present form. Seeds below 100 are
for development, and the plan's begin at 100.

Runs. Every run has 40 trials. The first 10 are scrambled Sobol points of the seed, the same for all
methods, and a trial measures every outcome with noise of its own, whose random numbers are the same
for all methods too. Noise is 2 % of an outcome's range, told, or 10 %, not told; how a range is
taken says problems/outcomes/reference.py. 20 seeds a cell, from 100 on.

    outcomes-limits   six problems of one goal × two noises: 12 cells
    outcomes-starts   the same 12 cells, with truly feasible points left out of the initial design;
                      a run ends with the first truly feasible point it measures
    outcomes-fronts   branin-currin (d = 2), c2-dtlz2 (d = 4) and dtlz2 (d = 6), two goals, 10 % not
                      told; vehicle-safety, three goals, is a block that is run only when named and
                      decides nothing

Methods. `ceibo` with its defaults; `botorch`, qLogNEI with constraints or qLogNEHVI; `optuna-gp`,
its GPSampler with constraints; `random`. What is compared is what a user of each is given: of
ceibo `recommended`, of BoTorch the best posterior mean over the box whose limits hold in the mean
("box"), of the others the best trial as measured. The answers among measured points (`best` of
ceibo, "measured" of BoTorch) stand beside them and decide nothing.

Limits are judged by

    honesty   of the answers that ceibo states with at least 0.95, at least 95 % truly hold every
              limit; over all answers the mean of the stated chances and the share that truly holds
              differ by less than 0.05. Both over all 240 runs. How many answers were stated below
              0.95 is counted, and how many answers of each other method hold is shown.
    regret    log10 of the true regret of the answer, at least 1e-12 of the goal's range. An answer
              that breaks a limit is booked at the worst true value of the goal at any truly
              feasible point that one of the two runs compared measured; if neither measured one, at
              the problem's worst feasible value. Differences ceibo − BoTorch are taken seed by
              seed. No worse: the 95 % t interval, over cells, of the mean of the cells' mean
              differences ends below +0.10, and no cell is lost by Wilcoxon's signed-rank test
              with Holm's correction over the 12 cells (the rule of the suite).
    start     the number of the trial that measures the first truly feasible point, from 0 on; 40 if
              there is none. Differences ceibo − BoTorch seed by seed. No later: the mean of the
              cells' mean differences is at most zero, and no cell is lost by Wilcoxon's test with
              Holm's correction over the 12 cells.

Fronts are judged by the hypervolume of the true values at the points of the reported front, below
the problem's reference point; a point that truly breaks a limit counts for nothing.

    volume    differences ceibo − BoTorch of that hypervolume, as a share of the true front's, seed
              by seed. At least as large: the mean difference is at least zero in each of the three
              cells, and no cell is lost by Wilcoxon's test with Holm's correction over them.
    honesty   the hypervolume of the stated means, in the mean over the runs of a cell, over that of
              the true values, less 1: at most 0.02 in each cell, so that no cell makes up for
              another. That of the raw front, of the measured values, stands beside it.

The interval was planned as a bootstrap over cells, which is too narrow for so few of them; the t
interval took its place after the first runs, and makes "no worse" harder to meet.
"""

from dataclasses import replace
from typing import Final

from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.problems.outcomes import LIMITED

SEEDS, TRIALS = 20, 40
FIRST_SEED: Final = 100  # those below are for development
MARGIN: Final = 0.10  # log10 of the regret
HONEST: Final = 0.95  # stated and true chance of holding every limit
TOLD, UNTOLD = ("homoscedastic", 0.02), ("homoscedastic-untold", 0.10)
COMPARED: Final = ("ceibo", "botorch", "optuna-gp", "random")
FRONTS: Final = ("branin-currin", "c2-dtlz2", "dtlz2")


def _blocks(
    kind: str, problems: tuple[str, ...], noises: tuple[tuple[str, float], ...]
) -> tuple[Block, ...]:
    """A block per problem."""
    shared = Block("", (), COMPARED, kind=kind, seeds=SEEDS, steps=TRIALS, first_seed=FIRST_SEED)
    each = replace(shared, noises=noises, quick_seeds=1)
    return tuple(replace(each, name=name, problems=(name,)) for name in problems)


_THREE: Final = _blocks("fronts", ("vehicle-safety",), (UNTOLD,))[0]
OUTCOMES: Final = (
    Experiment(
        "outcomes-limits",
        "One goal under limits: answers that hold, and their regret",
        _blocks("limits", LIMITED, (TOLD, UNTOLD)),
        in_all=False,
    ),
    Experiment(
        "outcomes-starts",
        "One goal under limits, from designs without a feasible point, until the first is found",
        _blocks("starts", LIMITED, (TOLD, UNTOLD)),
        in_all=False,
    ),
    Experiment(
        "outcomes-fronts",
        "Two goals: the hypervolume of the fronts reported",
        (*_blocks("fronts", FRONTS, (UNTOLD,)), replace(_THREE, in_full=False, in_quick=False)),
        in_all=False,
    ),
)
