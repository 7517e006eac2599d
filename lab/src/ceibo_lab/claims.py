"""The paper's claims, each as a table of paired comparisons; verdicts.py says how they are
decided.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ceibo_lab import measures
from ceibo_lab.experiments import DRAW_WIDTHS, FOUR, KAPPA_SHARES, LEVELS
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import LABELS, PAPER_SEVEN
from ceibo_lab.problems import PROBLEMS
from ceibo_lab.records import Record
from ceibo_lab.statistics import compare, kendall
from ceibo_lab.verdicts import Claim, Row, paired, table

NAMES: Final = {
    "hartmann": "Hartmann 3",
    "griewank": "Griewank 6",
    "levy": "Levy 4",
    "powell": "Powell 5",
    "sphere": "Sphere 3",
}
MUCH: Final = 2.0  # "costs much more" means at least this many times as long


def final_of(measure: str) -> Callable[[Record], float]:
    return lambda record: measures.final_value(record, measure)


def two(
    setting: Setting, first: str = "corrected-ei", second: str = "ei"
) -> tuple[Setting, Setting]:
    return setting.by(first), setting.by(second)


def _functions(
    library: Library, suffix: str, like: Setting, measure: str = "best"
) -> list[Row | None]:
    return [
        paired(
            library,
            f"{NAMES[name]}{suffix}",
            two(Setting(name, "", like.variant, like.protocol, like.level)),
            final_of(measure),
        )
        for name in FOUR
    ]


def beats_ei(library: Library) -> Claim:
    honest = [
        *_functions(library, ", 10 %", Setting("", "")),
        *_functions(library, ", 10 %, shifted", Setting("", "", "shifted")),
        *_functions(library, ", 15 %", Setting("", "", level=0.15)),
        *[
            paired(
                library,
                f"Griewank 6, {100 * level:.0f} %, distance",
                two(Setting("griewank", "", level=level)),
                final_of("distance"),
            )
            for level in LEVELS
        ],
    ]
    reference = [
        *_functions(library, ", 10 %", Setting("", "", protocol="reference-code")),
        *_functions(library, ", 10 %, shifted", Setting("", "", "shifted", "reference-code")),
    ]
    oracle = _functions(
        library, ", 10 %, oracle regret", Setting("", "", protocol="reference-code"), "oracle"
    )
    return Claim(
        "Corrected EI beats EI, on each function and at each noise level",
        table(
            "heteroscedastic: log10 regret of `best` at the end (distance for the noise levels)",
            honest,
        ),
        [
            table(
                "reference code: log10 regret of `best` (and `oracle`, which its figures plot)",
                [*reference, *oracle],
            )
        ],
    )


def beats_ei_on_draws(library: Library) -> Claim:
    def rows(width: int) -> list[Row | None]:
        pair = two(
            Setting(f"gp-draw-{width}", "", protocol="homoscedastic", level=0.16, kind="draws")
        )
        return [
            paired(
                library,
                f"domain [0, {width}], f at the point chosen last",
                pair,
                lambda r: r["trace"]["at_stop"],
                False,
            ),
            paired(
                library,
                f"domain [0, {width}], f at the incumbent",
                pair,
                lambda r: r["trace"]["best"],
                False,
            ),
            paired(
                library,
                f"domain [0, {width}], evaluations until κ: corrected EI goes on longer",
                pair,
                lambda r: r["trace"]["t"],
                False,
            ),
        ]

    first, *others = DRAW_WIDTHS
    statement = "Corrected EI beats EI on draws of the model's own kernel (p = 0.013 in the paper)"
    decides, rest = rows(first)[:1], rows(first)[1:]
    beside = [table("beside it", [*rest, *[row for width in others for row in rows(width)]])]
    remark = (
        "Corrected EI is zero at the incumbent, so the point it chooses last lies elsewhere, while"
        " EI's may lie beside it: the two comparisons, at that point and at the incumbent, need not"
        " agree. Both stop when their own acquisition falls below the same κ. The domain is not"
        " given in the paper: the first one was chosen before looking, the other stands beside it."
    )
    return Claim(
        statement,
        table("f at the point chosen when stopping, as in the paper", decides),
        beside,
        remark,
    )


def higher_profit(library: Library) -> Claim:
    setting = Setting("sphere", "", protocol="homoscedastic", level=20 / 300)
    scale = PROBLEMS["sphere"]().range

    def row(share: float) -> Row | None:
        def profit(record: Record) -> float:
            return measures.stop_at(record, share * scale).profit

        return paired(
            library, f"κ = {100 * share:.2g} % of the range", two(setting), profit, lower=False
        )

    remark = (
        "Runs that never reach κ are stopped at T and counted (see the figure for their number)."
    )
    return Claim(
        "Corrected EI brings a higher profit at every κ (Sphere 3, noise of standard deviation 20)",
        table("profit −f(x⁺) − κ t", [row(share) for share in KAPPA_SHARES]),
        remark=remark,
    )


def corrected_pi_on_powell(library: Library) -> Claim:
    def row(label: str, setting: Setting) -> Row | None:
        return paired(
            library, label, two(setting, "corrected-pi", "corrected-ei"), final_of("best")
        )

    honest = [
        row("Powell 5, 10 %", Setting("powell", "")),
        row("Powell 5, 10 %, shifted", Setting("powell", "", "shifted")),
        row("Powell 5, 15 %", Setting("powell", "", level=0.15)),
    ]
    reference = [row("Powell 5, 10 %", Setting("powell", "", protocol="reference-code"))]
    short = [
        paired(
            library,
            f"Powell 5, 10 %, {protocol}",
            two(
                Setting("powell", "", protocol=protocol), "corrected-pi/short", "corrected-ei/short"
            ),
            final_of("best"),
        )
        for protocol in ("heteroscedastic", "reference-code")
    ]
    remark = (
        "Towards the incumbent corrected PI's ratio u/σ̃ tends to a finite limit, and its supremum"
        " may lie in that limit: maximised well, it measures beside the incumbent again and again"
        " (see the distances under “Where the difference comes from”). A search cut short does not"
        " get that far."
    )
    return Claim(
        "Corrected PI is slightly better than corrected EI on Powell",
        table("heteroscedastic: log10 regret of `best`", honest),
        [
            table("reference code: log10 regret of `best`", reference),
            table("the acquisition maximised by five L-BFGS steps only", short),
        ],
        remark,
    )


def declines_with_noise(library: Library) -> Claim:
    def row(method: str) -> Row | None:
        runs = [library.runs(Setting("griewank", method, level=level)) for level in LEVELS]
        seeds = sorted(set.intersection(*[set(each) for each in runs]))
        if not seeds:
            return None
        trends = [
            kendall([measures.final_value(each[seed], "distance") for each in runs])
            for seed in seeds
        ]
        return Row(LABELS[method], compare(trends, np.zeros(len(trends))), lower_favours=False)

    return Claim(
        "Every method declines as noise grows (Griewank 6, 1 % to 20 %)",
        table(
            "Kendall's τ of the final distance against the noise level, seed by seed",
            map(row, PAPER_SEVEN),
        ),
    )


def searches_more_globally(library: Library) -> Claim:
    def rows(suffix: str, like: Setting) -> list[Row | None]:
        settings = [Setting(name, "", like.variant, like.protocol, like.level) for name in FOUR]
        return [
            paired(library, f"{NAMES[s.problem]}{suffix}", two(s), measures.reach, lower=False)
            for s in settings
        ]

    return Claim(
        "Corrected EI searches more globally than EI",
        table(
            "mean distance of the points measured from the incumbent, in the unit cube"
            " (heteroscedastic)",
            [
                *rows(", 10 %", Setting("", "")),
                *rows(", 10 %, shifted", Setting("", "", "shifted")),
            ],
        ),
        [table("reference code", rows(", 10 %", Setting("", "", protocol="reference-code")))],
    )


def monte_carlo_costs_more(library: Library) -> Claim:
    """Times are compared with MUCH times those of corrected EI: above zero means costing more than
    that.
    """

    def row(method: str, parts: tuple[str, ...] = ("fit", "maximise")) -> Row | None:
        pairs = library.pairs(*two(Setting("griewank", "", kind="cost"), method, "corrected-ei"))
        if not pairs:
            return None
        slow, fast = (
            [np.log(seconds(each, parts)) for each in side] for side in zip(*pairs, strict=True)
        )
        ratio = float(np.exp(np.median(np.array(slow) - np.array(fast))))
        label = f"{LABELS[method]}: {ratio:.1f} times corrected EI at n = 150"
        return Row(label, compare(slow, np.array(fast) + np.log(MUCH)), lower_favours=False)

    others = [
        name for name in PAPER_SEVEN if name not in ("noisy-ei", "q-noisy-ei", "corrected-ei")
    ]
    return Claim(
        f"Monte Carlo methods cost much more (taken as: at least {MUCH:g} times as long per"
        " suggestion)",
        table(
            f"log seconds per suggestion, beyond {MUCH:g} times corrected EI's",
            map(row, ("noisy-ei", "q-noisy-ei")),
        ),
        [
            table(
                "maximising alone",
                [row(name, ("maximise",)) for name in ("noisy-ei", "q-noisy-ei")],
            ),
            table("the other closed forms, by the same measure", map(row, others)),
        ],
    )


def seconds(record: Record, parts: tuple[str, ...], n: int = 150) -> float:
    """Seconds of parts of one suggestion with n observations."""
    at = record["trace"]["n"].index(n)
    return float(sum(record["run"][part][at] for part in parts))


def all_claims(library: Library) -> list[Claim]:
    makers: Sequence[Callable[[Library], Claim]] = (
        beats_ei,
        beats_ei_on_draws,
        higher_profit,
        corrected_pi_on_powell,
        declines_with_noise,
        searches_more_globally,
        monte_carlo_costs_more,
    )
    return [make(library) for make in makers]
