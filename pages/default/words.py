"""The parts of the suite's page that are the same whatever came out."""

from typing import Final

from ceibo_lab.plans.suite import DEVELOPMENT, LOCKED, LOCKED_SEEDS, SCREENING_SEEDS

RULES: Final = (
    "A **cell** is a problem under a noise setting. Problems come in pairs of relatives. Of each"
    " pair the name with "
    "the smaller SHA-256 is in the development half and the other in the locked half; the pair with"
    " the smallest "
    f'SHA-256 of "first/second" is in the development half whole. That leaves {len(LOCKED)} locked'
    " problems and "
    f"{len(DEVELOPMENT)} to develop on. Each is met under two of twelve noise settings, dealt out"
    " in a fixed order; "
    "the real ones have the noise they have. The rule is `ceibo_lab/plans/suite.py`, fixed before"
    " any result was "
    "seen. It has a flaw: the two settings of a problem are of the same level, and told alike, so"
    " that what this page "
    "says of levels and of unknown noise is said of the problems that happen to have them.",
    (
        f"The plan has {SCREENING_SEEDS} seeds for ceibo's own candidates on the development half"
        f" and {LOCKED_SEEDS} on the locked half, where alone the outside references run; the"
        ' tables say how many there are. An earlier default, corrected KG with `kernel="auto"`,'
        " was chosen on a few runs and looked at on ten seeds of the locked half. The screening"
        " below, run afterwards around it, has noisy EI ahead, with Matérn 5/2 as good as the"
        " kernel by evidence and cheaper by a fit; the default was changed to that by the"
        " development half alone. ceibo's methods were then run on the locked half from the"
        " beginning; ten of its twenty seeds no run of ceibo's had met before. Candidates with"
        " fewer than 200 runs were cut at five seeds, or added after that. Later, for speed alone,"
        " the joint draws behind noisy EI became those of a Latin hypercube instead of a scrambled"
        " Sobol sequence, and the default was run again everywhere; neither half shows a"
        " difference beyond chance between the two, whose records are both in the repository's"
        " history. The candidates with noisy EI are from before."
    ),
    (
        "The same seed means the same problem (functions are moved, draws are drawn anew), the same"
        " initial points as far as a method uses them, and the same random numbers for noise."
        " Regret is judged by the truth, which methods never see; below 1e-6 of the range it counts"
        " as that."
    ),
    (
        "Tests are Wilcoxon's signed-rank test, two-sided and exact up to 200 pairs, paired by seed"
        " within a cell and by cell over cells, with Holm's correction over the table named. A seed"
        " that a method lacks is left out of what is compared with it."
    ),
)
NOISE: Final = (
    (
        "`heteroscedastic`",
        "its own standard deviation, uniform between 0 and the level times the range",
        "it",
    ),
    ("`homoscedastic`", "the level times the range", "it"),
    ("`homoscedastic-untold`", "the level times the range", "nothing"),
    (
        "`varying-untold`",
        "from a quarter to seven quarters of the level, along the first parameter",
        "nothing",
    ),
    (
        "`measured`",
        "one real training run out of many",
        "the standard deviation of such runs there",
    ),
    ("`measured-untold`", "the same", "nothing"),
)
METHODS: Final = (
    (
        "ceibo's default, EI, corrected EI",
        "a study's own suggestions, with that acquisition",
        "`study.recommended`",
    ),
    (
        "BoTorch qLogNEI",
        (
            "`SingleTaskGP` (`MixedSingleTaskGP` with categories) with its priors, standardised"
            " values, told the noise where it is known, `qLogNoisyExpectedImprovement`, 4 restarts,"
            " 256 raw samples, 10 initial points"
        ),
        "the minimiser of its posterior mean",
    ),
    (
        "Optuna GPSampler",
        "one study, 10 initial points; it cannot be told the noise",
        "`study.best_params`: its best measured value",
    ),
    ("random search", "uniform points", "its best measured value"),
)
ANSWERS: Final = (
    "Three answers are judged. `own` decides: what the tool itself recommends. Since a"
    " recommendation by the best noisy value is a handicap of its own, all methods are also judged"
    " by ceibo's model of their measurements: `recommended` is the minimiser of its posterior mean,"
    " `best` the trial with the best posterior mean (for Optuna: its trials re-ranked by ceibo)."
    " For ceibo's methods `own` and `recommended` are the same. `final` is the value after the last"
    " trial, `area` the mean over every tenth trial."
)
COMMANDS: Final = (
    "The whole sweep; what is finished is never run twice, and `--block` is one problem:",
    """\
```bash
ceibo paper run suite-development suite-locked suite-noiseless --out suite --jobs 16
ceibo paper run suite-confirmation --out suite --jobs 16
ceibo paper run suite-time --out suite --jobs 1
ceibo paper run suite-locked --block branin --out suite
ceibo paper pack suite/records RECORDS
python -m pages.default RECORDS --docs docs
```""",
    "One run of one cell, whose digest of every bit measured stands in its record:",
    """\
```python
from ceibo_lab.record import Cell
from ceibo_lab.replicate import replicate

record = replicate(
    Cell("suite", "branin", "plain", "heteroscedastic", 0.02, "default", seed=0, steps=60)
)
print(record["digest"], record["trace"]["recommended"][-1])
```""",
)
