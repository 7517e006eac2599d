"""The report: one page from the records alone, each claim of the paper with what was found."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from ceibo_lab import claims as c
from ceibo_lab import measures
from ceibo_lab.compare import Claim, Row, Table, Verdict, band, holm, paired, table
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import METHODS, PAPER_SEVEN
from ceibo_lab.page import Page
from ceibo_lab.plans import EXPERIMENTS
from ceibo_lab.plans.benchmark import FOUR
from ceibo_lab.plans.compression import TITLES
from ceibo_lab.plans.special import DRAW_WIDTHS
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from ceibo_lab.records import Read

_TEST: Final = ("n", "wins", "effect", "median difference", "p", "p (Holm)", "verdict")
_HEAD: Final = ("comparison", *_TEST)
_FUNCTIONS: Final = tuple(NAMES[name] for name in FOUR)
_TOLD: Final = Setting("", "", protocol="homoscedastic")
_UNTOLD: Final = Setting("", "", protocol="homoscedastic-untold")
# Where the difference of corrected EI and EI is looked for: label, setting, suffix, measure.
_SOURCES: Final = (
    ("heteroscedastic (the honest protocol)", c.PLAIN, "", "best"),
    ("protocol: homoscedastic, told", _TOLD, "", "best"),
    ("protocol: homoscedastic, not told", _UNTOLD, "", "best"),
    ("protocol: reference code", c.REFERENCE, "", "best"),
    ("problem: randomly shifted", c.SHIFTED, "", "best"),
    ("problem: shifted, reference code", c.REFERENCE_SHIFTED, "", "best"),
    ("measure: `recommended`", c.PLAIN, "", "recommended"),
    ("measure: `oracle`", c.PLAIN, "", "oracle"),
    ("measure: `oracle`, reference code", c.REFERENCE, "", "oracle"),
    ("measure: distance of `best`", c.PLAIN, "", "distance"),
    ("hyperparameters: maximum a posteriori", c.PLAIN, "/map", "best"),
    ("maximiser: five L-BFGS steps", c.PLAIN, "/short", "best"),
    ("maximiser: five L-BFGS steps, reference code", c.REFERENCE, "/short", "best"),
)
_FINALS: Final = (
    ("Noise up to 10 %, heteroscedastic", c.PLAIN),
    ("Noise up to 10 %, heteroscedastic, shifted", c.SHIFTED),
    ("Noise 10 %, reference code", c.REFERENCE),
    ("Noise 10 %, reference code, shifted", c.REFERENCE_SHIFTED),
    ("Noise up to 15 %, heteroscedastic", c.STRONG),
)
_OTHERS: Final = ("botorch-qlognei", "optuna-gp", "random", "corrected-kg", "knowledge-gradient")


def write_report(
    read: Read, folder: Path, pictures: list[tuple[str, str]], command: str
) -> list[Path]:
    """Writes report.md and report.html into `folder`; pictures are (file name, caption)."""
    page = report(read, pictures, command)
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "report.md", folder / "report.html"]
    for path, text in zip(written, (page.markdown(), page.html()), strict=True):
        path.write_text(text, encoding="utf-8")
    return written


def report(read: Read, pictures: list[tuple[str, str]], command: str) -> Page:
    library = Library(read.done)
    claims = c.all_claims(library)
    page = Page("Corrected expected improvement: the paper's experiments, repeated")
    _summary(page, read, claims)
    for claim in claims:
        _claim(page, claim)
    _sources(page, library)
    _results(page, library)
    _beyond(page, library)
    _theory(page, library)
    _compression(page, library)
    if pictures:
        page.heading("Figures")
        for path, text in pictures:
            page.paragraph(text)
            page.picture(path, text)
    _how(page, read, command)
    return page


def _summary(page: Page, read: Read, claims: list[Claim]) -> None:
    page.paragraph(
        "Each claim of Zhou, Ma and Blaschko (ACML 2023), tested under the honest noise protocol"
        " (every measurement has its own known standard deviation, drawn before the error), with"
        " the protocol of the authors' published code beside it (there the model is told the size"
        " of the error just made, which no experimenter knows). Replications are paired by seed:"
        " same initial design, same noise. Two-sided exact Wilcoxon signed-rank tests,"
        " Holm-corrected over each table; effect is the matched-pairs rank-biserial correlation,"
        " positive in the claim's favour."
    )
    rows = []
    for claim in claims:
        found = claim.table.counts if claim.table.rows else ""
        beside = _beside(claim.reference)
        rows.append([claim.statement, f"**{claim.verdict.value}**", found, beside])
    page.table(("claim", "verdict", "rows", "reference code"), rows)
    total, failed = len(read.records), len(read.failed)
    page.paragraph(
        f"From {total} replications, of which {failed} failed and are left out of the tests."
    )
    page.items(read.notes)


def _beside(beside: Table | None) -> str:
    return f"{beside.verdict.value}: {beside.counts}" if beside is not None and beside.rows else "–"


def _claim(page: Page, claim: Claim) -> None:
    page.heading(f"{claim.statement}: {claim.verdict.value}")
    if claim.remark:
        page.paragraph(claim.remark)
    if claim.verdict is Verdict.NOT_RUN:
        page.paragraph("There are no records for it yet.")
    for each in claim.tables:
        if each.rows:
            page.paragraph(f"**{each.title}**")
            page.table(_HEAD, [_row(row) for row in each.rows])


def _row(row: Row) -> list[str]:
    found = row.comparison
    return [
        row.label,
        str(found.n),
        f"{row.wins}/{found.n}",
        f"{row.favour + 0.0:+.2f}",
        f"{found.median:+.3g}",
        _p(found.p),
        _p(row.corrected_p),
        row.verdict.value,
    ]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3g}"


def _sources(page: Page, library: Library) -> None:
    """Corrected EI against EI while one thing at a time is changed."""
    found = []
    for label, like, suffix, measure in _SOURCES:
        settings = [replace(like, problem=name) for name in FOUR]
        both = [c.pair(each, f"corrected-ei{suffix}", f"ei{suffix}") for each in settings]
        rows = [paired(library, label, each, c.final_of(measure)) for each in both]
        if any(row is not None for row in rows):
            found.append((label, rows))
    if not found:
        return
    page.heading("Where the difference comes from")
    page.paragraph(
        "Corrected EI against EI at the end of the run, one thing changed at a time (noise 10 %):"
        " effect, positive where corrected EI is better, and p value, Holm-corrected over this"
        " table. Bold: below 0.05."
    )
    every = [row.comparison for _, rows in found for row in rows if row is not None]
    corrected = iter(holm([each.p for each in every]))
    most = max(each.n for each in every)
    lines = []
    for label, rows in found:
        cells = ["–" if row is None else _effect(row, next(corrected), most) for row in rows]
        lines.append([label, *cells])
    page.table(("what is changed", *_FUNCTIONS), lines)
    _reaches(page, library)


def _effect(row: Row, p: float, most: int) -> str:
    few = f", n = {row.comparison.n}" if row.comparison.n < most else ""
    text = f"{row.favour + 0.0:+.2f} ({_p(p)}{few})"
    return f"**{text}**" if p < 0.05 else text


def _reaches(page: Page, library: Library) -> None:
    """How far from the incumbent each method measures."""
    rows = []
    for method, entry in METHODS.items():
        runs = [library.runs(Setting(name, method)).values() for name in FOUR]
        if all(runs):
            found = [np.concatenate([run["trace"]["reach"] for run in each]) for each in runs]
            rows.append([entry.label, *[f"{np.median(reach):.2g}" for reach in found]])
    if rows:
        page.paragraph(
            "How far from the incumbent each method measures: median distance in the unit cube,"
            " over √d (honest noise)."
        )
        page.table(("method", *_FUNCTIONS), rows)


def _results(page: Page, library: Library) -> None:
    """Final values by method and function."""
    page.heading("Final values")
    page.paragraph(
        "Mean log10 regret at the end, with half the width of its 95 % band: `best` / `recommended`"
        " / `oracle`."
    )
    for title, like in _FINALS:
        settings = [replace(like, problem=name) for name in FOUR]
        names = {method for each in settings for method in library.methods(each)}
        rows = []
        for method in [name for name in METHODS if name in names]:
            found = [list(library.runs(each.by(method)).values()) for each in settings]
            counts = sorted({len(runs) for runs in found})
            n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            rows.append([METHODS[method].label, n, *[_final(runs) for runs in found]])
        if rows:
            shown = library.describe(replace(like, problem="hartmann", method="ei"))
            page.heading(f"{title} ({shown})", 3)
            page.table(("method", "n", *_FUNCTIONS), rows)
    _inert(page, library)


def _inert(page: Page, library: Library) -> None:
    """Powell's distances with and without the coordinate that does not enter."""
    rows = []
    for variant in ("plain", "shifted"):
        for name in PAPER_SEVEN:
            runs = library.runs(Setting("powell", name, variant)).values()
            if runs:
                means = [
                    np.mean([measures.final_value(run, measure) for run in runs])
                    for measure in ("distance", "distance_active")
                ]
                rows.append([variant, METHODS[name].label, *[f"{mean:.2f}" for mean in means]])
    if rows:
        page.heading("Powell's inert coordinate (heteroscedastic, 10 %)", 3)
        page.table(
            ("variant", "method", "mean final distance", "without the inert coordinate"), rows
        )


