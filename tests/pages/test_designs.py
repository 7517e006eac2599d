"""The section on the size of the initial design, from records whose verdict is known."""

import numpy as np

from ceibo_lab.methods import TWO_EACH
from ceibo_lab.page import Page
from ceibo_lab.plans.many import PLAN_FORTY, PLAN_HIDDEN, PLAN_TWENTY
from ceibo_lab.plans.suite import suite_problem
from ceibo_lab.record import Cell, Record
from pages.default.designs import designs


def made(cell: Cell) -> Record:
    """A run that ends at a tenth of the range, or, with at most so many points, at a hundredth."""
    span = suite_problem(cell.problem, 0).range
    noise = 0.02 * np.random.default_rng([cell.seed, len(cell.problem)]).standard_normal()
    regret = span * 10.0 ** (noise - (1.0 if cell.method == TWO_EACH else 2.0))
    trace = {"recommended": [span, regret]}
    return {"cell": cell.to_json(), "key": cell.key, "status": "done", "trace": trace}


def written(records: list[Record]) -> str:
    page = Page("Why")
    designs(page, records)
    return page.markdown()


def test_the_verdicts_of_the_plan_are_on_the_page() -> None:
    records = [
        made(cell) for plan in (PLAN_HIDDEN, PLAN_TWENTY, PLAN_FORTY) for cell in plan.cells()
    ]
    text = written(records)
    assert text.count("**met**") == 3
    assert "mean -1.000" in text
    assert "`ceibo paper run many-hidden many-twenty many-forty`" in text
    assert "hartmann-6-in-50" in text
    some = written([each for each in records if each["cell"]["method"] != TWO_EACH])
    assert some.count("**no verdict, runs are missing**") == 3
    assert "initial design" not in written([])
    assert "a judgement" not in text
