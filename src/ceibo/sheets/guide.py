"""How to fill a worksheet in, in plain words."""

from ceibo.sheets.columns import Columns
from ceibo.study import Study


def guide_to(
    study: Study, columns: Columns, name: str, back: str, has_replicates: bool
) -> list[str]:
    """The sentences of the second sheet of a workbook, which the command `back` takes back."""
    example = next(iter(columns.used.values()))
    values = [each.value for each in columns.told.values()]
    listed = values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
    several = "into further rows with the same trial number."
    if has_replicates:
        several = f"into the replicate columns, or {several}"
    lines = [
        f"Plan of the study {study.name!r}. Each row is one run, with exactly the digits shown.",
        f"Write what came out under {listed}. Several values of one run go {several}",
        "noise: the standard deviation of the value, if you know it.",
        f"{example} and the like: what was really used, where that differed from the plan.",
        "block: what several runs share, such as the day, the plate or the lot of a reagent.",
        "A run that failed: write failed in place of the value, and why under notes.",
        "A run of your own: a row below, without a trial number, with its settings.",
        "A run that is not done yet: leave its value empty; the sheet may be read many times.",
        "Rows and columns may be moved, and columns you do not need deleted; the trial numbers are"
        " what matters.",
        f"To read it: {back}    or    study.read_sheet({name!r})",
    ]
    if len(values) > 1:
        lines.insert(2, "An outcome that is not known yet may be left empty and filled in later.")
    return lines