def _final(records: list[Record]) -> str:
    if not records:
        return "–"
    measured = ("best", "recommended", "oracle")
    values = [[measures.final_value(record, each) for record in records] for each in measured]
    return " / ".join(_mean(each, 2) for each in values)


def _mean(values: list[float], digits: int) -> str:
    """The mean, with half the width of its 95 % band."""
    found = band(np.array(values)[:, None])
    half = found.high[0] - found.mean[0]
    return f"{found.mean[0]:.{digits}f} ± {half:.{digits}f}"


def _beyond(page: Page, library: Library) -> None:
    """Everything else against corrected EI on the shifted problems."""
    rows = []
    for measure in ("best", "recommended"):
        for other in _OTHERS:
            for name in FOUR:
                label = f"{METHODS[other].label}, {NAMES[name]}, `{measure}`"
                both = c.pair(Setting(name, "", "shifted"), "corrected-ei", other)
                rows.append(paired(library, label, both, c.final_of(measure)))
    found = table("", rows)
    if found.rows:
        page.heading("Beside the paper: other methods on the shifted problems")
        page.paragraph(
            "Corrected EI against each (heteroscedastic, 10 %); an effect above zero means that"
            " corrected EI is better. BoTorch, Optuna and random search propose points; their"
            " `best` and `recommended` are read off ceibo's model of the same data."
        )
        words = {Verdict.HOLDS: "corrected EI better", Verdict.FAILS: "corrected EI worse"}
        page.table(
            _HEAD, [[*_row(row)[:-1], words.get(row.verdict, "undecided")] for row in found.rows]
        )


