"""The paper's claims, each as a table of paired comparisons; compare.py decides them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ceibo_lab import measures
from ceibo_lab.arithmetic import is_older
from ceibo_lab.compare import Claim, Row, compare, kendall, paired, table
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import LABELS, PAPER_SEVEN
from ceibo_lab.plans.benchmark import FOUR, LEVELS, MARGIN, POOLED, SEEN_SEEDS, TWO
from ceibo_lab.plans.special import DRAW_WIDTHS, KAPPA_SHARES
from ceibo_lab.pooled import pooled
from ceibo_lab.problems import NAMES, PROBLEMS
from ceibo_lab.record import Record
from ceibo_lab.remarks import closer_in_the_scenario, negligible_at_extremes

MUCH: Final = 2.0  # "costs much more" means at least this many times as long
PLAIN: Final = Setting("", "")
SHIFTED: Final = Setting("", "", "shifted")
STRONG: Final = Setting("", "", level=0.15)
REFERENCE: Final = Setting("", "", protocol="reference-code")
REFERENCE_SHIFTED: Final = Setting("", "", "shifted", "reference-code")
_MONTE_CARLO: Final = ("noisy-ei", "q-noisy-ei")
Value = Callable[[Record], float]


def final_of(measure: str) -> Value:
    """The measure at the end of a run."""
    return lambda record: measures.final_value(record, measure)


def pair(
    setting: Setting, first: str = "corrected-ei", second: str = "ei"
) -> tuple[Setting, Setting]:
    """A setting with each of two methods."""
    return setting.by(first), setting.by(second)


def _functions(
    library: Library, suffix: str, like: Setting, value: Value, lower: bool = True
) -> list[Row | None]:
    """Corrected EI against EI on each of the four functions."""
    settings = [replace(like, problem=name) for name in FOUR]
    return [
        paired(library, f"{NAMES[each.problem]}{suffix}", pair(each), value, lower)
        for each in settings
    ]


def beats_ei(library: Library) -> Claim:
    """Decided by one test over all cells, fixed in plans/benchmark.py; cells stand beside it."""
    best, distance = final_of("best"), final_of("distance")
    levels = [(level, Setting("griewank", "", level=level)) for level in LEVELS]
    honest = [
        *_functions(library, ", 10 %", PLAIN, best),
        *_functions(library, ", 10 %, shifted", SHIFTED, best),
        *_functions(library, ", 15 %", STRONG, best),
        *[
            paired(library, f"Griewank 6, {100 * level:.0f} %, distance", pair(each), distance)
            for level, each in levels
        ],
    ]
    reference = [
        *_functions(library, ", 10 %", REFERENCE, best),
        *_functions(library, ", 10 %, shifted", REFERENCE_SHIFTED, best),
        *_functions(library, ", 10 %, oracle regret", REFERENCE, final_of("oracle")),
    ]
    every = [Setting(name, "", variant, level=level) for name, variant, level in POOLED]
    whole = pooled(library, every, TWO, best)
    words = "log10 regret of `best`"
    seeds = None if whole is None else whole.over_seeds(words)
    fresh = None if whole is None else whole.from_seed(SEEN_SEEDS)
    beside = [
        None if fresh is None else fresh.over_seeds(f"{words}, seeds from {SEEN_SEEDS} on alone"),
        None if whole is None else whole.over_cells(words),
    ]
    return Claim(
        "Corrected EI beats EI under noise",
        table("all functions and noise levels at once (heteroscedastic), over seeds", [seeds]),
        table(
            "reference code: log10 regret of `best` (and `oracle`, which its figures plot)",
            reference,
        ),
        [
            table(
                "the same on the seeds that nobody had seen when the test was planned, and over"
                " cells: would it be so on other problems?",
                beside,
            ),
            table(
                "cell by cell: log10 regret of `best` at the end (distance for the noise levels)",
                honest,
            ),
        ],
        "The verdict is that of one test over all cells, planned before its records were made: a"
        " cell alone is decided by the rounding of a machine as soon as its effect is as small as"
        f" here. A difference within ±{MARGIN:g} counts for"
        " little whatever its p value.",
    )


def beats_ei_on_draws(library: Library) -> Claim:
    compared = (
        ("f at the point chosen last", "at_stop"),
        ("f at the incumbent", "best"),
        ("evaluations until κ: corrected EI goes on longer", "t"),
    )

    def row(width: int, words: str, name: str) -> Row | None:
        problem = f"gp-draw-{width}"
        setting = Setting(problem, "", protocol="homoscedastic", level=0.16, kind="draws")
        label = f"domain [0, {width}], {words}"
        return paired(library, label, pair(setting), lambda r: float(r["trace"][name]), False)

    first, *rest = [row(width, *what) for width in DRAW_WIDTHS for what in compared]
    remark = (
        "Corrected EI is zero at the incumbent, so the point it chooses last lies elsewhere, while"
        " EI's may lie beside it: the two comparisons, at that point and at the incumbent, need not"
        " agree. Both stop when their own acquisition falls below the same κ. The domain is not"
        " given in the paper: the first one was chosen before looking, the other stands beside it."
    )
    return Claim(
        "Corrected EI beats EI on draws of the model's own kernel (p = 0.013 in the paper)",
        table("f at the point chosen when stopping, as in the paper", [first]),
        beside=[table("beside it", rest)],
        remark=remark,
    )


def higher_profit(library: Library) -> Claim:
    setting = Setting("sphere", "", protocol="homoscedastic", level=20 / 300)
    scale = PROBLEMS["sphere"]().range

    def row(share: float) -> Row | None:
        def profit(record: Record) -> float:
            return measures.stop_at(record, share * scale).profit

        label = f"κ = {100 * share:.2g} % of the range"
        return paired(library, label, pair(setting), profit, lower=False)

    return Claim(
        "Corrected EI brings a higher profit at every κ (Sphere 3, noise of standard deviation 20)",
        table("profit −f(x⁺) − κ t", [row(share) for share in KAPPA_SHARES]),
        remark="Runs that never reach κ are stopped at T and counted (see the figure for their"
        " number).",
    )


def corrected_pi_on_powell(library: Library) -> Claim:
    def row(words: str, like: Setting) -> Row | None:
        both = pair(replace(like, problem="powell"), "corrected-pi", "corrected-ei")
        return paired(library, f"Powell 5, {words}", both, final_of("best"))

    honest = [row("10 %", PLAIN), row("10 %, shifted", SHIFTED), row("15 %", STRONG)]
    remark = (
        "Towards the incumbent corrected PI's ratio u/σ̃ tends to a finite limit, and its supremum"
        " may lie in that limit: maximised well, it measures beside the incumbent again and again"
        " (see the distances under “Where the difference comes from”)."
    )
    return Claim(
        "Corrected PI is slightly better than corrected EI on Powell",
        table("heteroscedastic: log10 regret of `best`", honest),
        table("reference code: log10 regret of `best`", [row("10 %", REFERENCE)]),
        remark=remark,
    )


def declines_with_noise(library: Library) -> Claim:
    def row(method: str) -> Row | None:
        runs = [library.runs(Setting("griewank", method, level=level)) for level in LEVELS]
        seeds = sorted(set.intersection(*[set(each) for each in runs]))
        if not seeds:
            return None
        finals = [[measures.final_value(each[seed], "distance") for each in runs] for seed in seeds]
        trends = [kendall(values) for values in finals]
        older = sum(is_older(each[seed]) for each in runs for seed in seeds)
        test = compare(trends, np.zeros(len(trends)))
        return Row(LABELS[method], test, lower_favours=False, older=older)

    title = "Kendall's τ of the final distance against the noise level, seed by seed"
    statement = "Every method declines as noise grows (Griewank 6, 1 % to 20 %)"
    return Claim(statement, table(title, map(row, PAPER_SEVEN)))


def searches_more_globally(library: Library) -> Claim:
    def rows(suffix: str, like: Setting) -> list[Row | None]:
        return _functions(library, suffix, like, measures.reach, lower=False)

    return Claim(
        "Corrected EI searches more globally than EI",
        table(
            "mean distance of the points measured from the incumbent, in the unit cube"
            " (heteroscedastic)",
            [*rows(", 10 %", PLAIN), *rows(", 10 %, shifted", SHIFTED)],
        ),
        table("reference code", rows(", 10 %", REFERENCE)),
    )


def monte_carlo_costs_more(library: Library) -> Claim:
    """Times are compared with MUCH times those of corrected EI; above zero they are longer."""

    def row(method: str, parts: tuple[str, ...] = ("fit", "maximise")) -> Row | None:
        both = pair(Setting("griewank", "", kind="cost"), method, "corrected-ei")
        pairs = library.pairs(*both)
        if not pairs:
            return None
        slow = np.array([np.log(seconds(first, parts)) for first, _ in pairs])
        fast = np.array([np.log(seconds(second, parts)) for _, second in pairs])
        ratio = float(np.exp(np.median(slow - fast)))
        label = f"{LABELS[method]}: {ratio:.1f} times corrected EI at n = 150"
        older = sum(is_older(record) for both in pairs for record in both)
        return Row(label, compare(slow, fast + np.log(MUCH)), lower_favours=False, older=older)

    closed = [name for name in PAPER_SEVEN if name not in (*_MONTE_CARLO, "corrected-ei")]
    alone = [row(name, ("maximise",)) for name in _MONTE_CARLO]
    return Claim(
        f"Monte Carlo methods cost much more (taken as: at least {MUCH:g} times as long per"
        " suggestion)",
        table(
            f"log seconds per suggestion, beyond {MUCH:g} times corrected EI's",
            map(row, _MONTE_CARLO),
        ),
        beside=[
            table("maximising alone", alone),
            table("the other closed forms, by the same measure", map(row, closed)),
        ],
    )


def seconds(record: Record, parts: tuple[str, ...], n: int = 150) -> float:
    """Seconds of parts of one suggestion with n observations."""
    at = record["trace"]["n"].index(n)
    return float(sum(record["run"][part][at] for part in parts))


def all_claims(library: Library) -> list[Claim]:
    makers: Sequence[Callable[[Library], Claim]] = (
        *(beats_ei, beats_ei_on_draws, higher_profit, corrected_pi_on_powell),
        *(declines_with_noise, searches_more_globally, monte_carlo_costs_more),
        *(closer_in_the_scenario, negligible_at_extremes),
    )
    return [make(library) for make in makers]
