"""Sections of the page: by how much corrected EI and EI differ, and why."""

from collections.abc import Mapping

import numpy as np

from ceibo_lab.compare import SIGNIFICANT, Row
from ceibo_lab.interval import detectable
from ceibo_lab.library import Library
from ceibo_lab.methods import METHODS
from ceibo_lab.page import Page
from ceibo_lab.plans.benchmark import MARGIN, PAPER_SEEDS, POWER_SEEDS, SEEN_SEEDS
from ceibo_lab.remarks import scenario_caption
from ceibo_lab.rows import p_value
from pages.replication.findings import NEAR, cells, near_share, over_four, whole

Shown = Mapping[str, tuple[str, str]]  # figure -> its path and caption


def difference(out: Page, library: Library, shown: Shown) -> None:
    """The pooled test in words."""
    found = whole(library)
    if found is None:
        return
    row, beside = found.over_seeds(""), found.over_cells("")
    out.heading("Corrected EI against EI")
    out.paragraph(
        f"One test decides, over {found.cells}: for each seed the mean over the cells of the"
        " difference in log10 regret of `best`, the measured point with the best posterior mean."
        f" It was fixed, with {POWER_SEEDS} seeds for each cell, before those from {SEEN_SEEDS} on"
        f" were run. {_factor(row)} {_margin(row)} The same test over cells, which asks whether it"
        f" would be so on other problems, gives {beside.comparison.interval.estimate:+.2g}"
        f" (p = {p_value(beside.comparison.p)}, {beside.comparison.n} cells)."
    )
    _picture(out, shown, "cells")


def _factor(row: Row) -> str:
    """An effect in log10 regret as a factor of the regret itself."""
    test = row.comparison
    numbers = [f"{10**value:.2f}" for value in test.interval]
    return (
        f"The regret of corrected EI is {numbers[0]} times that of EI (95 % interval {numbers[1]}"
        f" to {numbers[2]}, p = {p_value(test.p)}, {test.n} seeds; better in {row.wins})."
    )


def _margin(row: Row) -> str:
    _, low, high = row.comparison.interval
    if low > -MARGIN and high < MARGIN:
        return f"The interval lies within ±{MARGIN:g} in log10: either way it counts for little."
    if low > MARGIN or high < -MARGIN:
        return f"That is more than the ±{MARGIN:g} in log10 below which it would count for little."
    return (
        f"The interval reaches across ±{MARGIN:g} in log10, below which a difference would count"
        " for little."
    )


def stall(out: Page, library: Library) -> None:
    """Corrected EI never measures its incumbent again."""
    out.heading("The stall", 3)
    shares = {
        name: share
        for name in ("ei", "corrected-ei", "corrected-pi", "noisy-ei")
        if (share := near_share(library, name)) is not None
    }
    listed = ", ".join(f"{METHODS[n].label} {100 * share:.0f} %" for n, share in shares.items())
    measured = (
        f" Of their points these lie within {NEAR:g} of the cube's diagonal of the incumbent of"
        f" their time (four functions, 10 %): {listed}."
        if shares
        else ""
    )
    out.paragraph(
        "Corrected EI is zero at x⁺: it never measures its incumbent again, however uncertain that"
        " is, and what is not known of f(x⁺) counts as if measuring elsewhere could find it out."
        " Once f(x) is as good as known, the value at x is σ(x⁺)τ(u/σ(x⁺)) with u = μ(x) − μ(x⁺),"
        " which no further measurement at x lowers; one at x⁺ would. EI takes f(x⁺) as known and"
        f" measures beside it, by which a lucky value is found out.{measured} On networks a search"
        " that stalls repeats one setting: [the page on compression](compression.md) shows it state"
        " by state."
    )


def protocol(out: Page, library: Library) -> None:
    """What the model is told of the noise."""
    out.heading("The noise protocol", 3)
    honest, reference = over_four(library), over_four(library, "reference-code")
    authors = over_four(library, "reference-code", "/short", ("plain",))
    rows = (
        ("under honest noise", honest),
        ("under that of the published code", reference),
        ("with that code's search and fit too (unshifted)", authors),
    )
    said = "; ".join(f"{words} {_short(row)}" for words, row in rows if row is not None)
    out.paragraph(
        "The paper has noise of known variance, at most a share of the range. The authors'"
        " published code draws errors of one size and tells the model, of each measurement, the"
        " size of the error just made: the model learns which values are off, and which are not. No"
        " experimenter can know that. That code also cuts the search for the next point off after"
        " five steps and climbs the likelihood from one start. Over the four functions, plain and"
        f" shifted, corrected EI − EI in log10 regret is {said}."
        if said
        else "There are no records of it yet."
    )


def _short(row: Row) -> str:
    estimate, low, high = row.comparison.interval
    n = row.comparison.n
    return f"{estimate:+.2f} [{low:+.2f}, {high:+.2f}] (n = {n}, p = {p_value(row.comparison.p)})"


def power(out: Page, library: Library) -> None:
    """What a cell could have seen, and what all of them can."""
    found, single = whole(library), cells(library)
    if found is None or not single:
        return
    out.heading("The power", 3)
    each = float(np.median([row.detectable for row in single]))
    alike = [row for row in single if row.comparison.n > 1]
    spread = float(np.median([np.std(row.comparison.differences, ddof=1) for row in alike]))
    few = detectable(PAPER_SEEDS, spread, SIGNIFICANT)
    together = found.over_seeds("").detectable
    ns = sorted({row.comparison.n for row in single})
    n = f"{ns[0]}" if len(ns) == 1 else f"{ns[0]} to {ns[-1]}"
    out.paragraph(
        "Two runs of one function differ more by their seeds than by their methods: the standard"
        f" deviation of corrected EI − EI in a cell is {spread:.2f} in log10 regret (median). With"
        f" {n} seeds a cell by itself would find a difference of {each:.2f} in four of five"
        f" experiments, a factor of {10**each:.1f} in regret; all cells together one of"
        f" {together:.2f}, a factor of {10**together:.2f}. With the paper's {PAPER_SEEDS} seeds a"
        f" cell would find a difference of {few:.2f}: figures of as many runs can show neither a"
        " smaller one nor its absence."
    )


def restarts(out: Page, library: Library) -> None:
    """The likelihood has many maxima."""
    out.heading("The fit", 3)
    ml, prior = (over_four(library, end=end, variants=("plain",)) for end in ("", "/map"))
    compared = (
        " With priors (maximum a posteriori) corrected EI − EI over the four functions, unshifted,"
        f" is {_short(prior)}, by maximum likelihood {_short(ml)}."
        if ml is not None and prior is not None
        else ""
    )
    out.paragraph(
        "“Length scales by maximum likelihood” hides a choice: the likelihood has many maxima, and"
        " climbed from one start it is missed in a good part of the states of these runs,"
        " sometimes by many nats ([restarts](mathematics.md#restarts) has the curve). These"
        " experiments climb from sixteen screened starts. The model believes every measurement:"
        f" ceibo's treatment of outliers is off, which is not the paper's.{compared}"
    )


def scenario(out: Page, library: Library, shown: Shown) -> None:
    """Figure 1 is one of many."""
    caption = scenario_caption(library)
    if not caption:
        return
    out.heading("Figure 1 is one picture of many")
    out.paragraph(f"{caption}. A picture of one seed can show either.")
    _picture(out, shown, "scenario")


def _picture(out: Page, shown: Shown, name: str) -> None:
    if name in shown:
        path, caption = shown[name]
        out.picture(path, name)
        out.paragraph(f"*{caption}.*")
