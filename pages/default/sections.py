"""The tables of the suite's page, section by section."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from ceibo_lab.compare import holm
from ceibo_lab.page import Page
from ceibo_lab.plans.suite import CONFIRMED, TIMED_TRIALS
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from pages.default.analysis import (
    DEFAULT,
    RIVALS,
    Ranks,
    Versus,
    bootstrap,
    over_cases,
    over_runs,
    overall,
    profile,
    rank,
    tally,
    versus,
)
from pages.default.guide import settings_of
from pages.default.names import case_name, listed, method_name
from pages.default.runs import MEASURES, PRIMARY, Measure, Runs, part_of, seconds
from pages.default.targets import p_value

_SHOWN_TAUS: Final = (1.0, 2.0, 5.0, 10.0)
Pictures = dict[str, tuple[str, str]]  # name -> path from the page, caption


def _measure_name(measure: Measure) -> str:
    return f"`{measure.answer}`, {'area' if measure.area else 'final'}"


def ranks(out: Page, locked: Runs, found: Ranks, shown: Pictures) -> None:
    out.heading("Ranks")
    if not found.cases:
        out.paragraph("There is no cell with runs of all methods.")
        return
    picture(out, shown, "default-ranks")
    out.paragraph(
        f"Mean ranks over {len(found.cases)} cells with {_spread(found.seeds)} seeds each (1 is"
        " best; 95 % bootstrap intervals over cells, and over problems, whose two cells are no"
        " independent witnesses; then the mean rank when another answer, or the area under the"
        " curve, is judged)."
    )
    every = {measure: rank(locked, measure) for measure in MEASURES}
    problems = [case.problem for case in found.cases]
    out.table(
        (
            "method",
            "`own`, final, over cells",
            "over problems",
            *[_measure_name(m) for m in MEASURES if m != PRIMARY],
        ),
        [
            [
                method_name(method),
                str(bootstrap(found.column(method))),
                str(bootstrap(found.column(method), problems)).partition(" ")[2],
                *[
                    f"{each.mean(method):.2f}"
                    for measure, each in every.items()
                    if measure != PRIMARY
                ],
            ]
            for method in sorted(found.methods, key=found.mean)
        ],
    )
    out.paragraph(
        "The default against its rivals over the cells, by each measure: mean rank of the rival"
        " minus the default's (above zero: the default is better), Wilcoxon's p on the ranks by"
        " cell, on the ranks by problem, and on the mean log regrets by cell, each Holm-corrected"
        " over the three."
    )
    out.table(
        [
            "measure",
            *[
                text
                for rival in RIVALS
                for text in (method_name(rival), "ranks", "by problem", "regrets")
            ],
        ],
        [[_measure_name(measure), *_overall_cells(each)] for measure, each in every.items()],
    )


def _overall_cells(found: Ranks) -> list[str]:
    rows = {row.method: row for row in overall(found)}
    cells = []
    for rival in RIVALS:
        if rival in rows:
            gap = found.mean(rival) - found.mean(DEFAULT)
            row = rows[rival]
            cells += [f"{gap:+.2f}", *map(p_value, (row.ranks_p, row.problems_p, row.means_p))]
        else:
            cells += ["–"] * 4
    return cells


def cells(out: Page, locked: Runs, found: Ranks, rows: Sequence[Versus], shown: Pictures) -> None:
    if not found.cases:
        return
    out.heading("Cell by cell")
    picture(out, shown, "default-convergence")
    out.paragraph(
        "Mean final log10 regret of what each tool recommends, over the n seeds that all have; the"
        " least in bold. **W** the default wins significantly against this method there, **L** it"
        " loses (Wilcoxon by seed, Holm over the whole table, p < 0.05)."
    )
    marks = {
        (row.case, row.method): {"win": " **W**", "loss": " **L**", "tie": ""}[row.outcome]
        for row in rows
    }
    table = []
    for case, seeds, means in zip(found.cases, found.seeds, found.means, strict=True):
        values = [f"{value:.2f}" for value in means]
        values[int(np.argmin(means))] = f"**{values[int(np.argmin(means))]}**"
        each = [
            value + marks.get((case, m), "") for value, m in zip(values, found.methods, strict=True)
        ]
        table.append([case_name(case), str(seeds), *each])
    out.table(("cell", "n", *[method_name(method) for method in found.methods]), table)
    out.paragraph(
        "Significant wins / ties / losses of the default over the cells, by each measure, every"
        " table corrected as a whole; the last column has those of the first without any"
        " correction, so that no loss hides behind it."
    )
    tables = {measure: versus(locked, measure) for measure in MEASURES}
    out.table(
        (
            "against",
            *[_measure_name(measure) for measure in MEASURES],
            "`own`, final, not corrected",
        ),
        [
            [
                method_name(method),
                *[_slashes(tally(each, method)) for each in tables.values()],
                _slashes(tally(rows, method, corrected=False)),
            ]
            for method in locked.methods
            if method != DEFAULT
        ],
    )
    picture(out, shown, "default-profile")
    count, shares = profile(locked, found.methods, PRIMARY, np.array(_SHOWN_TAUS))
    out.paragraph(
        f"Share of {count} runs whose final regret is within a factor of the best method's of the"
        " same seed:"
    )
    out.table(
        ("method", *[f"{tau:g}" if tau > 1 else "best" for tau in _SHOWN_TAUS]),
        [
            [method_name(m), *[f"{100 * s:.0f} %" for s in row]]
            for m, row in zip(found.methods, shares, strict=True)
        ],
    )


def fresh(out: Page, records: Sequence[Record]) -> None:
    """The default against its rivals on the fresh seeds, alone and with those of the tables."""
    later = [record for record in records if part_of(record) == "fresh"]
    if not later:
        return
    out.heading("Once more, on fresh seeds")
    out.paragraph(
        "What the tables above leave undecided was run again on further seeds, with all else the"
        " same. When this was planned the first seeds had been seen, the further ones not: nothing"
        " was decided by them. Means over the cells, each cell the mean over the seeds that both"
        " methods have: how many cells the default is better and worse in, the difference of final"
        " log10 regret with its 95 % bootstrap interval over cells (below zero: the default is"
        " better), Wilcoxon's p over the cells, Holm-corrected over the table; then over all pairs"
        " of runs, and the default's significant wins / ties / losses per cell (Holm over the cells"
        " of all methods)."
    )
    if missing := [
        method_name(method) for method in CONFIRMED if method not in Runs(later).methods
    ]:
        out.paragraph(f"Planned and not run on the further seeds: {listed(missing)}.")
    both = [record for record in records if part_of(record) in ("locked", "fresh")]
    for name, part in (
        ("The further seeds alone:", later),
        ("All seeds, those seen before and the further ones:", both),
    ):
        out.paragraph(name)
        out.table(
            (
                "against",
                "pairs",
                "seeds a cell",
                "better / worse in",
                "difference",
                "p over cells",
                "runs",
                "w / t / l",
            ),
            _against(Runs(part)),
        )


def _against(runs: Runs) -> list[list[str]]:
    """A line for each method that was confirmed."""
    rivals = [method for method in CONFIRMED if method != DEFAULT and method in runs.methods]
    rows = versus(runs, methods=rivals)
    over = {method: over_cases(runs, method) for method in rivals}
    corrected = dict(zip(rivals, holm([each.p for each, _ in over.values()]), strict=True))
    table = []
    for method in rivals:
        cases, seeds = over[method]
        each = bootstrap(np.array([row.difference for row in rows if row.method == method]))
        pairs = over_runs(runs, method)
        table.append(
            [
                method_name(method),
                str(pairs.n),
                _spread(seeds),
                f"{cases.below} / {cases.above}",
                f"{each.mean:+.3f} [{each.low:+.3f}, {each.high:+.3f}]",
                p_value(corrected[method]),
                f"{pairs.below} / {pairs.above}, {p_value(pairs.p)}",
                _slashes(tally(rows, method)),
            ]
        )
    return table


def screening(out: Page, development: Runs) -> None:
    out.heading("Screening on the development half")
    found, rows = rank(development), versus(development)
    if not development.cases:
        out.paragraph("There are no records of it.")
        return
    out.paragraph(
        "ceibo's own candidates, each named with what it changes. Mean rank among"
        f" {len(found.methods)} over {len(found.cases)} cells with {_spread(found.seeds)} seeds, by"
        " the regret of `recommended` at the end and over the run; mean difference of final log10"
        " regret from the default (below zero: better than it), and the default's significant wins"
        " / ties / losses against the candidate."
    )
    area = rank(development, Measure("own", area=True))
    methods = sorted(found.methods, key=found.mean) + [
        m for m in development.methods if m not in found.methods
    ]
    table = []
    for method in methods:
        against = [row for row in rows if row.method == method]
        ranked = method in found.methods and bool(found.cases)
        table.append(
            [
                method_name(method),
                settings_of(method),
                str(bootstrap(found.column(method))) if ranked else "–",
                f"{area.mean(method):.2f}" if ranked and method in area.methods else "–",
                f"{-np.mean([row.difference for row in against]):+.3f}" if against else "–",
                _slashes(tally(rows, method)) if against else "–",
                str(sum(len(development.of(case, method)) for case in development.cases)),
            ]
        )
    out.table(
        ("candidate", "changes", "mean rank", "area", "difference", "w / t / l", "runs"), table
    )


def noiseless(out: Page, noiseless: Runs) -> None:
    out.heading("Without noise")
    rows = versus(noiseless, methods=("ei",))
    if not rows:
        out.paragraph("There are no records of it.")
        return
    out.paragraph(
        "The default and EI on the locked problems, told that there is no noise: mean final log10"
        " regret over the n seeds both have, and Wilcoxon's p, Holm-corrected over the table."
    )
    table = []
    for row in rows:
        ours, theirs = noiseless.values(row.case, DEFAULT), noiseless.values(row.case, "ei")
        seeds = sorted(set(ours) & set(theirs))
        means = [float(np.mean([each[seed] for seed in seeds])) for each in (ours, theirs)]
        numbers = [*[f"{mean:.2f}" for mean in means], f"{row.difference:+.3f}", p_value(row.p)]
        table.append([NAMES[row.case.problem], str(len(seeds)), *numbers, row.outcome])
    out.table(("problem", "n", "default", "EI", "difference", "Holm", "for the default a"), table)


def cost(out: Page, records: Sequence[Record]) -> None:
    out.heading("Time and failures")
    found = seconds(records)
    lengths = sorted({n for each in found.values() for n in each})
    if lengths:
        out.paragraph(
            "Seconds per suggestion, median over runs of the median of a run's last ten trials."
            " The sweeps ran on several machines, busy with other work; only the runs of"
            f" {TIMED_TRIALS} trials had an idle one."
        )
        order = [name for name in Runs(records).methods if name in found]
        out.table(
            ("method", *[f"n = {max(n - 9, 1)} to {n}" for n in lengths]),
            [
                [method_name(m), *[_median(found[m].get(n, {}).values()) for n in lengths]]
                for m in order
            ],
        )
    hours = [
        f"{name} {sum(r.get('run', {}).get('seconds', 0.0) for r in group) / 3600:.1f}"
        f" ({len(group)} runs)"
        for name, group in _experiments(records).items()
    ]
    out.paragraph(f"Core-hours: {listed(hours)}, each run on one core, judging its state included.")
    failed = [record for record in records if record["status"] == "failed"]
    out.paragraph(f"{len(failed)} of {len(records)} runs failed{':' if failed else '.'}")
    out.items(
        [f"`{record['key']}`: {' '.join(str(record['error']).split())[:200]}" for record in failed]
    )


def _median(values: Iterable[float]) -> str:
    every = list(values)
    return f"{np.median(every):.3g}" if every else "–"


def _experiments(records: Sequence[Record]) -> dict[str, list[Record]]:
    names = {
        "development": "suite-development",
        "locked": "suite-locked",
        "fresh": "suite-confirmation",
    }
    found: dict[str, list[Record]] = {
        name: [] for name in (*names.values(), "suite-time", "suite-noiseless")
    }
    for record in records:
        timed = part_of(record) == "locked" and record["cell"]["steps"] == TIMED_TRIALS
        found[
            "suite-time" if timed else names.get(part_of(record) or "", "suite-noiseless")
        ].append(record)
    return {name: group for name, group in found.items() if group}


def _slashes(counts: tuple[int, int, int]) -> str:
    return " / ".join(map(str, counts))


def _spread(counts: Sequence[int]) -> str:
    return str(min(counts)) if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)}"


def picture(out: Page, shown: Pictures, name: str) -> None:
    if name in shown:
        path, caption = shown[name]
        out.picture(path, caption)
        out.paragraph(f"*{caption}.*")
