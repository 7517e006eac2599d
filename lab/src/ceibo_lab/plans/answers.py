"""Whether answers cost the search anything, and whether a last look is worth its trials.

What is run, how it is judged and by which margins was fixed before any of these seeds was run.

    answers-development  the development half of the suite: 20 cells of 60 seeds, from 100 on
    answers-final        the locked half: 16 cells of 40 seeds, from 60 on, by which nothing was
                         decided; looked at once, when all else is

Methods. `default`; `believing`, the default as it was before it doubted values and had more than
one level of noise; `last-look`, the default whose last fifth of the trials goes into the answer
(`confirm`); and in the end `botorch-qlognei`.

What is compared is log10 of the true regret at the end, at least 1e-6 of the range, seed by seed:
of `recommended` and of `best`, and of BoTorch its own recommendation against `recommended`. Tests
are Wilcoxon's signed-rank test with Holm's correction over the cells of a question; the interval is
the 95 % t interval, over cells, of the mean of the cells' mean differences. There is no verdict
before every planned seed of every cell is there.

    no loss    answers-development, default − believing, both answers: the interval ends below
               +0.06, and no cell is lost
    last look  answers-development, last-look − default, `recommended`: the interval ends below
               zero, and no cell is lost in either answer. If it holds, the default ends with it
    final      answers-final, last-look − default, `recommended`: how much, with its interval and p
               of the mean over cells by seed
    BoTorch    answers-final, last-look − botorch-qlognei: the mean is at most −0.10, and the test
               of the means over cells by seed is significant
"""

from dataclasses import replace
from typing import Final

from ceibo_lab.methods import BELIEVING
from ceibo_lab.methods.last_look import LAST_LOOK
from ceibo_lab.plans.plan import Block, Experiment
from ceibo_lab.plans.suite import DEVELOPMENT, FINAL_FROM, LATER_FROM, LOCKED, noises, trials

SEEDS, FINAL_SEEDS = 60, 40
DEFAULT: Final = "default"
BOTORCH: Final = "botorch-qlognei"
FLOOR: Final = 1e-6  # of the range, of a regret
MARGIN: Final = 0.06
GAIN: Final = -0.10  # against BoTorch


def _blocks(
    half: tuple[str, ...], methods: tuple[str, ...], seeds: int, first: int
) -> tuple[Block, ...]:
    """A block per problem, with the noise settings and trials of the suite."""
    shared = Block("", (), methods, kind="suite", seeds=seeds, first_seed=first, quick_seeds=1)
    return tuple(
        replace(shared, name=name, problems=(name,), noises=noises(name), steps=trials(name))
        for name in half
    )


ANSWERS: Final = (
    Experiment(
        "answers-development",
        "The default beside itself without doubts, and with a last look",
        _blocks(DEVELOPMENT, (DEFAULT, BELIEVING, LAST_LOOK), SEEDS, LATER_FROM),
        in_all=False,
    ),
    Experiment(
        "answers-final",
        "The default, a last look and BoTorch on seeds that nothing was decided by",
        _blocks(LOCKED, (DEFAULT, LAST_LOOK, BOTORCH), FINAL_SEEDS, FINAL_FROM),
        in_all=False,
    ),
)
DEVELOPED, FINAL = ANSWERS
