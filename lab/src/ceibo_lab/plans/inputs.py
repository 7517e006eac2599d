"""Inputs with rules between them, and branches, under noise.

What is run, how it is judged and by which margin was fixed before any of these seeds was run. Seeds
below 100 are for development, and the plan's begin at 100.

Runs. The first 10 trials are random settings of the seed that obey the rules, the same for all
methods, as are the random numbers of the noise. Noise is 2 % of the problem's range, told, or 10 %,
not told; how a range is taken says problems/inputs/reference.py. 20 seeds a cell, from 100 on.

    inputs-rules      three mixtures (scheffe-3, coating-5, blend-8, which is n-choose-k) and two
                      reactions with boiling points (reflux, coupling) × two noises: 10 cells of 30
                      trials
    inputs-branches   jenatton and training × two noises: 4 cells of 50 trials

Methods for rules. `ceibo` with the rules; `ceibo-failures`, the same in the box without rules,
where a setting that breaks one is told as a failure (of a mixture, the last part is left out and
computed); `botorch`, qLogNEI with its constrained optimiser over every choice of categories and of
parts; `random`, among the settings that obey. `bofire`, its SoboStrategy, needs an environment of
its own and is added to the same folder of records from there:

    ceibo paper run inputs-rules --method bofire

A setting that breaks a rule by more than 1e-6 of its scale costs a trial and has no value.

Methods for branches. `ceibo`, with `when`; `optuna-ceibo`, the CeiboSampler, and `optuna-tpe`,
both with suggestions inside if and else; `random`. `optuna-ceibo-before` is the CeiboSampler of
commit 9c871b0: check that commit out, put its src before this laboratory on PYTHONPATH, and

    PYTHONPATH=CHECKOUT/src:lab/src ceibo paper run inputs-branches --method optuna-ceibo-before

with the same folder of records. A method that meets the wrong ceibo refuses to start.

What is compared is what a user of each is given: of ceibo and its sampler `recommended`
(`ceibo-failures`: `best` if `recommended` breaks a rule), of BoTorch and BoFire the best posterior
mean over all settings that obey, of the others the best trial as measured. The value of an answer
is log10 of its true regret, at least 1e-12 of the range; an answer that breaks a rule is booked at
the range. Differences are taken seed by seed, tests are Wilcoxon's signed-rank test with Holm's
correction over the cells of a question.

    no worse   than BoTorch, and than BoFire: the 95 % t interval, over cells, of the mean of the
               cells' mean differences ends below +0.10, and no cell is lost
    better     than `ceibo-failures`: that interval ends below zero, no cell is lost, and at least
               half of the cells are won
    branches   `ceibo` and `optuna-ceibo` each against `optuna-tpe` and `optuna-ceibo-before`: every
               cell is won
    obedience  no trial and no answer of ceibo breaks a rule by more than 1e-9 of its scale

The interval was planned as a bootstrap over cells, which is too narrow for so few of them; the t
interval took its place after the first runs, and makes "no worse" and "better" harder to meet.
"""

from dataclasses import replace
from typing import Final

from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.problems.inputs import BRANCHED, RULED

SEEDS: Final = 20
FIRST_SEED: Final = 100  # those below are for development
RULE_TRIALS, BRANCH_TRIALS = 30, 50
MARGIN: Final = 0.10  # log10 of the regret
OBEDIENCE: Final = 1e-9  # of a rule's scale
TOLD, UNTOLD = ("homoscedastic", 0.02), ("homoscedastic-untold", 0.10)
RULE_METHODS: Final = ("ceibo", "ceibo-failures", "botorch", "random")
BRANCH_METHODS: Final = ("ceibo", "optuna-ceibo", "optuna-tpe", "random")


def _blocks(
    kind: str, problems: tuple[str, ...], methods: tuple[str, ...], trials: int
) -> tuple[Block, ...]:
    """A block per problem."""
    shared = Block("", (), methods, kind=kind, seeds=SEEDS, steps=trials, first_seed=FIRST_SEED)
    each = replace(shared, noises=(TOLD, UNTOLD), quick_seeds=1)
    return tuple(replace(each, name=name, problems=(name,)) for name in problems)


INPUTS: Final = (
    Experiment(
        "inputs-rules",
        "Mixtures and boiling points: the regret of answers that obey the rules",
        _blocks("rules", RULED, RULE_METHODS, RULE_TRIALS),
        in_all=False,
    ),
    Experiment(
        "inputs-branches",
        "Conditional searches: the regret of answers",
        _blocks("branches", BRANCHED, BRANCH_METHODS, BRANCH_TRIALS),
        in_all=False,
    ),
)