def _theory(page: Page, library: Library) -> None:
    columns = ("T", "regret", "bound", "realised_gain", "maximal_gain")
    rows = []
    for name in (*FOUR, "sphere"):
        for record in library.runs(Setting(name, "corrected-ei", kind="theory")).values():
            trace = record["trace"]
            numbers = [trace[key][-1] for key in columns]
            shown = [f"{value:.4g}" for value in numbers]
            ratio = f"{numbers[2] / numbers[1]:.2g}"
            rows.append([NAMES[name], *shown, ratio, _growth(trace["T"], trace["maximal_gain"])])
    if rows:
        page.heading("Theory beside practice")
        page.paragraph(
            "One run of corrected EI per problem: cumulative regret R_T over all points measured,"
            " the paper's bound, the realised information gain and an upper bound of the largest"
            " possible one, γ_T. The bound's constant makes it exceed the regret many times over,"
            " and the norm of f in it is a lower bound from the visited points: read it as a growth"
            " rate. The bound's last step, at the optimiser and the incumbent, is not proved (see"
            " `ceibo.theory`). Growth is the exponent of γ_T in T over the second half of the run."
        )
        head = ("problem", "T", "regret", "bound", "realised gain", "γ_T at most")
        page.table((*head, "bound / regret", "growth of γ_T"), rows)


