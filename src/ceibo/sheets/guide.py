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
        f"Plan of the study {study.name!r}.",
        "Each row is one run. Set what the first columns say; the digits shown are exactly what is"
        " recorded.",
        f"Write what came out under {listed}. Several values of one run go {several}",
        "noise: the standard deviation of the value, if you know it. Leave it empty otherwise.",
        f"If a run was set differently from the plan, write what was really used under {example}"
        " and the like. Leave these cells empty if the run was as planned.",
        "block: what several runs share beside their settings, such as the day, the plate or the"
        " lot of a reagent.",
        "notes, date: whatever should be kept with the run.",
        "A run that failed: write failed in place of the value, and why under notes.",
        "A run of your own: add a row below, without a trial number, and fill in its settings.",
        "Rows and columns may be in any order, and columns that you do not need may be deleted;"
        " the trial numbers are what matters.",
        "Leave the value of a run that is not done yet empty: the sheet may be read many times, and"
        " what is known already is not stored twice.",
        f"To read it: {back}    or    study.read_sheet({name!r})",
    ]
    if len(values) > 1:
        lines.insert(3, "An outcome that is not known yet may be left empty and filled in later.")
    return lines
