"""The report: one page, written from the records alone. Each claim of the paper with what was
found, and where from.
"""

from pathlib import Path
from typing import Final

import numpy as np

from ceibo_lab import measures
from ceibo_lab.claims import NAMES, all_claims, final_of, two
from ceibo_lab.document import Page
from ceibo_lab.experiments import DRAW_WIDTHS, EXPERIMENTS, FOUR
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import METHODS, PAPER_SEVEN
from ceibo_lab.records import Read, Record
from ceibo_lab.statistics import band, holm
from ceibo_lab.verdicts import Claim, Row, Table, Verdict, paired, table

_HEAD: Final = (
    "comparison",
    "n",
    "wins",
    "effect",
    "median difference",
    "p",
    "p (Holm)",
    "verdict",
)
# Settings between which the difference of corrected EI and EI is looked for: label, protocol,
# variant, suffix, measure.
_SOURCES: Final = (
    ("heteroscedastic (the honest protocol)", "heteroscedastic", "plain", "", "best"),
    ("protocol: homoscedastic, told", "homoscedastic", "plain", "", "best"),
    ("protocol: homoscedastic, not told", "homoscedastic-untold", "plain", "", "best"),
    ("protocol: reference code", "reference-code", "plain", "", "best"),
    ("problem: randomly shifted", "heteroscedastic", "shifted", "", "best"),
    ("problem: shifted, reference code", "reference-code", "shifted", "", "best"),
    ("measure: `recommended`", "heteroscedastic", "plain", "", "recommended"),
    ("measure: `oracle`", "heteroscedastic", "plain", "", "oracle"),
    ("measure: `oracle`, reference code", "reference-code", "plain", "", "oracle"),
    ("measure: distance of `best`", "heteroscedastic", "plain", "", "distance"),
    ("hyperparameters: maximum a posteriori", "heteroscedastic", "plain", "/map", "best"),
    ("maximiser: five L-BFGS steps", "heteroscedastic", "plain", "/short", "best"),
    ("maximiser: five L-BFGS steps, reference code", "reference-code", "plain", "/short", "best"),
)


def write_report(
    read: Read, folder: Path, pictures: list[tuple[str, str]], command: str
) -> list[Path]:
    """Writes report.md and report.html into `folder`; pictures are (file name, caption)
    beside it.
    """
    page = report(read, pictures, command)
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "report.md", folder / "report.html"]
    for path, text in zip(written, (page.markdown(), page.html()), strict=True):
        path.write_text(text, encoding="utf-8")
    return written


def report(read: Read, pictures: list[tuple[str, str]], command: str) -> Page:
    library = Library(read.done)
    claims = all_claims(library)
    page = Page("Corrected expected improvement: the paper's experiments, repeated")
    _summary(page, read, claims)
    for claim in claims:
        _claim(page, claim)
    _sources(page, library)
    _results(page, library)
    _beyond(page, library)
    _theory(page, library)
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
        beside = claim.beside[0] if claim.beside and "reference" in claim.beside[0].title else None
        found = claim.table.counts if claim.table.rows else ""
        rows.append([claim.statement, f"**{claim.verdict.value}**", found, _beside(beside)])
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
    for each in (claim.table, *claim.beside):
        if each.rows:
            page.paragraph(f"**{each.title}**")
            page.table(_HEAD, [_row(row) for row in each.rows])


def _row(row: Row) -> list[str]:
    c = row.comparison
    numbers = [
        str(c.n),
        f"{row.wins}/{c.n}",
        f"{row.favour + 0.0:+.2f}",
        f"{c.median:+.3g}",
        _p(c.p),
        _p(row.corrected_p),
    ]
    return [row.label, *numbers, row.verdict.value]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3g}"


def _sources(page: Page, library: Library) -> None:
    """Corrected EI against EI while one thing at a time is changed."""
    found = []
    for label, protocol, variant, suffix, measure in _SOURCES:
        settings = [Setting(name, "", variant, protocol) for name in FOUR]
        pair = [two(setting, f"corrected-ei{suffix}", f"ei{suffix}") for setting in settings]
        rows = [paired(library, label, both, final_of(measure)) for both in pair]
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
    corrected = iter(
        holm([row.comparison.p for _, rows in found for row in rows if row is not None])
    )
    most = max(row.comparison.n for _, rows in found for row in rows if row is not None)
    lines = []
    for label, rows in found:
        cells = []
        for row in rows:
            if row is None:
                cells.append("–")
                continue
            p = next(corrected)
            few = f", n = {row.comparison.n}" if row.comparison.n < most else ""
            text = f"{row.favour + 0.0:+.2f} ({_p(p)}{few})"
            cells.append(f"**{text}**" if p < 0.05 else text)
        lines.append([label, *cells])
    page.table(("what is changed", *[NAMES[name] for name in FOUR]), lines)
    _reaches(page, library)


def _reaches(page: Page, library: Library) -> None:
    """How far from the incumbent each method measures."""
    rows = []
    for method in METHODS:
        runs = [library.runs(Setting(name, method)).values() for name in FOUR]
        if all(runs):
            reaches = [
                np.concatenate([record["trace"]["reach"] for record in each]) for each in runs
            ]
            rows.append([METHODS[method].label, *[f"{np.median(reach):.2g}" for reach in reaches]])
    if rows:
        page.paragraph(
            "How far from the incumbent each method measures: median distance in the unit cube,"
            " over √d (honest noise)."
        )
        page.table(("method", *[NAMES[name] for name in FOUR]), rows)