def _growth(T: list[float], gain: list[float]) -> str:
    """The exponent of γ_T in T over the second half of the run."""
    half = len(T) // 2 - 1
    if half < 0:
        return "–"
    return f"{np.log(gain[-1] / gain[half]) / np.log(T[-1] / T[half]):.2f}"


def _compression(page: Page, library: Library) -> None:
    """Networks made smaller: how good the answers of each method are."""
    cases = [case for case in library.cases if case.kind == "compression"]
    if not cases:
        return
    page.heading("Networks made smaller")
    page.paragraph(
        "Error plus size ratio on the whole evaluation set, mean over replications with half the"
        " width of its 95 % band: of the minimiser of the posterior mean (`recommended`), of the"
        " measured setting with the best posterior mean (`best`), and of the one with the lowest"
        " noisy value."
    )
    answers = ("recommended", "best", "best_observed")
    for case in sorted(cases, key=lambda case: (list(TITLES).index(case.problem), case)):
        noise = "" if case.protocol == "pooled" else f", `{case.protocol}` noise"
        page.heading(f"{TITLES[case.problem]}{noise}", 3)
        rows = []
        for method in sorted(library.methods(case), key=list(METHODS).index):
            runs = library.runs(case.by(method)).values()
            values = [[run["final"][name]["objective"] for run in runs] for name in answers]
            means = [_mean(each, 4) for each in values]
            rows.append([METHODS[method].label, str(len(runs)), *means])
        page.table(("method", "n", "`recommended`", "`best`", "lowest noisy value"), rows)


def _how(page: Page, read: Read, command: str) -> None:
    page.heading("How these numbers were made")
    page.code(command)
    versions = {", ".join(f"{k} {v}" for k, v in each["versions"].items()) for each in read.records}
    page.items(sorted(versions))
    page.items(
        [f"`{e.id}`: {e.title}; {len(e.cells())} cells when complete" for e in EXPERIMENTS.values()]
    )
    page.paragraph(
        "Model: Matérn-5/2, zero mean on standardised values, length scales by maximum likelihood"
        " unless it says otherwise. `recommended` is searched every ten steps. Regret is floored"
        f" at 1e-12 of the range. Draws of Gaussian processes: domain [0, {DRAW_WIDTHS[0]}] (and"
        f" [0, {DRAW_WIDTHS[1]}] beside it), κ is 1 % of the difference between the largest and the"
        " smallest value over five separate draws."
    )
    page.paragraph(
        f"All replications together took {_hours(read.records):.1f} core-hours. Methods:"
        f" {', '.join(PAPER_SEVEN)}."
    )
    library = Library(read.done)
    settings = [Setting(name, method) for name in FOUR for method in PAPER_SEVEN]
    runs = [run for each in settings for run in library.runs(each).values()]
    if runs:
        hours = _hours(runs)
        page.paragraph(
            "One set of benchmark-10 (seven acquisitions, four functions, heteroscedastic, plain;"
            f" {len(runs)} replications) took {hours:.2f} core-hours: {30 * hours:.0f} minutes on"
            " two cores."
        )
    if read.failed:
        page.heading("Failures", 3)
        page.items([f"`{record['key']}`: {record['error']}" for record in read.failed[:20]])


def _hours(records: list[Record]) -> float:
    return sum(float(record["run"]["seconds"]) for record in records) / 3600
