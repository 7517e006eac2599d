"""The report: one page from the records alone, each claim of the paper with what was found."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from ceibo_lab import claims as c
from ceibo_lab.arithmetic import describe, is_older, libraries
from ceibo_lab.compare import Claim, Row, Table, Verdict, holm, paired
from ceibo_lab.completeness import completeness, unplanned
from ceibo_lab.finals import FUNCTIONS, add_finals, add_others, mean_text
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
from ceibo_lab.rows import HEAD, OLDER, claim_cells, p_value, row_cells

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
    ("authors' code: its noise, five L-BFGS steps, one start", c.REFERENCE, "/short", "best"),
)


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
    add_finals(page, library)
    add_others(page, library)
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
        " positive in the claim's favour; difference is the Hodges-Lehmann estimate, in the units"
        " of the comparison, with its 95 % interval (not corrected for the size of the table). An"
        " undecided row names the difference that its test would have seen in 80 of 100 such"
        " experiments."
    )
    rows = [[claim.statement, *claim_cells(claim), _beside(claim.reference)] for claim in claims]
    page.table(("claim", "verdict", "n", "difference [95 %], or rows", "reference code"), rows)
    total, failed = len(read.records), len(read.failed)
    page.paragraph(
        f"From {total} replications, of which {failed} failed and are left out of the tests."
    )
    page.items(read.notes)
    _complete(page, read)


def _complete(page: Page, read: Read) -> None:
    """What there is of what was planned, and what is of an older arithmetic."""
    page.heading("What there is")
    rows = completeness(read.done)
    page.table(("experiment", "block", "cells", "older arithmetic"), [row.cells for row in rows])
    if strays := unplanned(read.done):
        page.paragraph(f"Besides, {strays} records of cells that are not planned.")
    ages: dict[str, int] = {}
    for record in read.done:
        if is_older(record):
            ages[describe(record)] = ages.get(describe(record), 0) + 1
    if ages:
        page.paragraph(
            f"{OLDER} marks comparisons with records of an older arithmetic, which"
            " `ceibo paper run` in a new folder replaces:"
        )
        page.items([f"{count} records: {words}." for words, count in sorted(ages.items())])


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
            page.table(HEAD, [row_cells(row) for row in each.rows])


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
    page.table(("what is changed", *FUNCTIONS), lines)
    _reaches(page, library)


def _effect(row: Row, p: float, most: int) -> str:
    mark = OLDER if row.older else ""
    few = f", n = {row.comparison.n}" if row.comparison.n < most else ""
    text = f"{row.favour + 0.0:+.2f} ({p_value(p)}{few}){mark}"
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
        page.table(("method", *FUNCTIONS), rows)


def _theory(page: Page, library: Library) -> None:
    columns = ("T", "regret", "bound", "realised_gain", "maximal_gain")
    rows = []
    kernels = product((*FOUR, "sphere"), ("corrected-ei", "corrected-ei/se"))
    for name, method in kernels:
        for record in library.runs(Setting(name, method, kind="theory")).values():
            trace = record["trace"]
            numbers = [trace[key][-1] for key in columns]
            shown = [f"{value:.4g}" for value in numbers]
            ratio = f"{numbers[2] / numbers[1]:.2g}"
            growth = _growth(trace["T"], trace["maximal_gain"])
            about = [NAMES[name], record["settings"]["kernel"], *shown, ratio, growth]
            rows.append([*about, _growth(trace["T"], trace["bound"])])
    if rows:
        page.heading("Theory beside practice")
        page.paragraph(
            "One run of corrected EI per problem and kernel: cumulative regret R_T over all points"
            " measured, the paper's bound, the realised information gain and an upper bound of the"
            " largest possible one, γ_T. The bound's constant makes it exceed the regret many times"
            " over, and the norm of f in it is a lower bound from the visited points: read it as a"
            " growth rate. The bound's last step, at the optimiser and the incumbent, is not proved"
            " (see `ceibo.theory`). Growth is the exponent of γ_T, and of the bound, in T over the"
            " second half of the run: the paper's sublinear rate is for the squared exponential,"
            " and a bound that grows with an exponent of 1 or more says nothing of convergence"
            " yet."
        )
        head = ("problem", "kernel", "T", "regret", "bound", "realised gain", "γ_T at most")
        page.table((*head, "bound / regret", "growth of γ_T", "of the bound"), rows)


def _growth(T: list[float], gain: list[float]) -> str:
    """The exponent in T over the second half of the run."""
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
            means = [mean_text(each, 4) for each in values]
            rows.append([METHODS[method].label, str(len(runs)), *means])
        page.table(("method", "n", "`recommended`", "`best`", "lowest noisy value"), rows)


def _how(page: Page, read: Read, command: str) -> None:
    page.heading("How these numbers were made")
    page.code(command)
    versions = {", ".join(f"{k} {v}" for k, v in libraries(each).items()) for each in read.records}
    page.items(sorted(versions))
    page.items([f"`{each.id}`: {each.title}" for each in EXPERIMENTS.values() if each.in_all])
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