def _results(page: Page, library: Library) -> None:
    """Final values by method and function."""
    blocks = (
        ("Noise up to 10 %, heteroscedastic", Setting("", "")),
        ("Noise up to 10 %, heteroscedastic, shifted", Setting("", "", "shifted")),
        ("Noise 10 %, reference code", Setting("", "", protocol="reference-code")),
        ("Noise 10 %, reference code, shifted", Setting("", "", "shifted", "reference-code")),
        ("Noise up to 15 %, heteroscedastic", Setting("", "", level=0.15)),
    )
    page.heading("Final values")
    page.paragraph(
        "Mean log10 regret at the end, with half the width of its 95 % band: `best` / `recommended`"
        " / `oracle`."
    )
    for title, like in blocks:
        rows = []
        names = sorted(
            {
                m
                for f in FOUR
                for m in library.methods(Setting(f, "", like.variant, like.protocol, like.level))
            }
        )
        for name in [method for method in METHODS if method in names]:
            settings = [Setting(f, name, like.variant, like.protocol, like.level) for f in FOUR]
            found = [list(library.runs(each).values()) for each in settings]
            counts = sorted({len(runs) for runs in found})
            n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            rows.append([METHODS[name].label, n, *[_final(runs) for runs in found]])
        if rows:
            shown = library.describe(
                Setting("hartmann", "ei", like.variant, like.protocol, like.level)
            )
            page.heading(f"{title} ({shown})", 3)
            page.table(("method", "n", *[NAMES[name] for name in FOUR]), rows)
    _inert(page, library)


def _inert(page: Page, library: Library) -> None:
    """Powell's distances with and without the coordinate that does not enter."""
    rows = []
    for variant in ("plain", "shifted"):
        for name in PAPER_SEVEN:
            runs = list(library.runs(Setting("powell", name, variant)).values())
            if runs:
                means = [
                    np.mean([measures.final_value(run, m) for run in runs])
                    for m in ("distance", "distance_active")
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
    parts = []
    for measure in ("best", "recommended", "oracle"):
        found = band([np.array([measures.final_value(record, measure)]) for record in records])
        parts.append(f"{found.mean[0]:.2f} ± {found.high[0] - found.mean[0]:.2f}")
    return " / ".join(parts)


def _beyond(page: Page, library: Library) -> None:
    """Everything else against corrected EI on the shifted problems."""
    others = ("botorch-qlognei", "optuna-gp", "random", "corrected-kg", "knowledge-gradient")
    rows = []
    for measure in ("best", "recommended"):
        for other in others:
            for name in FOUR:
                label = f"{METHODS[other].label}, {NAMES[name]}, `{measure}`"
                rows.append(
                    paired(
                        library,
                        label,
                        two(Setting(name, "", "shifted"), "corrected-ei", other),
                        final_of(measure),
                    )
                )
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
    rows = []
    for name in NAMES:
        for record in library.runs(Setting(name, "corrected-ei", kind="theory")).values():
            trace = record["trace"]
            numbers = [
                trace[key][-1] for key in ("T", "regret", "bound", "realised_gain", "maximal_gain")
            ]
            shown = [f"{value:.4g}" for value in numbers]
            rows.append(
                [
                    NAMES[name],
                    *shown,
                    f"{numbers[2] / numbers[1]:.2g}",
                    _growth(trace["T"], trace["maximal_gain"]),
                ]
            )
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
        head = (
            "problem",
            "T",
            "regret",
            "bound",
            "realised gain",
            "γ_T at most",
            "bound / regret",
            "growth of γ_T",
        )
        page.table(head, rows)


def _growth(T: list[float], gain: list[float]) -> str:
    """The exponent of γ_T in T over the second half of the run."""
    half = len(T) // 2 - 1
    if half < 0:
        return "–"
    return f"{np.log(gain[-1] / gain[half]) / np.log(T[-1] / T[half]):.2f}"


def _how(page: Page, read: Read, command: str) -> None:
    page.heading("How these numbers were made")
    page.code(command)
    versions = sorted(
        {", ".join(f"{k} {v}" for k, v in record["versions"].items()) for record in read.records}
    )
    page.items(versions)
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
    seconds = sum(record["run"]["seconds"] for record in read.records)
    page.paragraph(
        f"All replications together took {seconds / 3600:.1f} core-hours. Methods:"
        f" {', '.join(PAPER_SEVEN)}."
    )
    library = Library(read.done)
    runs = [
        run for name in FOUR for m in PAPER_SEVEN for run in library.runs(Setting(name, m)).values()
    ]
    if runs:
        hours = sum(run["run"]["seconds"] for run in runs) / 3600
        page.paragraph(
            "One set of benchmark-10 (seven acquisitions, four functions, heteroscedastic, plain;"
            f" {len(runs)} replications) took {hours:.2f} core-hours: {30 * hours:.0f} minutes on"
            " two cores."
        )
    if read.failed:
        page.heading("Failures", 3)
        page.items([f"`{record['key']}`: {record['error']}" for record in read.failed[:20]])
