"""Where runs end: tables of final values, by method and function."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ceibo_lab import claims as c
from ceibo_lab import measures
from ceibo_lab.compare import Verdict, band, paired, table
from ceibo_lab.library import Library, Setting
from ceibo_lab.methods import METHODS, PAPER_SEVEN
from ceibo_lab.page import Page
from ceibo_lab.plans.benchmark import FOUR
from ceibo_lab.problems import NAMES
from ceibo_lab.record import Record
from ceibo_lab.rows import HEAD, row_cells

FUNCTIONS: Final = tuple(NAMES[name] for name in FOUR)
_FINALS: Final = (
    ("Noise up to 10 %, heteroscedastic", c.PLAIN),
    ("Noise up to 10 %, heteroscedastic, shifted", c.SHIFTED),
    ("Noise 10 %, reference code", c.REFERENCE),
    ("Noise 10 %, reference code, shifted", c.REFERENCE_SHIFTED),
    ("Noise up to 15 %, heteroscedastic", c.STRONG),
)
_OTHERS: Final = ("botorch-qlognei", "optuna-gp")


def add_finals(page: Page, library: Library) -> None:
    """Final values by method and function, of the seeds that all of the paper's methods have."""
    page.heading("Final values")
    page.paragraph(
        "Mean log10 regret at the end, with half the width of its 95 % band: `best` / `recommended`"
        " / `oracle`. These are the paper's own tables: of the seeds that all of its methods have."
    )
    for title, like in _FINALS:
        settings = [replace(like, problem=name) for name in FOUR]
        runs = [library.alike(each, PAPER_SEVEN) for each in settings]
        rows = []
        for method in [name for name in METHODS if any(name in each for each in runs)]:
            found = [list(each.get(method, {}).values()) for each in runs]
            counts = sorted({len(each) for each in found})
            n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
            rows.append([METHODS[method].label, n, *[_final(each) for each in found]])
        if rows:
            page.heading(title, 3)
            page.table(("method", "n", *FUNCTIONS), rows)
    _inert(page, library)


def add_others(page: Page, library: Library) -> None:
    """Outside tools against corrected EI on the shifted problems."""
    rows = []
    for measure in ("best", "recommended"):
        for other in _OTHERS:
            for name in FOUR:
                label = f"{METHODS[other].label}, {NAMES[name]}, `{measure}`"
                both = c.pair(Setting(name, "", "shifted"), "corrected-ei", other)
                rows.append(paired(library, label, both, c.final_of(measure)))
    found = table("", rows)
    if found.rows:
        page.heading("Beside the paper: other tools on the shifted problems")
        page.paragraph(
            "Corrected EI against each (heteroscedastic, 10 %); an effect above zero means that"
            " corrected EI is better. BoTorch and Optuna propose points; their `best` and"
            " `recommended` are read off ceibo's model of the same data. The knowledge gradients"
            " are not part of these experiments; the page on the default has them."
        )
        words = {Verdict.HOLDS: "corrected EI better", Verdict.FAILS: "corrected EI worse"}
        lines = [
            [*row_cells(row)[:-1], words.get(row.verdict, row_cells(row)[-1])] for row in found.rows
        ]
        page.table(HEAD, lines)


def _inert(page: Page, library: Library) -> None:
    """Powell's distances with and without the coordinate that does not enter."""
    rows = []
    for variant in ("plain", "shifted"):
        for name, runs in library.alike(Setting("powell", "", variant), PAPER_SEVEN).items():
            if name in PAPER_SEVEN:
                means = [
                    np.mean([measures.final_value(run, measure) for run in runs.values()])
                    for measure in ("distance", "distance_active")
                ]
                rows.append([variant, METHODS[name].label, *[f"{mean:.2f}" for mean in means]])
    if rows:
        page.heading("Powell's inert coordinate (heteroscedastic, 10 %)", 3)
        page.table(
            ("variant", "method", "mean final distance", "without the inert coordinate"), rows
        )


def _final(records: Sequence[Record]) -> str:
    if not records:
        return "–"
    measured = ("best", "recommended", "oracle")
    values = [[measures.final_value(record, each) for record in records] for each in measured]
    return " / ".join(mean_text(each, 2) for each in values)


def mean_text(values: Sequence[float], digits: int) -> str:
    """The mean, with half the width of its 95 % band."""
    found = band(np.array(values)[:, None])
    half = found.high[0] - found.mean[0]
    return f"{found.mean[0]:.{digits}f} ± {half:.{digits}f}"
