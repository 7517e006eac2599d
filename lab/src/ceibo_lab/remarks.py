"""What the paper says in passing, judged like its claims: Figure 1's scenario, the extremes."""

from typing import Final

import numpy as np

from ceibo_lab import measures
from ceibo_lab.arithmetic import is_older
from ceibo_lab.compare import Claim, Row, compare, table
from ceibo_lab.library import Library, Setting
from ceibo_lab.plans.benchmark import EXTREME_LEVEL, FOUR, MANY, MARGIN, TWO
from ceibo_lab.pooled import pooled
from ceibo_lab.problems import PROBLEMS
from ceibo_lab.record import Record

SCENARIO: Final = Setting("scenario", "ei", protocol="homoscedastic", level=0.30, kind="scenario")


def gap(record: Record, method: str) -> float:
    """How far from the optimum a method wants to measure next, in a record of the scenario."""
    return abs(
        float(record["trace"]["next"][method]) - float(PROBLEMS["scenario"]().optimisers[0, 0])
    )


def closer_in_the_scenario(library: Library) -> Claim:
    records = list(library.runs(SCENARIO).values())
    row = None
    if records:
        gaps = [[gap(record, method) for record in records] for method in TWO]
        older = sum(map(is_older, records))
        row = Row("distance of the next point to x*", compare(*gaps), True, older=older)
    return Claim(
        "In Figure 1's scenario corrected EI suggests a point closer to the optimum than EI",
        table("the same data for both, after four Sobol points and four steps of EI", [row]),
        remark="The paper shows one picture. Here the scenario is repeated with many seeds, the"
        " picture is that of the first, and its caption says how often the others agree.",
    )


def negligible_at_extremes(library: Library) -> Claim:
    def row(words: str, cells: list[Setting]) -> Row | None:
        found = pooled(library, cells, TWO, lambda r: measures.final_value(r, "best"))
        return None if found is None else found.over_seeds(words, margin=MARGIN)

    many = [Setting(name, "", "shifted") for name in MANY]
    noisy = [Setting(name, "", level=EXTREME_LEVEL) for name in FOUR]
    dimensions = " and ".join(str(PROBLEMS[name]().dimension) for name in MANY)
    title = f"corrected EI and EI differ by less than {MARGIN:g} in log10 regret of `best`"
    return Claim(
        "In many dimensions and under extreme noise the differences are negligible",
        table(
            title,
            [
                row(f"{dimensions} dimensions, 10 %, shifted", many),
                row(f"noise up to {100 * EXTREME_LEVEL:.0f} % of the range", noisy),
            ],
        ),
        remark="A remark of the paper's discussion, on differences between acquisition functions;"
        " here it is asked of corrected EI and EI. It holds where the 95 % interval of the mean"
        f" difference lies within ±{MARGIN:g}, does not hold where it lies beyond.",
    )


def scenario_caption(library: Library) -> str:
    """What the picture of the scenario shows, and how typical it is."""
    runs = library.runs(SCENARIO)
    if not runs:
        return ""
    shown, *_ = runs.values()
    gaps = np.array([[gap(record, method) for method in TWO] for record in runs.values()])
    closer, farther = (int(np.sum(gaps[:, 0] < gaps[:, 1])), int(np.sum(gaps[:, 0] > gaps[:, 1])))
    first, second = (gap(shown, method) for method in TWO)
    words = "closer to" if first < second else "farther from" if first > second else "as far from"
    return (
        "Where EI and corrected EI want to measure next: in this one (seed"
        f" {min(runs)}) corrected EI is {words} the optimum at 10; of {len(runs)} seeds it is"
        f" closer in {closer}, farther in {farther}"
    )
